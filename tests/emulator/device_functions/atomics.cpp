// Atomics: results, wrap-around, the types that they accept, and many threads at one address.
#include "emu/atomics.h"

#include <gtest/gtest.h>

#include <climits>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

// ---- each returns the old value and leaves the new one ----

template <class T>
void checkAdd() {
    T x = 5;
    EXPECT_EQ(atomicAdd(&x, 3), T(5));
    EXPECT_EQ(atomicAdd_block(&x, 2), T(8));
    EXPECT_EQ(atomicAdd_system(&x, 1), T(10));
    EXPECT_EQ(x, T(11));
}

TEST(Atomics, Add) {
    checkAdd<int>();
    checkAdd<unsigned>();
    checkAdd<unsigned long long>();
    checkAdd<float>();
    checkAdd<double>();
}

TEST(Atomics, AddWrapsAround) {
    int i = INT_MAX;
    atomicAdd(&i, 1);
    EXPECT_EQ(i, INT_MIN);
    unsigned long long u = 3;
    atomicAdd(&u, -5);  // a negative value converts to unsigned
    EXPECT_EQ(u, ULLONG_MAX - 1);
}

TEST(Atomics, AddOfVectors) {
    float2 two = make_float2(1, 2);
    EXPECT_EQ(atomicAdd(&two, make_float2(10, 20)).y, 2.0f);
    EXPECT_EQ(two.x, 11.0f);
    EXPECT_EQ(two.y, 22.0f);
    float4 four = make_float4(1, 2, 3, 4);
    EXPECT_EQ(atomicAdd(&four, make_float4(10, 20, 30, 40)).w, 4.0f);
    EXPECT_EQ(four.y, 22.0f);
    EXPECT_EQ(four.z, 33.0f);
}

TEST(Atomics, Sub) {
    int i = INT_MIN;
    EXPECT_EQ(atomicSub(&i, 1), INT_MIN);
    EXPECT_EQ(i, INT_MAX);
    unsigned u = 0;
    EXPECT_EQ(atomicSub(&u, 1), 0u);
    EXPECT_EQ(u, UINT_MAX);
}

TEST(Atomics, Exch) {
    float f = 1.5f;
    EXPECT_EQ(atomicExch(&f, 2), 1.5f);
    EXPECT_EQ(f, 2.0f);
    int i = 1;
    EXPECT_EQ(atomicExch(&i, -1), 1);
    EXPECT_EQ(i, -1);
    unsigned long long u = ULLONG_MAX;
    EXPECT_EQ(atomicExch(&u, 7), ULLONG_MAX);
    EXPECT_EQ(u, 7u);
}

template <class T>
void checkMinMax(T low, T high) {
    T x = high;
    EXPECT_EQ(atomicMin(&x, low), high);
    EXPECT_EQ(x, low);
    EXPECT_EQ(atomicMin(&x, high), low);
    EXPECT_EQ(x, low);
    EXPECT_EQ(atomicMax(&x, high), low);
    EXPECT_EQ(x, high);
    EXPECT_EQ(atomicMax(&x, low), high);
    EXPECT_EQ(x, high);
}

TEST(Atomics, MinMaxHeedTheSign) {
    checkMinMax<int>(INT_MIN, INT_MAX);
    checkMinMax<unsigned>(0, UINT_MAX);
    checkMinMax<long long>(LLONG_MIN, LLONG_MAX);
    checkMinMax<unsigned long long>(0, ULLONG_MAX);
}

TEST(Atomics, IncStartsAgainAfterTheLimit) {
    unsigned x = 0;
    for (unsigned expected : {0u, 1u, 2u, 3u, 0u, 1u}) EXPECT_EQ(atomicInc(&x, 3), expected);
    x = 9;  // above the limit
    EXPECT_EQ(atomicInc(&x, 3), 9u);
    EXPECT_EQ(x, 0u);
    x = UINT_MAX;
    atomicInc(&x, UINT_MAX);
    EXPECT_EQ(x, 0u);
}

TEST(Atomics, DecStartsAgainAtTheLimit) {
    unsigned x = 2;
    for (unsigned expected : {2u, 1u, 0u, 3u, 2u}) EXPECT_EQ(atomicDec(&x, 3), expected);
    x = 9;
    EXPECT_EQ(atomicDec(&x, 3), 9u);
    EXPECT_EQ(x, 3u);
}

template <class T>
void checkBits() {
    T x = 0b1100;
    EXPECT_EQ(atomicAnd(&x, 0b1010), T(0b1100));
    EXPECT_EQ(x, T(0b1000));
    EXPECT_EQ(atomicOr(&x, 0b0011), T(0b1000));
    EXPECT_EQ(x, T(0b1011));
    EXPECT_EQ(atomicXor(&x, 0b1110), T(0b1011));
    EXPECT_EQ(x, T(0b0101));
}

TEST(Atomics, Bits) {
    checkBits<int>();
    checkBits<unsigned>();
    checkBits<long long>();
    checkBits<unsigned long long>();
}

template <class T>
void checkCas() {
    T x = 5;
    EXPECT_EQ(atomicCAS(&x, 4, 9), T(5));  // not as expected: unchanged
    EXPECT_EQ(x, T(5));
    EXPECT_EQ(atomicCAS(&x, 5, 9), T(5));
    EXPECT_EQ(x, T(9));
}

TEST(Atomics, Cas) {
    checkCas<unsigned short>();
    checkCas<int>();
    checkCas<unsigned>();
    checkCas<unsigned long long>();
    unsigned short pair[2] = {1, 2};  // the neighbour in the same word stays
    atomicCAS(&pair[0], 1, 7);
    EXPECT_EQ(pair[0], 7);
    EXPECT_EQ(pair[1], 2);
}

