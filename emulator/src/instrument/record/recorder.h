// Receives what the compiler's instrumentation and the translator's marks report of the CUDA thread
// that runs: hooks.cpp and marks.cpp call it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace emu {

enum class AccessKind : uint8_t { Load, Store, Atomic };
enum class Space : uint8_t {
    Global,  // memory that the runtime allocated, and __device__ variables
    Shared,  // of the running block
    Other,   // none of the runtime's: host memory, or nothing at all
};

// One access of one thread.
struct Access {
    uintptr_t address;
    uintptr_t pc;    // return address of the hook: just after the instruction that announces it
    uint32_t size;   // bytes
    uint32_t whole;  // bytes of the struct that this is the first part of; 0 for its other parts
    AccessKind kind;
    Space space;
    bool isVolatile;
    bool exchanges;  // an atomic that does not use what was there
    bool compares;   // atomicCAS(): it does nothing where that is not what the thread expects
    bool packed;     // the program does not promise that the address is a multiple of the size
    bool onlyStores = false;  // an atomic that a GPU carries out as a store
    bool bytewise = false;  // by memcpy() and its like: nvcc makes loads and stores of single bytes
    bool isQuad = false;  // of 16 bytes, whose address must be a multiple of 16, and not of 8 only
    bool narrow = false;  // an atomic among the threads of a block alone
    bool isTexture = false;  // a load of a texture or surface, which may miss what its kernel wrote

    // Of the struct, where this is its first part.
    size_t allBytes() const { return packed ? whole : size; }
};

// An index outside of the array that it is for, as the program declares that.
struct BadIndex {
    std::string index;
    std::string array;  // its type: "float [32][33]"
    uintptr_t pc;       // as of an access, which may follow
};

class Recorder {
  public:
    virtual ~Recorder() = default;
    // Neither stack nor parameters nor constants nor the engine's own variables come here.
    virtual void access(const Access& access) = 0;
    // One of __constant__ memory; comes only while `recordsConstants`.
    virtual void constant(const Access&) {}
    // A constructor sets its object's pointer to virtual functions, or a call looks them up, where
    // that is not announced as an ordinary access.
    virtual void table(const Access&) {}
    virtual void badIndex(const BadIndex&) {}
    // A basic block begins. `pc` names it.
    virtual void basicBlock(uintptr_t pc) = 0;
    // A `for` goes on to its next round.
    virtual void loopStep(uintptr_t) {}
    // A signed division branches on the sign of its result.
    virtual void division(bool, uintptr_t) {}
    // A function goes on to its end from a `return`, where the program tells.
    virtual void returns(uintptr_t) {}
    // The atomic whose access was last has added floating-point numbers, of floats or doubles.
    virtual void sum(double /*before*/, double /*value*/, bool /*isDouble*/) {}
    // A fence for memory.
    virtual void fence() {}
    // The next atomic operation is one among the threads of the block alone.
    virtual void narrowScope() {}
    // One that lets the copy engine see what the thread has written to shared memory.
    virtual void proxyFence() {}
    // A function begins, called from just before `caller`; and one ends, just before `pc`.
    virtual void enter(uintptr_t caller) = 0;
    virtual void leave(uintptr_t pc) = 0;
};

// Of this OS thread; nullptr while it runs no CUDA thread.
extern __thread Recorder* recorder;

// Somebody wants to know of accesses to __constant__ memory. Set before the first launch.
extern bool recordsConstants;

// While it lives, what the thread does is not recorded: of a template of the standard library that
// recorder and program use, the linker may have kept the program's code, with its hooks.
class Quiet {
  public:
    Quiet() { recorder = nullptr; }
    ~Quiet() { recorder = recorder_; }
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;

  private:
    Recorder* const recorder_ = recorder;
};

// Receives what host code does to memory that is not the host's own; nullptr: nobody wants to know.
class HostRecorder {
  public:
    virtual ~HostRecorder() = default;
    // Among these addresses is the host memory that was registered; and that to which copies have
    // gone that nothing has waited for, or that brought bytes which nothing had written.
    struct Addresses {
        bool meet(uintptr_t address, size_t bytes) const {
            return address < end && address + bytes > begin;
        }
        std::atomic<uintptr_t> begin{UINTPTR_MAX}, end{0};
    };
    Addresses registered, copied, unwritten;

    virtual void hostAccess(const Access& access) = 0;
    // With memcpy() or its like, from where there may be such bytes.
    virtual void hostCopies(uintptr_t to, uintptr_t from, size_t bytes) = 0;
};
extern HostRecorder* hostRecorder;

}  // namespace emu
