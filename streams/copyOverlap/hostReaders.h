#pragma once
// Threads of the host that read an array while it comes back, piece by piece: copyOverlap.

#include <cstddef>
#include <numeric>
#include <thread>
#include <vector>

#include "../hostThread.h"
#include "pipeline.h"

namespace pipeline {

class HostReaders {
  public:
    explicit HostReaders(unsigned threads) : threads_(threads) {}

    // Each thread adds up its share of each piece, behind waitFor(piece). now() is in milliseconds.
    template <typename WaitFor, typename Now>
    void read(const unsigned* array, std::size_t size, unsigned pieces, const WaitFor& waitFor,
              const Now& now) {
        sums_.assign(std::size_t{pieces} * threads_, 0);
        spans_.assign(pieces, {});
        const auto work = [&](unsigned thread) {
            for (unsigned p = 0; p < pieces; ++p) {
                waitFor(p);
                const Piece piece = pieceOf(size, pieces, p);
                const Piece share = pieceOf(piece.size, threads_, thread);
                const unsigned* const begin = array + piece.begin + share.begin;
                if (thread == 0) spans_[p].begin = now();
                sums_[p * threads_ + thread] = std::accumulate(begin, begin + share.size, 0u);
                if (thread == 0) spans_[p].end = now();
            }
        };
        std::vector<std::thread> others;
        for (unsigned t = 1; t < threads_; ++t)
            others.push_back(lab::startThread([&, t] { work(t); }));
        work(0);
        for (std::thread& other : others) other.join();
    }

    // Of the last time: of each piece a sum from each thread, and when the first thread read it.
    const std::vector<unsigned>& sums() const { return sums_; }
    const std::vector<Span>& spans() const { return spans_; }

  private:
    unsigned threads_;
    std::vector<unsigned> sums_;
    std::vector<Span> spans_;
};

}  // namespace pipeline
