// The functions that -fsanitize=thread and -fsanitize-coverage=trace-pc make a program call, in
// place of the sanitizer's run time: each access to memory, function and basic block, on its way to
// the recorder. (Linux' KCSAN and KCOV use the compilers in the same way.)
#include <algorithm>
#include <cstdarg>
#include <cstddef>
#include <cstdint>

#include "device_variables.h"
#include "emu/decisions.h"
#include "engine/allocations.h"
#include "engine/guarded_memory.h"
#include "engine/schedule.h"
#include "engine/scheduler.h"
#include "memory_map.h"
#include "recorder.h"

namespace emu {

__thread Recorder* recorder;
bool recordsConstants;
HostRecorder* hostRecorder;

namespace {

// A struct is copied in one piece here, but by a GPU as its members: of 4 bytes, or the compiler
// would have named an aligned access of up to 16.
constexpr uint32_t kMemberSize = 4;

// What host code does is of interest where a GPU's memory is concerned. Not what is done to find
// that out: of a template of the standard library that the program uses as well
// (std::deque<size_t>), the linker may have kept the program's code, which comes here, too.
__attribute__((noinline)) void recordOfHost(const Access& access) {
    static __thread bool within;
    if (within) return;
    within = true;
    const bool concerns = maybeGuarded(access.address) || isManagedVariable(access.address) ||
                          maybeVariableOfDevice(access.address) ||
                          hostRecorder->registered.meet(access.address, access.size) ||
                          hostRecorder->copied.meet(access.address, access.size) ||
                          hostRecorder->unwritten.meet(access.address, access.size);
    if (concerns && !inDevice()) hostRecorder->hostAccess(access);
    within = false;
}

inline __attribute__((always_inline)) void record(const void* pointer, uint32_t size,
                                                  uint32_t whole, AccessKind kind, bool isVolatile,
                                                  bool exchanges, bool compares, bool packed,
                                                  void* pc, bool onlyStores = false,
                                                  bool bytewise = false, bool isQuad = false) {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    Access access{address,    reinterpret_cast<uintptr_t>(pc),
                  size,       whole,
                  kind,       Space::Other,
                  isVolatile, exchanges,
                  compares,   packed,
                  onlyStores, bytewise,
                  isQuad};
    if (recorder == nullptr) {
        if (hostRecorder != nullptr) recordOfHost(access);
        return;
    }
    if (!memoryMap.classify(address, &access.space)) {
        if (__builtin_expect(recordsConstants, 0) && isConstantVariable(address)) {
            recorder->constant(access);
        }
        return;
    }
    if (size == 1 && access.space == Space::Shared && memoryMap.isGuard(address)) return;
    // (Not within a struct: those of its parts that have been recorded would not be carried out.)
    if (__builtin_expect(schedule != nullptr, 0) && access.space != Space::Other && whole != 0) {
        interleave(kind != AccessKind::Atomic && !isVolatile);
    }
    recorder->access(access);
}

inline __attribute__((always_inline)) void record(const void* pointer, uint32_t size,
                                                  AccessKind kind, bool isVolatile, void* pc) {
    record(pointer, size, size, kind, isVolatile, false, false, false, pc);
}

void recordQuad(const void* pointer, AccessKind kind, void* pc) {
    record(pointer, 16, 16, kind, false, false, false, false, pc, false, false, true);
}

void recordExchange(const void* pointer, uint32_t size, void* pc) {
    record(pointer, size, size, AccessKind::Atomic, false, true, false, false, pc);
}

void recordCompare(const volatile void* pointer, uint32_t size, void* pc) {
    record(const_cast<const void*>(pointer), size, size, AccessKind::Atomic, false, false, true,
           false, pc);
}

// (As volatile as a load that is atomic: the host may poll it.)
void recordStore(const void* pointer, uint32_t size, void* pc) {
    record(pointer, size, size, AccessKind::Atomic, true, true, false, false, pc, true);
}

// Of a struct, by its members: `count` pairs of offset and size.
void recordMembers(const void* pointer, int count, va_list members, AccessKind kind, void* pc) {
    for (int i = 0; i < count; ++i) {
        const auto offset = va_arg(members, uint64_t);
        const auto size = static_cast<uint32_t>(va_arg(members, uint64_t));
        record(static_cast<const char*>(pointer) + offset, size, kind, false, pc);
    }
}

// An object's pointer to its virtual functions.
void recordTable(void** pointer, AccessKind kind, void* pc) {
    Access access{};
    access.address = reinterpret_cast<uintptr_t>(pointer);
    access.pc = reinterpret_cast<uintptr_t>(pc);
    access.size = access.whole = sizeof(void*);
    access.kind = kind;
    if (recorder == nullptr) {
        if (hostRecorder != nullptr) recordOfHost(access);
    } else if (memoryMap.classify(access.address, &access.space)) {
        recorder->table(access);
    }
}

void recordRange(const void* pointer, size_t bytes, AccessKind kind, void* pc) {
    if (recorder == nullptr && hostRecorder == nullptr) return;
    const auto* byte = static_cast<const char*>(pointer);
    const uint32_t member = bytes % kMemberSize == 0 ? kMemberSize : 1;
    for (size_t i = 0; i < bytes; i += member) {
        record(byte + i, member, i == 0 ? static_cast<uint32_t>(bytes) : 0, kind, false, false,
               false, true, pc);
    }
}

// Of memcpy() and its like. Pieces of words are what the hazard check knows of memory; the profiler
// counts their bytes.
void recordBytes(const void* pointer, size_t bytes, AccessKind kind, void* pc) {
    if (bytes == 0) return;
    const auto* byte = static_cast<const char*>(pointer);
    const auto whole = static_cast<uint32_t>(std::min<size_t>(bytes, UINT32_MAX));
    if (recorder == nullptr) {
        if (hostRecorder != nullptr)
            record(pointer, whole, whole, kind, false, false, false, true, pc);
        return;
    }
    uint32_t piece = 1;
    for (size_t i = 0; i < bytes; i += piece) {
        const bool inWords = reinterpret_cast<uintptr_t>(byte + i) % kMemberSize == 0;
        piece = inWords && bytes - i >= kMemberSize ? kMemberSize : 1;
        record(byte + i, piece, i == 0 ? whole : 0, kind, false, false, false, true, pc, false,
               true);
    }
}

// What the host copies on may be bytes that nothing has written.
void copiedOn(void* to, const void* from, size_t bytes) {
    if (recorder != nullptr || hostRecorder == nullptr) return;
    const auto source = reinterpret_cast<uintptr_t>(from);
    if (!hostRecorder->unwritten.meet(source, bytes)) return;
    hostRecorder->hostCopies(reinterpret_cast<uintptr_t>(to), source, bytes);
}

// By memcmp(). The host uses each of these bytes, also where a copy would only pass them on.
void recordCompared(const void* pointer, size_t bytes, void* pc) {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    const bool each = recorder == nullptr && hostRecorder != nullptr &&
                      (maybeGuarded(address) || hostRecorder->unwritten.meet(address, bytes));
    if (!each) {
        recordBytes(pointer, bytes, AccessKind::Load, pc);
        return;
    }
    for (size_t i = 0; i < bytes; i += kMemberSize) {
        recordBytes(static_cast<const char*>(pointer) + i, std::min<size_t>(kMemberSize, bytes - i),
                    AccessKind::Load, pc);
    }
}

}  // namespace

void recordAtomic(const volatile void* address, size_t bytes) {
    record(const_cast<const void*>(address), static_cast<uint32_t>(bytes), AccessKind::Atomic,
           false, __builtin_return_address(0));
}
void recordAtomicLoad(const volatile void* address, size_t bytes) {
    record(const_cast<const void*>(address), static_cast<uint32_t>(bytes), AccessKind::Load, true,
           __builtin_return_address(0));
}
void recordAtomicStore(const volatile void* address, size_t bytes) {
    recordStore(const_cast<const void*>(address), static_cast<uint32_t>(bytes),
                __builtin_return_address(0));
}
void recordAtomicExchange(const volatile void* address, size_t bytes) {
    recordExchange(const_cast<const void*>(address), static_cast<uint32_t>(bytes),
                   __builtin_return_address(0));
}
void recordAtomicCompare(const volatile void* address, size_t bytes) {
    recordCompare(address, static_cast<uint32_t>(bytes), __builtin_return_address(0));
}
void recordSum(const float*, float old, float value) {
    if (recorder != nullptr) recorder->sum(old, value, false);
}
void recordSum(const double*, double old, double value) {
    if (recorder != nullptr) recorder->sum(old, value, true);
}
void readsObject(const void* object, size_t bytes, size_t alignment, const void* pc) noexcept {
    constexpr size_t kWidest = 16;
    const bool isOne = bytes <= kWidest && (bytes & (bytes - 1)) == 0 && alignment >= bytes;
    auto* const place = const_cast<void*>(pc);
    if (isOne) {
        record(object, static_cast<uint32_t>(bytes), AccessKind::Load, false, place);
    } else {
        recordRange(object, bytes, AccessKind::Load, place);
    }
}
void recordFence() {
    if (recorder != nullptr) recorder->fence();
}
void recordNarrowScope() {
    if (recorder != nullptr) recorder->narrowScope();
}
void recordProxyFence() {
    if (recorder != nullptr) recorder->proxyFence();
}

}  // namespace emu

