"""The GPU that findings are weighed for, an H200, and what the host's calls take of its time."""

from __future__ import annotations

GPU = "H200"
SMS = 132  # as common/recorded_gpus.h has them
WARPS_PER_SM = 64
SCHEDULERS = 4  # of an SM: each issues for warps of its own
CLOCK = 1.98  # GHz

# Microseconds of the host's calls.
LAUNCH = 2.9  # `launched`, 100 kernels (launchCost/results/h200/table.csv)
LAUNCH_IN_GRAPH = 1.1  # `graph`, 100 kernels
LAUNCH_AND_WAIT = 9.2  # `waited`, 100 kernels
COPY = 4.6  # pageableToDevice, 4 KiB (hostTransfer/results/h200/table.csv)
# Bytes of a copy that reaches half of the bandwidth (half_at_kib: 21 to 47, the same file).
HALF_BANDWIDTH = 32 * 1024
PAGEABLE_GBPS = 13.7  # pageableToDevice, 4 MiB, the best of the sizes
PINNED_GBPS = 54.4  # pinnedToDevice, 16 MiB
