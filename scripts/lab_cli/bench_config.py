"""scripts/bench.toml: which runs each exercise is measured with."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import toml_file
from .errors import LabError
from .paths import SCRIPTS
from .results import shown

CONFIG = SCRIPTS / "bench.toml"


@dataclass(frozen=True)
class Run:
    options: list[str]
    gib: float = 0  # of GPU memory that it needs

    @property
    def text(self) -> str:
        return shlex.join(self.options) or "(defaults)"


@dataclass(frozen=True)
class Plan:
    runs: list[Run]
    files: list[str] = field(default_factory=list)
    debug: bool = False  # metrics of the debug build, too


def _run(entry: Any) -> Run:
    if isinstance(entry, str):
        return Run(shlex.split(entry))
    return Run(shlex.split(entry["options"]), float(entry["gib"]))


def _plan(table: Any) -> Plan:
    unknown = set(table) - {"runs", "files", "debug"}
    if unknown:
        raise ValueError(f"unknown key {', '.join(sorted(unknown))}")
    runs = [_run(entry) for entry in table["runs"]]
    if not runs:
        raise ValueError("runs is empty")
    debug = table.get("debug", False)
    if not isinstance(debug, bool):
        raise ValueError("debug must be true or false")
    return Plan(runs, [str(name) for name in table.get("files", [])], debug)


def load(path: Path = CONFIG) -> dict[str, Plan]:
    """The plans by exercise. LabError names the entry that is wrong."""
    plans = {}
    for name, table in toml_file.load(path).items():
        try:
            plans[name] = _plan(table)
        except KeyError as error:
            raise LabError(f"{shown(path)}, [{name}]: {error.args[0]} is missing") from error
        except (TypeError, ValueError) as error:
            raise LabError(f"{shown(path)}, [{name}]: {error}") from error
    return plans


def plan_of(name: str, plans: dict[str, Plan], backend: str) -> Plan:
    if name not in plans:
        raise LabError(f"{shown(CONFIG)} has no entry [{name}]: add one with its runs")
    plan = plans[name]
    return plan if backend == "gpu" else Plan([Run([])], plan.files)
