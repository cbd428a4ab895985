"""Other orders of threads, by a seed (check/schedules.cu): wrong programs lose updates, and right ones do
not."""

import os
import subprocess

import pytest

WRONG = (
    "counts countsOfBlocks countsOfAWarp histogram reduceWithoutBarrier readsNeighbour".split()
    + ["firstBlockClears"]
)
RIGHT = (
    "countsAtomically volatileWarp volatileScan shuffles syncwarps tiles aggregated lastBlock spinLock "
    "casMaximum looksBack barrierByHand gridSyncs asyncCopies launchesChildren oneOfUnevenThreads"
).split()


@pytest.fixture
def run(build):
    def run(names, seed=None, **variables):
        if seed is not None:
            variables["CUDA_EMULATOR_SEED"] = str(seed)
        done = subprocess.run(
            [str(build / "tests" / "schedules"), *names],
            env={**os.environ, **variables},
            capture_output=True,
            timeout=120,
            text=True,
        )
        assert done.returncode == 0, done
        return {line.split()[0]: line for line in done.stdout.splitlines()}

    return run


def test_wrong_programs_lose_updates(run):
    usual = run(WRONG)
    for seed in (1, 2, 3):
        other = run(WRONG, seed)
        assert [name for name in WRONG if other[name] == usual[name]] == []


def test_right_programs_are_right_in_every_order(run):
    usual = run(RIGHT)
    for seed in range(6):
        assert run(RIGHT, seed) == usual


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_block_that_fails_ends_those_that_wait_for_it(run, seed):
    assert "cudaErrorIllegalAddress" in run(["failsInALock"], seed)["failsInALock"]


def test_a_seed_gives_the_same_order_again(run):
    names = [*WRONG, "spinLock"]
    first, other = run(names, 11), run(names, 12)
    assert run(names, 11) == first
    assert run(names, 11) == first
    assert other != first


@pytest.mark.parametrize("sms", [1, 3])
def test_right_whatever_the_number_of_sms(run, sms):
    assert run(RIGHT, 5, CUDA_EMULATOR_SMS=str(sms)) == run(RIGHT)


def test_the_hazard_check_says_the_same_of_right_programs(run, tmp_path):
    silent = [name for name in RIGHT if not name.startswith("volatile")]
    for seed in (None, 1, 2):
        report = tmp_path / "report"
        run(silent, seed, CUDA_EMULATOR_CHECK=str(report))
        *_, last = report.read_text().splitlines()
        assert last.startswith("no hazards found")


def test_the_hazard_check_finds_the_same_races(run, tmp_path):
    lines = []
    for seed in (None, 1):
        report = tmp_path / "report"
        run(WRONG, seed, CUDA_EMULATOR_CHECK=str(report))
        titles = [
            text.split("\n")[0].split(". ")[1] for text in report.read_text().split("\n\n")[:-1]
        ]
        lines.append({title.split(":")[0] for title in titles})
    assert lines[0] == lines[1]


def test_counts_of_the_profiler_are_those_of_the_usual_order(run, tmp_path):
    profiles = []
    for seed in (None, 1):
        run(["shuffles", "histogram"], seed, CUDA_EMULATOR_PROFILE=str(tmp_path / "counts"))
        rows = (tmp_path / "counts").read_text().splitlines()
        profiles.append([row.split(",")[4:] for row in rows])  # behind the process
    assert profiles[0] == profiles[1]


@pytest.mark.parametrize("seed", ["", "x", "-1", "1.5", "0x10", " 7", "18446744073709551616"])
def test_bad_seeds_are_refused(build, seed):
    done = subprocess.run(
        [str(build / "tests" / "schedules"), "counts"],
        env={**os.environ, "CUDA_EMULATOR_SEED": seed},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert f"CUDA_EMULATOR_SEED={seed}: expected a decimal number" in done.stderr


def test_what_kernels_print_can_be_told_apart(build, tmp_path):
    printed = tmp_path / "printed"
    done = subprocess.run(
        [str(build / "tests" / "schedules"), "printsNumbers"],
        env={**os.environ, "CUDA_EMULATOR_SEED": "1", "CUDA_EMULATOR_PRINTF": str(printed)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert done.stdout.split()[0] == "printsNumbers"
    lines = printed.read_text().splitlines()
    assert lines != sorted(lines, key=lambda line: int(line.split()[1]))
    assert {*lines} == {f"thread {i}" for i in range(80)}
