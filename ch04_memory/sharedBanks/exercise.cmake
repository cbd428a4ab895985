# The turns that it predicts are what profilers count.
if(TARGET sharedBanks_instrumented)
    lab_add_case(predicted full ${folder}/tests/predicted_counts.py $<TARGET_FILE:sharedBanks_instrumented> ${source})
endif()
