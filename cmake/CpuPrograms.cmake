# lab_add_cpu_program(target source...)               a program for the cpu back end
# lab_add_instrumented_program(target source...)      the same for the profiler and the hazard check
#
# lab_use_per_thread_default_stream(target)           such a program as `nvcc --default-stream per-thread` compiles it
#
# Both may include what is in common/. Precompiled headers would save a quarter of a program's time to compile, but take
# 68 MB of disk for each of the two kinds, several times as much as all else that is built for an exercise.

set(LAB_INSTRUMENT ON)
set(LAB_TEST_SCRIPTS ON) # which take much of a compiler's words and ways
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=") # which goes with no other instrumentation
    set(LAB_INSTRUMENT OFF)
elseif(CMAKE_CXX_COMPILER MATCHES "/zig/c[+][+]$")
    # That of scripts/lab_cli/machine/zig.py: emulator/driver/instrument_clang.py cannot use it.
    message(STATUS "zig's compiler: what checks and profiles is left out with its tests, and those of the scripts")
    set(LAB_INSTRUMENT OFF)
    set(LAB_TEST_SCRIPTS OFF)
endif()

function(lab_add_cpu_program target)
    emulator_add_executable(${target} ${ARGN})
    target_link_libraries(${target} PRIVATE lab_common lab_warnings)
    if(NOT EMULATOR_INSTRUMENT)
        # -O2, as cc.py: the compiler takes up to a third less time than with -O3, and the programs run as fast.
        # -g1 for line numbers in the message about a kernel that does not end.
        target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O2> $<$<CONFIG:Release>:-g1>)
    endif()
endfunction()

function(lab_add_instrumented_program target)
    set(EMULATOR_INSTRUMENT ON) # in this function
    lab_add_cpu_program(${target} ${ARGN})
endfunction()

function(lab_use_per_thread_default_stream target)
    target_compile_definitions(${target} PRIVATE CUDA_API_PER_THREAD_DEFAULT_STREAM)
endfunction()
