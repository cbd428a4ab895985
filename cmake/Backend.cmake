# Chooses the back end and, for gpu, the CUDA compiler and the architectures. The choice itself is made in
# scripts/lab_cli/machine/backend.py, so that `lab` and plain cmake agree.
#
# in:  LAB_BACKEND (auto, gpu or cpu), CMAKE_CUDA_COMPILER, CMAKE_CUDA_ARCHITECTURES (both optional)
# out: LAB_CHOSEN_BACKEND (gpu or cpu); for gpu the language CUDA is enabled

set(LAB_BACKEND auto CACHE STRING "Back end: gpu (nvcc), cpu (the emulator), or auto")
set_property(CACHE LAB_BACKEND PROPERTY STRINGS auto gpu cpu)
if(NOT LAB_BACKEND MATCHES "^(auto|gpu|cpu)$")
    message(FATAL_ERROR "LAB_BACKEND is '${LAB_BACKEND}'; it must be auto, gpu or cpu")
endif()

# Keeps a text of the answer, which is JSON, in the cache.
function(lab_read_answer answer key variable about)
    string(JSON value ERROR_VARIABLE error GET "${answer}" ${key})
    if(error)
        message(FATAL_ERROR "The choice of the back end gave no answer with '${key}' (${error}):\n${answer}")
    endif()
    set(${variable} "${value}" CACHE INTERNAL "${about}")
endfunction()

# Asks once per build folder: a folder does not change sides when a driver comes or goes.
if(NOT LAB_BACKEND STREQUAL "cpu" AND NOT LAB_BACKEND STREQUAL "${LAB_BACKEND_ASKED}")
    set(environment PYTHONDONTWRITEBYTECODE=1)
    if(CMAKE_CUDA_COMPILER)
        list(APPEND environment CUDACXX=${CMAKE_CUDA_COMPILER})
    endif()
    execute_process(
        COMMAND ${CMAKE_COMMAND} -E env ${environment}
            ${Python3_EXECUTABLE} -m lab_cli.machine.backend ${LAB_BACKEND}
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/scripts
        OUTPUT_VARIABLE answer OUTPUT_STRIP_TRAILING_WHITESPACE
        ERROR_VARIABLE error ERROR_STRIP_TRAILING_WHITESPACE
        RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "${error}")
    endif()
    lab_read_answer("${answer}" backend LAB_BACKEND_FOUND "the back end that was chosen")
    lab_read_answer("${answer}" reason LAB_BACKEND_REASON "why")
    lab_read_answer("${answer}" nvcc LAB_NVCC "the nvcc that was found")
    lab_read_answer("${answer}" architectures LAB_ARCHITECTURES "default of CMAKE_CUDA_ARCHITECTURES")
    if(NOT LAB_BACKEND_FOUND MATCHES "^(gpu|cpu)$")
        message(FATAL_ERROR "The choice of the back end gave '${LAB_BACKEND_FOUND}', not gpu or cpu:\n${answer}")
    endif()
    set(LAB_BACKEND_ASKED ${LAB_BACKEND} CACHE INTERNAL "the request that was answered")
endif()

if(LAB_BACKEND STREQUAL "cpu")
    set(LAB_CHOSEN_BACKEND cpu)
    message(STATUS "Back end: cpu")
else()
    set(LAB_CHOSEN_BACKEND ${LAB_BACKEND_FOUND})
    message(STATUS "Back end: ${LAB_BACKEND_FOUND} (${LAB_BACKEND_REASON})")
endif()

if(LAB_CHOSEN_BACKEND STREQUAL "gpu")
    if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
        set(CMAKE_CUDA_COMPILER ${LAB_NVCC} CACHE FILEPATH "CUDA compiler")
    endif()
    if(NOT CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
        set(CMAKE_CUDA_ARCHITECTURES "${LAB_ARCHITECTURES}" CACHE STRING "GPU architectures to build for")
    endif()
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    message(STATUS "CUDA architectures: ${CMAKE_CUDA_ARCHITECTURES}")
endif()
