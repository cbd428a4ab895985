#include "fault.h"

#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>

#include "aarch64_store.h"
#include "allocations.h"
#include "emu/division.h"
#include "memory_operand.h"
#include "messages.h"
#include "out_of_memory.h"
#include "program_symbols.h"
#include "scheduler.h"
#include "symbolizer.h"
#include "watchdog.h"
#include "watcher.h"

namespace emu {
namespace {

#ifdef EMU_ADDRESS_SANITIZER
constexpr bool kSanitized = true;  // its own report, with the source line, says more
#else
constexpr bool kSanitized = false;
#endif

constexpr std::array<int, 5> kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
std::array<struct sigaction, kSignals.size()> previousActions;

// Restores what handled the signal before; returning then raises it again.
void passOn(int signal) {
    for (size_t i = 0; i < kSignals.size(); ++i) {
        if (kSignals[i] == signal) sigaction(signal, &previousActions[i], nullptr);
    }
}

bool isDefault(int signal) {
    struct sigaction action {};
    return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_DFL;
}

// What a fault says of the instruction that it interrupted.
struct Interrupted {
    uintptr_t pc;
    bool writes;
};

#ifdef __x86_64__

Interrupted interruptedAt(const ucontext_t& context) {
    constexpr greg_t kWrite = 2;  // of the page fault's error code
    const greg_t* const registers = context.uc_mcontext.gregs;
    return {static_cast<uintptr_t>(registers[REG_RIP]), (registers[REG_ERR] & kWrite) != 0};
}

#elif defined(__aarch64__)

// The processor's syndrome (ESR) is among the records that Linux puts behind the registers; QEMU's
// user mode has none.
Interrupted interruptedAt(const ucontext_t& context) {
    constexpr uint64_t kWrite = 1 << 6;
    const uintptr_t pc = context.uc_mcontext.pc;
    const unsigned char* at = context.uc_mcontext.__reserved;
    for (;;) {
        _aarch64_ctx record;
        std::memcpy(&record, at, sizeof(record));
        if (record.magic == 0) return {pc, isAArch64Store(*reinterpret_cast<uint32_t*>(pc))};
        if (record.magic == ESR_MAGIC) {
            esr_context syndrome;
            std::memcpy(&syndrome, at, sizeof(syndrome));
            return {pc, (syndrome.esr & kWrite) != 0};
        }
        at += record.size;
    }
}

#else

Interrupted interruptedAt(const ucontext_t&) {
    return {0, false};
}

#endif

// Where the hazard check looks on, the host meets protected device memory: the check tells of it
// and lets the instruction have its way.
bool isWatchedMemory(int signal, const siginfo_t& info, const ucontext_t& context) {
    if (signal != SIGSEGV || watcher == nullptr) return false;
    const auto [pc, writes] = interruptedAt(context);
    return watcher->hostFault(reinterpret_cast<uintptr_t>(info.si_addr), pc, writes);
}

constexpr uintptr_t kPage = 4096;  // the first one: what is reached through a null pointer

struct Cause {
    std::optional<uintptr_t> address;
    bool misaligned;
};

// An x86-64 processor gives no address where none can be right: it is not a multiple of 16, which
// vectors need, or above all that there is. An operand that is neither is not what it complains of.
Cause causeOf(int signal, const siginfo_t& info, const ucontext_t& context) {
    const auto given = reinterpret_cast<uintptr_t>(info.si_addr);
    if (signal == SIGBUS && info.si_code == BUS_ADRALN) return {given, true};
    if (info.si_code != SI_KERNEL) return {given, false};
    const auto operand = memoryOperand(context);
    if (!operand) return {std::nullopt, false};
    const uintptr_t address = operand->address;
    const bool exists =
        static_cast<intptr_t>(address << 16) >> 16 == static_cast<intptr_t>(address);
    if (!exists) return {address, false};
    if (operand->mayBeVector && address % 16 != 0) return {address, true};
    return {std::nullopt, false};
}

// An unsigned index of 32 bits that went below 0 leads 2^32 elements too far in an address of 64
// bits. nvcc's optimised code computes addresses in shared memory with 32 bits, where such an index
// leads to the right place: on an H200 a program with s[~i] is right with -O3, and its kernel fails
// with -G.
std::string wrappedIndex(uintptr_t address) {
    const Variable shared = threadLocals();
    for (int size = 1; size <= 16; size *= 2) {
        const uintptr_t meant = address - (uintptr_t{1} << 32) * static_cast<unsigned>(size);
        if (meant - reinterpret_cast<uintptr_t>(shared.base) >= shared.size) continue;
        return format(
            ": 2^32 elements of %d byte%s behind an address in shared memory. An unsigned index "
            "of 32 bits went below 0: use a signed one (on a GPU the index works where nvcc "
            "optimises, and fails with -G)",
            size, size == 1 ? "" : "s");
    }
    return "";
}

std::string messageOf(const Cause& cause) {
    if (!cause.address) return "illegal address, or a misaligned one";
    const auto* const address = reinterpret_cast<const void*>(*cause.address);
    if (cause.misaligned) {
        return format(
            "misaligned address %p: an access of 16 bytes, as of a float4, needs a multiple of 16",
            address);
    }
    const bool isNull = *cause.address < kPage;
    const bool isWild = !isNull && !findAllocation(address);
    return format("illegal address %p%s%s", address,
                  isNull   ? ": a null pointer"
                  : isWild ? ", which belongs to no allocation"
                           : "",
                  isWild ? wrappedIndex(*cause.address).c_str() : "");
}

// ---- the end of a program

const char* nameOf(int signal) {
    switch (signal) {
        case SIGSEGV:
            return "SIGSEGV, an illegal address";
        case SIGBUS:
            return "SIGBUS, an illegal address";
        case SIGFPE:
            return "SIGFPE, such as an integer division by zero";
        case SIGILL:
            return "SIGILL, an illegal instruction";
        default:
            return "SIGABRT, a call of abort()";
    }
}

std::atomic<int> deadly{0};  // the signal

// What was to be said takes too long: the heap or a lock may be in any state.
void onAlarm(int) {
    std::signal(deadly, SIG_DFL);
    raise(deadly);
}

// The program is about to end by a signal that it has not asked for: says where, and which kernel
// may have spoilt something.
void tellOfDeath(int signal, const siginfo_t& info, const ucontext_t& context) {
    constexpr unsigned kPatience = 5;  // [s]
    deadly = signal;
    std::signal(SIGALRM, onAlarm);
    alarm(kPatience);
    const char* const name = watchedGrid.name;
    const bool runs = watchedGrid.number % 2 == 1;
    char address[64] = "";
    if ((signal == SIGSEGV || signal == SIGBUS) && info.si_code != SI_KERNEL) {
        const auto place = reinterpret_cast<uintptr_t>(info.si_addr);
        std::snprintf(address, sizeof(address), " (%#zx%s)", size_t{place},
                      place < kPage ? ", a null pointer" : "");
    }
    char why[256];
    std::snprintf(why, sizeof(why), "%s%s%s%s", nameOf(signal), address,
                  name == nullptr ? ", before any kernel ran"
                  : runs          ? ", while this kernel ran: "
                                  : ". The last kernel that ran: ",
                  name == nullptr ? "" : name);
    if (watcher == nullptr) dprintf(STDERR_FILENO, "emulator: the program dies: %s\n", why);
    const uintptr_t place = hostPlace(interruptedAt(context).pc + 1);
    if (watcher != nullptr) {
        watcher->programDies(why, place);
    } else if (const SourceLine line = sourceLine(place); line.line > 0) {
        dprintf(STDERR_FILENO, "emulator: that was at %s:%d\n", line.file.c_str(), line.line);
    }
    alarm(0);
}

// A handler rounds as programs do when they begin (Linux on x86-64): from here on it does as the
// kernel, since it never returns to what restores that.
void roundAsBefore([[maybe_unused]] const ucontext_t& context) {
#ifdef __x86_64__
    const auto& registers = *context.uc_mcontext.fpregs;
    asm volatile("ldmxcsr %0" : : "m"(registers.mxcsr));
    asm volatile("fldcw %0" : : "m"(registers.cwd));
#endif
}

// A fault in a kernel leaves the handler by switching to the OS thread's own stack, as siglongjmp()
// would. The fault is synchronous, in the kernel's own code, so nothing of the engine was
// interrupted half-way.
void onFault(int signal, siginfo_t* info, void* context) {
    const auto& interrupted = *static_cast<ucontext_t*>(context);
    if (!inDevice() || signal == SIGABRT) {
        if (isWatchedMemory(signal, *info, interrupted)) return;
        passOn(signal);
        if (isDefault(signal)) tellOfDeath(signal, *info, interrupted);
        if (signal == SIGABRT) raise(signal);  // abort() would not ask another handler
        return;
    }
    roundAsBefore(interrupted);
    if (signal == SIGFPE) {
        failDivisionByZero();
    } else if (signal == SIGILL) {
        failKernel(cudaErrorIllegalInstruction, "illegal instruction");
    } else if (isStackOverflow(currentFiber(), info->si_addr)) {
        failKernel(cudaErrorIllegalAddress, stackOverflowMessage());
    } else {
        const Cause cause = causeOf(signal, *info, interrupted);
        failKernel(cause.misaligned ? cudaErrorMisalignedAddress : cudaErrorIllegalAddress,
                   messageOf(cause),
                   cause.misaligned ? Failure::MisalignedAccess : Failure::IllegalAccess);
    }
}

}  // namespace

void failDivisionByZero() noexcept {
    failKernel(cudaErrorLaunchFailure,
               "integer division by zero (on a GPU the result is undefined)");
}

void installFaultHandlers() {
    if (kSanitized) return;
    static std::once_flag once;
    std::call_once(once, [] {
        struct sigaction action {};
        action.sa_sigaction = onFault;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
        sigemptyset(&action.sa_mask);
        for (size_t i = 0; i < kSignals.size(); ++i)
            sigaction(kSignals[i], &action, &previousActions[i]);
    });
}

SignalStack::SignalStack() {
    if (kSanitized) return;
    stack_t current{};
    sigaltstack(nullptr, &current);
    if ((current.ss_flags & SS_DISABLE) == 0) return;
    memory_ = std::malloc(kSize);
    if (memory_ == nullptr) quitWithoutMemory("a stack for signals");
    stack_t mine{};
    mine.ss_sp = memory_;
    mine.ss_size = kSize;
    sigaltstack(&mine, nullptr);
}

SignalStack::~SignalStack() {
    if (memory_ == nullptr) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
    std::free(memory_);
}

}  // namespace emu

// glibc's assert() calls this. In a kernel an assertion that fails ends the kernel, not the
// process; the line is CUDA's.
extern "C" void __assert_fail(const char* expression, const char* file, unsigned line,
                              const char* function) noexcept {
    if (!emu::inDevice()) {
        std::fflush(stdout);
        std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function,
                     expression);
        std::abort();
    }
    std::fprintf(stderr,
                 "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", file,
                 line, function, blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y,
                 threadIdx.z, expression);
    emu::failKernel(cudaErrorAssert, "an assertion failed");
}