using emu::AccessKind;
using emu::record;
using emu::recordBytes;
using emu::recordCompare;
using emu::recordExchange;
using emu::recordMembers;
using emu::recordQuad;
using emu::recordRange;
using emu::recordStore;
using emu::recordTable;

#define EMU_CALLER __builtin_return_address(0)

extern "C" {

void __tsan_init() {}

void __tsan_func_entry(void* caller) {
    if (emu::recorder != nullptr) emu::recorder->enter(reinterpret_cast<uintptr_t>(caller));
}
void __tsan_func_exit() {
    if (emu::recorder != nullptr) {
        emu::recorder->leave(reinterpret_cast<uintptr_t>(EMU_CALLER));
    }
}
void __sanitizer_cov_trace_pc() {
    if (emu::recorder != nullptr) {
        emu::recorder->basicBlock(reinterpret_cast<uintptr_t>(EMU_CALLER));
    }
}

// What a constructor does to its object, and where a virtual function is looked up. (GCC announces
// the latter as an ordinary read.)
void __tsan_vptr_update(void** pointer, void*) {
    recordTable(pointer, AccessKind::Store, EMU_CALLER);
}
void __tsan_vptr_read(void** pointer) {
    recordTable(pointer, AccessKind::Load, EMU_CALLER);
}

#define EMU_ACCESSES(SIZE)                                     \
    void __tsan_read##SIZE(void* p) {                          \
        record(p, SIZE, AccessKind::Load, false, EMU_CALLER);  \
    }                                                          \
    void __tsan_write##SIZE(void* p) {                         \
        record(p, SIZE, AccessKind::Store, false, EMU_CALLER); \
    }                                                          \
    void __tsan_unaligned_read##SIZE(void* p) {                \
        recordRange(p, SIZE, AccessKind::Load, EMU_CALLER);    \
    }                                                          \
    void __tsan_unaligned_write##SIZE(void* p) {               \
        recordRange(p, SIZE, AccessKind::Store, EMU_CALLER);   \
    }                                                          \
    void __tsan_read_write##SIZE(void* p) {                    \
        record(p, SIZE, AccessKind::Load, false, EMU_CALLER);  \
        record(p, SIZE, AccessKind::Store, false, EMU_CALLER); \
    }                                                          \
    void __tsan_unaligned_read_write##SIZE(void* p) {          \
        recordRange(p, SIZE, AccessKind::Load, EMU_CALLER);    \
        recordRange(p, SIZE, AccessKind::Store, EMU_CALLER);   \
    }                                                          \
    void __tsan_volatile_read##SIZE(void* p) {                 \
        record(p, SIZE, AccessKind::Load, true, EMU_CALLER);   \
    }                                                          \
    void __tsan_volatile_write##SIZE(void* p) {                \
        record(p, SIZE, AccessKind::Store, true, EMU_CALLER);  \
    }
