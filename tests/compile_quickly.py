"""Compiles many programs with lab.cuh for the profiler and the hazard check, each in a third of the time that
`./lab cc --instrument` takes: what they all include is compiled once, into a precompiled header."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import cc
from lab_cli.paths import ROOT

COMMON = ROOT / "common"
INCLUDED = """\
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>
#include "lab.cuh"
"""
KIND = "instrumented"  # of program, for cc.py


class Compiler:
    """Keeps its files in `folder`, and links the libraries of `build`."""

    def __init__(self, build: Path, folder: Path) -> None:
        self._build, self._folder = build, folder
        self._library = folder / "libcuda_emulator.a"
        for name in (self._library.name, cc.INSTRUMENT_LIBRARY):
            (folder / name).symlink_to(build / "emulator" / name)
        self._precompile()

    def program(self, source: Path, program: Path, *options: str) -> Path:
        """`program`, compiled from `source`. AssertionError where the compiler refuses it; pytest shows what
        it said."""
        library = str(self._build / "common" / "liblab_common.a")
        words = ["--instrument", str(source), *options, "-I", str(COMMON), library]
        with self._in_one_place():
            status = cc.main([*words, "-o", str(program), "--emulator", str(self._library)])
        assert status == 0, f"{source} does not compile"
        return program

    def _precompile(self) -> None:
        """Puts lab.cuh, translated, where cc.py looks for the header of the run time. The compiler takes the
        same text again for a file that it has already included (#pragma once)."""
        source, translated = self._folder / "first.cu", self._folder / "first.cpp"
        source.write_text(INCLUDED)
        place = self._folder / cc.PRECOMPILED / KIND
        place.mkdir(parents=True)
        write = cc.write

        def with_lab(path: str, text: str) -> None:
            is_header = os.path.basename(path) == "runtime.h"
            write(path, text + translated.read_text() if is_header else text)

        with self._in_one_place(), mock.patch.object(cc, "write", with_lab):
            cc.translate(str(source), str(translated), [str(COMMON)], True)
            assert cc.main(["--instrument", "--precompile", str(place)]) == 0

    @contextmanager
    def _in_one_place(self) -> Iterator[None]:
        """Translated headers come into one folder, whatever includes them: so they have the same text."""
        translate, fixed = cc.translate, self._folder / "translated.cpp"

        def at_once(path: str, output: str, *options: Any) -> dict[str, str]:
            names = translate(path, str(fixed), *options)
            os.replace(fixed, output)
            return names

        with mock.patch.object(cc, "translate", at_once):
            yield
