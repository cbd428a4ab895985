"""What counts and source do not show, and which metric of a GPU does."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .. import metrics

LOOKED_AT = (
    "Looked at: the sizes of grid and blocks and the waves of blocks; sectors, bank conflicts, "
    "constant memory and atomics; lanes and branches; integer divisions and double precision; "
    "local arrays; elements that are loaded or stored again and again; the host's launches, "
    "copies and waits."
)
NO_LINES = (
    "Not looked at: the addresses and the operations of each line, and the host's code. The cpu back "
    "end could not count them here within a minute: --backend cpu says why, or takes longer."
)
WITHOUT_GPU = "Not looked at, since it takes a GPU, with the metric that shows it:"
_STALL = re.compile(r"issue_stalled_(\w+?)_per_warp_active")
_REGISTERS = "registers, and how many warps they leave an SM (nvcc is not there to ask)"
_UNSEEN = {
    "times": ["duration"],
    _REGISTERS: ["registers_per_thread", "theoretical_occupancy"],
    "how many warps are there, and what they load from local memory": [
        "achieved_occupancy",
        "local_load_transactions",
    ],
    "what the caches have": ["global_hit_rate", "l2_hit_rate"],
    "which part of the GPU is the limit": [
        "dram_utilization",
        "l2_utilization",
        "l1_utilization",
        "sm_utilization",
    ],
    "what warps wait for": [
        "stall_memory_dependency",
        "stall_shared_memory",
        "stall_mio_throttle",
        "stall_memory_throttle",
        "stall_sync",
        "stall_exec_dependency",
    ],
}


def without_gpu(registers_known: bool = False) -> list[str]:
    """A line for each kind, behind one that says what they are."""
    unseen = {
        what: names
        for what, names in _UNSEEN.items()
        if not (what == _REGISTERS and registers_known)
    }
    return [WITHOUT_GPU, *(f"- {what}: {_listed(names)}" for what, names in unseen.items())]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(named, names))


def named(metric: str) -> str:
    """By nvprof's name, with ncu's."""
    return f"{metric} ({of_ncu(metric)})"


def of_ncu(metric: str) -> str:
    """ncu's name; of a stall the short one that NVIDIA's pages have."""
    nsight = metrics.load().metrics[metric].nsight
    stall = _STALL.search(nsight)
    return stall[1] if stall else nsight
