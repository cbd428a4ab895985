"""What each kind of work takes of an H200's time, in cycles of one SM.

The weights rank lines, causes and differences, and leave out those that are too small to matter. They
are no forecast of a time.
"""

from __future__ import annotations

from .model import CONSTANT, GLOBAL, SHARED

# From device memory a sector takes 1.9 cycles (readStrided<8> moves 4,471 GB/s:
# stridedAccess/results/h200/table.csv), from L2 0.93 (readL2: roofline/results/h200/metrics.csv), and
# from L1 a quarter (128 bytes in a cycle). Counts do not tell which of them has it, so one weight
# stands for all: one that puts kernels of an exercise in the order of their times. Of 159 pairs whose
# times differ by a tenth (transpose, matmul, cornerTurning, registerTiles, threadGranularity, stencils
# of constantMemory; on an H200), sectors and wavefronts put 149 in the right order with 1 or 1.2 cycles
# for a sector, and 145 with 2. With 1, transposeSmem weighs more than transposeNaiveRow, which takes
# 3.6 times as long (transpose/results/h200/table.csv). With 2, untiledRowMajor weighs more than
# bTurnedLate, which takes 1.7 times as long (cornerTurning/results/h200/table.csv).
SECTOR = 1.2
# squareColCol: 64 wavefronts in 65.4 cycles (sharedBanks/results/h200/table.csv).
WAVEFRONT = 1.0
# lookupConstant with 32 warps: 2.0 cycles for each word (constantMemory/results/h200/table.csv).
CONSTANT_PASS = 2.0
UNITS = {GLOBAL: SECTOR, SHARED: WAVEFRONT, CONSTANT: CONSTANT_PASS}
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
