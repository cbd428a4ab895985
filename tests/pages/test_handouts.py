"""./lab handout with the project's own assignments: nothing of a solution is in a hand-out, which has the pages,
too; it builds, and is wrong where the student writes."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from compile_quickly import Compiler
from lab_cli import catalogue, main
from lab_cli.catalogue import Exercise
from lab_cli.machine.needs import find_cmake, find_compiler, find_ninja
from lab_cli.results.csv_file import parse
from lab_course.grading.kernel_source import KernelSource
from lab_course.handouts import choice, leaks, workspace

PARTS = {
    each.name: choice.Part(exercise, [each])
    for exercise in catalogue.exercises()
    for each in exercise.facts.assignments
}


@pytest.fixture(scope="module", autouse=True)
def quickly() -> Iterator[None]:
    """A file that is the same in several hand-outs is searched for solutions once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workspace, "Text", functools.cache(leaks.Text))
        yield


@pytest.fixture(scope="module", params=PARTS)
def part(request: pytest.FixtureRequest) -> choice.Part:
    return PARTS[request.param]


@pytest.fixture(scope="module")
def out(part: choice.Part, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A hand-out of one assignment, without git."""
    folder = tmp_path_factory.mktemp("handout") / "out"
    (assignment,) = part.assignments
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workspace, "_commit", lambda _: False)
        assert main.main(["handout", assignment.name, "-o", str(folder)]) == 0
    yield folder
    shutil.rmtree(folder)


def windows(text: str) -> Iterator[str]:
    """Each three lines of code in a row, without spaces and comments, if they are long enough."""
    lines = [re.sub(r"\s+|//.*", "", line) for line in text.splitlines()]
    lines = [line for line in lines if len(line) > 2]
    for three in zip(lines, lines[1:], lines[2:]):
        if sum(map(len, three)) > 60:
            yield "".join(three)


@functools.cache
def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", re.sub(r"//.*", "", text))


def test_nothing_of_the_solution_is_in_it(part: choice.Part, out: Path) -> None:
    shipped = KernelSource(part.exercise.source.read_text(), part.exercise.name)
    texts = {
        path: squeezed(path.read_text(errors="replace"))
        for path in out.rglob("*")
        if path.is_file()
    }
    own = texts.pop(out / part.source)
    for kernel in part.kernels:
        function = shipped.function(kernel)
        above = squeezed(shipped.text[: function.start])
        for three in windows(shipped.body(kernel)):
            assert three in above or three not in own
            assert three in own or [path for path, text in texts.items() if three in text] == []
    code = re.sub(r"//[^\n]*", "", (out / part.source).read_text())
    assert not {*part.hidden} & {*re.findall(r"\w+", code)}


def test_it_builds_and_is_wrong_where_the_student_writes(
    part: choice.Part, out: Path, compiler: Compiler, tmp_path: Path
) -> None:
    (assignment,) = part.assignments
    if assignment.on_gpu:
        compile_with_nvcc(part.exercise, out / part.source, tmp_path)
        return
    warnings = ("-Wall", "-Wextra", "-Werror")
    program = compiler.program(out / part.source, tmp_path / part.exercise.name, *warnings)
    command = [str(program), *assignment.sizes[0].split(), "--csv"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    assert done.returncode == 1
    verdicts: dict[str, set[str]] = {}
    for row in parse(done.stdout, out / part.source).rows:
        verdicts.setdefault(row["kernel"], set()).add(row["check"])
    wrong = {kernel for kernel, verdict in verdicts.items() if "WRONG" in verdict}
    assert wrong == {*assignment.rows}
    assert {*part.hidden}.isdisjoint(verdicts)


def compile_with_nvcc(exercise: Exercise, source: Path, folder: Path) -> None:
    """Whether what is not written yet is wrong takes a GPU."""
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if not nvcc:
        pytest.skip("no nvcc")
    arch = exercise.facts.architectures[-1].rstrip("+")
    target = f"-gencode=arch=compute_{arch},code=sm_{arch}"
    command = [nvcc, "-std=c++17", target, "-Werror", "all-warnings", "-c", str(source)]
    command += ["-I", str(source.parents[2] / "common"), "-o", str(folder / "program.o")]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout


def test_with_the_shipped_body_it_passes_its_tests(tmp_path: Path, build: Path) -> None:
    """That of which most has to go, with its own driver and its own CMake. It is a repository. Its libraries
    are those of the project's own build, which take longer than all the rest."""
    cmake = find_cmake()
    if not (cmake and find_compiler() and find_ninja()):
        pytest.skip("needs CMake, Ninja and a C++ compiler")
    here = [name for name, part in PARTS.items() if not part.exercise.facts.gpu_only]
    name = max(here, key=lambda name: len(PARTS[name].hidden))
    part, folder = PARTS[name], tmp_path / "out"
    assert main.main(["handout", name, "-o", str(folder)]) == 0

    def run(*command: str) -> str:
        done = subprocess.run(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    assert run("git", "rev-list", "--all", "--count") == "1\n"
    assert run("git", "status", "--porcelain", "--ignored") == ""
    run(cmake, "--preset", "cpu")
    exercise, path = part.exercise, folder / part.source
    shipped = KernelSource(exercise.source.read_text(), "shipped")
    bodies = {kernel: shipped.body(kernel) for kernel in part.kernels}
    path.write_text(KernelSource(path.read_text(), "handed out").with_bodies(bodies))
    driver = [sys.executable, "emulator/driver/cc.py"]
    driver += ["--emulator", str(build / "emulator" / "libcuda_emulator.a")]
    common = f"-I common -L{build / 'common'} -llab_common -Wall -Wextra -Werror".split()
    for program, *flags in ((exercise.name,), (exercise.instrumented, "--instrument")):
        output = folder / "out" / "cpu" / exercise.chapter / program
        output.parent.mkdir(parents=True, exist_ok=True)
        run(*driver, *flags, *common, str(path), "-o", str(output))
    of_students = ["-R", f"^{exercise.name}/", "-L", "^quick$"]
    passed = run(str(Path(cmake).with_name("ctest")), "--test-dir", "out/cpu", *of_students, "-V")
    assert re.search(r"100% tests passed.* out of \d+\n", passed)
    assert "did not run" not in passed  # skipped
