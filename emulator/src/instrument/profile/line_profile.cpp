#include "line_profile.h"

#include <unistd.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "emu/limits.h"
#include "engine/occupancy.h"
#include "engine/output_file.h"
#include "engine/program_symbols.h"
#include "engine/symbolizer.h"
#include "instrument/record/program_code.h"
#include "profile_csv.h"

namespace emu {
namespace {

std::string json(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return result + "\"";
}

std::string json(uint64_t number) {
    return std::to_string(number);
}

template <class List, class Text>
std::string list(const List& items, Text text) {
    std::string result = "[";
    for (const auto& item : items) {
        if (result.size() > 1) result += ',';
        result += text(item);
    }
    return result + "]";
}

// Where the code lies in the program's file.
std::string address(uint32_t place) {
    return json(pcOf(place) - loadBias());
}

const char* nameOf(EventKind kind) {
    switch (kind) {
        case EventKind::GlobalLoad:
            return "global load";
        case EventKind::GlobalStore:
            return "global store";
        case EventKind::GlobalAtomic:
            return "global atomic";
        case EventKind::SharedLoad:
            return "shared load";
        case EventKind::SharedStore:
            return "shared store";
        case EventKind::SharedAtomic:
            return "shared atomic";
        case EventKind::ConstantLoad:
            return "constant load";
        case EventKind::CopyFrom:
            return "copy";
        case EventKind::Barrier:
            return "barrier";
        case EventKind::Division:
            return "division";
        default:
            return "";  // no access
    }
}

std::string textOf(const LineAccess& access) {
    const auto stride = [](const std::pair<int64_t, uint64_t>& known) {
        const bool regular = known.first != kIrregular;
        return "[" + (regular ? std::to_string(known.first) : "null") + "," + json(known.second) +
               "]";
    };
    const bool counted = !access.addresses.empty() && !access.hasMoreAddresses;
    const std::pair<const char*, uint64_t> numbers[] = {
        {"size", access.size},
        {"requests", access.requests},
        {"lanes", access.lanes},
        {"bytes", access.bytes},
        {"units", access.units},
        {"least", access.least},
        {"conflicts", access.conflicts},
        {"wavefronts", access.wavefronts},
        {"alike", access.alike},
        {"close_lanes", access.closeLanes},
        {"close_addresses", access.closeAddresses},
        {"repeats", access.repeats},
    };
    std::string text = "{\"address\":" + address(access.place) +
                       ",\"calls\":" + list(access.calls, address) +
                       ",\"kind\":" + json(nameOf(access.kind));
    for (const auto& [name, value] : numbers) text += "," + json(name) + ":" + json(value);
    text += ",\"strides\":" + list(access.strides, stride);
    text += ",\"addresses\":" + (counted ? json(access.addresses.size()) : "null");
    return text + "}";
}

// `pointers`: the kernel's arguments.
std::string textOf(const LineMemory& memory, const std::vector<uintptr_t>& pointers) {
    const auto within = [&](uintptr_t pointer) {
        return pointer != 0 && pointer - memory.begin < memory.size;
    };
    const auto known = std::find_if(pointers.begin(), pointers.end(), within);
    const bool isArgument = !memory.shared && known != pointers.end();
    const auto number = static_cast<uint64_t>(known - pointers.begin());
    return "{\"name\":" + json(memory.name) + ",\"shared\":" + (memory.shared ? "true" : "false") +
           ",\"size\":" + json(memory.size) + ",\"shift\":" + json(memory.shift) +
           ",\"parameter\":" + (isArgument ? json(number) : "null") + "}";
}

std::string textOf(const LineStep& step) {
    std::string text = "[" + json(step.lanes) + "," + address(step.place);
    if (step.access != LineStep::kNone) {
        text += "," + json(step.access) + "," + json(step.memory) + ",";
        text += list(step.offsets, [](int64_t offset) { return std::to_string(offset); });
    }
    return text + "]";
}

std::string textOf(const LineSample& sample) {
    return "{\"block\":" + list(sample.block, [](uint32_t i) { return json(i); }) +
           ",\"warp\":" + json(sample.warp) +
           ",\"steps\":" + list(sample.steps, [](const LineStep& step) { return textOf(step); }) +
           "}";
}

std::string textOf(const std::pair<const uint32_t, BasicBlockCounts>& block) {
    const auto& [place, counts] = block;
    return "[" + address(place) + "," + json(counts.executions) + "," + json(counts.lanes) + "," +
           json(counts.splits) + "," + (basicBlockAt(place).conditional ? "1" : "0") + "]";
}

std::string sizes(const uint64_t* first) {
    return "[" + json(first[0]) + "," + json(first[1]) + "," + json(first[2]) + "]";
}

// Where the kernel begins: as the launch says, or as its accesses do. 0 where neither does.
uintptr_t functionOf(const Grid& grid, const LineCounts& lines) {
    if (grid.call.id != nullptr) return reinterpret_cast<uintptr_t>(grid.call.id);
    const auto& accesses = lines.accesses();
    const auto own = std::find_if(accesses.begin(), accesses.end(), [](const LineAccess& access) {
        return access.calls.empty() && access.kind != EventKind::Barrier;
    });
    return own == accesses.end() ? 0 : functionAround(pcOf(own->place));
}

uint64_t sharedOf(const Grid& grid) {
    return grid.config.dynamicShared + (grid.call.id != nullptr ? staticSharedOf(grid.call.id) : 0);
}

std::string programPath() {
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
    return std::string(path, length > 0 ? static_cast<size_t>(length) : 0);
}

}  // namespace

bool LineProfile::HostCall::operator<(const HostCall& other) const {
    const auto members = [](const HostCall& call) {
        return std::tie(call.what, call.kernel, call.direction, call.asynchronous, call.pageable,
                        call.file, call.line);
    };
    return members(*this) < members(other);
}

LineProfile::Key LineProfile::keyOf(const Grid& grid, uintptr_t function) {
    const dim3 &size = grid.config.grid, &block = grid.config.block;
    return {function,
            function == 0 ? grid.call.name : "",
            {size.x, size.y, size.z, block.x, block.y, block.z, grid.config.dynamicShared}};
}

void LineProfile::argumentsGiven(const std::string& kernel, const KernelArgument* arguments,
                                 size_t count) {
    std::vector<uintptr_t> pointers(count);
    for (size_t i = 0; i < count; ++i) {
        if (!arguments[i].isPointer) continue;
        pointers[i] = *static_cast<const uintptr_t*>(arguments[i].value);
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    given_[kernel] = std::move(pointers);
}

void LineProfile::add(const Grid& grid, const LaunchCounts& counts, LineCounts lines) {
    const uintptr_t function = functionOf(grid, lines);
    Kernel& kernel = kernels_[keyOf(grid, function)];
    if (kernel.launches++ > 0) {
        lines.forgetCloseLook();
    } else {
        const dim3& block = grid.config.block;
        kernel.name = nameInNcu(reinterpret_cast<const void*>(function), grid.call.name);
        kernel.order = kernels_.size();
        kernel.shared = sharedOf(grid);
        kernel.blocksPerSm =
            maxBlocksPerSm(static_cast<int>(block.x * block.y * block.z), kernel.shared);
        const std::lock_guard<std::mutex> lock(mutex_);
        kernel.pointers = given_[grid.call.name];
    }
    kernel.counts.add(counts);
    kernel.lines.add(lines);
}

void LineProfile::hostLaunches(const Grid& grid) {
    const std::string name = kernelName(grid.call.name, grid.call.id);
    hostCalls({"launch", name, "", true, false, "", 0}, 0, afterLaunch_);
    afterLaunch_ = true;
}

void LineProfile::hostCopies(const CopySeen& copy) {
    const std::string from = copy.fromHost ? "host" : "device",
                      to = copy.toHost ? "host" : "device";
    hostCalls({"copy", "", from + " to " + to, copy.asynchronous, copy.pageable, "", 0}, copy.bytes,
              afterLaunch_);
    afterLaunch_ = false;
    copyWaits_ = !copy.asynchronous;
}

void LineProfile::hostWaits() {
    if (!std::exchange(copyWaits_, false)) {
        hostCalls({"synchronize", "", "", false, false, "", 0}, 0, afterLaunch_);
    }
    afterLaunch_ = false;
}

void LineProfile::hostCalls(HostCall call, uint64_t bytes, bool afterLaunch) {
    const SourceLine line = userLine(hostPlace());
    call.file = line.line > 0 ? line.file : "";
    call.line = line.line;
    const std::lock_guard<std::mutex> lock(mutex_);
    Calls& calls = host_[call];
    ++calls.calls;
    calls.bytes += bytes;
    calls.afterLaunch += afterLaunch;
}

std::string LineProfile::text(const Key& key, const Kernel& kernel) {
    const uint64_t* const shape = std::get<2>(key).data();
    const uintptr_t function = std::get<0>(key);
    const auto memory = [&](const LineMemory& known) { return textOf(known, kernel.pointers); };
    return "{\"name\":" + json(kernel.name) +
           ",\"address\":" + (function == 0 ? "null" : json(function - loadBias())) +
           ",\"grid\":" + sizes(shape) + ",\"block\":" + sizes(shape + 3) +
           ",\"launches\":" + json(kernel.launches) + ",\"shared\":" + json(kernel.shared) +
           ",\"blocks_per_sm\":" + json(static_cast<uint64_t>(kernel.blocksPerSm)) +
           ",\n\"basic_blocks\":" +
           list(kernel.counts.basicBlocks, [](const auto& block) { return textOf(block); }) +
           ",\n\"accesses\":" +
           list(kernel.lines.accesses(), [](const LineAccess& access) { return textOf(access); }) +
           ",\n\"memories\":" + list(kernel.lines.memories(), memory) + ",\n\"samples\":" +
           list(kernel.lines.samples(), [](const LineSample& sample) { return textOf(sample); }) +
           "}";
}

LineProfile::~LineProfile() {
    std::vector<const std::pair<const Key, Kernel>*> kernels;
    for (const auto& entry : kernels_) kernels.push_back(&entry);
    std::sort(kernels.begin(), kernels.end(),
              [](const auto* a, const auto* b) { return a->second.order < b->second.order; });
    const auto truth = [](bool value) { return value ? "true" : "false"; };
    const auto host = [&](const auto& entry) {
        const auto& [call, calls] = entry;
        return "{\"what\":" + json(call.what) + ",\"kernel\":" + json(call.kernel) +
               ",\"direction\":" + json(call.direction) + ",\"calls\":" + json(calls.calls) +
               ",\"bytes\":" + json(calls.bytes) + ",\"asynchronous\":" + truth(call.asynchronous) +
               ",\"pageable\":" + truth(call.pageable) +
               ",\"after_launch\":" + json(calls.afterLaunch) + ",\"file\":" + json(call.file) +
               ",\"line\":" + json(static_cast<uint64_t>(call.line)) + "}";
    };
    const std::string kernelTexts =
        list(kernels, [](const auto* entry) { return text(entry->first, entry->second); });
    writeOutput(path_,
                "{\"program\":" + json(programPath()) + ",\n\"kernels\":" + kernelTexts +
                    ",\n\"host\":" + list(host_, host) + "}\n",
                "counts by line", "CUDA_EMULATOR_LINES");
}

}  // namespace emu
