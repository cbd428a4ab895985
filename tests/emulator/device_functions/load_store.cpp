// Loads and stores with cache hints, fences and clocks.
#include "emu/load_store.h"

#include <gtest/gtest.h>

#include <type_traits>
#include <utility>

#include "emu/thread_functions.h"

namespace {

template <class T>
void checkScalar() {
    T memory[2] = {T(1), T(2)};
    EXPECT_EQ(__ldg(&memory[1]), T(2));
    EXPECT_EQ(__ldg(static_cast<const T*>(memory)), T(1));
    EXPECT_EQ(__ldca(&memory[1]), T(2));
    EXPECT_EQ(__ldcg(&memory[1]), T(2));
    EXPECT_EQ(__ldcs(&memory[1]), T(2));
    EXPECT_EQ(__ldcv(&memory[1]), T(2));
    EXPECT_EQ(__ldlu(&memory[1]), T(2));
    __stcg(&memory[0], 3);
    EXPECT_EQ(memory[0], T(3));
    __stcs(&memory[0], 4);
    EXPECT_EQ(memory[0], T(4));
    __stwb(&memory[0], 5);
    EXPECT_EQ(memory[0], T(5));
    __stwt(&memory[0], 6);
    EXPECT_EQ(memory[0], T(6));
    EXPECT_EQ(memory[1], T(2));
}

TEST(LoadStore, Scalars) {
    checkScalar<char>();
    checkScalar<unsigned char>();
    checkScalar<short>();
    checkScalar<int>();
    checkScalar<unsigned>();
    checkScalar<long>();
    checkScalar<unsigned long>();
    checkScalar<long long>();
    checkScalar<unsigned long long>();
    checkScalar<float>();
    checkScalar<double>();
}

TEST(LoadStore, Vectors) {
    float4 f = make_float4(1, 2, 3, 4);
    EXPECT_EQ(__ldg(&f).w, 4.0f);
    EXPECT_EQ(__ldcg(&f).x, 1.0f);
    __stcs(&f, make_float4(5, 6, 7, 8));
    EXPECT_EQ(f.y, 6.0f);
    const int2 i = make_int2(1, 2);
    EXPECT_EQ(__ldg(&i).y, 2);
}

template <class T, class = void>
struct AcceptsLdg : std::false_type {};
template <class T>
struct AcceptsLdg<T, std::void_t<decltype(__ldg(std::declval<const T*>()))>> : std::true_type {};

TEST(LoadStore, TypesThatNoInstructionLoadsAreRejected) {
    struct Pair {
        int a, b;
    };
    EXPECT_TRUE(AcceptsLdg<double2>::value);
    EXPECT_FALSE(AcceptsLdg<float3>::value);
    EXPECT_FALSE(AcceptsLdg<double4>::value);
    EXPECT_FALSE(AcceptsLdg<bool>::value);
    EXPECT_FALSE(AcceptsLdg<Pair>::value);
    EXPECT_FALSE(AcceptsLdg<int*>::value);
}

TEST(ThreadFunctions, WhatAThreadMayPollWithLetsOthersRun) {
    const auto hints = [](auto operation) {
        const unsigned before = emu::spinCount;
        operation();
        return emu::spinCount - before;
    };
    int flag = 1, value = 0;
    EXPECT_GE(hints([] { __threadfence(); }), 1u);
    EXPECT_GE(hints([] { __threadfence_block(); }), 1u);
    EXPECT_GE(hints([] { __threadfence_system(); }), 1u);
    EXPECT_GE(hints([] { clock64(); }), 1u);
    EXPECT_GE(hints([&] { value += __ldcg(&flag); }), 1u);
    EXPECT_GE(hints([&] { value += __ldcv(&flag); }), 1u);
    EXPECT_EQ(value, 2);
}

TEST(ThreadFunctions, AssumptionsAreNotEvaluated) {
    int evaluations = 0;
    __assume(++evaluations > 0);
    EXPECT_EQ(evaluations, 0);
    const int x = 1;
    __builtin_assume(x > 0);
    __nanosleep(100);
}

}  // namespace
