// A program of several files: host code that knows CUDA's types, device code that calls device code
// of another file.
#include <vector>

#include "parts.h"

int main() {
    std::vector<Particle> particles(100);
    for (int i = 0; i < 100; ++i) particles[i] = {make_float3(i, 0, 0), i};
    const int calls = doublePositions(particles.data(), 100);
    for (int i = 0; i < 100; ++i) {
        if (particles[i].position.x != 2 * i || particles[i].id != i) return 1;
    }
    return calls == 100 ? 0 : 2;
}
