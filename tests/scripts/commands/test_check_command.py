"""./lab check as a whole, with a program that writes a report in place of the exercises."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Callable

import pytest
from exercise_sample import FACTS
from lab_cli import main
from lab_cli.building import own_program, presets
from lab_cli.commands import check
from lab_cli.machine import setup
from lab_fixtures import shell_program

CLEAN = "no hazards found (9 kernel launches, 2 copies)"
# With lines of a source whose comments say the same, one of them behind a form feed.
HAZARD = (
    "1. race in shared memory\n   kernel k\n     x.cu:4: thread (32,0,0) writes | "
    f"s[i] = 1; // {CLEAN}, no kernel was launched\n     x.cu:5: thread (31,0,0) reads | "
    f"a = s[63 - i]; // \f{CLEAN}\n\n1 hazard found"
)


@pytest.fixture
def lab(exercises, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """lab(text, *arguments): runs ./lab check; `text` is what the program does."""

    def run(text: str, *arguments: str) -> int:
        program = tmp_path / "cpu" / "ch04_memory" / "transpose_instrumented"
        shell_program(program, f'echo "options: $*"\n{text}')
        return main.main(["check", *arguments])

    def built(cmake: str, preset: str, *targets: str) -> Path:
        print("build", preset, *targets)
        return tmp_path / preset

    exercises("ch04_memory/transpose")
    exercises("ch09_tensor/wgmma", "gpu_only = true\n" + FACTS)
    monkeypatch.setattr(setup, "ensure", lambda backend, packages=(): "cmake")
    monkeypatch.setattr(presets, "build", built)
    monkeypatch.delenv("CUDA_EMULATOR_CHECK", raising=False)
    return run


def report(text: str) -> str:
    return f"printf '%s\\n' '{text}' > \"$CUDA_EMULATOR_CHECK\""


def test_no_hazards(lab, capfd) -> None:
    assert lab(report(CLEAN), "transpose") == 0
    captured = capfd.readouterr()
    assert captured.out == f"build cpu transpose_instrumented\n{CLEAN}\n"
    assert "options:" not in captured.err


@pytest.mark.parametrize("hazards, copies, fills", [(0, 1, 0), (0, 0, 1), (0, 0, 0), (1, 1, 0)])
def test_a_report_for_scripts(lab, capfd, hazards: int, copies: int, fills: int) -> None:
    found = {"hazards": hazards, "launches": 0, "copies": copies, "fills": fills}
    status = int(hazards > 0 or copies + fills == 0)
    assert lab(report(json.dumps(found)), "transpose", "--json") == status
    assert json.loads(capfd.readouterr().out.splitlines()[-1]) == found
    assert lab(report(json.dumps(found)) + "; exit 3", "transpose", "--json") == 1


def test_what_the_check_does_not_see(lab, tmp_path, capfd, monkeypatch) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- limits -->\n- paths not taken\n<!-- end of limits -->\nafter\n")
    monkeypatch.setattr(check, "LIMITS", page)
    assert lab("", "--limits") == 0
    assert capfd.readouterr().out == "- paths not taken\n"


@pytest.mark.parametrize("end", ["", "; exit 3"])
def test_hazards_are_status_1_however_the_program_ends(lab, capfd, end: str) -> None:
    assert lab(report(HAZARD) + f"; echo '{CLEAN}'; echo '{CLEAN}' >&2{end}", "transpose") == 1
    captured = capfd.readouterr()
    assert captured.out.endswith(HAZARD + "\n")
    assert "exit status" not in captured.err
    assert "options:" not in captured.err


def test_options_go_to_the_program(lab, capfd, tmp_path) -> None:
    noted = f'echo "$*" > {tmp_path}/options; '
    assert lab(noted + report(CLEAN), "transpose", "--", "--rows=64", "-x") == 0
    assert (tmp_path / "options").read_text() == "--profile --rows=64 -x\n"


def test_program_that_fails_otherwise(lab, capfd) -> None:
    assert lab(report(CLEAN) + "; exit 3", "transpose") == 1
    captured = capfd.readouterr()
    assert "no hazards" not in captured.out
    assert captured.err.splitlines()[1:] == [
        "options: --profile",
        f"lab: the program ended with exit status 3; what it printed is above; until then, {CLEAN}",
    ]


def test_bad_usage_of_the_program(lab, capfd) -> None:
    assert lab("echo unknown option; exit 2", "transpose", "--", "--nonsense") == 2
    ended = "unknown option\nlab: the program ended with exit status 2; what it printed is above\n"
    assert capfd.readouterr().err.endswith(f"options: --profile --nonsense\n{ended}")


def test_program_without_a_report(lab, capfd) -> None:
    assert lab("kill -SEGV $$", "transpose") == 1
    assert "SIGSEGV" in capfd.readouterr().err


def test_program_that_cannot_be_run(lab, exercises, tmp_path, capfd) -> None:
    exercises("ch04_memory/unbuilt")
    assert lab(report(CLEAN), "unbuilt") == 1
    program = tmp_path / "cpu" / "ch04_memory" / "unbuilt_instrumented"
    why = f"lab: cannot run {program}: No such file or directory\n"
    assert capfd.readouterr().err == f"+ CUDA_EMULATOR_CHECK=... {program} --profile\n{why}"


def test_own_files(lab, monkeypatch, tmp_path, capfd) -> None:
    sources = [str(tmp_path / name) for name in ("mine.cu", "part.cu", "plain.cpp")]
    for source in sources:
        Path(source).write_text("int main() {}")
    program = shell_program(tmp_path / "mine", report(CLEAN) + f'\necho "$*" > {tmp_path}/options')
    asked = []

    def compiled(paths: list[str], cmake: str, instrument: bool) -> Path:
        assert instrument
        asked.extend(paths)
        return program

    monkeypatch.setattr(own_program, "for_cpu", compiled)
    assert lab("", *sources, "--", "7") == 0
    assert asked == sources
    assert (tmp_path / "options").read_text() == "7\n"  # and no --profile
    assert capfd.readouterr().out == CLEAN + "\n"


def test_one_program_at_a_time(lab, capfd) -> None:
    assert lab(report(CLEAN), "transpose", "wgmma") == 2
    assert "wgmma: one exercise at a time" in capfd.readouterr().err


def test_the_report_is_not_left_behind(lab, tmp_path, monkeypatch) -> None:
    note = f'dirname "$CUDA_EMULATOR_CHECK" > {tmp_path}/folder; '
    assert lab(note + report(CLEAN), "transpose") == 0
    assert not os.path.exists((tmp_path / "folder").read_text().strip())


def test_no_launch_is_no_success(lab, capfd) -> None:
    nothing = "no kernel was launched: nothing was looked at"
    assert lab(report(nothing), "transpose") == 1
    assert capfd.readouterr().out.endswith(nothing + "\n")
    assert lab(report(nothing) + "; exit 3", "transpose") == 1
    assert "exit status 3; what it printed is above; until then, " in capfd.readouterr().err


def test_kernel_that_does_not_end_is_told_at_once(lab, capfd) -> None:
    line = "emulator: kernel spin has been running for 10 s: block (0,0,0) is at a.cu:1"
    assert lab(f"echo '{line}' >&2; echo other >&2; " + report(CLEAN), "transpose") == 0
    err = capfd.readouterr().err.splitlines()
    assert err[1:] == [line]


def test_program_that_takes_too_long(lab, late: str, capfd) -> None:
    assert lab(report(HAZARD) + "; echo so far; " + late, "transpose", "--timeout=0.5") == 1
    captured = capfd.readouterr()
    assert captured.out.endswith(HAZARD + "\n")
    ended = "lab: the program had not ended after 0.5 seconds (--timeout), and was ended\n"
    assert captured.err.endswith(f"\noptions: --profile\nso far\n{ended}")
