// Switches between stacks: by assembly and, as engine_context_ucontext, by the system's ucontext.
#include "engine/context.h"

#include <gtest/gtest.h>
#include <unwind.h>

#include <cfenv>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <utility>
#include <vector>

namespace {

using emu::Context;
using emu::emuSwitchContext;
using emu::makeContext;

// A stack of its own on which `work` runs; it goes on whenever the test lets it, and ends by
// letting the test go on for good.
class Coroutine {
  public:
    explicit Coroutine(std::function<void(Coroutine&)> work) : work_(std::move(work)) {
        const size_t size = (kWords - 1) * sizeof(stack_[0]);  // the top is no multiple of 16
        inside_ = makeContext(stack_.data() + kWords - 1, size, enter);
    }

    void resume() { EXPECT_EQ(this, emuSwitchContext(&outside_, inside_, this)); }
    void suspend() { EXPECT_EQ(this, emuSwitchContext(&inside_, outside_, this)); }

  private:
    static constexpr size_t kWords = 1 << 14;

    static void enter(void* data) {
        auto* self = static_cast<Coroutine*>(data);
        self->work_(*self);
        self->suspend();
        std::abort();
    }

    std::function<void(Coroutine&)> work_;
    Context inside_ = nullptr, outside_ = nullptr;
    // Full of what looks like a caller.
    std::vector<void (*)(void*)> stack_ = std::vector<void (*)(void*)>(kWords, enter);
};

template <class T>
T hidden(T value) {
    volatile T place = value;
    return place;
}

using Switch = std::function<void()>;

// Whether values that are computed before a switch are the same behind it: so many integers and as
// many floating-point numbers, made of `seed`.
template <int values>
__attribute__((always_inline)) inline bool keepsNumbers(uint64_t seed, const Switch& toTheOther) {
    if constexpr (values == 0) {
        toTheOther();
        return true;
    } else {
        const uint64_t integer = hidden(seed + values);
        const double number = hidden(static_cast<double>(seed) / values);
        const bool others = keepsNumbers<values - 1>(seed, toTheOther);
        const bool sameInteger = integer == hidden(seed + values);
        const bool sameNumber = number == hidden(static_cast<double>(seed) / values);
        return others && sameInteger && sameNumber;
    }
}

template <int values>
__attribute__((noinline)) bool keeps(uint64_t seed, const Switch& toTheOther) {
    const Switch* const before = hidden(&toTheOther);
    return keepsNumbers<values>(seed, toTheOther) & (before == &toTheOther);
}

template <int values>
void testRegisters() {
    int kept = 0;
    const auto work = [&](Coroutine& self) {
        const Switch suspend = [&] { self.suspend(); };
        for (uint64_t i = 0; i < 5; ++i) kept += keeps<values>(1000 + i, suspend);
    };
    Coroutine one(work), two(work);
    const Switch resumeOne = [&] { one.resume(); }, resumeTwo = [&] { two.resume(); };
    for (uint64_t i = 0; i < 6; ++i) {
        EXPECT_TRUE(keeps<values>(2000 + i, resumeOne));
        EXPECT_TRUE(keeps<values>(3000 + i, resumeTwo));
    }
    EXPECT_EQ(10, kept);
}

// Few and many, so that each of those that a call keeps is among the registers that compilers take.
TEST(Contexts, KeepRegisters) {
    testRegisters<3>();
    testRegisters<6>();
    testRegisters<12>();
}

// As a function is called; instructions for vectors rely on it.
TEST(Contexts, StackIsAligned) {
    uintptr_t address = 1;
    Coroutine coroutine([&](Coroutine&) {
        alignas(16) volatile char vector[16] = {};
        address = reinterpret_cast<uintptr_t>(vector);
        address |= reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    });
    coroutine.resume();
    EXPECT_EQ(0u, address % 16);
}

TEST(Contexts, RoundAsTheirMaker) {
    std::vector<int> modes;
    std::fesetround(FE_UPWARD);
    Coroutine coroutine([&](Coroutine& self) {
        for (int i = 0; i < 2; ++i) {
            modes.push_back(std::fegetround());
            modes.push_back(hidden(1.0f) / hidden(3.0f) > hidden(1.0) / hidden(3.0));
            self.suspend();
        }
    });
    for (int i = 0; i < 2; ++i) {
        coroutine.resume();
        modes.push_back(std::fegetround());
    }
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ((std::vector<int>{FE_UPWARD, 1, FE_UPWARD, FE_UPWARD, 1, FE_UPWARD}), modes);
}

_Unwind_Reason_Code countFrame(_Unwind_Context*, void* count) {
    return ++*static_cast<int*>(count) < 100 ? _URC_NO_REASON : _URC_NORMAL_STOP;
}

TEST(Contexts, BacktracesEndWithTheirEntry) {
    int frames = 0, reason = 0;
    Coroutine coroutine([&](Coroutine& self) {
        self.suspend();
        reason = _Unwind_Backtrace(countFrame, &frames);
    });
    coroutine.resume();
    coroutine.resume();
    EXPECT_EQ(_URC_END_OF_STACK, reason);
    EXPECT_GT(frames, 2);
}

TEST(Contexts, ExceptionsStayOnTheirStack) {
    int caught = 0;
    Coroutine coroutine([&](Coroutine& self) {
        try {
            self.suspend();
            throw 3;
        } catch (int value) {
            caught = value;
        }
    });
    coroutine.resume();
    coroutine.resume();
    EXPECT_EQ(3, caught);
}

}  // namespace
