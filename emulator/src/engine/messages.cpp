#include "messages.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <set>
#include <utility>

#include "emu/engine.h"

namespace emu {
namespace {

std::string describe(const Fiber& fiber, const Warps& warps) {
    std::string line =
        format("  thread %s waits at %s", text(fiber.threadIdx).c_str(), text(fiber.site).c_str());
    if (fiber.wait == Wait::Collective) {
        line += format(" for the lanes 0x%08x of its warp", warps.missingLanes(fiber));
    }
    return line;
}

}  // namespace

const char* const kMaskAdvice =
    "a warp function needs all lanes that its mask names: within a branch, name those that take "
    "it, "
    "with the mask that __ballot_sync(0xffffffff, condition) gives before";

std::string format(const char* pattern, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, pattern);
    std::vsnprintf(text, sizeof(text), pattern, arguments);
    va_end(arguments);
    return text;
}

std::string text(const uint3& index) {
    return format("(%u,%u,%u)", index.x, index.y, index.z);
}

std::string text(const CallSite& site) {
    return format("%s at %s:%d", site.what, site.file, site.line);
}

std::string deadlockMessage(std::vector<const Fiber*> waiting, const Warps& warps, unsigned ended) {
    std::string message = "deadlock: threads of the block wait for one another for ever";
    std::sort(waiting.begin(), waiting.end(),
              [](const Fiber* a, const Fiber* b) { return a->rank < b->rank; });
    std::vector<const Fiber*> shown;
    for (const Fiber* fiber : waiting) {
        const auto same = [&](const Fiber* other) {
            return sameSite(other->site, fiber->site) &&
                   (fiber->wait != Wait::Collective || other->mask == fiber->mask);
        };
        if (std::any_of(shown.begin(), shown.end(), same)) continue;
        shown.push_back(fiber);
        const auto others = std::count_if(waiting.begin(), waiting.end(), same) - 1;
        message += "\n" + describe(*fiber, warps);
        if (others > 0) message += format(" (and %d more threads there)", static_cast<int>(others));
    }
    const auto meets = [](const Fiber* fiber) { return fiber->wait == Wait::Collective; };
    if (std::any_of(waiting.begin(), waiting.end(), meets)) {
        message += std::string("\n  ") + kMaskAdvice;
    }
    if (ended > 0) message += format("\n  %u threads of the block have ended", ended);
    return message;
}

void noteEndedThreads(const char* kernel, unsigned ended, const CallSite& site) {
    static std::mutex mutex;
    static std::set<std::pair<std::string, int>> noted;
    const std::lock_guard<std::mutex> lock(mutex);
    if (!noted.emplace(site.file, site.line).second) return;
    std::fprintf(
        stderr,
        "emulator: note: kernel %s, block %s: %u threads ended without reaching the %s. Since "
        "Volta a barrier waits only for "
        "threads that have not ended; on older GPUs, and by most textbooks, this is undefined.\n",
        kernel, text(blockIdx).c_str(), ended, text(site).c_str());
}

}  // namespace emu
