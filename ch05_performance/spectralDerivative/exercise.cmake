# The test loads this library while it runs.
if(TARGET spectralDerivative_tests)
    add_library(small_blas MODULE ${folder}/tests/smallBlas.cpp)
    target_link_libraries(small_blas PRIVATE lab_warnings)
    add_dependencies(spectralDerivative_tests small_blas)
    target_compile_definitions(spectralDerivative_tests PRIVATE LAB_TEST_BLAS="$<TARGET_FILE:small_blas>")
    add_test(NAME spectralDerivative/blas
        COMMAND spectralDerivative --points=5 --elements=3 --blas=$<TARGET_FILE:small_blas>)
    lab_unit_test(spectralDerivative/blas)
    set_tests_properties(spectralDerivative/blas PROPERTIES
        PASS_REGULAR_EXPRESSION "libsmall_blas.so +- +24 .* ok")
endif()