EMU_ACCESSES(1)
EMU_ACCESSES(2)
EMU_ACCESSES(4)
EMU_ACCESSES(8)
EMU_ACCESSES(16)

void __tsan_read_range(void* p, size_t bytes) {
    recordRange(p, bytes, AccessKind::Load, EMU_CALLER);
}
void __tsan_write_range(void* p, size_t bytes) {
    recordRange(p, bytes, AccessKind::Store, EMU_CALLER);
}
// (driver/instrument_clang.py puts calls of these four into clang's code.)
void __emu_read16(void* p) {
    recordQuad(p, AccessKind::Load, EMU_CALLER);
}
void __emu_write16(void* p) {
    recordQuad(p, AccessKind::Store, EMU_CALLER);
}
void __emu_read_members(void* p, int count, ...) {
    va_list members;
    va_start(members, count);
    recordMembers(p, count, members, AccessKind::Load, EMU_CALLER);
    va_end(members);
}
void __emu_write_members(void* p, int count, ...) {
    va_list members;
    va_start(members, count);
    recordMembers(p, count, members, AccessKind::Store, EMU_CALLER);
    va_end(members);
}
// What memcpy() and its like are in instrumented code (emu/memory_functions.h).
void* __tsan_memcpy(void* to, const void* from, size_t bytes) {
    recordBytes(from, bytes, AccessKind::Load, EMU_CALLER);
    recordBytes(to, bytes, AccessKind::Store, EMU_CALLER);
    emu::copiedOn(to, from, bytes);
    return __builtin_memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, size_t bytes) {
    recordBytes(from, bytes, AccessKind::Load, EMU_CALLER);
    recordBytes(to, bytes, AccessKind::Store, EMU_CALLER);
    emu::copiedOn(to, from, bytes);
    return __builtin_memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, size_t bytes) {
    recordBytes(to, bytes, AccessKind::Store, EMU_CALLER);
    return __builtin_memset(to, value, bytes);
}

