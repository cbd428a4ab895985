"""The files of the checkout, as git knows them, and what they import from one another."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from ..paths import ROOT

CODE = ("cmake", "emulator", "scripts", "tests")  # the folders that modules are in


@cache
def files() -> list[Path]:
    """All files that git tracks or would add; none where this is no checkout of git."""
    return _listed("ls-files", "--cached", "--others", "--exclude-standard")


def changed() -> list[Path]:
    """The files that differ from the last commit, those that git does not know yet among them."""
    return [
        *_listed("diff", "--name-only", "HEAD"),
        *_listed("ls-files", "-o", "--exclude-standard"),
    ]


def _listed(*words: str) -> list[Path]:
    command = ["git", "-C", str(ROOT), *words, "-z"]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError:
        return []
    if done.returncode != 0:
        return []
    return [ROOT / name for name in done.stdout.split("\0") if name]


def is_page(path: Path) -> bool:
    """Whether a file is a text for people, which no code reads."""
    return path.suffix == ".md"


def closure(scripts: Iterable[Path]) -> set[Path]:
    """These scripts in Python and all modules of the checkout that they import or name as a file, directly or
    not. A module is found by its name alone, wherever it lies: rather too many than too few."""
    found: set[Path] = set()
    waiting = [*scripts]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += [each for name in _imported(path) for each in _modules().get(name, [])]
    return found


@cache
def _modules() -> dict[str, list[Path]]:
    """The modules of the checkout by each name that an import may give them: 'paths', 'lab_cli.paths'."""
    known: dict[str, list[Path]] = {}
    scripts = [path for folder in CODE for path in (ROOT / folder).rglob("*.py")]
    for path in scripts:
        parts = path.relative_to(ROOT).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        for start in range(len(parts)):
            known.setdefault(".".join(parts[start:]), []).append(path)
    return known


@cache
def _imported(path: Path) -> frozenset[str]:
    """The modules that a script imports, inside its functions, too, and those that it starts as programs."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return frozenset()
    return frozenset(_names(tree, path.relative_to(ROOT).parent.parts))


def _names(tree: ast.AST, package: tuple[str, ...]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else ()
            source = ".".join([*above, *([node.module] if node.module else [])])
            yield source
            yield from (f"{source}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and str(node.value).endswith(".py"):
            yield Path(str(node.value)).stem
