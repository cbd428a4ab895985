# A test compares the predicted wavefronts with the counts of profilers.
if(TARGET sharedBanks_instrumented)
    lab_add_case(${name} predicted full ${folder}/tests/predicted_counts.py $<TARGET_FILE:${shipped}_instrumented> ${source})
endif()
