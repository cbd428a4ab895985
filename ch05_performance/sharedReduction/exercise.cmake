# The passes and turns that it predicts are what the profiler counts.
if(TARGET sharedReduction_instrumented)
    lab_add_case(${name} predicted full ${folder}/tests/predicted_passes.py $<TARGET_FILE:${shipped}_instrumented> ${source})
endif()
