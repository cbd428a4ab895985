"""The command line of ./lab, its list of exercises, and the summary of a run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Callable

import pytest
from exercise_sample import FACTS
from lab_cli import main, process
from lab_cli.building import presets
from lab_cli.commands import cc, run
from lab_cli.commands import test as test_command
from lab_cli.errors import LabError
from lab_cli.machine import setup
from lab_cli.paths import ROOT


def lab(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "lab"), *arguments], capture_output=True, text=True
    )


def test_list_names_every_exercise_and_says_what_it_is() -> None:
    done = lab("list")
    assert done.returncode == 0
    folders = [lists.parent for lists in ROOT.glob("*/CMakeLists.txt")]
    folders = [folder for folder in folders if folder.name != "common"]
    sources = {path.stem for folder in folders for path in folder.glob("*.cu")}
    described = dict(re.findall(r"^  (\w+) +(\S.*)$", done.stdout, re.MULTILINE))
    assert set(described) == sources


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bogus"], "bogus"),
        (["run", "--size=3"], "--size=3; options of an exercise follow after --"),
        (["run", "transposs"], "did you mean transpose?"),
        (["run", "--backend", "tpu"], "tpu"),
        (["list", "extra"], "extra"),
    ],
)
def test_bad_usage_ends_with_2(arguments: list[str], message: str) -> None:
    done = lab(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_help() -> None:
    done = lab("--help")
    assert done.returncode == 0
    for command in ("run", "test", "bench", "plot", "list", "doctor", "cc"):
        assert f"./lab {command}" in done.stdout


@pytest.fixture
def faked(exercises, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """main() with three exercises, no set-up, and a build that finds its programs in `tmp_path`."""
    monkeypatch.setattr(setup, "ensure", lambda backend, modules=(): "cmake")
    monkeypatch.setattr(presets, "build", lambda cmake, preset, *targets: tmp_path)
    exercises("ch03_execution_model/reduceInteger")
    exercises("ch04_memory/transpose")
    exercises("ch09_tensor/wgmma", "gpu_only = true\n" + FACTS)
    for place in (
        "ch03_execution_model/reduceInteger",
        "ch04_memory/transpose",
        "ch09_tensor/wgmma",
    ):
        program = tmp_path / place
        program.write_text('#!/bin/sh\necho "$(basename $0) $*"\nexit ${STATUS:-0}\n')
        program.chmod(0o755)
    return tmp_path


def test_one_exercise_gets_its_options_and_stdout_alone(faked: Path, capfd) -> None:
    assert main.main(["run", "--backend=cpu", "transpose", "--", "--csv", "--rows=3"]) == 0
    out, err = capfd.readouterr()
    assert out == "transpose --csv --rows=3\n"
    assert "transpose --csv --rows=3" in err  # the command, before it runs


@pytest.mark.parametrize("status", [1, 2, 77])
def test_status_of_one_exercise_is_passed_on(faked, monkeypatch, status: int) -> None:
    monkeypatch.setenv("STATUS", str(status))
    assert main.main(["run", "--backend=cpu", "transpose"]) == status


def test_all_exercises_end_in_a_summary(faked: Path, capfd) -> None:
    assert main.main(["run", "--backend=cpu"]) == 0
    out = capfd.readouterr().out
    assert re.search(r"^reduceInteger +ok +\d+\.\d$", out, re.MULTILINE)
    assert re.search(r"^transpose +ok +\d+\.\d$", out, re.MULTILINE)
    assert "wgmma" not in out  # gpu only


def test_gpu_only_exercise_is_refused_by_name(faked: Path, capfd) -> None:
    assert main.main(["run", "--backend=cpu", "wgmma"]) == 1
    assert "only on the gpu back end" in capfd.readouterr().err


def test_failure_of_one_is_failure_of_all(faked: Path, capfd) -> None:
    broken = faked / "ch04_memory" / "transpose"
    broken.write_text("#!/bin/sh\necho WRONG: element 3\nkill -SEGV $$\n")
    assert main.main(["run", "--backend=cpu"]) == 1
    out = capfd.readouterr().out
    assert re.search(r"^transpose +FAILED .*killed by SIGSEGV$", out, re.MULTILINE)
    assert out.endswith("transpose ended with these lines:\n    WRONG: element 3\n")


def test_a_wrong_result_of_one_is_failure_of_all(faked: Path, capfd) -> None:
    wrong = faked / "ch04_memory" / "transpose"
    wrong.write_text("#!/bin/sh\nexit 1\n")
    assert main.main(["run", "--backend=cpu"]) == 1
    assert re.search(r"^transpose +FAILED .*exit status 1$", capfd.readouterr().out, re.MULTILINE)


def test_several_exercises_get_the_same_options(faked: Path, capfd) -> None:
    names = ["transpose", "reduceInteger"]
    assert main.main(["run", "--backend=cpu", *names, "--", "--reps=1"]) == 0
    out = capfd.readouterr().out
    assert "transpose --reps=1\n" in out and "reduceInteger --reps=1\n" in out


def test_all_skipped_is_77(faked: Path, monkeypatch, capfd) -> None:
    monkeypatch.setenv("STATUS", "77")
    assert main.main(["run", "--backend=cpu"]) == 77
    assert "no usable GPU" in capfd.readouterr().out


@pytest.fixture
def tested(faked: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, list[str]]]:
    """./lab test with these arguments: its status, what was built, and the options of ctest."""

    def run_test(*arguments: str) -> tuple[int, list[str]]:
        ran: list[str] = []

        def build(cmake: str, preset: str, *targets: str) -> Path:
            ran.append("build " + " ".join([preset, *targets]))
            return faked

        def ctest(command: Sequence[str], each: Callable[[str], None]) -> int:
            usual = command.index("--output-junit") + 2
            ran.append(" ".join(["ctest", *command[usual:]]))
            Path(command[usual - 1]).write_text("<testsuite/>")
            each("1/1 Test #1: transpose --rows=3\n")
            each("0% tests passed, 1 tests failed out of 1\n")
            return 8

        monkeypatch.setattr(presets, "build", build)
        monkeypatch.setattr(test_command, "run_lines", ctest)
        monkeypatch.setattr(test_command, "output_of", lambda command: '{"tests": []}')
        return main.main(["test", "--backend=cpu", *arguments]), ran

    return run_test


def test_of_one_exercise_builds_and_runs_what_belongs_to_it(tested, monkeypatch, capfd) -> None:
    wanted: list[Sequence[str]] = []
    monkeypatch.setattr(setup, "ensure", lambda backend, modules=(): wanted.append(modules) or "x")
    status, ran = tested("transpose")
    assert status == 8
    assert ran == ["build cpu transpose transpose_instrumented", "ctest -L ^(transpose)$"]
    assert wanted == [()]  # no pytest, no matplotlib
    out = capfd.readouterr().out
    assert "transpose --rows=3" in out
    assert "tests passed" not in out  # the summary says more


def test_of_several_exercises_and_a_chapter(tested) -> None:
    assert tested("transpose", "ch03", "-R", "size", "--", "-VV") == (
        8,
        [
            "build cpu transpose transpose_instrumented reduceInteger reduceInteger_instrumented",
            "ctest -L ^(transpose|reduceInteger)$ -R size -VV",
        ],
    )


def test_of_everything(tested, capfd) -> None:
    assert tested("-R", "transpose") == (8, ["build cpu", "ctest -R transpose"])
    assert "tests passed" in capfd.readouterr().out


@pytest.mark.parametrize(
    "arguments", [["transposs"], ["-V"], ["--rerun-failed"], ["transpose", "x"]]
)
def test_a_stray_word_starts_no_test(tested, arguments: list[str], capfd) -> None:
    try:
        status, ran = tested(*arguments)
    except SystemExit as exit:
        status, ran = int(exit.code or 0), []
    assert (status, ran) == (2, [])
    assert arguments[-1] in capfd.readouterr().err


def test_cc_builds_the_libraries_and_hands_over(faked: Path, monkeypatch) -> None:
    built: list[tuple[str, ...]] = []
    ran: list[list[str]] = []

    def build(cmake: str, preset: str, *targets: str) -> Path:
        built.append((preset, *targets))
        return faked

    monkeypatch.setattr(presets, "build", build)
    monkeypatch.setattr(cc, "run_shown", lambda command: ran.append(command) or 0)
    assert main.main(["cc", "mine.cu", "-o", "mine", "--", "-x"]) == 0
    assert built == [("cpu", "cuda_emulator", "cuda_emulator_precompiled", "lab_common")]
    library = str(faked / "emulator" / "libcuda_emulator.a")
    assert ran[0][1:4] == [str(ROOT / "emulator" / "cc.py"), "--library", library]
    assert ran[0][4:6] == [f"-L{faked / 'common'}", "-llab_common"]
    assert ran[0][6:] == ["mine.cu", "-o", "mine", "--", "-x"]


def test_only_a_new_folder_is_configured(tmp_path: Path, monkeypatch) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(presets, "OUT", tmp_path)
    monkeypatch.setattr(presets, "must_run", lambda command, cwd: ran.append(command))
    presets.build("/no/cmake", "cpu")
    (tmp_path / "cpu" / "build.ninja").touch()
    presets.build("/no/cmake", "cpu", "transpose", "matmul")
    folder = str(tmp_path / "cpu")
    assert ran == [
        ["/no/cmake", "--preset", "cpu", "-B", folder],
        ["/no/cmake", "--build", folder],
        ["/no/cmake", "--build", folder, "--target", "transpose", "matmul"],
    ]


def test_of_two_that_build_the_same_one_waits(tmp_path: Path, monkeypatch, capfd) -> None:
    inside = threading.Event()
    leave = threading.Event()
    order: list[str] = []

    def first(command: Sequence[str], cwd: Path) -> None:
        if not inside.is_set():
            inside.set()
            assert leave.wait(60)
        order.append(command[-1])

    monkeypatch.setattr(presets, "OUT", tmp_path)
    monkeypatch.setattr(presets, "must_run", first)
    monkeypatch.setattr(presets, "say", lambda text: (order.append(text), leave.set()))
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "build.ninja").touch()
    builder = threading.Thread(target=presets.build, args=("cmake", "cpu", "one"))
    builder.start()
    assert inside.wait(60)
    presets.build("cmake", "cpu", "two")
    builder.join()
    assert order == [f"waiting: another lab builds in {tmp_path / 'cpu'}", "one", "two"]


def test_builds_can_be_elsewhere(tmp_path: Path) -> None:
    elsewhere = {**os.environ, "LAB_BUILD_DIR": str(tmp_path / "mine")}
    ask = "from lab_cli import paths; print(paths.OUT, paths.VENV)"
    done = subprocess.run(
        [sys.executable, "-c", ask],
        cwd=ROOT / "scripts",
        env=elsewhere,
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == [str(tmp_path / "mine"), str(tmp_path / "mine" / ".venv")]


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(presets, "OUT", tmp_path / "file")
    with pytest.raises(LabError, match="file/cpu: .*; LAB_BUILD_DIR=FOLDER"):
        presets.build("cmake", "cpu")


def test_failing_step_is_named_with_its_status(capfd) -> None:
    with pytest.raises(LabError, match="exit status 3") as raised:
        process.must_run(["sh", "-c", "echo reason; exit 3"])
    assert raised.value.status == 3
    out, err = capfd.readouterr()
    assert out == ""
    assert err == "+ sh -c 'echo reason; exit 3'\nreason\n"


def test_interrupt_leaves_no_traceback(monkeypatch, capfd) -> None:
    def interrupted(argv: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(main, "dispatch", interrupted)
    assert main.main(["run"]) == 130
    assert capfd.readouterr().err == ""


def test_commands_are_shown_relative_to_the_checkout() -> None:
    assert process.shown([str(ROOT / "build" / "a b"), "--x=1"]) == "'build/a b' --x=1"


def test_last_lines_are_kept(capfd) -> None:
    lines = run.TAIL_LINES + 5
    outcome = run.run_showing("x", ["sh", "-c", f"seq {lines}; exit 1"])
    assert outcome.last_lines[-1] == f"{lines}\n"
    assert len(outcome.last_lines) == run.TAIL_LINES
    assert capfd.readouterr().out.count("\n") == lines
