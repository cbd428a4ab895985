"""The GPU that counts are weighed for, an H200, and what each kind of work takes of its time.

The weights rank findings, and leave out those that are too small to matter. They are no forecast of
a time. The unit is a cycle of one SM at 1.98 GHz.
"""

from __future__ import annotations

GPU = "H200"
SMS = 132  # as common/recorded_gpus.h has them
WARPS_PER_SM = 64
SCHEDULERS = 4  # of an SM: each issues for warps of its own
CLOCK = 1.98  # GHz

# A sector takes 1.9 cycles where it comes from device memory (readStrided<8> moves 4,471 GB/s:
# stridedAccess/results/h200/table.csv), and a quarter where L1 has it (128 bytes in a cycle).
# matmulCoalesced, which finds most of them in L1, takes 1.1 in all (168 million sectors in 0.68 ms:
# matmul/results/h200/table.csv).
SECTOR = 1.0
# squareColCol: 64 wavefronts in 65.4 cycles (sharedBanks/results/h200/table.csv).
WAVEFRONT = 1.0
# lookupConstant with 32 warps: 2.0 cycles for each word (constantMemory/results/h200/table.csv).
CONSTANT_PASS = 2.0
# The four schedulers issue four instructions in a cycle. A line of source is a few of them, and
# none where loops are unrolled.
LINE = 0.5
# intDivide: 3.99 results in a cycle (instructionRates/results/h200/table.csv), for a warp's 32.
DIVISION = 8.0
# fp64Fma: 64.0 results in a cycle, fp32Fma 126, convert 31.9 (the same file), for a warp's 32.
FP64 = 0.5
FP32 = 0.25
CONVERSION = 1.0
# deviceCounter: 524,288 warps add to one address in 0.430 ms (memorySpaces/results/h200/table.csv),
# so 0.82 ns for each, for which all SMs wait: 0.82 * 1.98 * 132 cycles.
ATOMIC_ON_ONE_ADDRESS = 214.0

# Microseconds of the host's calls.
LAUNCH = 2.9  # `launched`, 100 kernels (launchCost/results/h200/table.csv)
LAUNCH_IN_GRAPH = 1.1  # `graph`, 100 kernels
LAUNCH_AND_WAIT = 9.2  # `waited`, 100 kernels
COPY = 4.4  # pageableToDevice, 4 KiB (hostTransfer/results/h200/table.csv)
# Bytes of a copy that reaches half of the bandwidth (half_at_kib: 27 to 36, the same file).
HALF_BANDWIDTH = 32 * 1024
PAGEABLE_GBPS = 17.1  # pageableToDevice, 16 MiB, the best of the sizes
PINNED_GBPS = 54.8  # pinnedToDevice, 16 MiB
