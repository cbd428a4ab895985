#include "onlooker.h"

#include "engine/scheduler.h"
#include "engine/watcher.h"
#include "memory_map.h"
#include "recorder.h"

namespace emu {
namespace {

class Nothing : public Recorder {
  public:
    void access(const Access&) override {}
    void basicBlock(uintptr_t) override {}
    void enter(uintptr_t) override {}
    void leave(uintptr_t) override {}
};

class Onlooker : public Watcher {
  public:
    void gridBegins(const Grid&) override {}
    void gridEnded(const Grid&) override {}
    void blockBegins(const Grid&) override { memoryMap.beginBlock(); }
    void blockEnded(bool) override { recorder = nullptr; }
    void threadRuns(unsigned) override {
        const Fiber* fiber = currentFiber();
        memoryMap.setStack(fiber->stackBottom, fiber->stackSize);
        recorder = &nothing_;
    }
    void threadPauses(unsigned, bool) override { recorder = nullptr; }
    void threadEnded(unsigned) override { recorder = nullptr; }
    void kernelBegins(unsigned) override {}
    void kernelEnds(unsigned) override {}
    void barrierReached(unsigned, const CallSite&) override {}
    void barrierReleased(const CallSite&, bool) override {}
    void warpMet(unsigned, unsigned, bool) override {}

  private:
    Nothing nothing_;
};

}  // namespace

void startOnlooker() {
    watcher = new Onlooker;  // never deleted: grids may run from static destructors
}

}  // namespace emu
