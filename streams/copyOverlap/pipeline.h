#pragma once
// Pieces of an array on their way through a pipeline: what of it must come before what, and how
// long it takes: copyOverlap.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
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

// What a stream is for: every so many pieces, from stage to stage; or all pieces of one stage.
enum StreamFor { kPieces, kOneStage };

// Of the host.
enum Memory { kPinned, kPageable };

// How an array goes through the stages: unless said otherwise through all of them, in one piece, in
// one stream and in page-locked memory.
struct Way {
    std::string name;
    unsigned pieces = 1, streams = 1;
    // How many stages work at the same time, on different pieces. 2: kernel and copy out, when all
    // is copied in; 3: copy in, too; 4: and the host, which else waits for the last piece.
    unsigned atATime = 1;
    std::vector<Stage> stages = {kIn, kKernel, kOut, kHost};
    StreamFor streamFor = kPieces;
    Memory memory = kPinned;

    explicit Way(std::string name) : name(std::move(name)) {}
    Way& inPieces(unsigned count) { return pieces = count, *this; }
    Way& inStreams(unsigned count) { return streams = count, *this; }
    Way& inStreamsByStage() { return streamFor = kOneStage, inStreams(3); }
    Way& stagesAtATime(unsigned count) { return atATime = count, *this; }
    Way& only(std::vector<Stage> some) { return stages = std::move(some), *this; }
    Way& pageable() { return memory = kPageable, *this; }

    bool has(Stage stage) const { return std::count(stages.begin(), stages.end(), stage) > 0; }
    unsigned streamOf(Stage stage, unsigned piece) const {
        return streamFor == kOneStage ? static_cast<unsigned>(stage) : piece % streams;
    }
    // Pieces so many apart are in one stream.
    unsigned apart() const { return streamFor == kOneStage ? 1 : streams; }
    bool inAtOnce() const { return atATime == 2; }
    bool hostAtTheEnd() const { return atATime < 4; }
};

struct Span {
    double begin, end;
};

// When each piece was in each stage, in milliseconds since the run began. Where a stage takes the
// whole array at once there is but one.
using Spans = std::array<std::vector<Span>, kStages>;

// An event says when an operation has ended. Its begin follows: when the piece has come from the
// stage before, and the stage has done with the pieces that left it earlier. (Where streams are
// few, it may also have waited for its stream. Streams promise no order among each other: a piece
// may overtake one before it.)
inline void setBegins(Spans& spans) {
    for (std::size_t p = 0; p < spans[kOut].size(); ++p) {
        double here = 0;  // the piece
        for (const Stage stage : {kIn, kKernel, kOut}) {
            if (spans[stage].empty()) continue;
            if (p < spans[stage].size()) {
                Span& span = spans[stage][p];
                span.begin = std::min(here, span.end);
                for (const Span& other : spans[stage]) {
                    if (other.end < span.end) span.begin = std::max(span.begin, other.end);
                }
            }
            here = std::max(here, spans[stage][std::min(p, spans[stage].size() - 1)].end);
        }
    }
}

// What is wrong with the order in which operations ended: the stages of a piece come one after the
// other, and so do, in a stage, pieces so many `apart`, which are in one stream.
inline std::string wrongOrder(const Spans& spans, std::size_t apart) {
    if (spans[kIn].empty() || spans[kKernel].empty()) return "";  // a stage by itself
    const auto inOrder = [&](Stage first, std::size_t p, Stage second, std::size_t q) {
        const double before = spans[first][p].end, end = spans[second][q].end;
        if (before <= end) return std::string();
        return lab::formatted(
            "the %s of piece %zu ended at %.4f ms, the %s of piece %zu at %.4f ms", kNames[first],
            p, before, kNames[second], q, end);
    };
    for (std::size_t p = 0; p < spans[kOut].size(); ++p) {
        const std::size_t in = std::min(p, spans[kIn].size() - 1);
        std::vector<std::string> found = {inOrder(kIn, in, kKernel, p),
                                          inOrder(kKernel, p, kOut, p)};
        for (const Stage stage : {kIn, kKernel, kOut}) {
            if (p >= apart && p < spans[stage].size())
                found.push_back(inOrder(stage, p - apart, stage, p));
        }
        for (const std::string& wrong : found)
            if (!wrong.empty()) return wrong;
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
    // Both copies of pageable memory are work of one thread of the host, which on today's drivers
    // waits for the kernel between them.
    const double in = way.memory == kPageable ? alone.pageableIn : alone.in;
    const double out = way.memory == kPageable ? alone.pageableOut : alone.out;
    const double host = way.has(kHost) ? alone.host : 0;
    const double sum = in + alone.kernel + out + host;
    if (way.atATime == 1) return {sum, sum};

    const double apart = (way.inAtOnce() ? in : 0) + (way.hostAtTheEnd() ? host : 0);
    const double copies = way.inAtOnce()            ? out
                          : way.memory == kPageable ? in + out
                                                    : alone.bothWays;
    const double bound = apart + std::max({copies, alone.kernel, way.hostAtTheEnd() ? 0 : host});
    if (way.memory == kPageable) return {bound, sum};

    const double others = std::max(alone.kernel, way.hostAtTheEnd() ? 0 : host);
    const double turn = std::max(copies / way.pieces + alone.perPiece, others / way.pieces);
    const double inStream = (sum - host - (way.inAtOnce() ? in : 0)) / way.pieces +
                            (way.inAtOnce() ? 1 : 2) * alone.perPiece;
    const double first = inStream + (way.hostAtTheEnd() ? 0 : host / way.pieces);
    // A stream takes a piece when it has done with the one before. So the last piece comes a round
    // later for each earlier one of its stream; in a round every stream takes a piece.
    const unsigned rest = way.pieces - 1;
    const unsigned rounds = way.streamFor == kOneStage ? 0 : rest / way.streams;
    const double round = std::max(way.streams * turn, inStream);
    return {bound, apart + first + rounds * round + (rest - rounds * way.streams) * turn};
}

}  // namespace pipeline
