# Builds CUDA sources for the cpu back end.
#
#   emulator_add_executable(target source...)   add_executable() for .cu (and other) files
#   emulator_target_sources(target source...)   the same sources for a target that exists
#
# Call these in the folder that defines the target. Headers with launches are looked for in the
# target's include directories, whenever they are added.
#
# With EMULATOR_INSTRUMENT the programs can be profiled and checked (emulator/README.md): their CUDA
# sources are compiled without optimisation, and with hooks that cuda_emulator_instrument defines.

option(EMULATOR_INSTRUMENT "Build CUDA programs for the profiler of the cpu back end" OFF)

find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
set(EMULATOR_TRANSLATOR ${CMAKE_CURRENT_LIST_DIR}/driver/translate.py)
file(GLOB EMULATOR_TRANSLATOR_SOURCES CONFIGURE_DEPENDS
    ${EMULATOR_TRANSLATOR} ${CMAKE_CURRENT_LIST_DIR}/translator/*.py)

# As in driver/cc.py: src/engine/undefined_arithmetic.cpp has what the checks call.
set(EMULATOR_CHECK_FLAGS -fsanitize=shift-exponent,float-cast-overflow)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64") # which, unlike x86-64, never faults there
    list(APPEND EMULATOR_CHECK_FLAGS -fsanitize=integer-divide-by-zero,alignment)
    set(EMULATOR_CHECKS_ALIGNMENT ON)
endif()

# Asked for always: a folder may set EMULATOR_INSTRUMENT for itself.
set(EMULATOR_FLAGS_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/driver/instrument_flags.py)
execute_process(
    COMMAND ${Python3_EXECUTABLE} ${EMULATOR_FLAGS_SCRIPT} ${CMAKE_CXX_COMPILER} ${CMAKE_CXX_COMPILER_ARG1}
    OUTPUT_VARIABLE EMULATOR_INSTRUMENT_FLAGS OUTPUT_STRIP_TRAILING_WHITESPACE
    RESULT_VARIABLE EMULATOR_FLAGS_STATUS)
if(NOT EMULATOR_FLAGS_STATUS EQUAL 0 OR EMULATOR_INSTRUMENT_FLAGS STREQUAL "")
    message(FATAL_ERROR "${EMULATOR_FLAGS_SCRIPT} gave no compiler flags for EMULATOR_INSTRUMENT "
        "(${EMULATOR_FLAGS_STATUS}); what it says on stderr is above.")
endif()
string(REPLACE "\n" ";" EMULATOR_INSTRUMENT_FLAGS "${EMULATOR_INSTRUMENT_FLAGS}")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${EMULATOR_FLAGS_SCRIPT})
# Runs the compiler where that needs help.
set(EMULATOR_COMPILER_LAUNCHER "")
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    set(EMULATOR_COMPILER_LAUNCHER ${CMAKE_CURRENT_LIST_DIR}/driver/instrument_clang.py)
endif()

function(emulator_add_executable target)
    add_executable(${target})
    emulator_target_sources(${target} ${ARGN})
endfunction()

function(emulator_target_sources target)
    # Libraries of the system name /usr/include. Its headers have no launches, so the translator need not read them.
    set(include_dirs $<FILTER:$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>,EXCLUDE,^/usr/include$>)
    set(launcher "")
    if(EMULATOR_INSTRUMENT OR EMULATOR_CHECKS_ALIGNMENT)
        set(launcher "${EMULATOR_COMPILER_LAUNCHER}")
    endif()

    foreach(source IN LISTS ARGN)
        cmake_path(ABSOLUTE_PATH source NORMALIZE)
        cmake_path(GET source EXTENSION LAST_ONLY extension)
        if(NOT extension STREQUAL ".cu")
            target_sources(${target} PRIVATE ${source})
            continue()
        endif()

        # build/dir/target.emu/dir/name.cpp: sources of one name in two folders stay apart.
        file(RELATIVE_PATH name ${CMAKE_CURRENT_SOURCE_DIR} ${source})
        string(REPLACE "../" "up/" output ${name})
        cmake_path(REPLACE_EXTENSION output LAST_ONLY cpp)
        set(output ${CMAKE_CURRENT_BINARY_DIR}/${target}.emu/${output})
        # -S: Python starts faster without the packages that are installed.
        add_custom_command(
            OUTPUT ${output}
            COMMAND Python3::Interpreter -S ${EMULATOR_TRANSLATOR} ${source}
                -o ${output} -MF ${output}.d
                "$<$<BOOL:${include_dirs}>:-I$<JOIN:${include_dirs},;-I>>"
                $<$<BOOL:${EMULATOR_INSTRUMENT}>:--instrument>
            DEPENDS ${source} ${EMULATOR_TRANSLATOR_SOURCES}
            DEPFILE ${output}.d
            COMMENT "Translating ${name}"
            COMMAND_EXPAND_LISTS VERBATIM)

        cmake_path(GET source PARENT_PATH folder)
        # Like nvcc, include the runtime's header without being asked. Precompiled headers must come
        # first, and have it.
        set(precompiled $<TARGET_PROPERTY:${target},PRECOMPILE_HEADERS_REUSE_FROM>)
        set(options "$<$<NOT:$<BOOL:${precompiled}>>:-include;cuda_runtime.h>"
            -iquote ${folder} -Wno-unknown-pragmas -Wno-unused-const-variable) # such as for __launch_bounds__
        if(CMAKE_CXX_COMPILER_ID MATCHES "Clang") # as in driver/cc.py, for addr2line of binutils before 2.41
            list(APPEND options -fdebug-default-version=4)
        endif()
        if(EMULATOR_INSTRUMENT)
            list(APPEND options ${EMULATOR_INSTRUMENT_FLAGS})
        else()
            list(APPEND options ${EMULATOR_CHECK_FLAGS})
        endif()
        set_source_files_properties(${output} PROPERTIES COMPILE_OPTIONS "${options}" OBJECT_DEPENDS "${launcher}")
        target_sources(${target} PRIVATE ${output})
    endforeach()
    if(EMULATOR_INSTRUMENT)
        # All of it: it starts itself before main(). It comes first: src/instrument/startup.cpp.
        target_link_libraries(${target} PRIVATE
            $<LINK_LIBRARY:WHOLE_ARCHIVE,cuda_emulator_instrument>)
    endif()
    target_link_libraries(${target} PRIVATE cuda_emulator)
    if(launcher)
        set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER
            "${Python3_EXECUTABLE};${launcher};${CMAKE_CXX_COMPILER_LAUNCHER}")
    endif()
endfunction()
