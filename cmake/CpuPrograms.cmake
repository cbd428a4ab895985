# lab_add_cpu_program(target source...)               a program for the cpu back end
# lab_add_instrumented_program(target source...)      the same for the profiler and the hazard check
#
# lab_use_per_thread_default_stream(target)           such a program as `nvcc --default-stream per-thread` compiles it
#
# Both may include what is in common/. They take the headers of CUDA and of the standard library, on which every program
# spends a good part of its compile time, precompiled; those of common/ not, so that a change there compiles only what
# includes it.

set(LAB_INSTRUMENT ON)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=") # which goes with no other instrumentation
    set(LAB_INSTRUMENT OFF)
endif()

set(lab_precompiled
    <cuda_runtime.h>
    <algorithm> <cmath> <cstdarg> <cstddef> <cstdint> <cstdio> <cstdlib> <cstring> <functional> <optional> <string>
    <utility> <vector>)

# lab_add_precompiled(target [header...] [OPTIONS flag...]): those headers and further ones, for programs that are
# compiled with these flags, which then REUSE_FROM the target.
function(lab_add_precompiled target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "OPTIONS")
    set(empty ${PROJECT_BINARY_DIR}/CMakeFiles/empty.cpp)
    if(NOT EXISTS ${empty})
        file(WRITE ${empty} "")
    endif()
    add_library(${target} OBJECT EXCLUDE_FROM_ALL ${empty})
    target_link_libraries(${target} PRIVATE cuda_emulator lab_warnings)
    target_compile_options(${target} PRIVATE ${arg_OPTIONS})
    target_precompile_headers(${target} PRIVATE ${lab_precompiled} ${arg_UNPARSED_ARGUMENTS})
endfunction()

# Line numbers, for the message about a kernel that does not end.
set(lab_line_numbers $<$<CONFIG:Release>:-g1>)

lab_add_precompiled(lab_precompiled OPTIONS ${lab_line_numbers})
if(LAB_INSTRUMENT)
    lab_add_precompiled(lab_precompiled_instrumented OPTIONS ${EMULATOR_INSTRUMENT_FLAGS})
endif()

function(lab_add_cpu_program target)
    emulator_add_executable(${target} ${ARGN})
    target_link_libraries(${target} PRIVATE lab_common lab_warnings)
    if(NOT EMULATOR_INSTRUMENT)
        target_compile_options(${target} PRIVATE ${lab_line_numbers})
        target_precompile_headers(${target} REUSE_FROM lab_precompiled)
    endif()
endfunction()

function(lab_add_instrumented_program target)
    set(EMULATOR_INSTRUMENT ON) # in this function
    lab_add_cpu_program(${target} ${ARGN})
    target_precompile_headers(${target} REUSE_FROM lab_precompiled_instrumented)
    set(others ${ARGN}) # are not instrumented: those headers are not theirs
    list(FILTER others EXCLUDE REGEX "[.]cu$")
    set_source_files_properties(${others} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()

function(lab_use_per_thread_default_stream target)
    target_compile_definitions(${target} PRIVATE CUDA_API_PER_THREAD_DEFAULT_STREAM)
    # Precompiled headers have the other one.
    set_target_properties(${target} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
    target_compile_options(${target} PRIVATE "SHELL:-include cuda_runtime.h")
endfunction()
