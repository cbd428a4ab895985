"""./lab new: what it refuses, what it writes, and that this builds and passes its tests."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from exercise_sample import FACTS
from lab_cli import catalogue, main
from lab_cli.commands import new
from lab_cli.errors import LabError
from lab_cli.machine.needs import find_cmake, find_compiler, find_ninja
from lab_cli.paths import ROOT
from page_text import broken_links, long_lines

LONGEST = "stencilWithANameOfFortyCharactersAtMost1"
NOT_COPIED = {".git", ".venv", "build", "out"}


@pytest.fixture
def checkout(exercises, tmp_path: Path) -> Path:
    exercises("ch03_execution_model/warpLayout", FACTS.replace("10", "25"))
    exercises("ch04_memory/transpose")
    (tmp_path / "ch03_execution_model" / "floatSums.cuh").touch()
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "CMakeLists.txt").touch()
    return tmp_path


def files(folder: Path) -> dict[str, str]:
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_text() for path in paths}


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("stencil", "stencil: expected CHAPTER/NAME"),
        ("ch05/stencil", "named ch05; there are ch03_execution_model, ch04_memory, empty"),
        ("emulator/stencil", "no chapter is named emulator"),
        ("ch04_memory/transpose", "there is .*ch04_memory/transpose already"),
        ("empty/warpLayout", "there is .*ch03_execution_model/warpLayout already"),
        ("empty/warplayout", "there is .*ch03_execution_model/warpLayout already"),
        ("ch04_memory/floatSums", "there is .*floatSums.cuh already"),
        ("ch04_memory/Stencil", "Stencil: expected a name in camelCase"),
        ("ch04_memory/my_stencil", "my_stencil: expected a name in camelCase"),
        ("ch04_memory/2d", "2d: expected a name in camelCase"),
        ("ch04_memory/größe", "größe: expected a name in camelCase"),
        ("ch04_memory/a\n", "expected a name in camelCase"),
        ("ch04_memory/../x", "expected a name in camelCase"),
        ("ch04_memory/", "expected a name in camelCase"),
        (f"ch04_memory/{LONGEST}2", "40 at most"),
        *(
            (f"ch04_memory/{name}", f"{name}: CMake has a target of this name")
            for name in ("all", "clean", "exercises", "help", "install", "package", "test")
        ),
    ],
)
def test_what_is_refused_leaves_nothing_behind(checkout, capfd, place: str, message: str) -> None:
    before = files(checkout)
    assert main.main(["new", place]) == 2
    assert re.search(message, capfd.readouterr().err)
    assert files(checkout) == before


def test_one_folder_and_nothing_else(checkout: Path, capfd) -> None:
    before = files(checkout)
    assert main.main(["new", f"ch04_memory/{LONGEST}"]) == 0
    after = files(checkout)
    names = (f"{LONGEST}.cu", "README.md", "exercise.toml")
    assert set(after) - set(before) == {f"ch04_memory/{LONGEST}/{name}" for name in names}
    assert {name: after[name] for name in before} == before
    folder = checkout / "ch04_memory" / LONGEST
    written = capfd.readouterr().err.splitlines()
    assert written[:3] == [f"written: {folder}/{name}" for name in names]
    source = after[f"ch04_memory/{LONGEST}/{LONGEST}.cu"]
    assert f"build/ch04_memory/{LONGEST} --size" in source
    path = f"//       ch04_memory/{LONGEST}/{LONGEST}.cu"  # alone in its line
    assert all(len(line) <= 100 or line == path for line in source.splitlines())
    assert long_lines(after[f"ch04_memory/{LONGEST}/README.md"], 100) == []
    assert broken_links(folder / "README.md", checkout) == []


@pytest.mark.parametrize(
    ("place", "order"), [("ch03_execution_model/a", 30), ("ch04_memory/a", 20), ("empty/a", 10)]
)
def test_it_is_the_last_of_its_chapter(checkout: Path, place: str, order: int) -> None:
    assert main.main(["new", place]) == 0
    (exercise,) = catalogue.exercises(["a"])
    assert exercise.facts.order == order
    assert catalogue.about(exercise) == "Doubles numbers."
    assert catalogue.exercises()  # all that there are can be read


def test_a_chapter_that_is_broken_gets_nothing(checkout: Path, capfd) -> None:
    (checkout / "ch04_memory" / "transpose" / "exercise.toml").write_text("order = 1\n")
    before = files(checkout)
    assert main.main(["new", "ch04_memory/a"]) == 1
    assert "transpose/exercise.toml: bench is missing" in capfd.readouterr().err
    assert files(checkout) == before


@pytest.mark.parametrize("last", [".cu", ".md", ".toml"])
def test_failure_in_the_middle_leaves_nothing_behind(checkout, monkeypatch, last: str) -> None:
    before = files(checkout)
    write = new.write

    def fail(path: Path, text: str) -> None:
        if path.name.endswith(last):
            raise LabError("disk full")
        write(path, text)

    monkeypatch.setattr(new, "write", fail)
    assert main.main(["new", "ch04_memory/a"]) == 1
    assert files(checkout) == before


def test_where_nothing_can_be_written_that_is_said(checkout, monkeypatch, capfd) -> None:
    def read_only(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "write_bytes", read_only)
    monkeypatch.setattr(Path, "unlink", read_only)  # as Linux has it, even where no file is
    assert main.main(["new", "ch04_memory/stencil"]) == 1
    assert "/stencil.cu: Read-only file system\n" in capfd.readouterr().err


class Copy:
    """A copy of the project without its pages, with a new exercise, configured for the cpu back end. The folders
    above it are called as some of its own are."""

    def __init__(self, folder: Path) -> None:
        self.cmake = find_cmake()
        if not self.cmake or not find_compiler() or not find_ninja():
            pytest.skip("needs CMake, Ninja and a C++ compiler")
        self.ctest = str(Path(self.cmake).with_name("ctest"))
        self.root = folder / "check" / "programs" / "emulator" / "tests" / "results"
        shutil.copytree(ROOT, self.root, ignore=not_copied)
        self.run(sys.executable, "lab", "new", "ch04_memory/fresh")
        self.configure()

    def configure(self) -> None:
        self.run(self.cmake, "--preset", "cpu")

    def run(self, *command: str, **variables: str) -> str:
        done = subprocess.run(
            command,
            cwd=self.root,
            env={**os.environ, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    def tests(self) -> set[str]:
        """The names of those that ctest knows."""
        listed = self.run(self.ctest, "--test-dir", "out/cpu", "-N")
        return set(re.findall(r"^ *Test +#\d+: (.*)$", listed, re.MULTILINE))


def not_copied(folder: str, names: list[str]) -> set[str]:
    """What lab makes, and the pages."""
    made = NOT_COPIED if Path(folder) == ROOT else set()
    return made | {name for name in names if name.endswith(".md")}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    return Copy(tmp_path_factory.mktemp("copy"))


def test_it_builds_and_passes_its_tests(copy: Copy) -> None:
    """With the libraries of the project's own build, which take longer than all the rest."""
    built = Path(os.environ.get("CPU_BUILD", ROOT / "out" / "cpu")).absolute()
    library = built / "emulator" / "libcuda_emulator.a"
    if not library.exists():
        pytest.skip(f"needs {library}")
    common = ["-Icommon", f"-L{built / 'common'}", "-llab_common", "-Wall", "-Wextra", "-Werror"]
    for program, *flags in (("fresh",), ("fresh_instrumented", "--instrument")):
        output = copy.root / "out" / "cpu" / "ch04_memory" / program
        assert output.parent.is_dir()
        driver = [sys.executable, "emulator/driver/cc.py", "--emulator", str(library)]
        copy.run(*driver, *flags, *common, "ch04_memory/fresh/fresh.cu", "-o", str(output))
    ctest = [copy.ctest, "--test-dir", "out/cpu"]
    passed = copy.run(*ctest, "-R", "^fresh/", "-L", "^quick$", "-V")
    assert re.search(r"100% tests passed.* out of \d+\n", passed)
    assert "did not run" not in passed  # skipped
    copy.run(*ctest, "-R", "^fresh/printed$", LAB_ACCEPT="1")  # as CONTRIBUTING.md says
    accepted = copy.root / "ch04_memory" / "fresh" / "tests" / "printed.txt"
    assert "fresh" in accepted.read_text()


def test_an_exercise_can_be_removed(copy: Copy) -> None:
    """By the removal of its folder: all others are built and tested as before."""
    removed = [exercise.name for exercise in catalogue.exercises()[::10]]
    own = re.compile(rf"({'|'.join(removed)})/.*")
    before = copy.tests()
    assert any(own.fullmatch(name) for name in before)
    for name in removed:
        (source,) = copy.root.glob(f"*/{name}/{name}.cu")
        shutil.rmtree(source.parent)
    copy.configure()
    after = copy.tests()
    assert {name for name in before if not own.fullmatch(name)} == after
    assert not set(removed) & set(copy.run(sys.executable, "lab", "list").split())
    pytest_of_copy = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    copy.run(*pytest_of_copy, "--collect-only", "tests/scripts", "tests/lab_course", "tests/pages")
