"""The metrics of scripts/metrics.toml, and what --metrics asks for."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import toml_file
from .errors import LabError
from .paths import SCRIPTS

FILE = SCRIPTS / "metrics.toml"
OWN_PROGRAM = "own"  # the default set of a student's own program


@dataclass(frozen=True)
class Metric:
    """The fields are those of metrics.toml, which says what they mean."""

    name: str
    nsight: str
    unit: str = ""
    meaning: str = ""
    better: str = "neither"
    cpu: bool = False
    gpu: bool = True


@dataclass(frozen=True)
class Catalogue:
    metrics: dict[str, Metric]  # by textbook name
    sets: dict[str, list[str]]  # textbook names, by exercise

    def default_set(self, exercise: str) -> list[Metric]:
        """An exercise without a set of its own gets that of a student's program."""
        names = self.sets.get(exercise) or self.sets[OWN_PROGRAM]
        return [self.metrics[name] for name in names]

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
                raise LabError(f"no metric is named '{name}'; {self._hint(name)}", status=2)
            found[metric.name] = metric
        return list(found.values())

    def _hint(self, name: str) -> str:
        close = difflib.get_close_matches(name.lower(), self.metrics, n=3, cutoff=0.5)
        if close:
            return "did you mean " + " or ".join(close) + "?"
        return "scripts/metrics.toml has them all; Nsight Compute's own names work as well"


def load(path: Path = FILE) -> Catalogue:
    tables = toml_file.load(path)
    metrics = {name: Metric(name, **fields) for name, fields in tables["metrics"].items()}
    return Catalogue(metrics, tables["sets"])
