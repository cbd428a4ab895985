#include "memory_map.h"

#include "device_variables.h"
#include "emu/engine.h"
#include "emu/thread_functions.h"
#include "engine/allocations.h"
#include "engine/program_symbols.h"
#include "engine/scheduler.h"
#include "recorder.h"

namespace emu {

extern __thread unsigned spinCount;
extern __thread unsigned volatileLoads;

__thread MemoryMap memoryMap;

namespace {

uintptr_t number(const void* address) {
    return reinterpret_cast<uintptr_t>(address);
}

}  // namespace

void MemoryMap::findThreadLocals() {
    const Variable block = threadLocals();
    threadLocalBegin_ = number(block.base);
    threadLocalSize_ = block.size;
    const MemoryRange scheduler = schedulerMemory();
    engineVariables_ = {{{number(&threadIdx), sizeof(threadIdx)},
                         {number(&blockIdx), sizeof(blockIdx)},
                         {number(&blockDim), sizeof(blockDim)},
                         {number(&gridDim), sizeof(gridDim)},
                         {number(&endNeedsScheduler), sizeof(endNeedsScheduler)},
                         {number(&spinCount), sizeof(spinCount)},
                         {number(&volatileLoads), sizeof(volatileLoads)},
                         {number(scheduler.begin), scheduler.size}}};
}

void MemoryMap::beginBlock() {
    if (threadLocalSize_ == 0) findThreadLocals();
    forget();
}

bool MemoryMap::isGuard(uintptr_t address) const {
    const Quiet quiet;
    const auto variable = threadLocalAt(address - threadLocalBegin_);
    return variable && variable->name.rfind("_ZGV", 0) == 0;
}

void MemoryMap::forget() {
    known_ = allocationsChanged.load(std::memory_order_relaxed);
    lastBegin_ = lastSize_ = 0;
    allocations_ = {};
    for (Remembered& entry : remembered_) entry.answer = Answer::None;
}

bool MemoryMap::lookUp(uintptr_t address, Space* space) {
    for (const Range& range : allocations_) {
        if (address - range.begin < range.size) {
            lastBegin_ = range.begin;
            lastSize_ = range.size;
            *space = Space::Global;
            return true;
        }
    }
    Remembered& entry = remembered_[address / 4 % remembered_.size()];
    if (entry.answer == Answer::None || entry.address != address) entry = {address, ask(address)};
    *space = entry.answer == Answer::Global ? Space::Global : Space::Other;
    return entry.answer != Answer::Ignored;
}

MemoryMap::Answer MemoryMap::ask(uintptr_t address) {
    const auto* pointer = reinterpret_cast<const void*>(address);
    if (isConstantVariable(address)) return Answer::Ignored;
    const auto remember = [this](const void* base, size_t size) {
        allocations_[nextAllocation_++ % allocations_.size()] = {number(base), size};
        return Answer::Global;
    };
    if (const auto allocation = findAllocation(pointer)) {
        return remember(allocation->base, allocation->size);
    }
    if (const auto variable = deviceVariableAt(address)) {
        return remember(variable->base, variable->size);
    }
    switch (imagePartOf(pointer)) {
        case ImagePart::Writable:
            return isHostVariable(address) ? Answer::Other : Answer::Global;
        case ImagePart::Code:
        case ImagePart::Constant:
            return Answer::Ignored;
        case ImagePart::None:
            break;
    }
    return Answer::Other;
}

}  // namespace emu
