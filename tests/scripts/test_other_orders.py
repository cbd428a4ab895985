"""What ./lab check --schedules takes for a difference between two orders of threads, and what not: times,
last digits of sums, the order in which kernels print."""

from __future__ import annotations

import pytest
from lab_cli import schedules
from lab_cli.commands.run import interleaved
from lab_cli.errors import LabError
from lab_cli.schedules import Difference, NotCompared, Printed, Usual
from lab_cli.time_limit import TimeLimit


def compare(usual: str, other: str, again: str | None = None) -> Difference | None:
    texts = (usual, usual if again is None else again, other)
    one, two, three = (Printed(0, text.splitlines(), "") for text in texts)
    return Usual(one, two).compare(three, 7)


@pytest.mark.parametrize(
    "usual, other",
    [
        ("count 256", "count 187"),
        ("sum=1000,", "sum=999,"),
        ("1 2 3", "1 3 2"),
        ("PASSED", "FAILED"),
        ("sum 1.5000", "sum 1.4000"),
        ("max error 0.000001", "max error 17.5"),
        ("ok", "ok\nand more"),
        ("ok\nand more", "ok"),
        ("count 256 in 3.2 ms", "count 250 in 3.2 ms"),
        ("5 threads", "4 threads"),
        ("x = -1", "x = 1"),
        ("nan", "1.0"),
        ("16777216", "16777215"),
    ],
)
def test_results_that_differ(usual: str, other: str) -> None:
    found = compare(usual, other)
    assert found is not None
    assert found.seed == 7
    assert found.usual != found.other


@pytest.mark.parametrize(
    "usual, other",
    [
        ("count 256", "count 256"),
        ("sum 256 in 3.2 ms", "sum 256 in 41 ms"),
        ("took 0.01s", "took 1.73s"),
        ("time: 3.25", "time: 17.25"),
        ("elapsed time (ms): 3", "elapsed time (ms): 40"),
        ("copy 12.5 GB/s", "copy 0.3 GB/s"),
        ("speedup 3.1x", "speedup 1.0x"),
        ("Bandwidth 12.5", "Bandwidth 0.1"),
        ("throughput: 5.1 GFLOP/s", "throughput: 0.1 GFLOP/s"),
        ("sum 9.787612", "sum 9.787615"),
        ("sum 1.234567e+08", "sum 1.234569e+08"),
        ("max error 1.2e-07", "max error 2.4e-07"),
        ("difference 0.0009765", "difference 0.0019531"),
        ("0.0000", "-0.0000"),
    ],
)
def test_what_may_differ(usual: str, other: str) -> None:
    assert compare(usual, other) is None


def test_what_varies_in_the_usual_order() -> None:
    assert compare("at 1234\n5", "at 77\n5", again="at 5678\n5") is None
    assert compare("at 1234\n5", "at 77\n6", again="at 5678\n5") is not None
    assert compare("a b\n5", "c\n5", again="a b c\n5") is None
    with pytest.raises(NotCompared):
        compare("a", "a", again="a\nb")


def test_what_kernels_print_has_no_order() -> None:
    def compare_kernels(usual: str, other: str) -> Difference | None:
        one, two = (Printed(0, ["done"], text) for text in (usual, other))
        return Usual(one, one).compare(two, 1)

    assert compare_kernels("thread 0\nthread 1\n", "thread 1\nthread 0\n") is None
    assert compare_kernels("0 1 2 3\n", "2 3 0 1\n") is None
    assert compare_kernels("sum 0.1000001\n", "sum 0.1\n") is None
    found = compare_kernels("thread 0\nsum 256\n", "sum 187\nthread 0\n")
    assert found == Difference(1, "sum 256", "sum 187")


def test_another_exit_status() -> None:
    one, two = Printed(0, ["a"], ""), Printed(139, ["a"], "")
    found = Usual(one, one).compare(two, 3)
    assert found == Difference(3, "exit status 0", "killed by SIGSEGV")


def script(text: str) -> list[str]:
    return ["sh", "-c", text]


def test_the_first_seed_that_differs_again() -> None:
    program = script(
        'echo "count ${CUDA_EMULATOR_SEED:+$((CUDA_EMULATOR_SEED / 3))}" | sed "s/ 0*$//"'
    )
    with TimeLimit(None) as limit:
        assert schedules.difference(program, 2, limit) is None
        found = schedules.difference(program, 9, limit)
    assert found == Difference(3, "count", "count 1")


def test_a_difference_that_the_seed_does_not_give_again() -> None:
    program = script('echo "${CUDA_EMULATOR_SEED:+$$}"')
    with TimeLimit(None) as limit:
        assert schedules.difference(program, 3, limit) is None


def test_a_program_that_prints_nothing_is_not_compared() -> None:
    with TimeLimit(None) as limit, pytest.raises(NotCompared, match="prints nothing"):
        schedules.difference(script("true"), 3, limit)


def test_the_usual_order_has_no_seed_of_the_caller(monkeypatch) -> None:
    monkeypatch.setenv("CUDA_EMULATOR_SEED", "5")
    with TimeLimit(None) as limit:
        found = schedules.difference(script('echo "seed ${CUDA_EMULATOR_SEED:-none}"'), 1, limit)
    assert found == Difference(1, "seed none", "seed 1")


def test_a_seed_that_takes_too_long_is_named() -> None:
    program = script('echo a; [ -z "$CUDA_EMULATOR_SEED" ] || exec sleep 60')
    with pytest.raises(LabError, match="had not ended after 0.5 seconds.*CUDA_EMULATOR_SEED=1"):
        with TimeLimit(0.5) as limit:
            schedules.difference(program, 1, limit)


def test_the_command_that_shows_it_again() -> None:
    command = "CUDA_EMULATOR_SEED=3 ./lab run --interleave 'my file.cu' -- --size 5"
    assert interleaved("3", ["my file.cu"], ["--size", "5"]) == command
