"""Recordings of NVIDIA's tools: the files of counters/data/, each compressed."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

from lab_cli.counters.recording import Work

DATA = Path(__file__).parent / "counters" / "data"
OF_NCU = sorted(path.stem for path in (DATA / "ncu").glob("*.csv.gz"))


def text_of(name: str) -> str:
    return gzip.decompress((DATA / f"{name}.gz").read_bytes()).decode()


def of_ncu(name: str) -> str:
    return text_of(f"ncu/{name}")


def of_nsys(name: str, report: str) -> str:
    return text_of(f"nsys/{name}.{report}.csv")


def rows_of_nsys(name: str, report: str) -> list[dict[str, str]]:
    return [dict(row) for row in csv.DictReader(of_nsys(name, report).splitlines())]


def work(begin: float, end: float, name: str = "k", stream: int = 13) -> Work:
    """A kernel in the form that a recording has."""
    return Work(name, f"stream {stream}", (0, stream, ""), True, begin, end)


def queried() -> list[str]:
    """The base names of an H200's metrics, as test_metric_names.py says."""
    return text_of("query_metrics.sm_90.txt").split()
