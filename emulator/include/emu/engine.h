// What a translated kernel sees of the engine: built-in variables, launches, block barriers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#ifdef __EMU_INSTRUMENTED__
#include "emu/kernel_frame.h"
#endif
#include "emu/limits.h"
#include "emu/runtime_types.h"
#include "emu/vector_types.h"

// CUDA's built-in variables: one set per OS thread; the scheduler sets threadIdx whenever it
// switches between CUDA threads.
extern __thread uint3 threadIdx;
extern __thread uint3 blockIdx;
extern __thread dim3 blockDim;
extern __thread dim3 gridDim;
constexpr int warpSize = emu::kWarpSize;

// Dynamic shared memory of the block that runs on this OS thread; `extern __shared__` arrays are
// translated into references to it.
extern "C" __thread unsigned char emu_dynamic_shared[emu::kSharedPerBlockOptin];

namespace emu {

inline void* dynamicShared() {
    void* memory = emu_dynamic_shared;
    // Hidden from the compiler: -fsanitize=object-size can take arrays in it for too small.
    __asm__("" : "+r"(memory));
    return memory;
}

// ---- running the threads of a grid

// The end of a thread needs the scheduler: some CUDA thread of the block is suspended, or somebody
// watches.
extern __thread bool endNeedsScheduler;

// Ends the current CUDA thread and makes the next one current, in this block or in the next one
// that this OS thread takes. Returns false when there is none left for the calling fiber.
bool nextThreadSlow();
inline bool nextThread() {
    if (__builtin_expect(!endNeedsScheduler, 1) && ++threadIdx.x < blockDim.x) return true;
    return nextThreadSlow();
}

// Runs CUDA threads one after the other in a plain loop. A thread that has to wait suspends the
// fiber that this loop runs on, and the scheduler continues the loop on another: a kernel that
// never waits costs no switch at all.
template <class Body>
void runThreads(const void* body) {
    do {
        (*static_cast<const Body*>(body))();
    } while (nextThread());
}

struct LaunchConfig {
    dim3 grid, block;
    size_t dynamicShared;
    cudaStream_t stream;
    bool cooperative = false;
};

// A kernel with its arguments, ready to run.
struct KernelCall {
    const char* name;
    const void* id;  // the kernel's address, or nullptr where it cannot be taken
    std::shared_ptr<const void> body;
    void (*run)(const void* body);
};

// Validates and launches, from the host or from a kernel. Also records the error for
// cudaGetLastError().
cudaError_t launch(const LaunchConfig& config, KernelCall call);

template <class Call, class... Args>
KernelCall bindKernel(const char* name, const void* id, Call call, Args... args) {
    auto body = [call, arguments = std::make_tuple(args...)] { std::apply(call, arguments); };
    using Body = decltype(body);
    return {name, id, std::make_shared<const Body>(std::move(body)), &runThreads<Body>};
}

// A kernel's address, and the types of its parameters where the translator could name it.
template <class... Params>
struct KernelId {
    const void* address;
};

template <class... Params>
KernelId<Params...> emuId(void (*function)(Params...)) {
    return {reinterpret_cast<const void*>(function)};
}

// As on a GPU, arguments are evaluated and copied once, at the launch; every CUDA thread gets its
// own copy.
template <class Call, class... Params>
class ConfiguredKernel {
  public:
    ConfiguredKernel(const char* name, KernelId<Params...> id, Call call, LaunchConfig config)
        : name_(name), id_(id), call_(std::move(call)), config_(config) {}

    // Converts to the parameters' types, as a call does: 0 for a pointer, {1, 2} for a struct.
    void operator()(Params... args) const {
        launch(config_, bindKernel(name_, id_.address, call_, args...));
    }
    // Fewer arguments than parameters, the others by default; or a kernel whose types are not
    // known.
    template <class... Args, class = std::enable_if_t<sizeof...(Args) != sizeof...(Params)>>
    void operator()(Args... args) const {
        launch(config_, bindKernel(name_, id_.address, call_, args...));
    }

  private:
    const char* name_;
    KernelId<Params...> id_;
    Call call_;
    LaunchConfig config_;
};

template <class Call, class... Params>
struct Kernel {
    const char* name;
    KernelId<Params...> id;
    Call call;

