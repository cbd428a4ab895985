"""What a test depends on: which changes make it run again, and which tests can notice a change."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from lab_cli.errors import LabError
from lab_cli.machine import needs
from lab_cli.machine.gpu import Driver, Gpu
from lab_cli.testing import affected, checkout, inputs, listing
from lab_cli.testing.listing import CTest

NINJA_DEPS = """\
ch04_memory/CMakeFiles/x.dir/x.emu/x.cpp.o: #deps 2, deps mtime 1 (VALID)
    ../../common/lab.cuh
    /usr/include/stdio.h

common/CMakeFiles/lab_common.dir/format.cpp.o: #deps 1, deps mtime 1 (VALID)
    ../../common/format.cpp
emulator/CMakeFiles/cuda_emulator_instrument.dir/src/check.cpp.o: #deps 1, deps mtime 1 (VALID)
    ../../emulator/src/check.cpp
"""
BUILD_NINJA = """\
build emulator/libcuda_emulator_instrument.a: CXX_STATIC_LIBRARY_LINKER__cuda_emulator_instrument_Release \
emulator/CMakeFiles/cuda_emulator_instrument.dir/src/check.cpp.o
build common/liblab_common.a: CXX_STATIC_LIBRARY_LINKER__lab_common_Release \
common/CMakeFiles/lab_common.dir/format.cpp.o || other
build ch04_memory/x: CXX_EXECUTABLE_LINKER__x_Release \
ch04_memory/CMakeFiles/x.dir/x.emu/x.cpp.o | common/liblab_common.a || common/liblab_common.a
build ch04_memory/x_instrumented: CXX_EXECUTABLE_LINKER__x_instrumented_Release \
ch04_memory/CMakeFiles/x_instrumented.dir/x.cpp.o | common/liblab_common.a \
emulator/libcuda_emulator_instrument.a || common/liblab_common.a
build ch04_memory/x_faulty: CXX_EXECUTABLE_LINKER__x_faulty_Release \
ch04_memory/CMakeFiles/x.dir/x.emu/x.cpp.o | common/liblab_common.a || ch04_memory/x
build ch04_memory/y_tests: CXX_EXECUTABLE_LINKER__y_tests_Release \
ch04_memory/CMakeFiles/y_tests.dir/y_tests.emu/tests/y_test.cpp.o | common/liblab_common.a
"""
TRANSLATED = """\
{root}/out/cpu/ch04_memory/y_tests.emu/tests/y_test.cpp: {root}/ch04_memory/tests/y_test.cu \\
  {root}/ch04_memory/shared.cuh \\
  {root}/common/grid.cuh
