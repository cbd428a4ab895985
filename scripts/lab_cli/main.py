"""The command line of ./lab."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from . import bench, build, check, doctor, plot, profile, setup, trace
from .catalogue import exercises, pick
from .errors import LabError
from .paths import ROOT
from .process import run, say
from .runner import run_all
from .targets import of_backend, pick_backend

ABOUT = """\
CUDA lab exercises, on a GPU or without one.

  ./lab run [NAME...] [-- OPTIONS]   build and run exercises: those named, or all
  ./lab test [CTEST OPTIONS]         build and run the tests, e.g. ./lab test -R transpose
  ./lab profile NAME|FILE.cu         metrics of each kernel, with a GPU or without one
  ./lab check NAME|FILE.cu           races, accesses out of bounds, divergent barriers
  ./lab trace NAME                   a timeline of kernels and copies (needs a GPU)
  ./lab bench [NAME...]              measure exercises into results/<gpu>/
  ./lab plot [NAME...]               draw figures of results/, refresh the READMEs' tables
  ./lab list                         the exercises by chapter
  ./lab doctor                       what this machine has, and what to do about the rest
  ./lab cc FILE.cu -o OUT            compile a CUDA program of your own for the CPU
"""


def command_run(arguments: argparse.Namespace, options: list[str]) -> int:
    known = exercises()
    chosen = pick(arguments.names, known)
    backend = pick_backend(arguments.backend)
    chosen = of_backend(chosen, backend, bool(arguments.names))
    cmake = setup.ensure(backend)
    single = chosen[0] if len(arguments.names) == 1 else None
    folder = build.build(cmake, backend, single.name if single else "exercises")
    if single:
        return run([str(folder / single.chapter / single.name), *options])
    return run_all(chosen, folder, options)


def command_test(arguments: argparse.Namespace, options: list[str]) -> int:
    backend = pick_backend(arguments.backend)
    cmake = setup.ensure(backend, ["pytest", "matplotlib"] if backend == "cpu" else [])
    if backend == "gpu":
        say("note: the unit tests of common/ and emulator/ belong to the cpu back end")
    build.build(cmake, backend)
    return run([build.ctest_beside(cmake), "--preset", backend, *options], cwd=ROOT)


def command_list() -> int:
    chapter = ""
    for exercise in exercises():
        if exercise.chapter != chapter:
            print(("\n" if chapter else "") + exercise.chapter)
            chapter = exercise.chapter
        mark = " (gpu only)" if exercise.cuda_only else ""
        print(f"  {exercise.name:<20} {exercise.about}{mark}")
    return 0


def command_cc(options: list[str]) -> int:
    """Hands over to the emulator's driver, which links with the emulator's library."""
    driver = [build.shortest(sys.executable), str(ROOT / "emulator" / "cc.py")]
    if options and not {"-h", "--help"} & set(options):
        preset, target = "cpu", "cuda_emulator"
        if "--instrument" in options:
            preset, target = "cpu-profile", "cuda_emulator_instrument"
        folder = build.build(setup.ensure("cpu"), preset, target)
        driver += ["--library", str(folder / "emulator" / "libcuda_emulator.a")]
    return run([*driver, *options])


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="lab",
        description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="./lab COMMAND ...",
        allow_abbrev=False,
    )
    commands = top.add_subparsers(dest="command", metavar="COMMAND", help=argparse.SUPPRESS)
    for name, about in (
        ("run", "Builds and runs exercises. Options of the exercises follow after --."),
        ("test", "Builds everything and runs ctest. All other options are ctest's."),
    ):
        command = commands.add_parser(name, description=about, allow_abbrev=False)
        command.add_argument(
            "--backend",
            choices=["auto", "gpu", "cpu"],
            default="auto",
            help="auto (the default): gpu where nvcc and a usable GPU are there, else cpu",
        )
        if name == "run":
            command.add_argument("names", nargs="*", metavar="NAME", help="default: every exercise")
    profile.add_parser(commands)
    check.add_parser(commands)
    trace.add_parser(commands)
    bench.add_parser(commands)
    plot.add_parser(commands)
    commands.add_parser("list", description="Lists the exercises by chapter.")
    commands.add_parser("doctor", description="Checks what this machine has.")
    return top


def dispatch(argv: Sequence[str]) -> int:
    top = parser()
    if not argv:
        top.print_help()
        return 2
    if argv[0] == "cc":
        return command_cc(list(argv[1:]))
    split = argv.index("--") if "--" in argv else len(argv)
    arguments, unknown = top.parse_known_args(argv[:split])
    after = list(argv[split + 1 :])
    if arguments.command == "test":
        return command_test(arguments, [*unknown, *after])
    if unknown:
        takes_options = arguments.command in ("run", "profile", "check", "trace")
        hint = "; options of an exercise follow after --" if takes_options else ""
        top.error(f"unknown option {unknown[0]}{hint}")
    if arguments.command == "run":
        return command_run(arguments, after)
    if "handler" in arguments:
        return arguments.handler(arguments, after)
    return command_list() if arguments.command == "list" else doctor.report()


def main(argv: Sequence[str]) -> int:
    try:
        return dispatch(argv)
    except LabError as error:
        say(f"lab: {error}")
        return error.status
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # `./lab list | head`: nobody reads on
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
