# The passes and turns that it predicts are what the profiler counts.
if(TARGET sharedReduction_instrumented)
    add_test(NAME "sharedReduction predicted"
        COMMAND ${LAB_PYTHON} ${folder}/tests/predicted_passes.py $<TARGET_FILE:sharedReduction_instrumented> ${source})
    lab_describe_case("sharedReduction predicted" sharedReduction counts)
endif()
