"""The whole programs in the answers of the pages, and what they must print."""

from __future__ import annotations

import re

from lab_cli.results import tables

PROGRAM = re.compile(r"^```cpp\n((?:(?!^```).)*?^int main\(.*?)^```", re.MULTILINE | re.DOTALL)

# What it prints with these options, and its divergent branches.
EXPECTED = {
    "controlDivergence": [(["1000"], "", 3), (["1024"], "", 2), (["20"], "", 2)],
    "blockScheduling": [
        (
            [],
            "three waves:          3.00, idle  0.0 %\n"
            "14 blocks more:       4.00, idle 23.7 %\n"
            "halves of them:       3.50, idle 12.8 %\n"
            "every fifth longer:  14.00, idle 38.7 %\n"
            "the longest last:    13.00, idle 34.0 %\n"
            "the longest first:   10.00, idle 14.2 %\n",
            0,
        )
    ],
    "deviceQuery": [
        (
            [],
            "block 32x33        cudaErrorInvalidConfiguration: invalid configuration argument\n"
            "block 1x1x128      cudaErrorInvalidConfiguration: invalid configuration argument\n"
            "grid 1x70000       cudaErrorInvalidConfiguration: invalid configuration argument\n"
            "64 KiB             cudaErrorInvalidValue: invalid argument\n"
            "64 KiB, asked for  cudaSuccess: no error\n",
            0,
        )
    ],
    "occupancyCalculator": [
        (
            [],
            "  32 threads, 0 registers,  128 bytes: 32 blocks, 32 warps\n"
            "  64 threads, 0 registers,  256 bytes: 32 blocks, 64 warps\n"
            " 128 threads, 0 registers,  512 bytes: 16 blocks, 64 warps\n"
            " 256 threads, 0 registers, 1024 bytes:  8 blocks, 64 warps\n"
            " 512 threads, 0 registers, 2048 bytes:  4 blocks, 64 warps\n"
            "1024 threads, 0 registers, 4096 bytes:  2 blocks, 64 warps\n",
            0,
        )
    ],
    "latencyHiding": [
        (
            [],
            "1 chains:   6.25  12.50  25.00  50.00 100.00 100.00 100.00\n"
            "2 chains:  12.50  25.00  50.00 100.00 100.00 100.00 100.00\n"
            "4 chains:  25.00  50.00 100.00 100.00 100.00 100.00 100.00\n"
            "8 chains:  25.00  50.00 100.00 100.00 100.00 100.00 100.00\n",
            0,
        )
    ],
    # The most registers of each number of blocks, on an H200.
    "occupancyCliff": [
        (
            [],
            " 128 threads: 255 (2) 168 (3) 128 (4) 96 (5) 80 (6) 72 (7) 64 (8) 56 (9) 48 (10) 40 (12)"
            " 32 (16)\n"
            " 256 threads: 255 (1) 128 (2) 80 (3) 64 (4) 48 (5) 40 (6) 32 (8)\n"
            " 512 threads: 128 (1) 64 (2) 40 (3) 32 (4)\n"
            "1024 threads: 64 (1) 32 (2)\n",
            0,
        )
    ],
    "simpleDivergence": [([], "", 992)],
    # How many sectors the first warp of a block touches.
    "sumMatrix": [
        (
            [],
            "256x1     4 sectors, 100.0 % used\n"
            "128x2     4 sectors, 100.0 % used\n"
            " 64x4     4 sectors, 100.0 % used\n"
            " 32x8     4 sectors, 100.0 % used\n"
            " 16x16    4 sectors, 100.0 % used\n"
            "  8x32    4 sectors, 100.0 % used\n"
            "  4x64    8 sectors,  50.0 % used\n"
            "  2x128  16 sectors,  25.0 % used\n"
            "  1x256  32 sectors,  12.5 % used\n",
            0,
        )
    ],
    "nestedHelloWorld": [([], "the sum is 140\n", 0)],
    "launchLimits": [([], "2048 ran, 952 were refused; the host: cudaSuccess\n", 0)],
    "misalignedAccess": [([], "", 0)],
    "sharedBanks": [
        (
            [],
            " 4 bytes,  1 rows: 0\n 4 bytes,  2 rows: 16\n 4 bytes,  4 rows: 8\n"
            " 4 bytes,  8 rows: 4\n 4 bytes, 16 rows: 2\n 4 bytes, 32 rows: 1\n"
            " 8 bytes,  1 rows: 0\n 8 bytes,  2 rows: 8\n 8 bytes,  4 rows: 4\n"
            " 8 bytes,  8 rows: 2\n 8 bytes, 16 rows: 1\n 8 bytes, 32 rows: 1\n"
            "16 bytes,  1 rows: 0\n16 bytes,  2 rows: 4\n16 bytes,  4 rows: 2\n"
            "16 bytes,  8 rows: 1\n16 bytes, 16 rows: 1\n16 bytes, 32 rows: 1\n",
            0,
        )
    ],
    # Lane by lane: all numbers by a butterfly, and what shifts down leave.
    "warpShuffle": [
        ([], "".join(f"lane {i}: 496, {496 + 16 * i}\n" for i in range(32)), 0),
    ],
    # Sums from the first number of a segment on, of 32 and of 8 lanes.
    "warpShuffle 2": [
        (
            [],
            "".join(
                "".join(f"{sum(range(lane // width * width + 1, lane + 2))} " for lane in range(32))
                + "\n"
                for width in (32, 8)
            ),
            8,
        )
    ],
    "unifiedAddresses": [
        (
            [],
            "p         cudaSuccess, type 2, host: 0, device: 1\n"
            "p + 10    cudaSuccess, type 2, host: 0, device: 1\n"
            "behind p  cudaSuccess, type 0, host: 1, device: 0\n"
            "p, freed  cudaSuccess, type 0, host: 1, device: 0\n",
            0,
        )
    ],
    "zeroCopy": [([], "65536 in the end: cudaSuccess\n", 65536)],
    "managedMemory": [([], "5050\n", 0)],
    "compileTargets": [([], "cudaSuccess\n42\n", 0)],
}


def pages_of_programs() -> dict[str, str]:
    """The text of the page of each."""
    texts = {page.stem: page.read_text(encoding="utf-8") for page in tables.pages()}
    return {name: texts[name.split()[0]] for name in programs()}


def programs() -> dict[str, str]:
    """The text of each by page, the second one with a 2 behind it."""
    found = {}
    for page in tables.pages():
        for number, text in enumerate(PROGRAM.findall(page.read_text(encoding="utf-8")), 1):
            found[page.stem if number == 1 else f"{page.stem} {number}"] = text
    return found
