# lab_add_test_programs(name): two more programs of the exercise NAME on the cpu back end, for its tests.
#
#   NAME_faulty  one of its launches or copies goes wrong (tests/faults.cpp); not where it has no launch
#   NAME_as_gpu  says that it is an H200 (tests/h200.cpp): its default sizes, columns and notes are those of a GPU, its
#                times still those of the emulation
#
# The linker's --wrap puts functions of these files before the emulator's own, which have the mangled names below.

add_library(lab_faults OBJECT ${PROJECT_SOURCE_DIR}/tests/faults.cpp)
target_link_libraries(lab_faults PUBLIC lab_common PRIVATE lab_warnings)
target_link_options(lab_faults PUBLIC
    LINKER:--wrap=_ZN3emu6launchERKNS_12LaunchConfigENS_10KernelCallE
    LINKER:--wrap=_Z10cudaMemcpyPvPKvm14cudaMemcpyKind)

# lab_common once more, as on a GPU.
get_target_property(lab_sources lab_common SOURCES)
list(FILTER lab_sources INCLUDE REGEX "^[a-z_0-9]+[.]cpp$")
list(TRANSFORM lab_sources PREPEND ${PROJECT_SOURCE_DIR}/common/)
add_library(lab_common_as_gpu STATIC ${lab_sources} ${PROJECT_SOURCE_DIR}/tests/h200.cpp)
emulator_target_sources(lab_common_as_gpu ${PROJECT_SOURCE_DIR}/common/l2_flush.cu)
target_include_directories(lab_common_as_gpu PUBLIC ${PROJECT_SOURCE_DIR}/common)
target_link_libraries(lab_common_as_gpu PUBLIC cuda_emulator PRIVATE lab_warnings)
target_compile_definitions(lab_common_as_gpu PUBLIC LAB_AS_GPU)
target_link_options(lab_common_as_gpu PUBLIC
    LINKER:--wrap=_Z23cudaGetDevicePropertiesP14cudaDevicePropi
    LINKER:--wrap=_Z22cudaDeviceGetAttributePi14cudaDeviceAttri
    LINKER:--wrap=_Z20cudaDriverGetVersionPi
    LINKER:--wrap=_Z21cudaDeviceGetPCIBusIdPcii)

function(lab_add_test_programs name)
    file(STRINGS ${name}.cu launches REGEX "<<<")
    if(launches)
        add_executable(${name}_faulty $<TARGET_OBJECTS:${name}>)
        target_link_libraries(${name}_faulty PRIVATE lab_faults)
    endif()

    set(EMULATOR_INSTRUMENT OFF) # in this function
    emulator_add_executable(${name}_as_gpu ${name}.cu)
    target_link_libraries(${name}_as_gpu PRIVATE lab_common_as_gpu lab_warnings)
    target_precompile_headers(${name}_as_gpu REUSE_FROM lab_precompiled)
endfunction()
