#include "exercise.cuh"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <utility>

#include "check.cuh"
#include "fail.h"
#include "format.h"

namespace lab {
namespace {

// Standard descriptors that came closed: the next file to be opened would get one of them, and with
// it what is printed. What is written to these fails.
void occupyStandardDescriptors() {
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(standard, F_GETFD) == -1) (void)open("/dev/null", O_RDONLY);
    }
}

// For allocations that nobody looks at beforehand (std::string, std::function ...).
void quitOnBadAlloc() {
    std::set_new_handler([] {  // takes no memory, and destroys nothing: other threads may run
        const Named& name = named();
        std::fflush(stdout);
        std::fprintf(stderr, "%s: %s%scannot allocate host memory; choose a smaller size\n",
                     name.program.c_str(), name.sizes.c_str(), name.sizes.empty() ? "" : ": ");
        std::_Exit(kExitFailure);
    });
}

}  // namespace

Exercise::Exercise(std::string name, std::string about, BackEnds backEnds)
    : name_(std::move(name)), about_(std::move(about)), backEnds_(backEnds) {
    named().program = name_;
    std::signal(SIGXFSZ, SIG_IGN);  // a file of the greatest size (ulimit -f) is a full disk
    occupyStandardDescriptors();
    quitOnBadAlloc();
}
Exercise::~Exercise() = default;

void Exercise::parse(int argc, char** argv) {
    parseOptions(argc, argv);
    selectDevice();
}

void Exercise::parseOptions(int argc, char** argv) {
    ownOptions_ = options_.size();
    bool help = false;
    options_.number("reps", &reps_, 1, 1000000,
                    "measured runs of each kernel; unless given, fewer if a run takes long");
    options_.number("seed", &seed_, 0, UINT64_MAX, "seed of the input data");
    options_.text("kernel", &filter_, "NAME", "a part of a kernel's name",
                  "only kernels whose name contains NAME");
    options_.flag("csv", &csv_, "rows as CSV on stdout, everything else on stderr");
    options_.flag("profile", &profile_, "launch each kernel once and do not time it");
    options_.flag("host-times", &hostTimes_, "without a GPU: show the times of the emulation, too");
    options_.number("device", &device_, 0, 1023, "which GPU");
    options_.flag("help", &help, "this text");
    const std::string error = options_.parse(argc, argv);
    if (!error.empty()) reject(error);
    if (help) printHelp();
    named().sizes = options_.givenNumbers(ownOptions_);
}

void Exercise::selectDevice() {
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count == 0) error = cudaErrorNoDevice;
    if (error == cudaSuccess && device_ >= count) {
        const std::string all =
            count == 1 ? "0, the only one" : formatted("a whole number from 0 to %d", count - 1);
        reject("device", std::to_string(device_), all);
    }
    if (error == cudaSuccess) error = cudaSetDevice(device_);
    if (error == cudaSuccess)
        error = cudaFree(nullptr);  // creates the context: fails here or not at all
    if (error != cudaSuccess) {
        const std::string instead =
            backEnds_ == BackEnds::kBoth
                ? "the cpu back end needs none: ./lab run --backend cpu " + name_
                : "this exercise has no version for the cpu back end";
        quit(kExitNoGpu, "no usable GPU: %s: %s; %s", cudaGetErrorName(error),
             cudaGetErrorString(error), instead.c_str());
    }
    facts_ = deviceFacts(device_);
    measure_.emplace(profile_ ? 0 : reps_, facts_.l2Bytes, /*fewerIfLong=*/!given("reps"));
}

void Exercise::reject(const std::string& message) const {
    quit(kExitBadUsage, "%s (see --help)", message.c_str());
}

void Exercise::reject(const std::string& option, const std::string& value,
                      const std::string& expected) const {
    reject(asGiven(option, value) + ": expected " + expected);
}

void Exercise::requireElements(std::size_t rows, std::size_t cols) const {
    if (rows <= kMaxSize / cols) return;
    reject("--rows=" + withSuffix(rows) + " --cols=" + withSuffix(cols) + ": expected at most " +
           withSuffix(kMaxSize) + " elements");
}

void Exercise::requireProduct(std::size_t m, std::size_t n, std::size_t k) const {
    if (k <= kMaxSize / m && n <= kMaxSize / k && n <= kMaxSize / m) return;
    reject("--m=" + withSuffix(m) + " --n=" + withSuffix(n) + " --k=" + withSuffix(k) +
           ": expected at most " + withSuffix(kMaxSize) + " elements in each matrix");
}

