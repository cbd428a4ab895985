"""A checkout with an exercise of which an assignment is handed out, and one that gives it away."""

from __future__ import annotations

from pathlib import Path

SOURCE = """\
// Sums.
//
//   1 plain      one element to a thread
//   2 wide2, 4   several elements to a thread, all loads
//                before the first sum
//   3 clever     what nobody should see
//   4 last       the end
//     library    somebody else's
//
// More about it.

#include "lab.cuh"

constexpr unsigned kBlock = 64;
constexpr unsigned kLoads = 4;    // of wide and clever
constexpr unsigned kPrime = 17;
constexpr unsigned kSecret = kPrime - 1;  // of clever
constexpr unsigned kGrids = 2;            // of its launch

// Slow.
__global__ void plain(const int* in, int* out) {
    out[threadIdx.x] = in[threadIdx.x] + blockIdx.x * kBlock;
}

// All loads come first, k * blockDim.x apart.
template <unsigned kParts>
__global__ void wide(const int* __restrict__ in, int* out, unsigned n = 1) {
    int sum = 0;
    const unsigned first = blockIdx.x * kLoads * blockDim.x + threadIdx.x;
    for (unsigned k = 0; k < kParts; ++k) sum += in[first + k * blockDim.x];
    out[threadIdx.x] = sum + n;
}

__device__ int help(int x) {
    return x * kSecret + 3;
}

// A secret.
__global__ void clever(const int* in, int* out) {
    out[threadIdx.x] = help(in[threadIdx.x]) + kLoads;
}

__global__ void last(int* out) {
    out[threadIdx.x] = 0;
}

// Launches clever.
template <unsigned kGrid>
void launchClever(const int* in, int* out) {
    clever<<<kGrid, kBlock>>>(in, out);
}

int main(int argc, char** argv) {
    lab::Exercise exercise("sums", "Sums.");
    const int *in = nullptr, *more = in;
    int* out = nullptr;
    lab::Ladder ladder(exercise, out);
    ladder.rung("plain", [&] { plain<<<1, kBlock>>>(in, out); });
    ladder.rung("wide2", [&] { wide<2><<<1, kBlock>>>(in, out); });
    ladder.rung("wide4", [&] { wide<4><<<1, kBlock>>>(in, out); });

    // Only clever has it.
    const dim3 grid(1), cleverGrid = grid;
    for (const unsigned size : {1, 2}) {
        const std::size_t bytes = size * sizeof(int);
        ladder.rung({"clever", exercise.parameters(size)}, cleverGrid, [&] {
            launchClever<kGrids>(in, more + bytes);
            last<<<grid, kBlock>>>(out);
        });
    }
    if (argc > 9) exercise.note("clever: there is no room");
    ladder.rung("last", grid, [&] { last<<<grid, kBlock>>>(out); });
    return exercise.finish();
}
"""

HANDED_OUT = """\
// Sums.
//
//   1 plain      one element to a thread
//   2 wide2, 4   several elements to a thread
//   4 last       the end
//     library    somebody else's
//
// More about it.

#include "lab.cuh"

constexpr unsigned kBlock = 64;
[[maybe_unused]] constexpr unsigned kLoads = 4;    // of wide and clever

// Slow.
__global__ void plain(const int* in, int* out) {
    out[threadIdx.x] = in[threadIdx.x] + blockIdx.x * kBlock;
}

// Several elements.
template <unsigned kParts>
__global__ void wide(const int* __restrict__ in, int* out, unsigned n = 1) {
    // TODO: Load first.
    // README.md has the assignment. ./lab hint gives one hint at a time.
    (void)in, (void)out, (void)n;
}

__global__ void last(int* out) {
    out[threadIdx.x] = 0;
}

int main(int argc, char** argv) {
    lab::Exercise exercise("sums", "Sums.");
    [[maybe_unused]] const int *in = nullptr, *more = in;
    int* out = nullptr;
    lab::Ladder ladder(exercise, out);
    ladder.rung("plain", [&] { plain<<<1, kBlock>>>(in, out); });
    ladder.rung("wide2", [&] { wide<2><<<1, kBlock>>>(in, out); });
    ladder.rung("wide4", [&] { wide<4><<<1, kBlock>>>(in, out); });

    // Only clever has it.
    [[maybe_unused]] const dim3 grid(1), cleverGrid = grid;
    ladder.rung("last", grid, [&] { last<<<grid, kBlock>>>(out); });
    return exercise.finish();
}
"""