"""
FILES = {
    "ch03_other/y/README.md": "another page",
    "ch03_other/y/exercise.toml": "",
    "ch04_memory/README.md": "the chapter",
    "ch04_memory/shared.cuh": "",
    "ch04_memory/CMakeLists.txt": "",
    "ch04_memory/x/README.md": "the page",
    "ch04_memory/x/exercise.toml": "",
    "ch04_memory/x/x.cu": "",
    "ch04_memory/x/x.h": "",
    "cmake/check.py": 'import judge\nCOMPARE = "profiler/compare.py"\n',
    "cmake/judge.py": "def f():\n    from lab_cli.results import numbers\n",
    "cmake/run_pytest.py": "",
    "common/lab.cuh": "",
    "common/grid.cuh": "",
    "ch04_memory/tests/y_test.cu": "",
    "common/format.cpp": "",
    "emulator/driver/cc.py": "",
    "emulator/src/check.cpp": "",
    "emulator/translator/words.py": "",
    "scripts/metrics.toml": "",
    "scripts/lab_cli/__init__.py": "",
    "scripts/lab_cli/metrics.py": 'FILE = "metrics.toml"\n',
    "scripts/lab_cli/results/__init__.py": "",
    "scripts/lab_cli/results/numbers.py": "from .. import formula\n",
    "scripts/lab_cli/formula.py": "",
    "scripts/lab_cli/commands/run.py": "from ..building import cmake\n",
    "scripts/lab_cli/building/cmake.py": "",
    "tests/conftest.py": "",
    "tests/scripts/test_formula.py": "from lab_cli import formula\n",
    "tests/scripts/test_metrics.py": 'from lab_cli import metrics\nshipped("x")\n',
    "tests/scripts/commands/test_run.py": 'main(["run", "--csv"])\n',
    "tests/emulator/profiler/compare.py": "",
    "tests/emulator/test_cc.py": "",
    "tests/pages/test_pages.py": "",
    "tests/pages/test_answers.py": "",
    "tests/lists/lab.txt": "",
    "tests/lists/test_lists.py": "",
    "LICENSE": "",
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A checkout with these files, and a build in out/cpu."""
    place = tmp_path.resolve()
    for name, text in FILES.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    for name in ("x", "x_instrumented", "x_faulty"):
        (place / "out" / "cpu" / "ch04_memory" / name).parent.mkdir(parents=True, exist_ok=True)
        (place / "out" / "cpu" / "ch04_memory" / name).write_text("a program")
    translated = place / "out" / "cpu" / "ch04_memory" / "y_tests.emu" / "tests" / "y_test.cpp.d"
    translated.parent.mkdir(parents=True)
    translated.write_text(TRANSLATED.format(root=place))
    (place / "out" / "cpu" / "ch04_memory" / "y_tests").write_text("a program")
    (place / "out" / "cpu" / "build.ninja").write_text(BUILD_NINJA)
    (place / ".gitignore").write_text("out/\n")
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", "-C", str(place), *command], check=True)
    for module in (checkout, inputs, affected):
        monkeypatch.setattr(module, "ROOT", place)
    monkeypatch.setattr(inputs, "OUT", place / "out")
    monkeypatch.setattr(inputs, "RUN_PYTEST", place / "cmake" / "run_pytest.py")
    monkeypatch.setattr(inputs, "PAGES", place / "tests" / "pages")
    monkeypatch.setattr(inputs, "DRIVER", place / "emulator" / "driver" / "cc.py")
    monkeypatch.setattr(affected, "EMULATOR", place / "emulator")
    makers = tuple(place / "emulator" / name for name in ("translator", "driver"))
    monkeypatch.setattr(affected, "MAKERS", makers)
    monkeypatch.setattr(affected, "find_ninja", lambda: "ninja")
    monkeypatch.setattr(affected, "output_of", lambda _: NINJA_DEPS.format(root=place))
    forget()
    yield place
    forget()


def forget() -> None:
    known_files = (checkout.files, checkout._modules, checkout._imported)
    for known in (*known_files, inputs._content, affected._text):
        known.cache_clear()
    affected._reached_code.cache_clear()


def sample(root: Path) -> dict[str, CTest]:
    build, judge = root / "out" / "cpu", root / "cmake" / "check.py"
    facts = root / "ch04_memory" / "x" / "exercise.toml"
    of_exercise = {
        "x/results": ("quick", "x"),
        "x/hazards": ("quick", "x_instrumented"),
        "x/faults": ("full", "x_faulty"),
    }
    found = {}
    for name, (label, program) in of_exercise.items():
        command = (
            "/usr/bin/python3",
            "-B",
            str(judge),
            str(facts),
            str(build / "ch04_memory" / program),
        )
        found[name] = CTest(1, name, command, frozenset({"exercise", "x", label}))
    found["y/tests"] = CTest(
        1, "y/tests", (str(build / "ch04_memory" / "y_tests"),), frozenset({"quick"})
    )
    places = ("scripts/test_formula.py", "scripts/test_metrics.py", "scripts/commands", "emulator")
    for place in (*places, "pages", "pages/test_answers.py", "lists"):
        words = ("-k", "ch03_other-") if "answers" in place else ()
        command = ("python3", str(root / "cmake" / "run_pytest.py"), *words, f"tests/{place}")
        name = f"pytest/{place}"
        found[name] = CTest(1, name, command, frozenset({"full"}))
    return found


