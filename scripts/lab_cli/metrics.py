"""The metrics of scripts/metrics.toml, and what --metrics asks for."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import toml_file
from .errors import LabError, printable
from .paths import SCRIPTS
from .toml_file import FLAG, TABLE, TEXT, TEXTS, checked

FILE = SCRIPTS / "metrics.toml"
_FILE = {"own": TEXTS, "metrics": TABLE}
_METRIC = {
    "nsight": TEXT,
    "unit": TEXT,
    "meaning": TEXT,
    "better": toml_file.one_of(["higher", "lower", "neither"]),
    "cpu": FLAG.or_nothing(),
    "cpu_at_most": FLAG.or_nothing(),
    "gpu": FLAG.or_nothing(),
    "title": TEXT.or_nothing(),
    "short": TEXT.or_nothing(),
    "format": TEXT.or_nothing(),
}


@dataclass(frozen=True)
class Metric:
    """The fields are those of metrics.toml, which says what they mean."""

    name: str
    nsight: str
    unit: str = ""
    meaning: str = ""
    better: str = "neither"
    cpu: bool = False
    cpu_at_most: bool = False
    gpu: bool = True
    title: str = ""
    short: str = ""
    format: str = ""


@dataclass(frozen=True)
class Catalogue:
    metrics: dict[str, Metric]  # by textbook name
    own: list[str]  # textbook names: what is shown of a program of one's own

    def find(self, names: Sequence[str]) -> list[Metric]:
        """The metrics of these textbook or Nsight names, each once.

        Nsight has more metrics than the file: a name that can be one (they have a double underscore)
        is taken as it is. LabError for any other.
        """
        by_nsight = {metric.nsight: metric for metric in self.metrics.values()}
        found: dict[str, Metric] = {}
        for name in names:
            metric = self.metrics.get(name) or by_nsight.get(name)
            if metric is None and "__" in name:
                metric = Metric(name, nsight=name)
            if metric is None:
                shown = printable(name)
                raise LabError(f"no metric is named '{shown}'; {self._hint(name)}", status=2)
            found[metric.name] = metric
        return list(found.values())

    def _hint(self, name: str) -> str:
        close = difflib.get_close_matches(name.lower(), self.metrics, n=3, cutoff=0.5)
        if close:
            return "did you mean " + " or ".join(close) + "?"
        return "scripts/metrics.toml has them all; Nsight Compute's own names work as well"


@functools.cache  # asked for by every exercise and every table
def load(path: Path = FILE) -> Catalogue:
    """LabError names the file, and in it each key that is wrong."""
    problems: list[str] = []
    file = checked(toml_file.load(path), _FILE, "", problems)
    metrics = {}
    for name, table in file.get("metrics", {}).items():
        place = f"[metrics.{name}] "
        if isinstance(table, dict):
            fields = checked(table, _METRIC, place, problems)
            metrics[name] = Metric(name, **{"nsight": "", **fields})
        else:
            problems.append(f"{place}= {table!r}: expected a table")
    for name in file.get("own", []):
        if name not in metrics:
            problems.append(f"own: no metric is named {name}")
    toml_file.refuse(path, problems)
    return Catalogue(metrics, file["own"])
