// Launches of kernels: what the translator makes of <<<...>>>, and the functions of the API.
#pragma once

#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "emu/engine.h"
#ifdef __EMU_INSTRUMENTED__
#include "emu/discarded.h"
#include "emu/kernel_arguments.h"
#endif
#include "emu/host_allocator.h"
#include "emu/kernel_frame.h"
#include "emu/runtime_types.h"

namespace emu {

// Validates and launches, from the host or from a kernel. Also records the error for
// cudaGetLastError().
cudaError_t launch(const LaunchConfig& config, KernelCall call);
// What cudaLaunchKernelEx() is told, in *known. Records an error as launch() does.
cudaError_t readConfig(const cudaLaunchConfig_t* config, LaunchConfig* known);

// What a launch keeps for its threads. (A program is compiled in half the time without what
// std::apply() and std::allocate_shared() have it instantiate for each launch.)
template <class Call, class... Args>
struct KernelBody {
    Call call;
    std::tuple<Args...> arguments;

    void operator()() const { callWith(std::index_sequence_for<Args...>{}); }
    template <size_t... I>
    void callWith(std::index_sequence<I...>) const {
        call(std::get<I>(arguments)...);
    }
};

template <class Call, class... Args>
KernelCall bindKernel(const char* name, const void* id, Call call, Args... args) {
    using Body = KernelBody<Call, Args...>;
#ifdef __EMU_INSTRUMENTED__
    noteArgumentsOf(name, id, args...);
#endif
    void* const memory = takeHostMemory(sizeof(Body), alignof(Body));
    new (memory) Body{std::move(call), {std::move(args)...}};
    const auto destroy = [](void* body) { static_cast<Body*>(body)->~Body(); };
    return {name, id, ownHostMemory(memory, destroy), &runThreads<Body>};
}

// The argument for a parameter that is a reference: the kernel gets the object itself, as on a GPU,
// which is passed its address.
template <class T>
class Referred {
  public:
    Referred(T& object, size_t number)
        : object_(std::addressof(object)), number_(number), isReached_(kernelReaches(object_)) {}

    EMU_NOT_RECORDED T& object() const {
        if (!isReached_) failReference(object_, number_);
        return *object_;
    }
    EMU_NOT_RECORDED operator T&() const { return object(); }  // NOLINT: for the kernel's call

  private:
    T* object_;
    size_t number_;
    bool isReached_;
};

// What the translator makes of arguments and their uses where it cannot name a kernel's types, but
// knows which parameters are references.
template <size_t Number, class T>
Referred<std::remove_reference_t<T>> refer(T&& object) {
    return {object, Number};
}
template <class T>
EMU_NOT_RECORDED T& referred(Referred<T>& argument) {
    return argument.object();
}
template <class T>
EMU_NOT_RECORDED T& referred(T& argument) {
    return argument;
}

// What a thread's call of a kernel takes for a parameter of type Param.
template <class Param, class Arg>
auto argumentFor(Arg& argument, [[maybe_unused]] size_t index) {
    if constexpr (std::is_reference<Param>::value) {
        return Referred<std::remove_reference_t<Param>>(argument, index + 1);
    } else {
        std::decay_t<Param> value = argument;
        return value;
    }
}

// A kernel's address, and the types of its parameters where the translator could name it.
template <class... Params>
struct KernelId {
    const void* address;
};

template <class... Params>
KernelId<Params...> emuId(void (*function)(Params...)) {
    static_assert(
        (!std::is_rvalue_reference<Params>::value && ...),
        "a kernel's parameter is an rvalue reference: pass a value, or a pointer to device "
        "memory");
    return {reinterpret_cast<const void*>(function)};
}

// As on a GPU, arguments are evaluated and copied once, at the launch; every CUDA thread gets its
// own copy.
template <class Call, class... Params>
class ConfiguredKernel {
    static constexpr bool kHasReferences = (std::is_reference<Params>::value || ...);

