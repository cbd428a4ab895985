# The turns that it predicts are what profilers count.
if(TARGET sharedBanks_instrumented)
    add_test(NAME "sharedBanks predicted"
        COMMAND ${LAB_PYTHON} ${folder}/tests/predicted_counts.py $<TARGET_FILE:sharedBanks_instrumented> ${source})
    lab_describe_case("sharedBanks predicted" sharedBanks counts)
endif()
