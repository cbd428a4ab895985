"""What the comparison with ncu's counts lets pass, and what not."""

import sys
from pathlib import Path

import pytest
from lab_cli import metrics

sys.path.insert(0, str(Path(__file__).parent / "profiler"))

import compare
import expected_counts
from expected_counts import COUNTS, DEBUG, OPTIMISED


def row(kernel="kernel", **counts):
    """A launch in the CSV: 50 of everything but for `counts`, words joined by _."""
    numbers = {**{name.replace(" ", "_"): 50 for name in COUNTS}, **counts}
    return {
        "Kernel Name": f"{kernel}(int *)",
        "Block Size": "(32, 1, 1)",
        "Grid Size": "(1, 1, 1)",
        **{COUNTS[name.replace("_", " ")].metric: str(value) for name, value in numbers.items()},
    }


def holds(expected, count, here, debug, optimised=50, **counted):
    name = count.replace(" ", "_")
    rows = row(**{name: here}, **counted), row(**{name: debug}), row(**{name: optimised})
    return compare.holds(expected, count, compare.Launch(*rows))


@pytest.mark.parametrize(
    "counted, read, passes",
    [(100, 100, True), (100, 103, True), (100, 104, False), (101, 100, False)],
)
@pytest.mark.parametrize("kind, other", [("load", "store"), ("store", "load")])
def test_noise_is_never_less_and_at_most_three_percent(kind, other, counted, read, passes):
    wavefronts = {f"shared_{kind}_wavefronts": 100, f"shared_{other}_wavefronts": 900}
    noise = holds(expected_counts.NOISE, f"shared {kind} conflicts", counted, read, **wavefronts)
    assert noise == passes


@pytest.mark.parametrize(
    "expected, passing",
    [(DEBUG, 7), (OPTIMISED, 5), (expected_counts.LOWER, 4), (expected_counts.HIGHER, 6)],
)
def test_equal_to_one_build_or_on_one_side_of_it(expected, passing):
    for here in (4, 5, 6, 7):
        beyond = expected == expected_counts.HIGHER and here > passing
        passes = holds(expected, "load sectors", here, debug=7, optimised=5)
        assert passes == (here == passing or beyond)


@pytest.mark.parametrize(
    "here, debug, optimised, passes",
    [
        (50, 50, 100, True),
        (100, 50, 100, False),
        (100, 200, 100, True),  # -G counted accesses to shared memory
        (200, 200, 100, True),
        (100, 200, 50, False),
        (52.27, 52.28, 100, True),
        (52.27, 52.29, 100, False),
    ],
)
def test_an_efficiency_is_that_of_the_debug_build_unless_that_counts_too_much(
    here, debug, optimised, passes
):
    assert holds(expected_counts.EFFICIENCY, "load efficiency", here, debug, optimised) == passes


@pytest.mark.parametrize("debug, passes", [(150, True), (150.1, False), (50, False)])
def test_the_debug_builds_shared_efficiency_has_the_bytes_of_global_memory(debug, passes):
    # 512 bytes in 8 turns of 128, and 256 + 768 bytes that lie in global memory.
    counted = {
        "shared_load_wavefronts": 5,
        "shared_store_wavefronts": 3,
        "load_sectors": 8,
        "load_efficiency": 100,
        "store_sectors": 48,
        "store_efficiency": 50,
    }
    assert holds(expected_counts.GENERIC, "shared efficiency", 50, debug, **counted) == passes


def compared(
    monkeypatch, counted, debug=None, optimised=None, differences=(), makers="g++, x86-64"
):
    monkeypatch.setattr(compare, "DIFFERENCES", list(differences))
    debug = debug or [row()]
    return compare.compare("program", counted, debug, optimised or debug, makers)


@pytest.mark.parametrize("count", [name for name in COUNTS if name != "branches"])
def test_every_count_is_compared(monkeypatch, count):
    (problem,) = compared(monkeypatch, [row(**{count.replace(" ", "_"): 10})])
    assert problem.startswith(f"kernel: {count}: 10; ")


