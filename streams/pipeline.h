#pragma once
// Pieces of an array on their way through a pipeline: what of it must come before what, and how
// long it takes: copyOverlap.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "format.h"

namespace pipeline {

// Elements of an array.
struct Piece {
    std::size_t begin, size;
};

// Piece `number` of `pieces`, whose sizes differ by one element at most.
inline Piece pieceOf(std::size_t size, std::size_t pieces, std::size_t number) {
    const std::size_t begin = size * number / pieces;
    return {begin, size * (number + 1) / pieces - begin};
}

// What is done with a piece, in this order.
enum Stage { kIn, kKernel, kOut, kHost, kStages };
inline constexpr const char* kNames[kStages] = {"copy in", "kernel", "copy out", "host"};

// How an array goes through the stages.
struct Way {
    std::string name;
    unsigned pieces = 1, streams = 1;
    // How many stages work at the same time, on different pieces. 2: kernel and copy out, when all
    // is copied in; 3: copy in, too; 4: and the host, which else waits for the last piece.
    unsigned atATime = 1;
    std::vector<Stage> stages = {kIn, kKernel, kOut, kHost};
    bool streamPerStage = false;  // and none for pieces
    bool pageable = false;

    bool has(Stage stage) const { return std::count(stages.begin(), stages.end(), stage) > 0; }
    // Every so many pieces a stream gets another one.
    unsigned turn() const { return streamPerStage ? pieces : streams; }
    bool inAtOnce() const { return atATime == 2; }
    bool hostAtTheEnd() const { return atATime < 4; }
};

struct Span {
    double begin, end;
};

// When each piece was in each stage, in milliseconds since the run began. Where a stage takes the
// whole array at once there is but one.
using Spans = std::array<std::vector<Span>, kStages>;

// An event says when an operation has ended. Its begin follows: when the one before it has ended in
// its stream, in which piece p is number p / `streams`, and the one before it in its stage.
inline void setBegins(Spans& spans, std::size_t streams) {
    for (std::size_t p = 0; p < spans[kOut].size(); ++p) {
        double free = p < streams ? 0 : spans[kOut][p - streams].end;  // its stream
        for (const Stage stage : {kIn, kKernel, kOut}) {
            if (spans[stage].empty()) continue;
            if (p < spans[stage].size()) {
                Span& span = spans[stage][p];
                const double before = p == 0 ? 0 : spans[stage][p - 1].end;
                span.begin = std::min(span.end, std::max(free, before));
                free = span.end;
            } else {
                free = std::max(free, spans[stage][0].end);
            }
        }
    }
}

// What is wrong with the order in which operations ended: those of a piece, and those of a stream.
inline std::string wrongOrder(const Spans& spans, std::size_t streams) {
    if (spans[kIn].empty() || spans[kKernel].empty()) return "";  // a stage by itself
    const auto operation = [](Stage stage, std::size_t piece) {
        return lab::formatted("the %s of piece %zu", kNames[stage], piece);
    };
    for (std::size_t p = 0; p < spans[kOut].size(); ++p) {
        double before = 0;
        std::string which;
        if (p >= streams) {
            before = spans[kOut][p - streams].end;
            which = operation(kOut, p - streams);
        }
        for (const Stage stage : {kIn, kKernel, kOut}) {
            const std::size_t piece = std::min(p, spans[stage].size() - 1);
            const double end = spans[stage][piece].end;
            if (piece == p && end < before) {
                return lab::formatted("%s ended at %.4f ms, and %s before it at %.4f ms",
                                      operation(stage, p).c_str(), end, which.c_str(), before);
            }
            if (end >= before) which = operation(stage, piece);
            before = std::max(before, end);
        }
    }
    return "";
}

// Milliseconds of each stage alone with the whole array, of both copies at the same time, and how
// much longer these take for each piece that the array is cut into.
struct Alone {
    double in = 0, kernel = 0, out = 0, bothWays = 0, perPiece = 0, host = 0;
    double pageableIn = 0, pageableOut = 0;
};

struct Prediction {
    double bound;  // what no pipeline can go below
    double time;
};

// The first piece goes through all stages, one after the other; then one comes in each turn, as
// long as the longest stage takes for a piece. What does not overlap comes before that or after it.
inline Prediction predicted(const Way& way, const Alone& alone) {
    // Both copies of pageable memory are work of one thread of the host, which waits for the kernel
    // between them.
    const double in = way.pageable ? alone.pageableIn : alone.in;
    const double out = way.pageable ? alone.pageableOut : alone.out;
    const double host = way.has(kHost) ? alone.host : 0;
    const double sum = in + alone.kernel + out + host;
    if (way.atATime == 1) return {sum, sum};

    const double apart = (way.inAtOnce() ? in : 0) + (way.hostAtTheEnd() ? host : 0);
    const double copies = way.inAtOnce() ? out : way.pageable ? in + out : alone.bothWays;
    const double bound = apart + std::max({copies, alone.kernel, way.hostAtTheEnd() ? 0 : host});
    if (way.pageable) return {bound, sum};

    const double others = std::max(alone.kernel, way.hostAtTheEnd() ? 0 : host);
    double turn = std::max(copies / way.pieces + alone.perPiece, others / way.pieces);
    // A stream takes a piece when it has done with the one before.
    const double inStream = (sum - host - (way.inAtOnce() ? in : 0)) / way.pieces +
                            (way.inAtOnce() ? 1 : 2) * alone.perPiece;
    if (!way.streamPerStage) turn = std::max(turn, inStream / way.streams);
    const double first = inStream + (way.hostAtTheEnd() ? 0 : host / way.pieces);
    return {bound, apart + first + (way.pieces - 1) * turn};
}

}  // namespace pipeline
