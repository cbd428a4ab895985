"""Keeps the order of the emulator's layers (emulator/README.md): runtime and instrument stand on the
engine, which knows neither, nor do they know each other; of common/ they use host_memory.h alone, which
knows nobody. Within instrument, profile and hazards stand on record, and do not know each other.

Two ways to break it are looked for: an include, and a call of a function that was declared elsewhere,
which only the object files show.
"""

import os
import re
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
from translate import OWN_INCLUDE

INCLUDE = Path(OWN_INCLUDE).resolve()
SRC = INCLUDE.parent / "src"
COMMON = SRC.parent.parent / "common"
# Each layer is a folder of src/, without those in it, and may use these.
MAY_USE = {
    "host": set(),
    "engine": set(),
    "runtime": {"engine", "host"},
    "instrument/record": {"engine"},
    "instrument/profile": {"engine", "instrument/record"},
    "instrument/hazards": {"engine", "host", "instrument/record"},
    "instrument": {"engine", "instrument/record", "instrument/profile", "instrument/hazards"},
}
SUFFIXES = (".cpp", ".h")
# Declared in the public headers, defined in the runtime.
RUNTIME_HEADERS = INCLUDE / "emu" / "api"

INCLUDE_LINE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)
# Functions of the host's libraries, in whose place record/host_clocks.cpp has its own.
OF_THE_HOST = {
    "_ZNSt6chrono3_V212steady_clock3nowEv",
    "_ZNSt6chrono3_V212system_clock3nowEv",
    "clock_gettime",
}
LIBRARIES = ("libcuda_emulator.a", "libcuda_emulator_instrument.a")
# Types of nm: global symbols that a file defines, but not in line, and that it needs.
DEFINED, UNDEFINED = set("TDBRGSC"), set("Uw")


def sources(layer: str) -> list[Path]:
    if layer == "host":
        return sorted(COMMON.glob("host_memory.*"))
    return sorted(path for path in (SRC / layer).iterdir() if path.suffix in SUFFIXES)


def includes(path: Path) -> list[Path]:
    """The emulator's own files that a file includes."""
    found = []
    for name in INCLUDE_LINE.findall(path.read_text()):
        candidates = [(folder / name).resolve() for folder in (path.parent, SRC, INCLUDE)]
        found += [file for file in candidates if file.is_file()][:1]
    return found


def layer_of(path: Path) -> str:
    """The layer of a file; empty for the public headers that belong to none."""
    if path.is_relative_to(RUNTIME_HEADERS):
        return "runtime"
    if path.is_relative_to(COMMON):
        return "host" if path in sources("host") else "common"
    return path.parent.relative_to(SRC).as_posix() if path.is_relative_to(SRC) else ""


def test_every_source_is_in_a_layer():
    found = {layer_of(path) for path in SRC.rglob("*") if path.suffix in SUFFIXES}
    assert found | {"host"} == set(MAY_USE)
    assert sources("host")


@pytest.mark.parametrize("layer", MAY_USE)
def test_includes(layer):
    """No file of the layer includes one of a layer that it must not know, not even by way of the
    public headers."""
    wrong = []
    for source in sources(layer):
        seen, open_files = {source}, [(source, source.name)]
        while open_files:
            path, way = open_files.pop()
            for header in set(includes(path)) - seen:
                seen.add(header)
                way_there = f"{way} -> {header.name}"
                if layer_of(header) in {"", layer} | MAY_USE[layer]:
                    open_files.append((header, way_there))
                else:
                    wrong.append(f"{way_there} ({layer_of(header)})")
    assert wrong == []


def symbols(library: Path) -> dict[str, dict[str, set[str]]]:
    """What each layer in the library defines and needs: {layer: {"defined": ..., "needed": ...}}"""
    layers = {f"{source.name}.o": layer for layer in MAY_USE for source in sources(layer)}
    result: dict[str, dict[str, set[str]]] = defaultdict(
        lambda: {"defined": set(), "needed": set()}
    )
    listing = subprocess.run(
        ["nm", "-A", "-P", str(library)], check=True, capture_output=True, text=True
    ).stdout
    for line in listing.splitlines():
        file, name, kind = line.split()[:3]
        member = file[file.index("[") + 1 : file.index("]")]
        assert member in layers, f"{library.name} holds {member}, which is of no layer"
        if kind in DEFINED:
            result[layers[member]]["defined"].add(name)
        elif kind in UNDEFINED:
            result[layers[member]]["needed"].add(name)
    return result


def test_source_names_are_unique():
    """Members of a library are told apart by their names alone."""
    names = [s.name for layer in MAY_USE for s in sources(layer) if s.suffix == ".cpp"]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("layer", sorted(MAY_USE.keys() - {"host"}))  # which is a header
def test_calls(layer):
    """No object file of the layer needs what only a layer defines that it must not know."""
    build = os.environ.get("CPU_BUILD")
    if build is None:
        pytest.skip("CPU_BUILD names no folder of a build for the cpu back end: use ctest")
    folder = Path(build) / "emulator"
    found: dict[str, dict[str, set[str]]] = {}
    for name in LIBRARIES:
        if (folder / name).is_file():
            found.update(symbols(folder / name))
    if layer not in found:
        pytest.skip(f"the library with {layer}/ is not built")
    known = set().union(*(found[name]["defined"] for name in {layer} | MAY_USE[layer] - {"host"}))
    needed = found[layer]["needed"] - known
    for other in set(found) - {layer} - MAY_USE[layer]:
        called = needed & found[other]["defined"] - OF_THE_HOST
        assert called == set(), f"{layer} calls {other}"
