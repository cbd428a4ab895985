#pragma once
// Rectangles that are left to do, from which blocks take them and to which they add: mandelbrot.

#include "escapeTime.h"
#include "rectangles.cuh"

struct Queue {
    unsigned taken, added;  // rectangles so far
    unsigned open;          // rectangles that are not settled yet
};

// The next rectangle, or 0 when all are settled. Who has ticket t takes tile t, or what is put into
// place t - tiles, and leaves that empty. It waits only while another block is at work, which may
// add more: no block waits for one that has not begun.
__device__ inline unsigned long long taken(const View& view, const Tiles& tiles, Queue* queue,
                                           unsigned long long* places) {
    const unsigned ticket = atomicAdd(&queue->taken, 1u);
    if (ticket < tiles.count()) {
        return packed(part({0, 0, view.width, view.height}, tiles.columns, tiles.rows,
                           ticket % tiles.columns, ticket / tiles.columns));
    }
    for (;;) {
        const unsigned long long word = atomicExch(&places[ticket - tiles.count()], 0ull);
        if (word != 0) {
            __threadfence();  // what is subtracted from `open` comes after what was added to it
            return word;
        }
        if (atomicAdd(&queue->open, 0u) == 0) return 0;
        __nanosleep(100);
    }
}

// They are open before anybody can take them, or the others might leave.
__device__ inline void add(Queue* queue, unsigned long long* places, const Rectangle& whole) {
    constexpr unsigned kNew = kParts * kParts;
    atomicAdd(&queue->open, kNew);
    __threadfence();
    const unsigned first = atomicAdd(&queue->added, kNew);
    for (unsigned k = 0; k < kNew; ++k) {
        const Rectangle added = part(whole, kParts, kParts, k % kParts, k / kParts);
        atomicExch(&places[first + k], packed(added));
    }
}
