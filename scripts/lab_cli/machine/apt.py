"""The system's packages, on Debian and Ubuntu."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Mapping

from ..errors import LabError
from ..process import output_of, step
from ..progress import Progress
from .needs import version_in

INSTALL = ["apt-get", "install", "-y", "--no-install-recommends"]


def root_prefix() -> list[str] | None:
    """What makes a command run as root without a question; None if nothing does."""
    quiet = ["env", "DEBIAN_FRONTEND=noninteractive"]
    if os.geteuid() == 0:
        return quiet
    if output_of(["sudo", "-n", "id", "-u"]).strip() == "0":
        return ["sudo", "-n", *quiet]
    return None


def is_there() -> bool:
    return shutil.which("apt-get") is not None


def may_install() -> bool:
    return is_there() and root_prefix() is not None


def update() -> None:
    """Reads the package lists anew, if we may."""
    prefix = root_prefix()
    if is_there() and prefix is not None:
        step([*prefix, "apt-get", "update"], "reading package lists", _read_update)


def _read_update(line: str, progress: Progress) -> None:
    if re.match(r"(Get|Hit|Ign):\d", line):
        progress.update(item=line.partition(" ")[2])


def offered_version(package: str) -> tuple[int, ...] | None:
    """The version that the package lists have; None where they do not say."""
    for line in output_of(["apt-cache", "policy", package]).splitlines():
        if line.strip().startswith("Candidate:"):
            return version_in(line)
    return None


def command(packages: Iterable[str]) -> str:
    """What installs them, for a reader to type."""
    sudo = "" if os.geteuid() == 0 else "sudo "
    return f"{sudo}apt-get update && {sudo}{' '.join([*INSTALL, *packages])}"


def install(packages: Mapping[str, str]) -> None:
    """Installs the packages (the keys), or ends with the command that does.

    The values say what a package is for.
    """
    prefix = root_prefix()
    missing = ", ".join(packages.values())
    if not is_there():
        raise LabError(
            f"missing: {missing}. Install them with your system's package manager, then run lab "
            f"again. (Their names on Debian and Ubuntu: {' '.join(packages)})"
        )
    if prefix is None:
        raise LabError(
            f"missing: {missing}. Run this command, then lab again:\n\n    {command(packages)}\n\n"
            "It takes root. Who is not root here asks the administrator, or works in a container of "
            "Debian or Ubuntu."
        )
    step([*prefix, *INSTALL, *packages], "installing packages", InstallReader())


class InstallReader:
    """Reads what apt-get install prints. (In another language than English it says nothing of how far
    it is.)"""

    STAGES = (
        (r"Get:\d+ \S+ \S+ \S+ (\S+)", "downloading packages"),
        (r"Unpacking (\S+)", "unpacking packages"),
        (r"Setting up (\S+)", "setting up packages"),
    )

    def __init__(self) -> None:
        self.total = 0
        self.done = dict.fromkeys((what for _, what in self.STAGES), 0)

    def __call__(self, line: str, progress: Progress) -> None:
        counts = re.match(r"(\d+) upgraded, (\d+) newly installed", line)
        if counts:
            self.total = int(counts[1]) + int(counts[2])
        for pattern, what in self.STAGES:
            package = re.match(pattern, line)
            if package:
                progress.update(what, self.done[what], self.total, package[1])
                self.done[what] += 1
