# The profiler must count the passes and wavefronts that the program predicts.
if(TARGET sharedReduction_instrumented)
    lab_add_case(${name} predicted full ${folder}/tests/predicted_passes.py $<TARGET_FILE:${shipped}_instrumented> ${source})
endif()
