"""./lab check --schedules and ./lab run --interleave as a whole, with a program that prints its seed in
place of the exercises."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Callable

import pytest
from exercise_sample import FACTS
from lab_cli import main
from lab_cli.building import own_program, presets
from lab_cli.machine import setup
from lab_fixtures import shell_program

CLEAN = "no hazards found in 9 kernel launches"
REPORT = f'[ -z "$CUDA_EMULATOR_CHECK" ] || echo "{CLEAN}" > "$CUDA_EMULATOR_CHECK"\n'
LOSES_ONE = '[ "$CUDA_EMULATOR_SEED" != 2 ] && echo count 256 || echo count 255'


@pytest.fixture
def lab(exercises, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """lab(text, *arguments): runs ./lab; `text` is what the program does."""

    def run(text: str, *arguments: str) -> int:
        shell_program(tmp_path / "cpu" / "ch04_memory" / "transpose_instrumented", REPORT + text)
        return main.main([*arguments])

    exercises("ch04_memory/transpose")
    exercises("ch04_memory/other")
    exercises("ch09_tensor/wgmma", "gpu_only = true\n" + FACTS)
    monkeypatch.setattr(setup, "ensure", lambda backend, packages=(): "cmake")
    monkeypatch.setattr(presets, "build", lambda cmake, preset, *targets: tmp_path / preset)
    for name in ("CUDA_EMULATOR_CHECK", "CUDA_EMULATOR_SEED"):
        monkeypatch.delenv(name, raising=False)
    return run


def test_a_difference_is_status_1_and_names_the_seed(lab, capfd) -> None:
    assert lab(LOSES_ONE, "check", "--schedules", "3", "transpose") == 1
    out = capfd.readouterr().out
    assert out.startswith(CLEAN + "\n")
    assert "count 256" in out and "count 255" in out
    assert out.endswith("CUDA_EMULATOR_SEED=2 ./lab run --interleave transpose -- --profile\n")


def test_too_few_seeds_for_a_difference(lab, capfd) -> None:
    assert lab(LOSES_ONE, "check", "--schedules", "1", "transpose") == 0
    assert "count 255" not in capfd.readouterr().out


def test_hazards_are_status_1_where_nothing_differs(lab) -> None:
    hazard = 'echo "1 hazard found in 9 kernel launches" > "${CUDA_EMULATOR_CHECK:-/dev/null}"'
    assert lab(hazard + "; echo same", "check", "--schedules", "2", "transpose") == 1


@pytest.mark.parametrize("count, status, same", [("3", 1, False), ("1", 0, True)])
def test_a_report_as_json(lab, capfd, count: str, status: int, same: bool) -> None:
    found = '{"hazards": 0, "launches": 1, "copies": 0, "fills": 0, "findings": []}'
    report = f"""[ -z "$CUDA_EMULATOR_CHECK" ] || echo '{found}' > "$CUDA_EMULATOR_CHECK"\n"""
    assert lab(report + LOSES_ONE, "check", "--json", "--schedules", count, "transpose") == status
    printed = json.loads(capfd.readouterr().out)
    orders = printed.pop("schedules")
    assert printed == json.loads(found)
    assert (orders["tried"], orders["same"]) == (int(count), same)
    if not same:
        assert (orders["seed"], orders["usual"], orders["other"]) == (2, "count 256", "count 255")
        assert orders["again"].startswith("CUDA_EMULATOR_SEED=2 ./lab run --interleave ")


@pytest.mark.parametrize("count", ["0", "-1", "x", "1.5", ""])
def test_bad_numbers_of_schedules(lab, count: str) -> None:
    assert lab("", "check", f"--schedules={count}", "transpose") == 2


def test_interleave_says_the_seed_and_how_to_get_it_again(lab, capfd) -> None:
    program = 'echo "seed $CUDA_EMULATOR_SEED $*"'
    assert lab(program, "run", "--interleave", "transpose", "--", "--size", "9") == 0
    captured = capfd.readouterr()
    seed = re.fullmatch(r"seed (\d+) --size 9\n", captured.out).group(1)
    assert f"CUDA_EMULATOR_SEED={seed} ./lab run --interleave transpose -- --size 9" in captured.err


def test_interleave_takes_the_seed_of_the_environment(lab, monkeypatch, capfd) -> None:
    monkeypatch.setenv("CUDA_EMULATOR_SEED", "77")
    assert lab('echo "seed $CUDA_EMULATOR_SEED"; exit 3', "run", "--interleave", "transpose") == 3
    assert capfd.readouterr().out == "seed 77\n"


def test_interleave_of_own_files(lab, tmp_path: Path, monkeypatch, capfd) -> None:
    source = tmp_path / "mine.cu"
    source.write_text("int main() {}")
    program = shell_program(tmp_path / "mine", 'echo "seed $CUDA_EMULATOR_SEED"')

    def compiled(paths: list[str], cmake: str, instrument: bool) -> Path:
        assert instrument
        return program

    monkeypatch.setattr(own_program, "for_cpu", compiled)
    assert lab("", "run", "--interleave", str(source)) == 0
    captured = capfd.readouterr()
    assert re.fullmatch(r"seed \d+\n", captured.out)
    assert f"./lab run --interleave {source}" in captured.err


@pytest.mark.parametrize("arguments", [[], ["transpose", "other"], ["--backend=gpu", "transpose"]])
def test_interleave_takes_one_program_on_the_cpu_back_end(lab, arguments, capfd) -> None:
    assert lab("echo ran", "run", "--interleave", *arguments) == 2
    assert capfd.readouterr().out == ""


def test_the_report_of_a_program_that_a_signal_to_lab_ends(lab, capfd) -> None:
    """The program ends lab, as Ctrl-C would."""
    text = (
        'echo "1 hazard found in 9 kernel launches" > "$CUDA_EMULATOR_CHECK"\n'
        "kill -INT $PPID\nsleep 5"
    )
    assert lab(text, "check", "transpose") == 130
    assert capfd.readouterr().out == "1 hazard found in 9 kernel launches\n"
