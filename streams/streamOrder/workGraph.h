#pragma once
// Pieces of work in several streams, and which of them waits for which: streamOrder.

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <vector>

#include "format.h"
#include "span.cuh"

// `after` has a bit for each earlier piece whose result this one reads: a graph has 32 at most.
struct Piece {
    unsigned stream;
    unsigned after = 0;

    Piece& waitingFor(std::initializer_list<unsigned> earlier) {
        for (const unsigned piece : earlier) after |= 1u << piece;
        return *this;
    }
};
using WorkGraph = std::vector<Piece>;

inline bool waitsFor(const Piece& piece, std::size_t earlier) {
    return (piece.after >> earlier & 1) != 0;
}

inline unsigned waitsIn(const WorkGraph& graph) {
    unsigned waits = 0;
    for (const Piece& piece : graph) {
        for (std::size_t p = 0; p < graph.size(); ++p) waits += waitsFor(piece, p);
    }
    return waits;
}

inline Piece inStream(unsigned stream) {
    return {stream};
}

inline WorkGraph inOneStream(WorkGraph graph) {
    for (Piece& piece : graph) piece.stream = 0;
    return graph;
}

// Pieces on the longest way through the graph: none of these can begin before the one in front of
// it has ended, which it waits for or which is in the same stream.
inline unsigned longestWay(const WorkGraph& graph) {
    std::vector<unsigned> ways;
    for (const Piece& piece : graph) {
        unsigned before = 0;
        for (std::size_t p = 0; p < ways.size(); ++p) {
            if (waitsFor(piece, p) || graph[p].stream == piece.stream)
                before = std::max(before, ways[p]);
        }
        ways.push_back(before + 1);
    }
    return ways.empty() ? 0 : *std::max_element(ways.begin(), ways.end());
}

// What each piece leaves: its number, from 1, and the sum of what those before it left.
inline std::vector<unsigned> valuesOf(const WorkGraph& graph) {
    std::vector<unsigned> values;
    for (const Piece& piece : graph) {
        unsigned value = static_cast<unsigned>(values.size()) + 1;
        for (std::size_t p = 0; p < values.size(); ++p) {
            if (waitsFor(piece, p)) value += values[p];
        }
        values.push_back(value);
    }
    return values;
}

// What is wrong with the times of the pieces, each of which stays for `nanoseconds`.
inline std::string wrongOrder(const WorkGraph& graph, const std::vector<lab::Span>& spans,
                              unsigned long long nanoseconds) {
    for (std::size_t k = 0; k < graph.size(); ++k) {
        if (!lab::stayedFor(spans[k], nanoseconds))
            return lab::formatted("piece %zu did not stay for %llu ns", k, nanoseconds);
        for (std::size_t p = 0; p < k; ++p) {
            const bool inOrder = waitsFor(graph[k], p) || graph[p].stream == graph[k].stream;
            if (inOrder && spans[k].begin < spans[p].end)
                return lab::formatted("piece %zu began before piece %zu had ended", k, p);
        }
    }
    return "";
}
