"""What a job asks for: cluster.toml, and above it the command line."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab_cli import toml_file
from lab_cli.paths import BUILD_VARIABLE, OUT, ROOT
from lab_cli.toml_file import Rule

FILE = "cluster.toml"
DIRECTIVES = ("partition", "gres", "account", "time")  # options of sbatch by these names


@dataclass(frozen=True)
class Settings:
    """Empty: as the cluster has it without being asked."""

    partition: str = ""
    gres: str = ""
    account: str = ""
    time: str = ""
    modules: Sequence[str] = field(default_factory=list)  # to be loaded, in this order


def fits(value: Any) -> bool:
    """Can it be the value of a line of #SBATCH?"""
    return isinstance(value, str) and value.isprintable() and value.strip() == value != ""


WORD = Rule("a text of one line", fits, required=False)
MODULES = Rule(
    'a list of modules, such as ["cuda/13.0"]',
    lambda value: isinstance(value, list) and all(map(fits, value)),
    required=False,
)
RULES = {**dict.fromkeys(DIRECTIVES, WORD), "modules": MODULES}


def files() -> list[Path]:
    """Where it may be: in the checkout; and where builds are elsewhere, there, which counts for more."""
    elsewhere = [OUT] if os.environ.get(BUILD_VARIABLE) else []
    return [folder / FILE for folder in [ROOT, *elsewhere]]


def load(arguments: argparse.Namespace) -> Settings:
    """Each by itself: as the command line has it, else the file of one's own, else that of the checkout.
    LabError names all that is wrong in a file."""
    values: dict[str, Any] = {}
    for path in files():
        if os.path.lexists(path):
            values.update(_of_file(path))
    for name in DIRECTIVES:
        values[name] = getattr(arguments, name) or values.get(name, "")
    return Settings(**values)


def _of_file(path: Path) -> dict[str, Any]:
    problems: list[str] = []
    values = toml_file.checked(toml_file.load(path), RULES, "", problems)
    toml_file.refuse(path, problems)
    return values
