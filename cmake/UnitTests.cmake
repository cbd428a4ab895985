# lab_add_unit_tests(target case label sources...): a program of tests with GoogleTest, of a build for the cpu back end,
# which ctest runs as one case; without GoogleTest there is none. The program prints each test's name before it runs the
# test, so that the output of a crash or a hang ends with the name of the test.
#
# in:  LAB_OWN_TESTS, LAB_CHOSEN_BACKEND; LAB_UNIT_TEST_LEVEL (O0 or O1), which a folder may set before the call
# out: LAB_UNIT_TESTS (on or off); lab_unit_test(), for ctest's other cases that belong to no exercise

function(lab_unit_test)
    set_tests_properties(${ARGV} PROPERTIES LABELS full SKIP_RETURN_CODE 77 TIMEOUT ${LAB_TEST_SECONDS})
endfunction()

set(LAB_UNIT_TESTS OFF)
if(LAB_OWN_TESTS AND LAB_CHOSEN_BACKEND STREQUAL "cpu")
    find_package(GTest)
    set(LAB_UNIT_TESTS ${GTest_FOUND})
    if(NOT GTest_FOUND)
        message(STATUS "GoogleTest not found: the unit tests are left out")
    endif()
endif()

# The tests take no time to run: they are quick to compile. O1 is for what the optimiser might spoil.
set(LAB_UNIT_TEST_LEVEL O0)
if(LAB_UNIT_TESTS)
    foreach(level IN ITEMS O0 O1)
        add_library(unit_tests_${level} OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/unit_tests.cpp) # main()
        target_link_libraries(unit_tests_${level} PRIVATE cuda_emulator lab_warnings GTest::gmock)
        target_compile_options(unit_tests_${level} PRIVATE -${level})
        target_precompile_headers(unit_tests_${level} PRIVATE <cuda_runtime.h> <gmock/gmock.h> <gtest/gtest.h>)
    endforeach()
endif()

function(lab_add_unit_tests target case label)
    if(NOT LAB_UNIT_TESTS)
        return()
    endif()
    emulator_add_executable(${target} ${ARGN})
    target_link_libraries(${target} PRIVATE lab_common lab_warnings GTest::gmock unit_tests_${LAB_UNIT_TEST_LEVEL})
    target_compile_options(${target} PRIVATE -${LAB_UNIT_TEST_LEVEL})
    target_precompile_headers(${target} REUSE_FROM unit_tests_${LAB_UNIT_TEST_LEVEL})
    add_test(NAME ${case} COMMAND ${target})
    lab_unit_test(${case})
    set_tests_properties(${case} PROPERTIES LABELS ${label})
    if(label STREQUAL "quick")
        add_dependencies(quick_tests ${target})
    endif()
endfunction()

# Those of a folder's own headers, NAME/tests/*_test.cpp and *_test.cu: the program NAME_tests, and the case NAME/tests.
function(lab_add_unit_tests_of folder)
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/tests/*_test.cpp ${folder}/tests/*_test.cu)
    if(sources)
        cmake_path(GET folder FILENAME name)
        lab_add_unit_tests(${name}_tests ${name}/tests full ${sources})
        if(LAB_UNIT_TESTS)
            target_include_directories(${name}_tests PRIVATE ${folder})
        endif()
    endif()
endfunction()
