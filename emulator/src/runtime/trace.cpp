#include "trace.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "emu/api/ranges.h"
#include "engine/output_file.h"
#include "engine/program_symbols.h"

namespace emu {
namespace {

struct Span {
    int64_t begin, end;  // [ns] since the program began
    unsigned stream;
    const char* name;
    const void* kernel;  // its address, which may know the name better; nullptr for other work
};

struct Range {
    std::string name;
    int64_t begin, end;           // on the host
    int64_t firstBegin, lastEnd;  // of what began in it; firstBegin is negative where nothing has
    uint64_t number;              // 0: of a thread, which alone counts
    std::thread::id thread;
};

constexpr const char* kVariable = "CUDA_EMULATOR_TRACE";

thread_local unsigned streamOfThread = kDefaultStreamNumber;

class Trace {
  public:
    explicit Trace(std::string path) : path_(std::move(path)) {}

    int64_t now() const {
        const auto passed = std::chrono::steady_clock::now() - start_;
        return std::chrono::duration_cast<std::chrono::nanoseconds>(passed).count();
    }

    void add(const Span& span) {
        const std::thread::id self = std::this_thread::get_id();
        const std::lock_guard<std::mutex> lock(mutex_);
        spans_.push_back(span);
        for (Range& range : open_) {
            if (range.number == 0 && range.thread != self) continue;
            if (span.begin < range.begin) continue;
            const bool first = range.firstBegin < 0;
            range.firstBegin = first ? span.begin : std::min(range.firstBegin, span.begin);
            range.lastEnd = std::max(range.lastEnd, span.end);
        }
    }

    void push(std::string name) {
        const std::lock_guard<std::mutex> lock(mutex_);
        open(std::move(name), 0);
    }
    void pop() {
        const std::thread::id self = std::this_thread::get_id();
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto last = std::find_if(open_.rbegin(), open_.rend(), [&](const Range& range) {
            return range.number == 0 && range.thread == self;
        });
        if (last != open_.rend()) close(std::next(last).base());
    }
    uint64_t start(std::string name) {
        const std::lock_guard<std::mutex> lock(mutex_);
        open(std::move(name), ++started_);
        return started_;
    }
    void end(uint64_t number) {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto found = std::find_if(open_.begin(), open_.end(), [&](const Range& range) {
            return number != 0 && range.number == number;
        });
        if (found != open_.end()) close(found);
    }

    void write();

  private:
    void open(std::string name, uint64_t number) {
        open_.push_back({std::move(name), now(), 0, -1, -1, number, std::this_thread::get_id()});
    }
    void close(std::vector<Range>::iterator range) {
        range->end = now();
        if (range->firstBegin >= 0) ranges_.push_back(std::move(*range));
        open_.erase(range);
    }

    const std::string path_;
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::mutex mutex_;
    std::vector<Span> spans_;
    std::vector<Range> open_, ranges_;
    uint64_t started_ = 0;
};

void Trace::write() {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto earlier = [](const auto& a, const auto& b) { return a.begin < b.begin; };
    std::stable_sort(spans_.begin(), spans_.end(), earlier);
    std::stable_sort(ranges_.begin(), ranges_.end(), earlier);

    const auto times = [](int64_t begin, int64_t end) {
        return std::to_string(begin) + "," + std::to_string(end - begin);
    };
    std::string text = "Start (ns),Duration (ns),Strm,Name\n";
    for (const Span& span : spans_) {
        std::string name = span.kernel != nullptr ? functionName(span.kernel) : "";
        if (name.empty()) name = span.name;
        text += times(span.begin, span.end) + "," + std::to_string(span.stream) + "," +
                quoted(name) + "\n";
    }
    text +=
        "\nName,Projected Start (ns),Projected Duration (ns),Orig Start (ns),Orig Duration "
        "(ns)\n";
    for (const Range& range : ranges_) {
        text += quoted(range.name) + "," + times(range.firstBegin, range.lastEnd) + "," +
                times(range.begin, range.end) + "\n";
    }
    writeOutput(path_, text, "recording", kVariable);
}

Trace* trace;  // nullptr without a recording; never destroyed: threads may run until the end

// Before the constructors of the program's own variables, so that it writes after their
// destructors.
[[gnu::constructor(101)]] void startTrace() {
    if (const char* path = outputPath(kVariable)) {
        trace = new Trace(path);
        std::atexit([] { trace->write(); });
    }
}

// A range may have no name.
std::string text(const char* name) {
    return name != nullptr ? name : "";
}
std::string text(const wchar_t* name) {
    std::string result;
    for (; name != nullptr && *name != L'\0'; ++name) {
        result += *name < 128 ? static_cast<char>(*name) : '?';
    }
    return result;
}

}  // namespace

unsigned nextStreamNumber() {
    static std::atomic<unsigned> next{13};
    return next++;
}

void traceStream(unsigned number) {
    streamOfThread = number;
}

TracedWork::TracedWork(const char* name)
    : name_(name), kernel_(nullptr), begin_(trace != nullptr ? trace->now() : 0) {}

TracedWork::TracedWork(const KernelCall& kernel) : TracedWork(kernel.name) {
    kernel_ = kernel.id;
}

TracedWork::~TracedWork() {
    if (trace != nullptr) trace->add({begin_, trace->now(), streamOfThread, name_, kernel_});
}

void rangePushed(const char* name) {
    if (trace != nullptr) trace->push(text(name));
}
void rangePushed(const wchar_t* name) {
    if (trace != nullptr) trace->push(text(name));
}
void rangePopped() {
    if (trace != nullptr) trace->pop();
}
uint64_t rangeStarted(const char* name) {
    return trace != nullptr ? trace->start(text(name)) : 0;
}
uint64_t rangeStarted(const wchar_t* name) {
    return trace != nullptr ? trace->start(text(name)) : 0;
}
void rangeEnded(uint64_t number) {
    if (trace != nullptr) trace->end(number);
}

}  // namespace emu