    ConfiguredKernel<Call, Params...> emuConfig(dim3 grid, dim3 block, size_t dynamicShared = 0,
                                                cudaStream_t stream = nullptr) const {
        return {name, id, call, LaunchConfig{grid, block, dynamicShared, stream}};
    }
};

// What the translator makes of `k<<<...>>>(...)`:
//   emuKernel("k", emuId(k), call).emuConfig(...)(...)
// The prefixes keep these apart from a program's macros and their parameters, often named `kernel`.
template <class Call, class... Params>
Kernel<Call, Params...> emuKernel(const char* name, KernelId<Params...> id, Call call) {
    return {name, id, std::move(call)};
}
// (a kernel whose address cannot be taken, since its template arguments are deduced)
template <class Call>
Kernel<Call> emuKernel(const char* name, std::nullptr_t, Call call) {
    return {name, {nullptr}, std::move(call)};
}

template <class... Params, size_t... I>
KernelCall bindKernelArray(void (*function)(Params...), void** args, std::index_sequence<I...>) {
    (void)args;
#ifdef __EMU_INSTRUMENTED__
    const auto call = [function](auto... emuArgs) EMU_NOT_RECORDED {
        KernelFrame frame;
        function(emuArgs...);
    };
#else
    const auto call = function;
#endif
    return bindKernel("(a kernel launched through cudaLaunchKernel)", emuId(function).address, call,
                      *static_cast<std::decay_t<Params>*>(args[I])...);
}

// ---- barriers

struct BarrierCount {
    unsigned truePredicates;
    unsigned participants;
};

// Waits for all threads of the block that have not ended. `what` names the call in error messages.
BarrierCount blockBarrier(bool predicate, const char* what, const char* file, int line);

// Waits for all blocks of a cooperative launch.
void gridBarrier(const char* file, int line);
bool gridIsCooperative();

// ---- for atomics, fences and the like

// Lets the other CUDA threads of the block run. Called where a thread may be polling for something
// that another one has to do.
void yieldThread();

// Called by every atomic operation and fence: now and then it yields, so that a thread which spins
// on one does not hang its block.
extern __thread unsigned spinCount;
inline void spinHint() {
    if (__builtin_expect(++spinCount % 1024 == 0, 0)) yieldThread();
}

// Lets each of the other CUDA threads of the block that can run do so once: see volatile.h.
void lockstep();

// Called by every load through a volatile pointer: many of them and no store are a poll.
extern __thread unsigned volatileLoads;  // since the last lockstep()
inline void pollHint() {
    if (__builtin_expect(++volatileLoads % 4096 == 0, 0)) yieldThread();
}

[[noreturn]] void trap();

// Index of the calling CUDA thread within its block, x fastest.
inline unsigned threadRankInBlock() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

unsigned long long globaltimer();  // [ns]
unsigned smid();                   // the worker (emulated SM) that runs this block

}  // namespace emu

inline void __syncthreads(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    emu::blockBarrier(false, "__syncthreads()", file, line);
}
inline int __syncthreads_count(int predicate, const char* file = __builtin_FILE(),
                               int line = __builtin_LINE()) {
    return static_cast<int>(
        emu::blockBarrier(predicate != 0, "__syncthreads_count()", file, line).truePredicates);
}
inline int __syncthreads_and(int predicate, const char* file = __builtin_FILE(),
                             int line = __builtin_LINE()) {
    const auto count = emu::blockBarrier(predicate != 0, "__syncthreads_and()", file, line);
    return count.truePredicates == count.participants;
}
inline int __syncthreads_or(int predicate, const char* file = __builtin_FILE(),
                            int line = __builtin_LINE()) {
    return emu::blockBarrier(predicate != 0, "__syncthreads_or()", file, line).truePredicates != 0;
}

// ---- launching through the API

template <class... Params>
cudaError_t cudaLaunchKernel(void (*function)(Params...), dim3 grid, dim3 block, void** args,
                             size_t dynamicShared = 0, cudaStream_t stream = nullptr) {
    return emu::launch({grid, block, dynamicShared, stream},
                       emu::bindKernelArray(function, args, std::index_sequence_for<Params...>{}));
}

template <class... Params>
cudaError_t cudaLaunchCooperativeKernel(void (*function)(Params...), dim3 grid, dim3 block,
                                        void** args, size_t dynamicShared = 0,
                                        cudaStream_t stream = nullptr) {
    return emu::launch({grid, block, dynamicShared, stream, true},
                       emu::bindKernelArray(function, args, std::index_sequence_for<Params...>{}));
}
