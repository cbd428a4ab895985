# lab_add_as_gpu(name): NAME_as_gpu runs on the cpu back end and says that it is an H200, for tests of what an exercise
# prints on a GPU: its default sizes, columns and notes there. Its times are still those of the emulation.

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

function(lab_add_as_gpu name)
    set(EMULATOR_INSTRUMENT OFF)
    emulator_add_executable(${name}_as_gpu ${name}.cu)
    target_link_libraries(${name}_as_gpu PRIVATE lab_common_as_gpu lab_warnings)
    target_precompile_headers(${name}_as_gpu REUSE_FROM lab_precompiled)
endfunction()
