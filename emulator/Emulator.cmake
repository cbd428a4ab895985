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
set(EMULATOR_TRANSLATOR ${CMAKE_CURRENT_LIST_DIR}/translate.py)
set(EMULATOR_TRANSLATOR_SOURCES
    ${EMULATOR_TRANSLATOR}
    ${CMAKE_CURRENT_LIST_DIR}/translator/decisions.py
    ${CMAKE_CURRENT_LIST_DIR}/translator/lexer.py
    ${CMAKE_CURRENT_LIST_DIR}/translator/rewriter.py
    ${CMAKE_CURRENT_LIST_DIR}/translator/statements.py
    ${CMAKE_CURRENT_LIST_DIR}/translator/unit.py
    ${CMAKE_CURRENT_LIST_DIR}/translator/volatile.py)

# As in cc.py, which says what these are for. The link must not see them: it would add the
# sanitizer's own run-time library.
set(EMULATOR_INSTRUMENT_FLAGS
    -O0 -g -D__EMU_INSTRUMENTED__ -fsanitize=thread -fsanitize-coverage=trace-pc)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    list(APPEND EMULATOR_INSTRUMENT_FLAGS -mllvm -tsan-distinguish-volatile=1)
elseif(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 11)
    list(APPEND EMULATOR_INSTRUMENT_FLAGS --param=tsan-distinguish-volatile=1 -Wno-tsan)
endif()

function(emulator_add_executable target)
    add_executable(${target})
    emulator_target_sources(${target} ${ARGN})
endfunction()

function(emulator_target_sources target)
    set(include_dirs $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)

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
        add_custom_command(
            OUTPUT ${output}
            COMMAND Python3::Interpreter -B ${EMULATOR_TRANSLATOR} ${source}
                -o ${output} -MF ${output}.d
                "$<$<BOOL:${include_dirs}>:-I$<JOIN:${include_dirs},;-I>>"
                $<$<BOOL:${EMULATOR_INSTRUMENT}>:--instrument>
            DEPENDS ${source} ${EMULATOR_TRANSLATOR_SOURCES}
            DEPFILE ${output}.d
            COMMENT "Translating ${name}"
            COMMAND_EXPAND_LISTS VERBATIM)

        cmake_path(GET source PARENT_PATH folder)
        # Like nvcc, include the runtime's header without being asked.
        set(options -include cuda_runtime.h -iquote ${folder} -Wno-unknown-pragmas)
        if(EMULATOR_INSTRUMENT)
            list(APPEND options ${EMULATOR_INSTRUMENT_FLAGS})
        endif()
        set_source_files_properties(${output} PROPERTIES COMPILE_OPTIONS "${options}")
        target_sources(${target} PRIVATE ${output})
    endforeach()
    target_link_libraries(${target} PRIVATE cuda_emulator)
    if(EMULATOR_INSTRUMENT)
        # All of it: it starts itself before main().
        target_link_libraries(${target} PRIVATE
            $<LINK_LIBRARY:WHOLE_ARCHIVE,cuda_emulator_instrument>)
    endif()
endfunction()
