# lab_add_unit_tests(target prefix sources...): the cases of GoogleTest in these sources, which ctest knows as
# prefix/SUITE.CASE. In a build for the cpu back end; without GoogleTest there are none.
#
# in:  LAB_OWN_TESTS, LAB_CHOSEN_BACKEND
# out: LAB_UNIT_TESTS (on or off); unit_properties and lab_unit_test(), for ctest's other cases that belong to no
#      exercise

set(unit_properties LABELS unit SKIP_RETURN_CODE 77)
# A case of GoogleTest takes milliseconds, or up to some seconds of a busy machine: one that takes so long hangs.
set(LAB_CASE_SECONDS 120 CACHE STRING "Seconds after which a case of GoogleTest counts as hanging")
function(lab_unit_test)
    set_tests_properties(${ARGV} PROPERTIES ${unit_properties} TIMEOUT ${LAB_TEST_SECONDS})
endfunction()

set(LAB_UNIT_TESTS OFF)
if(LAB_OWN_TESTS AND LAB_CHOSEN_BACKEND STREQUAL "cpu")
    find_package(GTest)
    set(LAB_UNIT_TESTS ${GTest_FOUND})
    if(NOT GTest_FOUND)
        message(STATUS "GoogleTest not found: the unit tests are left out")
    endif()
endif()

set(quick -O1) # to compile: the tests take no time to run
if(LAB_UNIT_TESTS)
    include(GoogleTest)
    file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/empty.cpp CONTENT "")
    add_library(tests_precompiled OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/empty.cpp)
    target_link_libraries(tests_precompiled PRIVATE cuda_emulator lab_warnings GTest::gmock)
    target_compile_options(tests_precompiled PRIVATE ${quick})
    target_precompile_headers(tests_precompiled PRIVATE
        <cuda_runtime.h> <gmock/gmock.h> <gtest/gtest.h>)
endif()

function(lab_add_unit_tests target prefix)
    if(NOT LAB_UNIT_TESTS)
        return()
    endif()
    emulator_add_executable(${target} ${ARGN})
    target_link_libraries(${target} PRIVATE lab_common lab_warnings GTest::gmock GTest::gtest_main)
    target_compile_options(${target} PRIVATE ${quick})
    # Where the order of headers is what is tested, those of the source come first.
    if(NOT target MATCHES "overload_visibility")
        target_precompile_headers(${target} REUSE_FROM tests_precompiled)
    endif()
    gtest_discover_tests(${target}
        TEST_PREFIX ${prefix}/
        DISCOVERY_TIMEOUT ${LAB_TEST_SECONDS}
        PROPERTIES ${unit_properties} TIMEOUT ${LAB_CASE_SECONDS})
endfunction()

# Those of a folder's own headers, NAME/tests/*_test.cpp and *_test.cu: NAME_tests.
function(lab_add_unit_tests_of folder)
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/tests/*_test.cpp ${folder}/tests/*_test.cu)
    if(sources)
        cmake_path(GET folder FILENAME name)
        lab_add_unit_tests(${name}_tests ${name}/tests ${sources})
        if(LAB_UNIT_TESTS)
            target_include_directories(${name}_tests PRIVATE ${folder})
        endif()
    endif()
endfunction()
