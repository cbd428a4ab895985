// Stands in for NVIDIA's header of this name: mbarriers, the functions in C.
#pragma once

#include <cstdint>

#include "cuda_runtime.h"
#include "emu/mbarrier.h"

using __mbarrier_t = std::uint64_t;
using __mbarrier_token_t = std::uint64_t;

constexpr std::uint32_t __mbarrier_maximum_count() {
    return (1u << 20) - 1;
}
inline void __mbarrier_init(__mbarrier_t* barrier, std::uint32_t expected_count, EMU_AT) {
    emu::mbarrierInit(barrier, expected_count, {"__mbarrier_init()", file, line});
}
inline void __mbarrier_inval(__mbarrier_t* barrier, EMU_AT) {
    emu::mbarrierInvalidate(barrier, {"__mbarrier_inval()", file, line});
}
inline __mbarrier_token_t __mbarrier_arrive(__mbarrier_t* barrier, EMU_AT) {
    return emu::mbarrierArrive(barrier, 1, false, {"__mbarrier_arrive()", file, line});
}
inline __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t* barrier, EMU_AT) {
    return emu::mbarrierArrive(barrier, 1, true, {"__mbarrier_arrive_and_drop()", file, line});
}
inline bool __mbarrier_test_wait(__mbarrier_t* barrier, __mbarrier_token_t token, EMU_AT) {
    return emu::mbarrierTest(barrier, token, {"__mbarrier_test_wait()", file, line});
}
inline bool __mbarrier_test_wait_parity(__mbarrier_t* barrier, bool phase_parity, EMU_AT) {
    return emu::mbarrierTestParity(barrier, phase_parity,
                                   {"__mbarrier_test_wait_parity()", file, line});
}
// The time to sleep is a hint: here they wait until the phase has ended.
inline bool __mbarrier_try_wait(__mbarrier_t* barrier, __mbarrier_token_t token, std::uint32_t,
                                EMU_AT) {
    emu::mbarrierWait(barrier, token, {"__mbarrier_try_wait()", file, line});
    return true;
}
inline bool __mbarrier_try_wait_parity(__mbarrier_t* barrier, bool phase_parity, std::uint32_t,
                                       EMU_AT) {
    emu::mbarrierWaitParity(barrier, phase_parity, {"__mbarrier_try_wait_parity()", file, line});
    return true;
}
// The barrier waits for the copies that the thread has begun with __pipeline_memcpy_async().
inline void __pipeline_arrive_on(__mbarrier_t* barrier, EMU_AT) {
    emu::asyncArriveOn(barrier, {"__pipeline_arrive_on()", file, line});
}
