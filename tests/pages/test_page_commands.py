"""The commands in the pages and in the sources of the exercises: each is one that there is, with
options that there are and values that they take, for exercises, kernels, metrics and files that
there are."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path

import pytest
import readme_commands
from lab_cli import catalogue, main, metrics
from lab_cli.commands.arguments import AFTER_DASHES
from lab_cli.errors import LabError
from lab_cli.paths import ROOT
from lab_cli.results import tables
from program import outdated, run
from recordings import queried

SOURCES = catalogue.sources()  # NAME.cu of each exercise, by name
CHAPTERS = {path.parents[1].name for path in SOURCES.values()}
PAGES = [*tables.pages(), *SOURCES.values()]
PRESETS = [
    preset["name"]
    for preset in json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
]
BUILD = Path(os.environ.get("CPU_BUILD", ROOT / "out" / "cpu")).absolute()
ASSIGNMENTS = {each.name for one in catalogue.exercises() for each in one.facts.assignments}
PLACEHOLDERS = {"NAME", "CHAPTER/NAME", "..."}
IN_ANY_EXERCISE = set(
    re.findall(r'options_\.\w+\("(\w+)"', (ROOT / "common" / "exercise.cpp").read_text())
) | {"help"}

of_pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def commands_of(text: str) -> list[list[str]]:
    """The words of the commands that begin with ./lab, in code, prose or comments, up to a remark;
    one each for what && joins."""
    found = []
    for line in text.splitlines():
        for part in re.split(r" && | \(|`|<code>|</code>", line.partition("  #")[0]):
            begin = part.find("./lab")
            if begin >= 0 and part[begin:].split()[0] == "./lab":
                found.append(shlex.split(part[begin:], comments=True)[1:])
    return found


def wrong_options(name: str, options: list[str]) -> list[str]:
    """What the exercise, or any program of one's own, does not understand."""
    if name not in SOURCES:
        return []
    source = SOURCES[name].read_text()
    known = IN_ANY_EXERCISE | set(re.findall(r'(?:option|file|text|flag)\(\s*"(\w+)"', source))
    wrong = [o for o in options if not re.fullmatch(rf"--({'|'.join(known)})(=.+)?", o)]
    kernels = [o.partition("=")[2] for o in options if o.startswith("--kernel=")]
    return wrong + [f"--kernel={kernel}" for kernel in kernels if kernel not in source]


def compared(words: list[str]) -> tuple[list[str], list[str]]:
    """The programs that ./lab compare takes, and the kernels that they do not have."""
    pairs = [word.partition(":")[::2] for word in words]
    if len(words) == 3:
        pairs = [(words[0], kernel) for kernel in words[1:]]
    programs = [program for program, _ in pairs if program not in ("A", "B")]
    known = {name: SOURCES[name].read_text().lower() for name in programs if name in SOURCES}
    missing = [
        kernel
        for program, kernel in pairs
        if kernel.lower() not in known.get(program, kernel.lower()) and kernel != "KERNEL"
    ]
    return programs, missing


def wrong_in(words: list[str]) -> list[str]:
    """What is wrong with a command of ./lab."""
    if not words or words[0] == "cc" or words[0] == "COMMAND":
        return []
    split = words.index("--") if "--" in words else len(words)
    before, after = words[:split], words[split + 1 :]
    of_one = ("profile", "compare", "check", "trace", "report", "new", "handout")
    if before[0] in of_one and all(word.startswith("-") for word in before[1:]):
        return []  # a sentence about the command
    try:
        arguments, unknown = main.parsed(before), []
    except LabError as error:
        return [f"{' '.join(words)}: {error}"]
    except SystemExit:  # --help and --version
        return []
    if after and arguments.takes != AFTER_DASHES:
        unknown.append("--")
    names = getattr(arguments, "names", None) or [getattr(arguments, "name", None) or "NAME"]
    if words[0] == "compare":
        names, wrong = compared(names)
        unknown += wrong
    for name in names:
        of_chapter = sum(chapter.startswith(name) for chapter in CHAPTERS) == 1
        known_names = ASSIGNMENTS if words[0] == "handout" else {*SOURCES, *PLACEHOLDERS}
        if name not in known_names and not of_chapter and name[-3:] != ".cu":
            unknown.append(name)
        if words[0] != "test":
            unknown += wrong_options(name, after)
    known = metrics.load().metrics
    asked = getattr(arguments, "metrics", None) or []
    unknown += [metric for metric in asked if metric not in known and metric not in [*"abc"]]
    return [f"{' '.join(words)}: {word}" for word in unknown]


def runs_of(text: str) -> list[tuple[str, list[str]]]:
    """The exercises that commands run, and their options; what `test` has behind -- is for ctest."""
    found = []
    for words in commands_of(text):
        split = words.index("--") if "--" in words else len(words)
        if words[:1] != ["test"]:
            found += [(name, words[split + 1 :]) for name in words[1:split] if name in SOURCES]
    built = re.findall(r"\b(?:out/[\w-]+|build)/\w+/(\w+)((?: --\w+(?:=[\w.]+)?)*)", text)
    return found + [(name, options.split()) for name, options in built if name in SOURCES]


def program_of(name: str) -> Path:
    return BUILD / SOURCES[name].parents[1].name / name


def unlike_source(name: str) -> str:
    """Why the program is not that of the source, in words; empty if it is."""
    return outdated(str(program_of(name)), str(SOURCES[name]))


def refused(name: str, options: list[str]) -> str:
    """What the program of the exercise says to options that it does not take, where it is built. With
    --help it looks at all of them, and runs nothing."""
    if unlike_source(name):
        return ""
    done = run([str(program_of(name)), *options, "--help"])
    return "" if done.returncode == 0 else done.stderr


