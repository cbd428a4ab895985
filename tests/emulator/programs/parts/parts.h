// For host code, too: what parts.cu does with CUDA.
#pragma once

#include <cuda_runtime_api.h>
#include <vector_functions.h>

struct Particle {
    float3 position;
    int id;
};

// Doubles position.x of n particles in host memory. Returns how often device code was called.
extern "C" int doublePositions(Particle* particles, int n);