std::string Exercise::parameters(const Options::Values& others) const {
    return options_.values(ownOptions_, others);
}

void Exercise::title(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::string text = name_ + ": " + vformatted(format, arguments);
    va_end(arguments);
    if (text.size() > ResultTable::kLineLength) text = wrapped(text, ResultTable::kLineLength);
    std::string device = "on " + facts_.name;
    if (!kEmulated) {
        device += formatted(" (sm_%d%d, %d SMs, %.0f GB/s)", facts_.major, facts_.minor,
                            facts_.multiprocessors, facts_.peakBandwidth / 1e9);
    }
    const bool fits = text.size() + 1 + device.size() <= ResultTable::kLineLength;
    note(text + (fits ? " " : "\n") + device);
    noteInEmulation(
        showsTimes()
            ? "Times are of an emulation on the host CPU: they say nothing about a GPU."
            : "This is an emulation on the host CPU: no times (--host-times shows its own).");
}

void Exercise::note(const std::string& text, Style style) {
    pending_ += styled(text, style, inColour(readers())) + "\n";
    if (ran_) printPending();
}

void Exercise::noteInEmulation(const std::string& text) {
    if (kEmulated) note(text);
}

void Exercise::columns(Columns kind, std::vector<OwnColumn> own,
                       std::vector<std::string> onlyInCsv) {
    kind_ = kind;
    own_ = std::move(own);
    onlyInCsv_ = std::move(onlyInCsv);
}

void Exercise::row(Row row) {
    if (!table_) {
        const bool predicts = std::any_of(own_.begin(), own_.end(),
                                          [](const OwnColumn& column) { return column.predicted; });
        if (predicts && !csv_)
            note("* predicted by a rule, not counted; ./lab profile shows what is counted.");
        const Times times = !kEmulated     ? Times::kOfGpu
                            : showsTimes() ? Times::kOfEmulation
                                           : Times::kNone;
        table_.emplace(name_, kind_, own_, row.work.unit, times, csv_, onlyInCsv_);
    }
    if (row.device.empty()) row.device = facts_.name;
    if (row.parameters.empty()) row.parameters = parameters();
    row.peak = row.work.unit == Work::kBytes         ? facts_.peakBandwidth
               : row.work.unit == Work::kTensorFlops ? facts_.peakTensorFlops
                                                     : facts_.peakFlops;
    table_->row(row);
    if (row.finding.wrong.empty()) return;
    wrong_ = true;
    note("    WRONG: " + row.kernel + ": " + row.finding.wrong, Style::kBad);
}

int Exercise::finish() const {
    if (!ran_ && !filter_.empty()) {
        std::string names;
        for (const std::string& name : names_) names += (names.empty() ? "" : ", ") + name;
        reject("kernel", filter_, "a part of one of " + names);
    }
    requireWritten();
    return wrong_ ? kExitFailure : kExitOk;
}

bool Exercise::selected(const std::string& name) {
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
    const bool wanted = name.find(filter_) != std::string::npos;
    if (wanted) {
        ran_ = true;
        printPending();
    }
    return wanted;
}

bool Exercise::peerSelected(const std::string& name) {
    return selected(name) && (!profile_ || !filter_.empty());
}

void Exercise::printPending() {
    std::fputs(pending_.c_str(), readers());
    std::fflush(readers());
    pending_.clear();
}

void Exercise::printHelp() const {
    const std::string texts[] = {
        name_ + ": " + about_,
        "options (--name=value or --name value; of one that is given twice the last holds; N is a "
        "whole number that may end in K, M, G or T, powers of 1024):",
        "exit status: 0 all results right, 1 a wrong result or a failure, 2 bad usage, 77 no "
        "usable GPU"};
    const auto lines = [&](int i) { return wrapped(texts[i], Options::kHelpWidth) + "\n"; };
    std::printf("%s\n%s%s\n%s", lines(0).c_str(), lines(1).c_str(), options_.help().c_str(),
                lines(2).c_str());
    requireWritten();
    std::exit(kExitOk);
}

void Exercise::requireWritten() const {
    if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return;
    quit(kExitFailure, "cannot write to stdout");
}

}  // namespace lab