  public:
    ConfiguredKernel(const char* name, KernelId<Params...> id, Call call, LaunchConfig config)
        : name_(name), id_(id), call_(std::move(call)), config_(config) {}

    // Converts to the parameters' types, as a call does: 0 for a pointer, {1, 2} for a struct.
    void operator()(Params... args) const {
        if constexpr (kHasReferences) {
            bind(std::index_sequence_for<Params...>(), args...);
        } else {
            run(bindKernel(name_, id_.address, call_, args...));
        }
    }
    // Fewer arguments than parameters, the others by default; or a kernel whose types are not
    // known.
    template <class... Args,
              class = std::enable_if_t<sizeof...(Args) != sizeof...(Params) && !kHasReferences>>
    void operator()(Args... args) const {
        run(bindKernel(name_, id_.address, call_, args...));
    }
    template <class... Args,
              class = std::enable_if_t<(sizeof...(Args) < sizeof...(Params)) && kHasReferences>>
    void operator()(Args&&... args) const {
        bind(std::index_sequence_for<Args...>(), args...);
    }

    // The same in cudaStreamPerThread, where it was to run in stream 0.
    ConfiguredKernel emuPerThread() const {
        ConfiguredKernel kernel = *this;
        if (kernel.config_.stream == nullptr) kernel.config_.stream = cudaStreamPerThread;
        return kernel;
    }

  private:
    template <size_t... I, class... Args>
    void bind(std::index_sequence<I...>, Args&... args) const {
        using Types = std::tuple<Params...>;
        run(bindKernel(name_, id_.address, call_,
                       argumentFor<std::tuple_element_t<I, Types>>(args, I)...));
    }
    void run(KernelCall call) const {
        [[maybe_unused]] const cudaError_t error = launch(config_, std::move(call));
#ifdef __EMU_INSTRUMENTED__
        noteDiscarded(error, "the launch of ", name_, "");
#endif
    }

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

    ConfiguredKernel<Call, Params...> emuConfig(dim3 grid, dim3 block = 1, size_t dynamicShared = 0,
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

// How a kernel that a function of the API launches is called.
template <class... Params>
auto callOf(void (*function)(Params...)) {
#ifdef __EMU_INSTRUMENTED__
    return [function](auto... emuArgs) EMU_NOT_RECORDED {
        KernelFrame frame;
        function(emuArgs...);
    };
#else
    return function;
#endif
}

// For a reference, `argument` holds the object's address.
template <class Param>
auto argumentAt(void* argument, size_t index) {
    using Type = std::remove_reference_t<Param>;
    if constexpr (std::is_reference<Param>::value) {
        return argumentFor<Param>(**static_cast<Type**>(argument), index);
    } else {
        return argumentFor<Param>(*static_cast<Type*>(argument), index);
    }
}

template <class... Params, size_t... I>
KernelCall bindKernelArray(void (*function)(Params...), void** args, std::index_sequence<I...>) {
    (void)args;
    return bindKernel("(a kernel launched through cudaLaunchKernel)", emuId(function).address,
                      callOf(function), argumentAt<Params>(args[I], I)...);
}

}  // namespace emu

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

// With attributes: cudaLaunchAttributeCooperative, and those that a GPU may take no notice of
// either (programmatic stream serialisation, priority).
template <class... Params, class... Args>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*function)(Params...),
                               Args&&... args) {
    static_assert(sizeof...(Args) == sizeof...(Params), "as many arguments as parameters");
    static_assert(
        (!std::is_reference<Params>::value && ...),
        "cudaLaunchKernelEx() passes no references (NVIDIA's takes the object's first bytes "
        "for its address): have a pointer as parameter, or launch with <<<...>>>");
    emu::LaunchConfig known{};
    const cudaError_t error = emu::readConfig(config, &known);
    if (error != cudaSuccess) return error;
    return emu::launch(known, emu::bindKernel("(a kernel launched through cudaLaunchKernelEx)",
                                              emu::emuId(function).address, emu::callOf(function),
                                              static_cast<std::decay_t<Params>>(args)...));
}