def missing_for_nvcc(line: str) -> list[str]:
    """The sources of a command of nvcc that are not there, and the headers that it does not find."""
    words = shlex.split(line)
    folders = [ROOT / folder for option, folder in zip(words, words[1:]) if option == "-I"]
    missing = []
    for source in (ROOT / word for word in words if re.search(r"/.*\.cu$", word)):
        if not source.is_file():
            missing.append(source.name)
            continue
        for name in re.findall(r'^#include "(.*)"', source.read_text(), re.MULTILINE):
            if not any((folder / name).is_file() for folder in [source.parent, *folders]):
                missing.append(f"{source.name}: {name}")
    return missing


@of_pages
def test_commands_of_nvcc_find_their_files(page: Path) -> None:
    for line in re.findall(r"^nvcc -.*$", page.read_text(), re.MULTILINE):
        assert missing_for_nvcc(line) == [], line


@of_pages
def test_commands_of_lab_are_understood(page: Path) -> None:
    wrong = [problem for words in commands_of(page.read_text()) for problem in wrong_in(words)]
    assert wrong == []


@of_pages
def test_values_of_options_are_taken(page: Path) -> None:
    if not BUILD.is_dir():
        pytest.skip(f"there is no {BUILD}")
    said = [refused(name, options) for name, options in runs_of(page.read_text())]
    assert [text for text in said if text] == []


# The programs that are an exercise compiled with --default-stream per-thread, and which.
PER_THREAD = {
    f"{exercise.name}_per_thread": exercise.name
    for exercise in catalogue.exercises()
    if exercise.facts.tests.matches["prints_per_thread"]
}


@of_pages
def test_presets_targets_and_labels_are_there(page: Path) -> None:
    text = page.read_text()
    for preset in re.findall(r"cmake .*--preset ([\w-]+)", text):
        assert preset in PRESETS
    for name in re.findall(r"(?:cmake .*--target|ctest .*-[LR]) '?\^?(\w+)", text):
        assert name in {*SOURCES, *PER_THREAD, *CHAPTERS, "NAME"}, name


@of_pages
def test_built_files_are_where_a_build_has_them(page: Path) -> None:
    for preset, name in re.findall(r"\b(?:out/([\w-]+)|build)/([\w./-]*\w)", page.read_text()):
        chapter, _, program = name.partition("/")
        if chapter in CHAPTERS:
            source = SOURCES.get(PER_THREAD.get(program, program))
            assert source and source.parents[1].name == chapter, name
        elif preset in PRESETS and BUILD.is_dir():
            assert (BUILD / name).exists(), f"out/{preset}/{name}"


@of_pages
def test_metrics_of_ncu_have_names_that_it_knows(page: Path) -> None:
    known = queried()
    of_launches = {metric.nsight.partition(".")[0] for metric in metrics.load().metrics.values()}
    for name in re.findall(r"\b[a-z][a-z0-9]*__[a-z0-9_]+", page.read_text()):
        if name.endswith("_"):  # of several
            assert any(metric.startswith(name) for metric in known), name
        else:
            assert name in known or name in of_launches, name


PYTHON = "".join(
    path.read_text() for name in ("scripts", "cmake") for path in (ROOT / name).rglob("*.py")
)


@of_pages
def test_variables_of_the_environment_are_there(page: Path) -> None:
    known = PYTHON + "".join(path.read_text() for path in (ROOT / "emulator").rglob("*.cpp"))
    for variable in re.findall(r"\b(CUDA_EMULATOR_\w+|LAB_\w+)=", page.read_text()):
        assert f'"{variable}"' in known, variable


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("./lab profil transpose", "profil transpose: profil: no such command"),
        ("so `./lab run transpos` is", "run transpos: transpos"),
        ("    ./lab run transpose -- --rows=4 --kols=4   # both", "--kols=4"),
        ("./lab run transpose -- --kernel=transposeNone", "--kernel=transposeNone"),
        ("./lab profile transpose --metrics gld_efficiency,gld_effect", "gld_effect"),
        ("./lab run transpose --rows=4", "--rows=4: no such option"),
        ("./lab bench transpose && ./lab plot -- --rows=4", "--"),
    ],
)
def test_a_wrong_command_is_found(line: str, problem: str) -> None:
    (found,) = [wrong for words in commands_of(line) for wrong in wrong_in(words)]
    assert problem in found


@pytest.mark.parametrize(
    "line",
    [
        "./lab profile sharedReduction --backend cpu -- --size=1K --block=96   # three warps",
        "    build/ch05_performance/sharedReduction --size=1K --block=96",
    ],
)
def test_a_value_that_is_refused_is_found(line: str) -> None:
    ((name, options),) = runs_of(line)
    reason = unlike_source(name)
    if reason:
        pytest.skip(reason)
    assert "--block=96: expected a power of two" in refused(name, options)
    assert refused(name, options[:1]) == ""


def test_a_file_that_nvcc_does_not_find_is_named() -> None:
    source = SOURCES["matmul"].relative_to(ROOT)
    assert missing_for_nvcc(f"nvcc -I common -c {source.with_name('none.cu')}") == ["none.cu"]
    missing = missing_for_nvcc(f"nvcc -I lab -c {source}")
    assert "matmul.cu: lab.cuh" in missing and "matmul.cu: productReference.h" not in missing


def test_commands_of_the_readme() -> None:
    commands = readme_commands.commands_of((ROOT / "README.md").read_text(encoding="utf-8"))
    words = [command.partition("#")[0].split() for command in commands]
    for wanted in (["./lab", "test"], ["./lab", "check", "transpose"]):
        assert wanted in words
    assert not any("clone" in command for command in words)
