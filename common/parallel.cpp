#include "parallel.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <vector>

namespace lab {

void parallelFor(std::size_t count, std::size_t least,
                 const std::function<void(std::size_t begin, std::size_t end)>& work) {
    const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
    const std::size_t pieces =
        std::min(cores, std::max<std::size_t>(1, count / std::max<std::size_t>(1, least)));
    const std::size_t size = count / pieces, extra = count % pieces;
    std::vector<std::thread> threads;
    std::size_t begin = 0;
    for (std::size_t piece = 0; piece < pieces; ++piece) {
        const std::size_t end = begin + size + (piece < extra ? 1 : 0);
        bool started = false;
        if (piece + 1 < pieces) {
            try {
                threads.emplace_back([&work, begin, end] { work(begin, end); });
                started = true;
            } catch (const std::system_error&) {  // no more threads to be had
            }
        }
        if (!started) work(begin, end);
        begin = end;
    }
    for (std::thread& thread : threads) thread.join();
}

}  // namespace lab