// ---- types that CUDA does not offer are compile errors ----

#define DEFINE_ACCEPTS(NAME, FUNCTION)                                                     \
    template <class T, class = void>                                                       \
    struct NAME : std::false_type {};                                                      \
    template <class T>                                                                     \
    struct NAME<T, std::void_t<decltype(FUNCTION(std::declval<T*>(), std::declval<T>()))>> \
        : std::true_type {}

DEFINE_ACCEPTS(AcceptsAdd, atomicAdd);
DEFINE_ACCEPTS(AcceptsSub, atomicSub);
DEFINE_ACCEPTS(AcceptsMin, atomicMin);
DEFINE_ACCEPTS(AcceptsInc, atomicInc);
DEFINE_ACCEPTS(AcceptsExch, atomicExch);
DEFINE_ACCEPTS(AcceptsXor, atomicXor);

TEST(Atomics, OtherTypesAreRejected) {
    EXPECT_TRUE(AcceptsAdd<int>::value);
    EXPECT_FALSE(AcceptsAdd<long long>::value);
    EXPECT_FALSE(AcceptsAdd<unsigned long>::value);
    EXPECT_FALSE(AcceptsAdd<short>::value);
    EXPECT_FALSE(AcceptsAdd<bool>::value);
    EXPECT_FALSE(AcceptsAdd<const int>::value);
    EXPECT_FALSE(AcceptsAdd<volatile int>::value);
    EXPECT_FALSE(AcceptsSub<float>::value);
    EXPECT_FALSE(AcceptsSub<unsigned long long>::value);
    EXPECT_FALSE(AcceptsMin<float>::value);
    EXPECT_FALSE(AcceptsInc<int>::value);
    EXPECT_FALSE(AcceptsExch<double>::value);
    EXPECT_FALSE(AcceptsXor<float>::value);
}

// ---- contention: blocks run on several OS threads ----

constexpr int kThreads = 4, kRounds = 20000;

template <class Body>
void inParallel(Body body) {
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([=] {
            for (int i = 0; i < kRounds; ++i) body(t * kRounds + i);
        });
    }
    for (auto& thread : threads) thread.join();
}

TEST(AtomicsUnderContention, NoUpdateIsLost) {
    int i = 0;
    unsigned down = kThreads * kRounds, wrapping = 0;
    unsigned long long u = 0;
    float f = 0;
    double d = 0;
    float4 v = make_float4(0, 0, 0, 0);
    int smallest = INT_MAX;
    long long largest = LLONG_MIN;
    unsigned bits = 0, toggled = 0;
    inParallel([&](int n) {
        atomicAdd(&i, 1);
        atomicSub(&down, 1);
        atomicInc(&wrapping, 999);
        atomicAdd(&u, 1ull << 32);
        atomicAdd(&f, 1.0f);  // exact below 2^24
        atomicAdd(&d, 0.5);
        atomicAdd(&v, make_float4(1, 2, 3, 4));
        atomicMin(&smallest, -n);
        atomicMax(&largest, static_cast<long long>(n));
        atomicOr(&bits, 1u << n % 32);
        atomicXor(&toggled, 1u);
    });
    const int total = kThreads * kRounds;
    EXPECT_EQ(i, total);
    EXPECT_EQ(down, 0u);
    EXPECT_EQ(wrapping, total % 1000u);
    EXPECT_EQ(u, static_cast<unsigned long long>(total) << 32);
    EXPECT_EQ(f, total);
    EXPECT_EQ(d, total / 2.0);
    EXPECT_EQ(v.x, total);
    EXPECT_EQ(v.w, 4.0f * total);
    EXPECT_EQ(smallest, -(total - 1));
    EXPECT_EQ(largest, total - 1);
    EXPECT_EQ(bits, UINT_MAX);
    EXPECT_EQ(toggled, total % 2u);
}

TEST(AtomicsUnderContention, ALockOfCasAndExchProtectsPlainData) {
    int lock = 0;
    long long plain = 0;
    inParallel([&](int) {
        while (atomicCAS(&lock, 0, 1) != 0) std::this_thread::yield();
        ++plain;
        atomicExch(&lock, 0);
    });
    EXPECT_EQ(plain, kThreads * kRounds);
}

// ---- spinning ----

TEST(Atomics, EachOneIsAChanceForOtherThreadsToRun) {
    const auto hints = [](auto operation) {
        const unsigned before = emu::spinCount;
        operation();
        return emu::spinCount - before;
    };
    int i = 0;
    unsigned u = 0;
    float f = 0;
    EXPECT_GE(hints([&] { atomicAdd(&i, 0); }), 1u);
    EXPECT_GE(hints([&] { atomicAdd(&f, 0); }), 1u);
    EXPECT_GE(hints([&] { atomicSub(&i, 0); }), 1u);
    EXPECT_GE(hints([&] { atomicExch(&i, 1); }), 1u);
    EXPECT_GE(hints([&] { atomicMin(&i, 0); }), 1u);
    EXPECT_GE(hints([&] { atomicMax(&i, 0); }), 1u);
    EXPECT_GE(hints([&] { atomicInc(&u, 0); }), 1u);
    EXPECT_GE(hints([&] { atomicDec(&u, 0); }), 1u);
    EXPECT_GE(hints([&] { atomicAnd(&i, 1); }), 1u);
    EXPECT_GE(hints([&] { atomicOr(&i, 0); }), 1u);
    EXPECT_GE(hints([&] { atomicXor(&i, 0); }), 1u);
    EXPECT_GE(hints([&] { atomicCAS(&i, 0, 1); }), 1u);
}

}  // namespace