int emu_memcmp(const void* a, const void* b, size_t bytes) {
    emu::recordCompared(a, bytes, EMU_CALLER);
    emu::recordCompared(b, bytes, EMU_CALLER);
    return __builtin_memcmp(a, b, bytes);
}

// The sanitizer's run time also carries out the atomic operations. The strongest order serves all.
#define EMU_ATOMIC_RMW(BITS, T, NAME)                                                \
    T __tsan_atomic##BITS##_##NAME(volatile T* p, T value, int) {                    \
        record(const_cast<T*>(p), sizeof(T), AccessKind::Atomic, false, EMU_CALLER); \
        return __atomic_##NAME(p, value, __ATOMIC_SEQ_CST);                          \
    }
#define EMU_ATOMIC_CAS(BITS, T, STRENGTH, WEAK)                                                 \
    bool __tsan_atomic##BITS##_compare_exchange_##STRENGTH(volatile T* p, T* expected, T value, \
                                                           int, int) {                          \
        recordCompare(p, sizeof(T), EMU_CALLER);                                                \
        return __atomic_compare_exchange_n(p, expected, value, WEAK, __ATOMIC_SEQ_CST,          \
                                           __ATOMIC_SEQ_CST);                                   \
    }
#define EMU_ATOMICS(BITS, T)                                                                     \
    T __tsan_atomic##BITS##_load(const volatile T* p, int) {                                     \
        record(const_cast<T*>(p), sizeof(T), AccessKind::Load, true, EMU_CALLER);                \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                             \
    }                                                                                            \
    void __tsan_atomic##BITS##_store(volatile T* p, T value, int) {                              \
        recordStore(const_cast<T*>(p), sizeof(T), EMU_CALLER);                                   \
        __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                                            \
    }                                                                                            \
    T __tsan_atomic##BITS##_exchange(volatile T* p, T value, int) {                              \
        recordExchange(const_cast<T*>(p), sizeof(T), EMU_CALLER);                                \
        return __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST);                                  \
    }                                                                                            \
    EMU_ATOMIC_RMW(BITS, T, fetch_add)                                                           \
    EMU_ATOMIC_RMW(BITS, T, fetch_sub)                                                           \
    EMU_ATOMIC_RMW(BITS, T, fetch_and)                                                           \
    EMU_ATOMIC_RMW(BITS, T, fetch_or)                                                            \
    EMU_ATOMIC_RMW(BITS, T, fetch_xor)                                                           \
    EMU_ATOMIC_RMW(BITS, T, fetch_nand)                                                          \
    EMU_ATOMIC_CAS(BITS, T, strong, false)                                                       \
    EMU_ATOMIC_CAS(BITS, T, weak, true)                                                          \
    /* (clang's name) */                                                                         \
    T __tsan_atomic##BITS##_compare_exchange_val(volatile T* p, T expected, T value, int, int) { \
        recordCompare(p, sizeof(T), EMU_CALLER);                                                 \
        __atomic_compare_exchange_n(p, &expected, value, false, __ATOMIC_SEQ_CST,                \
                                    __ATOMIC_SEQ_CST);                                           \
        return expected;                                                                         \
    }
EMU_ATOMICS(8, uint8_t)
EMU_ATOMICS(16, uint16_t)
EMU_ATOMICS(32, uint32_t)
EMU_ATOMICS(64, uint64_t)

void __tsan_atomic_thread_fence(int) {
    emu::recordFence();
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int) {
    emu::recordFence();
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

}  // extern "C"