@pytest.mark.parametrize(
    "counted, read, passes",
    [("sum", "sum<int>", True), ("sum<int>", "sum<int>", True), ("sum", "sums<int>", False)]
    + [("sum<float>", "sum<int>", False), ("sum<int>", "sum", False)],
)
def test_a_launch_need_not_name_the_arguments_of_a_template(monkeypatch, counted, read, passes):
    problems = compared(monkeypatch, [row(counted)], [row(read)])
    assert problems == ([] if passes else [f"launch 0 is of {counted}, ncu's of {read}"])


@pytest.mark.parametrize("share", ["100.01", "-1", "nan"])
def test_a_share_is_at_most_all(monkeypatch, share):
    name = COUNTS["load efficiency"].metric
    rows = [row(load_efficiency=share)]
    assert f"kernel: {name}: {share}: no share" in compared(monkeypatch, rows, rows)


def test_a_metric_that_nobody_compares(monkeypatch):
    rows = [{**row(), "sm__new.sum": "1"}]
    assert compared(monkeypatch, rows, rows) == [
        "kernel: nobody says how to compare sm__new.sum",
    ]


def test_a_kernel_that_differs_no_more_is_named(monkeypatch):
    listed = expected_counts.Difference(
        "program", "one|two", "load .*", expected_counts.ANY, "a reason"
    )
    names = ("one", "two", "three")
    debug = [row(name) for name in names]
    counted = [row("one", load_sectors=7), row("two"), row("three")]
    assert compared(monkeypatch, counted, debug, differences=[listed]) == []
    listed = listed._replace(now=expected_counts.FEWER)
    assert compared(monkeypatch, counted, debug, differences=[listed]) == [
        "no difference any more: two: a reason"
    ]
    listed = listed._replace(kernels="four")
    assert "no difference any more: four: a reason" in compared(
        monkeypatch, counted, debug, differences=[listed]
    )


def test_every_metric_that_both_profilers_have_can_be_compared():
    catalogue = metrics.load().metrics.values()
    both = {metric.nsight for metric in catalogue if metric.cpu and metric.gpu}
    assert both == {count.metric for count in COUNTS.values()}


def test_a_difference_with_one_compiler_alone(monkeypatch):
    listed = expected_counts.Difference(
        "program", "kernel", "load requests", expected_counts.FEWER, "a reason", r"g\+\+.*"
    )
    for makers, requests in (("g++, x86-64", 7), ("g++, AArch64", 7), ("clang++, x86-64", 50)):
        for counted in (7, 50):
            rows = [row(load_requests=counted)]
            problems = compared(monkeypatch, rows, differences=[listed], makers=makers)
            assert (problems == []) == (counted == requests)


@pytest.mark.parametrize("machine, processor", [(62, "x86-64"), (183, "AArch64")])
def test_the_makers_of_a_program(tmp_path, machine, processor):
    program = tmp_path / "program"
    header = b"\x7fELF".ljust(18, b"\x00") + machine.to_bytes(2, "little")
    program.write_bytes(header + b"GCC: (Debian 12.2.0) 12.2.0\x00")
    assert compare.makers_of(str(program)) == f"g++, {processor}"
    program.write_bytes(program.read_bytes() + b"Debian clang version 14.0.6\x00")
    assert compare.makers_of(str(program)) == f"clang++, {processor}"


def test_counts_by_line_add_up_to_the_launches():
    launch = {
        "Kernel Name": "k(int*)",
        "Grid Size": "(2, 1, 1)",
        "Block Size": "(32, 1, 1)",
        **dict.fromkeys(compare.SUMS, "0"),
    }
    sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
    launches = [{**launch, sectors: "8"}, {**launch, sectors: "1,000"}]
    loads = [{"kind": "global load", "requests": 2, "units": units} for units in (8, 992)]
    copy = {"kind": "copy", "requests": 0, "units": 8}
    kernel = {"name": "k(int*)", "grid": [2, 1, 1], "block": [32, 1, 1], "accesses": [*loads, copy]}
    assert compare.not_sums_of_lines(launches, [kernel]) == []
    assert len(compare.not_sums_of_lines(launches[:1], [kernel])) == 1
    assert len(compare.not_sums_of_lines(launches, [{**kernel, "accesses": loads}])) == 1
    assert len(compare.not_sums_of_lines(launches, [{**kernel, "grid": [3, 1, 1]}])) == 2
