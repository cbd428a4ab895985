"""./lab run: several exercises, options that they refuse, a student's own program."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import pytest
from lab_cli import main
from lab_cli.building import own_program, presets
from lab_cli.catalogue import Exercise
from lab_cli.commands import run
from lab_cli.commands.run import Outcome
from lab_cli.counters import rungs
from lab_cli.counters.raw_csv import Launch, RawTable
from lab_cli.counters.rungs import Rungs
from lab_cli.errors import LabError
from lab_cli.machine import backend
from lab_fixtures import shell_program

REDUCE, TRANSPOSE = "ch03_execution_model/reduceInteger", "ch04_memory/transpose"
HEAD = "exercise                  result   seconds\n"


def lab_run(*arguments: str) -> int:
    return main.main(["run", "--backend=cpu", *arguments])


def without_times(text: str) -> str:
    return re.sub(r" +\d+\.\d", " SECONDS", text)


def test_a_line_for_each_and_how_many_are_right(faked, capfd) -> None:
    assert lab_run() == 0
    out, err = capfd.readouterr()
    assert without_times(out) == (
        f"{HEAD}reduceInteger             ok SECONDS\ntranspose                 ok SECONDS\n\n"
        "2 of 2 ok (-v shows what they print)\n"
    )
    assert err == ""


def test_each_line_comes_when_its_exercise_has_ended(faked, monkeypatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(run, "show", shown.append)
    shell_program(faked / TRANSPOSE, f"echo {faked}/late; : > {faked}/late")
    real = run.run_showing

    def run_showing(name: str, *arguments: object) -> Outcome:
        assert len(shown) == (name == "transpose")
        return real(name, *arguments)

    monkeypatch.setattr(run, "run_showing", run_showing)
    assert lab_run() == 0
    assert len(shown) == 3


@pytest.mark.parametrize("option", ["-v", "--verbose"])
def test_verbose_shows_what_they_print_and_the_lines_at_the_end(faked, option: str, capfd) -> None:
    assert lab_run(option, "transpose", "ch03", "--", "--reps=1") == 0
    out, err = capfd.readouterr()
    assert without_times(out) == (
        f"transpose --reps=1\nreduceInteger --reps=1\n\n{HEAD}transpose                 ok SECONDS\n"
        "reduceInteger             ok SECONDS\n\n2 of 2 ok\n"
    )
    programs = [faked / TRANSPOSE, faked / REDUCE]
    assert err == "".join(f"\n+ {program} --reps=1\n" for program in programs)


def test_all_is_several_where_there_is_one(faked, capfd) -> None:
    (faked.parent / REDUCE / "exercise.toml").unlink()
    assert lab_run() == 0
    assert capfd.readouterr().out.startswith(HEAD + "transpose ")


def test_failures_are_shown_and_named(faked, capfd) -> None:
    shell_program(faked / REDUCE, "echo '    WRONG: a: 1'; echo '    WRONG: b: 2'; exit 1")
    shell_program(faked / TRANSPOSE, "seq 13; kill -SEGV $$")
    assert lab_run() == 1
    tail = "".join(f"    {number}\n" for number in range(6, 14))
    assert without_times(capfd.readouterr().out) == (
        f"{HEAD}reduceInteger             FAILED SECONDS  2 results WRONG\n"
        "transpose                 FAILED SECONDS  killed by SIGSEGV\n\n"
        "reduceInteger ended with these lines:\n        WRONG: a: 1\n        WRONG: b: 2\n\n"
        f"transpose ended with these lines:\n{tail}\n"
        "0 of 2 ok, 2 FAILED: reduceInteger, transpose (-v shows what they print)\n"
    )


@pytest.mark.parametrize(
    ("outcome", "result", "remark"),
    [
        (Outcome("x", 1, 1, []), "FAILED", "exit status 1"),
        (Outcome("x", 1, 1, [], wrong=1), "FAILED", "1 result WRONG"),
        (Outcome("x", 1, 1, [], late=True, wrong=1), "FAILED", "had not ended (--timeout)"),
        (Outcome("x", 2, 1, []), "FAILED", "exit status 2"),
        (Outcome("x", 2, 1, [], with_options=True), "refused", "exit status 2"),
    ],
)
def test_results(outcome: Outcome, result: str, remark: str) -> None:
    assert (outcome.result, outcome.remark) == (result, remark)


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [((77, 0), 0), ((77, 1), 1), ((0, 2), 1), ((77, 77), 77), ((139, 0), 1)],
)
def test_status_of_several(faked, statuses: tuple[int, int], expected: int) -> None:
    for place, status in zip((REDUCE, TRANSPOSE), statuses):
        shell_program(faked / place, f"exit {status}")
    assert lab_run() == expected


def test_skipped_ones_are_counted(faked, capfd) -> None:
    shell_program(faked / TRANSPOSE, "exit 77")
    assert lab_run() == 0
    out = capfd.readouterr().out
    assert re.search(r"^transpose +skipped +\d+\.\d  no usable GPU$", out, re.MULTILINE)
    assert "\n1 of 2 ok, 1 skipped (" in out


def refusing(faked: Path, *places: str) -> None:
    for place in places:
        message = "$(basename $0): $1: no such option (see --help)"
        shell_program(faked / place, f'[ $# = 0 ] || {{ echo "{message}" >&2; exit 2; }}')


def test_options_that_all_refuse_are_one_line_and_2(faked, capfd) -> None:
    refusing(faked, REDUCE, TRANSPOSE)
    assert lab_run("--", "--nope") == 2
    assert capfd.readouterr() == ("", "lab: --nope: no such option (see --help)\n")


def test_those_that_refuse_are_named_and_the_others_run(faked, capfd) -> None:
    refusing(faked, REDUCE)
    assert lab_run("--", "--rows=3") == 2
    out, err = capfd.readouterr()
    assert without_times(out) == (
        f"{HEAD}transpose                 ok SECONDS\n\n"
        "1 of 2 ok, 1 refused (-v shows what they print)\n"
    )
    assert err == "lab: reduceInteger: --rows=3: no such option (see --help)\n"


def test_a_failure_counts_more_than_a_refusal(faked) -> None:
    refusing(faked, REDUCE)
    shell_program(faked / TRANSPOSE, "exit 1")
    assert lab_run("--", "--rows=3") == 1


@pytest.mark.parametrize("names", [[""], [" "], ["transpose", ""]])
def test_an_empty_name(faked, names: list[str], capfd) -> None:
    assert lab_run(*names) == 2
    assert capfd.readouterr().err.startswith("lab: a name is empty")


def test_verdicts_have_colours_on_a_terminal_alone(monkeypatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    row = Outcome("ok_x", 1, 1, []).row
    coloured = row.replace("FAILED", "\x1b[1;31mFAILED\x1b[0m")
    assert run.styled(row, Terminal()) == coloured
    assert run.styled("2 of 3 ok", Terminal()) == "2 of 3 \x1b[32mok\x1b[0m"
    assert run.styled(row, io.StringIO()) == row
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            assert run.styled(row, Terminal()) == row


@pytest.fixture
def mine(faked, tmp_path: Path, monkeypatch) -> Path:
    """A program of one's own, whose compiler is the emulator's driver or nvcc; it prints its options."""
    monkeypatch.setattr(own_program, "FOLDER", tmp_path / "own")

    def compile(command: list[str], to_stderr: bool, held: bool) -> int:
        assert to_stderr
        assert held == any(str(word).endswith("cc.py") for word in command)  # which is Python
        compiled.append([str(word) for word in command])
        shell_program(
            Path(command[command.index("-o") + 1]), 'echo "$*"; [ "$1" ] || kill -SEGV $$'
        )
        return 0

    compiled.clear()
    monkeypatch.setattr(own_program, "run", compile)
    source = tmp_path / "mine.cu"
    source.touch()
    return source


compiled: list[list[str]] = []


def test_own_program_on_the_cpu_back_end(mine: Path, tmp_path: Path, monkeypatch, capfd) -> None:
    built: list[str] = []
    monkeypatch.setattr(presets, "build", lambda cmake, *targets: built.extend(targets) or tmp_path)
    other = tmp_path / "main.cpp"
    other.touch()
    assert lab_run(str(other), str(mine), "--", "a", "--b") == 0
    assert built == "cpu cuda_emulator cuda_emulator_precompiled_optimised lab_common".split()
    ((python, driver, first, second, *options),) = compiled
    assert (python, driver) == (presets.shortest(sys.executable), str(own_program.DRIVER))
    assert (first, second) == (str(mine), str(other))
    assert "--instrument" not in options
    program = tmp_path / "own" / "mine.cpu"
    assert capfd.readouterr() == ("a --b\n", f"+ {program} a --b\n")


def test_own_program_on_the_gpu_back_end(mine: Path, tmp_path: Path, monkeypatch) -> None:
    choice = backend.Choice("gpu", "", "/cuda/nvcc", "75;90")
    monkeypatch.setattr(backend, "choose", lambda request, nvcc: choice)
    assert main.main(["run", "--backend=gpu", str(mine), "--", "a"]) == 0
    (command,) = compiled
    assert command[0] == "/cuda/nvcc" and "-arch=sm_90" in command and "-O3" in command


def test_own_program_that_is_killed_is_said_in_words(mine: Path, capfd) -> None:
    assert lab_run(str(mine)) == 139
    assert capfd.readouterr().err.endswith(
        "\nlab: mine.cpu was killed by SIGSEGV: ./lab check looks for the cause\n"
    )


@pytest.mark.parametrize(
    ("code", "status"), [("kill -PIPE $$", 141), ("exit 200", 200), ("exit 128", 128)]
)
def test_other_statuses_than_a_signals_are_not_spoken_of(
    faked, capfd, code: str, status: int
) -> None:
    shell_program(faked / TRANSPOSE, code)
    assert lab_run("transpose") == status
    assert "killed" not in capfd.readouterr().err


def test_a_late_program_is_ended(faked, late: str, capfd) -> None:
    shell_program(faked / TRANSPOSE, late)
    assert lab_run("transpose", "--timeout=0.2") == 1
    assert "had not ended after 0.2 seconds (--timeout)" in capfd.readouterr().err
    assert lab_run("--timeout=0.2") == 1
    assert "0 of 2" not in capfd.readouterr().out


def test_the_files_of_exercises_are_those_exercises(faked: Path, capfd) -> None:
    transpose = str(faked.parent / TRANSPOSE / "transpose.cu")
    assert lab_run(transpose, "--", "x") == 0
    assert capfd.readouterr().out == "transpose x\n"
    assert lab_run(transpose, str(faked.parent / REDUCE / "reduceInteger.cu")) == 0
    assert "2 of 2 ok" in capfd.readouterr().out


def test_names_and_files_do_not_mix(mine: Path, capfd) -> None:
    for names in ([str(mine), "transpose"], ["transpose", str(mine)]):
        assert lab_run(*names) == 2
        assert capfd.readouterr().err.startswith(f"lab: transpose and {mine}: ")
    assert compiled == []


def test_what_an_exercise_printed_keeps_its_looks(faked, monkeypatch, capfd) -> None:
    monkeypatch.setattr(run, "styled", lambda text, out: text.replace("ok", "OK!"))
    shell_program(faked / TRANSPOSE, "echo a row that is ok; exit 1")
    assert lab_run() == 1
    out = capfd.readouterr().out
    assert "\n    a row that is ok\n" in out and "\n1 of 2 OK!, 1 FAILED" in out


STORY = "order = 10\nidea = 'x'\n[tests]\nruns = ['']\n[bench]\nruns = ['']\n[profile]\n"
LOADS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"


@pytest.fixture
def counted(faked, exercises, monkeypatch) -> list[object]:
    """transpose has two kernels with 4 and 32 loads. The arguments of each count are noted."""
    exercises(TRANSPOSE, STORY + "metrics = ['gld_requests', 'duration']\n")
    asked: list[object] = []
    launches = [
        Launch(name, "1", "32", "0", {LOADS: loads}) for name, loads in (("a", 4.0), ("b", 32.0))
    ]
    rows = [{"kernel": launch.kernel, "parameters": "size=1"} for launch in launches]

    def count(exercise: Exercise, *arguments: object) -> Rungs:
        asked.append((exercise.name, *arguments))
        return Rungs(rows, RawTable({}, launches))

    monkeypatch.setattr(rungs, "count", count)
    return asked


def test_without_a_gpu_counts_stand_below_what_one_exercise_prints(counted, capfd) -> None:
    assert lab_run("transpose", "--timeout=9", "--", "--rows=3") == 0
    assert counted == [("transpose", ["--rows=3"], 9.0)]
    own, story = capfd.readouterr().out.split("\n", 1)
    assert own == "transpose --rows=3"
    assert re.search("^b +4 -> 32$", story, re.MULTILINE)


@pytest.mark.parametrize("options", [["--csv"], ["--help"], ["-h"], ["--rows=3", "--csv"]])
def test_what_scripts_read_stays_as_it_is(counted, capfd, options: list[str]) -> None:
    assert lab_run("transpose", "--", *options) == 0
    assert capfd.readouterr().out == f"transpose {' '.join(options)}\n"
    assert counted == []


@pytest.mark.parametrize(
    ("status", "names", "times"),
    [(1, ["transpose"], 1), (2, ["transpose"], 0), (77, ["transpose"], 0), (0, [], 0)],
)
def test_counts_are_for_one_exercise_that_has_run(
    counted, monkeypatch, status: int, names: list[str], times: int
) -> None:
    monkeypatch.setenv("STATUS", str(status))
    assert lab_run(*names) == status
    assert len(counted) == times


def test_with_a_gpu_nothing_is_counted(counted, monkeypatch) -> None:
    monkeypatch.setattr(backend, "pick", lambda request: "gpu")
    assert main.main(["run", "--backend=gpu", "transpose"]) == 0
    assert counted == []


def test_where_the_program_that_counts_cannot_be_built(counted, monkeypatch, capfd) -> None:
    def fail(*_: object) -> None:
        raise LabError("no compiler")

    monkeypatch.setattr(rungs, "count", fail)
    assert lab_run("transpose") == 0
    out, err = capfd.readouterr()
    assert out == "transpose \n" and err.endswith("lab: no counts: no compiler\n")
    monkeypatch.setattr(rungs, "count", lambda *_: None)  # it has failed, like the exercise
    assert lab_run("transpose") == 0
    assert capfd.readouterr().out == "transpose \n"


def test_where_times_tell_the_story_nothing_is_counted(counted, exercises, capfd) -> None:
    source = exercises(TRANSPOSE, STORY + "metrics = ['gld_requests']\nstory = []\n")
    assert lab_run("transpose") == 0
    assert capfd.readouterr().out == "transpose \n"  # no page, no recording
    assert counted == [] and source.exists()
