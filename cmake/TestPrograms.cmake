# lab_add_test_programs(name source as_gpu): two more programs of the exercise NAME on the cpu back end, for its tests.
#
#   NAME_faulty  some of its launches or copies go wrong (tests/faults.cpp); not where it has no launch
#   NAME_as_gpu  says that it is an H200 (tests/h200.cpp): its default sizes, columns and notes are those of a GPU, its
#                times still those of the emulation; only where as_gpu is true
#
# They are NAME's objects, linked anew. The linker's --wrap puts functions of these files before those of the
# emulator, and of common/, that have the mangled names below.

add_library(lab_faults OBJECT ${PROJECT_SOURCE_DIR}/tests/faults.cpp)
target_link_libraries(lab_faults PUBLIC lab_common PRIVATE lab_warnings)
target_link_options(lab_faults PUBLIC
    LINKER:--wrap=_ZN3emu6launchERKNS_12LaunchConfigENS_10KernelCallE
    LINKER:--wrap=_Z10cudaMemcpyPvPKvm14cudaMemcpyKind
    LINKER:--wrap=_ZN3lab8Exercise3rowENS_3RowE)

add_library(lab_h200 OBJECT ${PROJECT_SOURCE_DIR}/tests/h200.cpp)
target_link_libraries(lab_h200 PUBLIC lab_common PRIVATE lab_warnings)
target_link_options(lab_h200 PUBLIC
    LINKER:--wrap=_Z23cudaGetDevicePropertiesP14cudaDevicePropi
    LINKER:--wrap=_Z22cudaDeviceGetAttributePi14cudaDeviceAttri
    LINKER:--wrap=_Z20cudaDriverGetVersionPi
    LINKER:--wrap=_Z21cudaDeviceGetPCIBusIdPcii
    LINKER:--wrap=_Z14cudaMemGetInfoPmS_)

function(lab_add_test_programs name source as_gpu)
    file(STRINGS ${source} launches REGEX "<<<")
    if(launches)
        add_executable(${name}_faulty $<TARGET_OBJECTS:${name}>)
        target_link_libraries(${name}_faulty PRIVATE lab_faults)
    endif()
    if(as_gpu)
        add_executable(${name}_as_gpu $<TARGET_OBJECTS:${name}>)
        target_link_libraries(${name}_as_gpu PRIVATE lab_h200)
    endif()
endfunction()
