"""Keeps the order of the layers of scripts/: a module imports what is below it. Nothing in lab_cli imports
lab_course but main, which has the table of all commands."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab_cli.paths import SCRIPTS

# From below. A package stands for its modules that are in no folder.
LAYERS = [
    "lab_cli",
    "lab_cli.machine",
    "lab_cli.building",
    "lab_cli.counters",
    "lab_cli.lines",
    "lab_cli.causes",
    "lab_cli.comparison",
    "lab_cli.testing",
    "lab_cli.results",
    "lab_course.cluster",
    "lab_course.reporting",
    "lab_course.grading",
    "lab_course.handouts",
    "lab_cli.commands",
    "lab_course.loop",
    "lab_course.commands",
    "lab_course",
    "lab_cli.main",
]
MAIN = "lab_cli.main"


def module_of(path: Path) -> str:
    name = ".".join(path.relative_to(SCRIPTS).with_suffix("").parts)
    return name.removesuffix(".__init__")


MODULES = {
    module_of(path): path
    for package in ("lab_cli", "lab_course")
    for path in sorted((SCRIPTS / package).rglob("*.py"))
    if "vendor" not in path.parts
}


def layer_of(module: str) -> str:
    package, *rest = module.split(".")
    is_in_folder = (SCRIPTS / package / "".join(rest[:1])).is_dir()
    return ".".join([package, *rest[:1]]) if is_in_folder or module == MAIN else package


def imports_of(module: str) -> Iterator[str]:
    """The modules of lab_cli and lab_course that a module imports, inside its functions, too."""
    path = MODULES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level]
            source = ".".join(filter(None, [*(above if node.level else []), node.module]))
            names = [f"{source}.{alias.name}" for alias in node.names]
            names = [name if name in MODULES else source for name in names]
        else:
            continue
        yield from (name for name in names if name in MODULES)


def test_every_module_is_in_a_layer() -> None:
    assert {layer_of(module) for module in MODULES} == set(LAYERS)


@pytest.mark.parametrize("layer", LAYERS)
def test_imports(layer: str) -> None:
    known = LAYERS[: LAYERS.index(layer) + 1]
    if layer.startswith("lab_cli") and layer != MAIN:
        known = [each for each in known if each.startswith("lab_cli")]
    wrong = [
        f"{module} imports {imported}"
        for module in MODULES
        if layer_of(module) == layer
        for imported in imports_of(module)
        if layer_of(imported) not in known
    ]
    assert wrong == []
