// Templates of the standard library that the emulator uses as well: the linker keeps one copy of
// their code, which may be the one that is recorded. The emulator must not record itself for it.
#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "expect.cuh"

int written;  // the first thing that is recorded, with nothing of the emulator set up

__global__ void store(int* out, int value) {
    out[threadIdx.x] = value + static_cast<int>(threadIdx.x);
}

int main() {
    written = 1;
    std::deque<std::size_t> numbers;
    std::vector<std::string> words;
    for (std::size_t i = 0; i < 1000; ++i) {
        numbers.push_back(i);
        words.push_back(std::string(i % 40, 'x'));
        if (i % 2 == 0) numbers.pop_front();
    }
    int* out;
    CHECK(cudaMalloc(&out, 32 * sizeof(int)));
    store<<<1, 32>>>(out, static_cast<int>(numbers.size()));
    int host[32];
    CHECK(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
    EXPECT(host[0] == 500);
    EXPECT(host[31] == 531);
    EXPECT(words.back().size() == 999 % 40);
    CHECK(cudaFree(out));
    return 0;
}
