"""Versions of kernels with counts made by hand."""

from __future__ import annotations

from pathlib import Path

from lab_cli.comparison.versions import Launch, Version
from lab_cli.lines.model import Access, Kernel, Line, Place

# A warp's load of 32 floats: 4 sectors where they lie side by side, 32 where they do not.
LEAST, MOST = 4, 32


def values(**others: float) -> dict[str, float]:
    """Counts of a kernel of 1,000 warps, each of which loads and stores once, side by side."""
    counts: dict[str, float] = {
        "branch": 2000,
        "divergent_branch": 0,
        "active_threads_per_instruction": 32,
        "theoretical_occupancy": 100,
        "gld_requests": 1000,
        "gld_transactions": 1000 * LEAST,
        "gld_transactions_per_request": LEAST,
        "gld_efficiency": 100,
        "gst_requests": 1000,
        "gst_transactions": 1000 * LEAST,
        "gst_transactions_per_request": LEAST,
        "gst_efficiency": 100,
        "shared_load_requests": 0,
        "shared_load_transactions": 0,
        "shared_ld_bank_conflict": 0,
        "shared_store_requests": 0,
        "shared_store_transactions": 0,
        "shared_st_bank_conflict": 0,
        "global_atomic_requests": 0,
        "async_copies": 0,
        "barriers": 0,
    }
    return {name: float(value) for name, value in {**counts, **others}.items()}


def strided_stores() -> dict[str, float]:
    return values(
        gst_transactions=1000 * MOST, gst_transactions_per_request=MOST, gst_efficiency=12.5
    )


def launch(counts: dict[str, float], kernel: str = "k", grid: str = "100") -> Launch:
    return Launch(kernel, grid, "320", counts)


def version(
    *launches: dict[str, float], name: str = "k", lines: list[Kernel] | None = None
) -> Version:
    return Version(
        name, "sample", [launch(each, name) for each in launches], lines or [], (name, 0)
    )


def kernel(*lines: Line, name: str = "k") -> Kernel:
    known = {each.place: each for each in lines}
    accesses = [access for each in lines for access in each.accesses]
    return Kernel(name, (100, 1, 1), (320, 1, 1), 1, 0, 6, None, known, accesses)


def line(file: Path, number: int, *accesses: Access, **costs: object) -> Line:
    return Line(Place(file, number), accesses=list(accesses), **costs)  # type: ignore[arg-type]


def access(kind: str, space: str, units: int, requests: int = 1000, **others: int) -> Access:
    return Access(
        Place(Path("k.cu"), 1), (), kind, space, 4, requests, 32 * requests, 0, units, 0, **others
    )