@pytest.mark.parametrize(
    ("changed", "again"),
    [
        ("ch04_memory/x/x.h", "x/results x/hazards x/faults pytest"),
        ("ch04_memory/x/README.md", "pages"),
        ("ch04_memory/README.md", "pages"),
        ("ch03_other/y/README.md", "pages answers"),
        ("ch04_memory/shared.cuh", "x/results x/hazards x/faults pytest"),
        ("cmake/judge.py", "x/results x/hazards x/faults pytest"),
        ("scripts/lab_cli/formula.py", "x/results x/hazards x/faults pytest"),
        ("scripts/lab_cli/metrics.py", "pytest"),
        ("emulator/driver/cc.py", "x/faults pytest"),
        ("out/cpu/ch04_memory/x", "x/results x/hazards x/faults"),
        ("out/cpu/ch04_memory/x_instrumented", "x/results x/hazards x/faults"),
        ("out/cpu/ch04_memory/x_faulty", "x/faults"),
        ("common/format.cpp", "pytest"),  # and what its programs have become
    ],
)
def test_what_makes_a_test_run_again(root: Path, changed: str, again: str) -> None:
    tests = sample(root)
    build = root / "out" / "cpu"
    before = {name: inputs.digest(test, build) for name, test in tests.items()}
    assert all(before.values())
    (root / changed).write_text("changed")
    forget()
    now = {name for name, test in tests.items() if inputs.digest(test, build) != before[name]}
    words = again.split()
    expected = {name for name in tests if name in words or ("pytest" in words and "pytest" in name)}
    assert now == expected.union(
        {"pytest/pages"} if "pages" in words else (),
        {"pytest/pages/test_answers.py"} if "answers" in words else (),
    )


def test_the_command_and_the_environment_count(root: Path) -> None:
    test = sample(root)["x/results"]
    build = root / "out" / "cpu"
    others = [replace(test, command=(*test.command, "-x")), replace(test, environment=("A=1",))]
    assert len({inputs.digest(each, build) for each in (test, *others)}) == 3


def test_another_gpu_counts_for_the_gpu_back_end(root: Path, monkeypatch) -> None:
    test = replace(sample(root)["x/results"], command=("python3", "x"))
    seen: list[str] = []
    for folder in ("cpu", "gpu", "gpu-debug"):
        for name in ("one", "other", "one"):
            driver = Driver((13, 0), [Gpu(name, 90)])
            monkeypatch.setattr(inputs.gpu, "ask_driver", lambda driver=driver: driver)
            inputs._gpus.cache_clear()
            seen.append(inputs.digest(test, root / "out" / folder))
    same = [seen[i] == seen[i + 1] for i in (0, 3, 6)]
    assert same == [True, False, False]
    assert seen[3] == seen[5]
    inputs._gpus.cache_clear()


def test_what_is_not_known_is_run(root: Path) -> None:
    tests = sample(root)
    build = root / "out" / "cpu"
    assert inputs.digest(replace(tests["x/results"], command=()), build) == ""
    (build / "ch04_memory" / "x_faulty").unlink()
    assert inputs.digest(tests["x/faults"], build) == ""
    # Where this is no checkout of git, nobody knows what pytest may read, but what a judge imports.
    (root / ".git" / "HEAD").unlink()
    forget()
    assert inputs.digest(tests["pytest/pages"], build) == ""
    known = inputs.digest(tests["x/results"], build)
    assert known != ""
    (root / "scripts" / "lab_cli" / "formula.py").write_text("# a change")
    forget()
    assert inputs.digest(tests["x/results"], build) not in ("", known)