FACTS = """\
order = 10
idea = "sums"

[tests]
runs = ["--size=1", "--size=2 --kernel=clev", "--size=3 --kernel=l"]

[tests.prints]
"--size=1" = "^clever +1 "
"--size=4" = ["^plain +4 ", "^clever +4 "]

[tests.rejects]
"--size=0" = "^sums: 0"
"--kernel=x" = "one of plain, wide2, wide4, clever"

[tests.hazards]
"--size=1" = { hazards = 0 }
"--size=1 --kernel=clever" = { hazards = 1 }

[bench]
runs = ["--size=1", { options = "--size=1G", gib = 8.5 }]

[work]
bytes = { plain = "4 * size", clever = "8 * size" }
baselines = ["plain", "clever"]

[figures.ladder]
chart = "ladder"
title = "sums of \\"all\\""
also = ["fast"]
value = "gbps"

# A piece of the solution.
[[broken]]
replace = "sum += in[first + k * blockDim.x]"
by = "sum += in[first + k]"
wrong = ["wide2"]

[faults]
harmless = ["launch 3"]

[[assignment]]
name = "loadFirst"
sentence = "Load first."
stars = 1
kernels = ["wide"]
rows = ["wide2", "wide4"]
before = "plain"
hides = ["clever"]
leaves_out = ["fast"]
comment = "Several elements."
listed = "several elements to a thread"
hints = ["Look.", "Think.", "`const unsigned first = blockIdx.x * kLoads * blockDim.x + threadIdx.x;`"]
sizes = ["--size=1"]
check = "--size=1"
bounds = [{ count = "gld_efficiency >= 95 %", options = "--size=1", goal = true }]

[[assignment]]
name = "beClever"
sentence = "Be clever."
stars = 2
kernels = ["clever"]
before = "wide"
hints = ["Look.", "Think.", "Write."]
sizes = ["--size=1"]
check = "--size=1"
bounds = []
"""

PAGE = """\
# sums

About sums. [fast](../fast/README.md#idea) goes on; [other](../other/README.md) does not.

![A picture.](../fast/results/h200/ladder.svg)

## Hints

<details><summary>Hints</summary>

- Task 2: think.

</details>

## Answers

<details><summary>Answer 1</summary>

Because of this.

</details>
<details><summary>Answer to loadFirst</summary>

The answer itself.

</details>
<details><summary>Answers 2 and 3</summary>

```cpp
for (unsigned k = 0; k < kParts; ++k)
    sum += in[first + k * blockDim.x];  // as before
```

</details>
"""

OTHER = 'int main() {{ lab::Exercise exercise("{0}", "About {0}."); }}\n'
OTHER_FACTS = 'order = {}\nidea = "more"\n[tests]\nruns = [""]\n[bench]\nruns = [""]\n'
# What [tests] is in the hand-out.
TESTS = {
    "runs": ["--size=1", "--size=3 --kernel=l"],
    "prints": {"--size=4": ["^plain +4 "]},
    "rejects": {"--size=0": "^sums: 0"},
    "hazards": {"--size=1": {"hazards": 0}},
}

FILES = {
    "lab": "#!/bin/sh\n",
    "README.md": "# A lab\n\nSee [fast](ch01/fast/README.md).\n",
    "ch01/CMakeLists.txt": "lab_add_chapter()\n",
    "ch01/pieces.cuh": "// for (unsigned k = 0; k < kParts; ++k) sum += in[first + k * blockDim.x];\n",
    "ch01/tests/pieces_test.cpp": "// sum += in[first + k * blockDim.x]\n",
    "ch01/sums/sums.cu": SOURCE,
    "ch01/sums/README.md": PAGE,
    "ch01/sums/exercise.toml": FACTS,
    "ch01/sums/exercise.cmake": "# more tests\n",
    "ch01/sums/tests/assignments.toml": "[loadFirst]\nbefore = 'sum += in[first + k * blockDim.x];'\n",
    "ch01/sums/tests/printed.txt": "clever 1\n",
    "ch01/sums/tests/same_sums.py": "# of exercise.cmake\n",
    "ch01/sums/results/h200/counts.debug.csv": (
        '==PROF==\n"ID","Kernel Name","x"\n"","","unit"\n'
        '"0","plain(const int *, int *)","1"\n'
        '"1","void wide<2>(const int *)","1,024"\n'
        '"2","clever(const int *)","1"\n'
        '"3","last(int *)","1"\n'
        '"4","clever(const int *)","1"\n'
        '"5","last(int *)","1"\n'
        '"6","library(int *)","1"\n'
        '"7","last(int *)","1"\n'
    ),
    "ch01/fast/fast.cu": '#include "own.cuh"\n\n#include "../pieces.cuh"\n' + OTHER.format("fast"),
    "ch01/fast/own.cuh": "// a secret\n",
    "ch01/fast/README.md": "# fast\n",
    "ch01/fast/exercise.toml": OTHER_FACTS.format(20),
    "ch01/fast/results/h200/ladder.svg": "<svg/>\n",
    "ch01/other/other.cu": OTHER.format("other"),
    "ch01/other/README.md": "# other\n",
    "ch01/other/exercise.toml": OTHER_FACTS.format(30),
    "tests/own_test.py": "# sum += in[first + k * blockDim.x]\n",
    "tests/emulator/profiler/compare.py": "# compares\n",
    ".ci/run": "# tests all\n",
    ".github/workflows/ci.yml": "name: CI\n",
    "TEACHING.md": "# For teachers\n",
}


def write(root: Path) -> None:
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "lab").chmod(0o755)
