"""Builds and tests the cpu back end for AArch64, in an emulated Debian.

    sudo python3 tests/manual/aarch64.py FOLDER

FOLDER/root becomes a Debian 12 for arm64, whose programs QEMU runs in user mode; it is kept for the next
time. There its own g++ builds the emulator and one exercise, which runs. All the rest a cross compiler
builds here, in FOLDER/build, since that is many times faster; then ctest runs in the root: the unit tests
in C++, what the programs print, the exercises, the profiler's counts beside those that
ncu recorded, and what the hazard check finds. Status 1 if any of them fails. Left out are the tests of
the scripts, those that compile, and the tests in NOT_UNDER_QEMU.

Takes an hour or more, the longer the fewer cores there are. Needs root, for the new root and its mounts,
and Debian's or Ubuntu's packages in PACKAGES.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import NamedTuple

CHECKOUT = Path(__file__).resolve().parents[2]
BINFMT = Path("/proc/sys/fs/binfmt_misc")
PYTHON = "/usr/bin/python3"  # here and in the root
EXERCISE = "reduceInteger"

# By a command of each.
PACKAGES = {
    "aarch64-linux-gnu-g++": "g++-aarch64-linux-gnu",
    "cmake": "cmake",
    "debootstrap": "debootstrap",
    "ninja": "ninja-build",
    "qemu-aarch64-static": "qemu-user-static",
    "update-binfmts": "binfmt-support",
}
PACKAGES_OF_ROOT = "ca-certificates,cmake,g++,libbenchmark-dev,libgmock-dev,ninja-build,python3"

# What ctest runs: for each group the arguments that select its tests.
GROUPS = {
    "unit tests": ["-R", "^(common|emulator|programs)/|/tests$", "-E", "/hazards$"],
    "printed texts": ["-R", "/printed$"],
    "exercises": ["-R", "/(results|options)$"],
    "profiler": ["-R", "^profiler/|/(counts|as_shipped)$"],
    "hazard check": ["-R", "/hazards$"],
}

# The hazard check keeps addresses for itself, as many as it gets; for each of their pages QEMU takes memory.
ADDRESSES = {"hazard check": "QEMU_RESERVED_VA=32G"}

# Tests of GoogleTest that can't pass there, and why.
_ADDRESS = "QEMU says address 0 where this machine's processor gives none"
_LIMIT = "QEMU has no limits of memory (setrlimit)"
NOT_UNDER_QEMU = {
    "Addresses.AreWhatTheLimitLeaves": _LIMIT,
    "Faults.AddressOfAnAtomicThatCannotBe": _ADDRESS,
    "Faults.AddressThatCannotBe": _ADDRESS,
    "GuardedMemory.IsNullWhereThereIsNone": _LIMIT,
    "GuardedMemory.TakesNoAddressesWhereThereIsNone": _LIMIT,
    "GuardedMemoryDeathTest.EndsTheProgramWhereItCannotBeReached": _LIMIT,
    "ChildProcess.ThatCannotBeStartedIsAnError": "QEMU's vfork() is a fork(), "
    "so that posix_spawn() does not learn of an error",
    "StartThread.SaysThatThereAreNoMore": _LIMIT,
}


class Figures(NamedTuple):
    """Of a group of tests: how many passed, failed, were skipped, and the names of those that failed."""

    passed: int
    failed: list[str]
    skipped: int
    seconds: float


def run(*command: object, **environment: str) -> None:
    """Shows and runs a command. Ends the program where it fails."""
    words = [str(word) for word in command]
    print("+ " + shlex.join(words), flush=True)
    status = subprocess.run(words, env={**os.environ, **environment}).returncode
    if status != 0:
        sys.exit(f"aarch64.py: {words[0]} ended with status {status}")


def look_for_tools() -> None:
    if os.geteuid() != 0:
        sys.exit(
            "aarch64.py: needs root, for the new root and its mounts: sudo python3 tests/manual/aarch64.py ..."
        )
    missing = [package for command, package in PACKAGES.items() if not shutil.which(command)]
    if missing:
        sys.exit(f"aarch64.py: apt-get install {' '.join(missing)}")
    if not (BINFMT / "register").exists():
        run("mount", "-t", "binfmt_misc", "binfmt_misc", BINFMT)
    if not (BINFMT / "qemu-aarch64").exists():
        run("update-binfmts", "--enable", "qemu-aarch64")


def make_root(root: Path) -> None:
    if root.exists():
        return
    unfinished = root.with_name("root.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    packages = f"--include={PACKAGES_OF_ROOT}"
    run("debootstrap", "--arch=arm64", "--variant=minbase", packages, "bookworm", unfinished)
    unfinished.rename(root)


def in_root(folder: Path, *command: object) -> list[str]:
    """The command that runs `command` in the root, in which the checkout and FOLDER are where they are
    here. The mounts are its own and end with it."""
    root = folder / "root"
    steps = []
    for mount in (CHECKOUT, folder):
        inside = f"{root}{mount}"
        steps += [f"mkdir -p {shlex.quote(inside)}"]
        steps += [f"mount --bind {shlex.quote(str(mount))} {shlex.quote(inside)}"]
    steps += [f"mount -t proc proc {shlex.quote(str(root))}/proc"]
    steps += [f"mount --rbind /dev {shlex.quote(str(root))}/dev"]
    steps += [f"exec chroot {shlex.quote(str(root))} {shlex.join(str(word) for word in command)}"]
    return ["unshare", "--mount", "sh", "-e", "-c", "\n".join(steps)]


def configuration(build: Path) -> list[object]:
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DLAB_WERROR=ON", "-DLAB_BACKEND=cpu"]
    return ["cmake", "-G", "Ninja", "-S", CHECKOUT, "-B", build, *options]


def build_in_root(folder: Path) -> None:
    build = folder / "native"
    run(*in_root(folder, *configuration(build)))
    run(*in_root(folder, "ninja", "-C", build, EXERCISE))
    (program,) = build.glob(f"ch*/{EXERCISE}")
    run(*in_root(folder, program, "--size=1000", "--block=64"))


def cross_build(folder: Path) -> None:
    cross = [f"-DCMAKE_SYSROOT={folder / 'root'}", f"-DPython3_EXECUTABLE={PYTHON}"]
    cross += ["-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64"]
    cross += ["-DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++"]
    cross += ["-DLAB_TEST_SECONDS=1800"]  # QEMU is many times slower
    cross += ["-DCMAKE_FIND_ROOT_PATH_MODE_PROGRAM=NEVER"]
    for kind in ("LIBRARY", "INCLUDE", "PACKAGE"):
        cross += [f"-DCMAKE_FIND_ROOT_PATH_MODE_{kind}=ONLY"]
    build = folder / "build"
    run(*configuration(build), *cross)
    run("ninja", "-C", build)


def test(folder: Path, name: str, selection: list[str]) -> Figures:
    report = folder / "report.xml"
    print(f"== {name}", flush=True)
    limit = ["env", f"GTEST_FILTER=-{':'.join(NOT_UNDER_QEMU)}"]
    limit += [ADDRESSES[name]] if name in ADDRESSES else []
    ctest = ["ctest", "--test-dir", folder / "build", "-j", os.cpu_count(), "--output-on-failure"]
    ctest += ["--no-tests=error", "--output-junit", report]
    subprocess.run(in_root(folder, *limit, *ctest, *selection))
    suite = ET.parse(report).getroot()
    states = [(case.get("name", ""), case.get("status")) for case in suite.iter("testcase")]
    failed = [case for case, state in states if state == "fail"]
    passed = sum(state == "run" for _, state in states)
    return Figures(passed, failed, len(states) - passed - len(failed), float(suite.get("time", 0)))


def main() -> int:
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__, end="")
        return 2
    folder = Path(sys.argv[1]).resolve()
    look_for_tools()
    folder.mkdir(parents=True, exist_ok=True)
    make_root(folder / "root")
    build_in_root(folder)
    cross_build(folder)
    figures = {name: test(folder, name, selection) for name, selection in GROUPS.items()}

    print(f"{'':18}  passed  failed  skipped  minutes")
    for name, (passed, failed, skipped, seconds) in figures.items():
        print(f"{name:18}  {passed:6}  {len(failed):6}  {skipped:7}  {seconds / 60:7.1f}")
    for test_name, why in NOT_UNDER_QEMU.items():
        print(f"left out: {test_name}: {why}")
    failures = [name for group in figures.values() for name in group.failed]
    for name in failures:
        print(f"FAILED: {name}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