@pytest.mark.parametrize(
    ("file", "noticing"),
    [
        (
            "ch04_memory/x/x.cu",
            "x/results x/hazards x/faults pytest/scripts/test_metrics.py pytest/pages",
        ),
        ("ch04_memory/shared.cuh", "x/results x/hazards x/faults y/tests pytest/pages"),
        ("ch04_memory/tests/y_test.cu", "y/tests pytest/pages"),
        ("common/grid.cuh", "y/tests"),
        ("tests/lists/lab.txt", "pytest/lists"),
        ("ch04_memory/x/README.md", "pytest/pages"),
        ("ch03_other/y/README.md", "pytest/pages pytest/pages/test_answers.py"),
        ("common/lab.cuh", "x/results x/faults"),
        ("common/format.cpp", "x/results x/hazards x/faults y/tests"),
        ("emulator/src/check.cpp", "x/hazards pytest/emulator"),
        ("emulator/translator/words.py", "x/results x/hazards x/faults y/tests pytest/emulator"),
        (
            "scripts/lab_cli/formula.py",
            "x/results x/hazards x/faults pytest/scripts/test_formula.py",
        ),
        ("tests/emulator/profiler/compare.py", "x/results x/hazards x/faults pytest/emulator"),
        ("scripts/lab_cli/building/cmake.py", "pytest/scripts/commands"),
        ("scripts/metrics.toml", "pytest/scripts/test_metrics.py"),
        (
            "tests/conftest.py",
            "pytest/scripts/test_formula.py pytest/scripts/test_metrics.py pytest/scripts/commands "
            "pytest/emulator pytest/pages pytest/pages/test_answers.py pytest/lists",
        ),
        ("LICENSE", ""),
    ],
)
def test_which_tests_can_notice_a_change(root: Path, file: str, noticing: str) -> None:
    tests = sample(root)
    found = affected.tests_for([root / file], [*tests.values()], root / "out" / "cpu")
    assert [test.name for test in found] == noticing.split()


def test_a_change_of_how_programs_are_built_concerns_all(root: Path) -> None:
    tests = [*sample(root).values()]
    for name in ("ch04_memory/CMakeLists.txt", "cmake/LabExercise.cmake"):
        assert affected.tests_for([root / name], tests, root / "out" / "cpu") == tests


def test_what_git_says_has_changed(root: Path) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "-C", str(root), *who, "commit", "-qm", "x"], check=True)
    assert checkout.changed() == []
    (root / "LICENSE").write_text("MIT")
    (root / "new.py").touch()
    (root / "out" / "y").touch()
    assert checkout.changed() == [root / "LICENSE", root / "new.py"]


def test_the_list_of_ctest() -> None:
    labels = {"name": "LABELS", "value": ["exercise", "x", "results", "quick"]}
    environment = {"name": "ENVIRONMENT", "value": ["A=1"]}
    tests = [
        {"name": "x/results", "command": ["x", "-y"], "properties": [labels, environment]},
        {"name": "common/tests", "properties": [{"name": "TIMEOUT", "value": 3}]},
    ]
    one, two = listing.parsed(json.dumps({"tests": tests}))
    assert (one.number, one.command, one.environment) == (1, ("x", "-y"), ("A=1",))
    assert (one.exercise, one.about, one.is_quick) == ("x", "results", True)
    assert (two.number, two.exercise, two.about, two.is_quick) == (2, "", "", False)
    with pytest.raises(LabError, match="cannot read the list"):
        listing.parsed("ctest: error")


def test_the_command_of_a_program_that_is_not_built(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(x NONE)\nenable_testing()\n"
        'add_test(NAME a/b COMMAND ${CMAKE_BINARY_DIR}/b --size=1 "two words")\n'
        "add_subdirectory(c)\n"
    )
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "CMakeLists.txt").write_text("add_test(NAME d COMMAND ${CMAKE_COMMAND} -h)\n")
    cmake, folder = needs.find_cmake(), tmp_path / "out"
    subprocess.run([cmake, "-S", tmp_path, "-B", folder], check=True, stdout=subprocess.DEVNULL)
    one, two = sorted(listing.tests_in(cmake, folder), key=lambda test: test.name)
    assert one.command == (f"{folder}/b", "--size=1", "two words")
    assert one.files(folder) == [folder / "b"]
    assert two.command[1:] == ("-h",)
