"""Runs CMake, and shows of what it prints what somebody needs: nothing at all where there is nothing to
build; how far it is; warnings and errors in full."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from ..paths import ROOT
from ..process import each_line, failed, say, shown
from ..progress import Progress, on_terminal

STEP = re.compile(r"\[(\d+)/(\d+)\] (.*)")
STATUS = {"NINJA_STATUS": "[%f/%t] "}  # done and all, as STEP reads them
COLOUR_CODE = re.compile(r"\x1b\[[0-9;]*[mK]")
# What ninja says before there is anything to do, or if there is nothing.
NO_WORK = re.compile(
    r"\[\d+/\d+\] Re-checking globbed directories|ninja: (no work to do|Entering directory)"
)
OBJECT = re.compile(r"(?:Building|Linking) .* (\S+)")
MESSAGE = re.compile(r"CMake .*(Error|Warning)")  # of CMake; a line with "-- " ends it


def configure(command: Sequence[str]) -> None:
    """In the root of the checkout. LabError if it fails, and then all that it printed is shown."""
    say("+ " + shown(command))
    lines: list[str] = []
    with Progress("configuring") as progress:

        def keep(line: str) -> None:
            lines.append(line)
            if line.startswith("-- "):
                progress.update(item=line[3:].strip())

        status = each_line(command, keep, variables=_environment(), cwd=ROOT)
    text = "".join(lines if status != 0 else messages(lines)).rstrip("\n")
    if text:
        say(text)
    if status != 0:
        raise failed(command, status, text)


def messages(lines: Sequence[str]) -> list[str]:
    """The warnings and errors among the lines that CMake prints."""
    found, inside = [], False
    for line in lines:
        text = COLOUR_CODE.sub("", line)
        inside = bool(MESSAGE.match(text)) or (inside and not text.startswith("-- "))
        if inside:
            found.append(line)
    return found


def build(command: Sequence[str]) -> None:
    """In the root of the checkout. LabError if it fails."""
    with Progress("building") as progress:
        reader = BuildReader(command, progress)
        status = each_line(command, reader, variables=_environment(), cwd=ROOT)
    if status != 0:
        reader.announce()
        raise failed(command, status, reader.said)


class BuildReader:
    """Takes the lines that a build prints, and shows the command before the first that counts."""

    def __init__(self, command: Sequence[str], progress: Progress) -> None:
        self._command = command
        self._progress = progress
        self._announced = False
        self._of_cmake: list[str] = []  # what CMake, run anew, has said so far
        self._after_failed = False
        self.said = ""  # of what the build has printed, all that was shown

    def __call__(self, line: str) -> None:
        text = COLOUR_CODE.sub("", line).rstrip()
        step = STEP.match(text)
        after_failed, self._after_failed = self._after_failed, text.startswith("FAILED: ")
        if NO_WORK.match(text) or not text:
            return
        if text.startswith("-- "):
            self._of_cmake.append(line)
            self._progress.update(item=text[3:])
            return
        self.announce()
        if step:
            self._progress.update("", int(step[1]), int(step[2]), _item(step[3]))
        elif not after_failed:  # the compiler's command, longer than its message
            if MESSAGE.match(text):
                self._show("".join(self._of_cmake))
                self._of_cmake.clear()
            self._show(line)

    def announce(self) -> None:
        if not self._announced:
            self._announced = True
            say("+ " + shown(self._command))

    def _show(self, text: str) -> None:
        if text:
            self.said += text
            say(text.rstrip("\n"))


def _item(description: str) -> str:
    """The file, of 'Building CXX object x/CMakeFiles/y.dir/file.cpp.o'; else all of it."""
    found = OBJECT.fullmatch(description)
    return os.path.basename(found[1]).removesuffix(".o") if found else description


def _environment() -> dict[str, str]:
    """Ninja takes colours out of what goes into a pipe, unless it is told that they are welcome."""
    colour = on_terminal() and not os.environ.get("NO_COLOR")
    return {**STATUS, **({"CLICOLOR_FORCE": "1"} if colour else {})}
