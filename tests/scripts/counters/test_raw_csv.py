"""The reader of ncu's CSV, on a sample and on recordings, and units of ncu as tables show them."""

from __future__ import annotations

import re

import pytest
from lab_cli.counters import raw_csv
from lab_cli.counters.units import convert
from lab_cli.errors import LabError
from ncu_sample import KERNELS, OUTPUT, REDUCTIONS, UNITS, csv_line, launch, raw_page
from recordings import OF_NCU, of_ncu

LOADS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
READS = "dram__bytes_read.sum.per_second"


COUNTER = re.compile(r"(gpu__time|dram__|smsp__|l1tex__|sm__warps)")  # not what the GPU is


def test_finds_the_table_among_other_lines() -> None:
    table = raw_csv.parse(OUTPUT)
    assert table == raw_csv.parse(REDUCTIONS)
    assert table.units == UNITS
    assert [launch.kernel for launch in table.launches] == [kernel for kernel, _ in KERNELS]
    assert [launch.values[LOADS] for launch in table.launches] == [4186112, 4186112, 1089536]
    assert [launch.values[READS] for launch in table.launches] == [412.5, 1025.5, None]
    first = table.launches[0]
    assert (first.grid, first.block, first.device) == ("8192", "512", "0")


def test_lines_between_rows_are_skipped() -> None:
    lines = REDUCTIONS.splitlines(keepends=True)
    like_a_row = "7," * lines[0].count(",") + "7\n"  # a table of the program's own
    noise = f'==WARNING== x\nhello, world\n"two","cells"\n"\n{like_a_row}'
    noisy = "".join(line + noise for line in lines)
    assert raw_csv.parse(noisy) == raw_csv.parse(REDUCTIONS)


@pytest.mark.parametrize("text", ["done" + REDUCTIONS, REDUCTIONS.replace("\n", "\r\n")])
def test_neither_a_program_without_a_last_line_end_nor_those_of_windows_matter(text: str) -> None:
    assert raw_csv.parse(text) == raw_csv.parse(REDUCTIONS)


@pytest.mark.parametrize(
    "text",
    ["", 'the column "ID" is missing\n', '"0","1"\n', '"ID","a""Kernel Name",b"\n"1","x"\n'],
)
def test_no_table(text: str) -> None:
    assert raw_csv.parse(text).launches == []


def test_cut_off_row_is_dropped() -> None:
    table = raw_csv.parse(REDUCTIONS.rstrip()[:-12])
    assert len(table.launches) == 2


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,564,672", 1564672),
        ("68.75", 68.75),
        (" -1.5 ", -1.5),
        ("1e3", 1000),
        (" N/A ", None),
        ("(!) n/a", None),
        (" two words ", "two words"),
        ("", None),
        ("nan", None),
        ("inf", None),
        ("CachePreferNone", "CachePreferNone"),
    ],
)
def test_number(text: str, value: object) -> None:
    assert raw_csv.number(text) == value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(64, 64, 1)", "64x64"),
        ("(1, 1, 1)", "1"),
        ("(1, 2, 1)", "1x2"),
        ("(10, 1, 10)", "10x1x10"),
        ("", ""),
    ],
)
def test_shape(text: str, expected: str) -> None:
    assert raw_csv.shape(text) == expected


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (" void k(int) ", "k"),
        (" void k<1> ", "k<1>"),
        ("void matmulTiled<(unsigned int)16>(const float *, float *)", "matmulTiled<16>"),
        ("void f<(int)-3, (bool)1, float>(void (*)(int), T1)", "f<-3, 1, float>"),
        ("void a::f<float (*)(int)>(T1)", "a::f<float (*)(int)>"),
        ("(anonymous namespace)::k(int)", "(anonymous namespace)::k"),
        ("<unnamed>::k(int)", "<unnamed>::k"),
        ("void k<f<(long)2>>(int)", "k<f<2>>"),
    ],
)
def test_short_name(kernel: str, expected: str) -> None:
    assert raw_csv.short_name(kernel) == expected


def test_more_than_a_thousand_launches() -> None:
    one = launch(0, 'k<""x"", 2>(int, float)', ["1"], "(1, 2, 3)", "(4, 1, 1)")
    many = [one.replace('"0"', f'"{number}"', 1) for number in ("999", "1000", "1,001")]
    launches = raw_csv.parse(raw_page({"a__b": ""}, many)).launches
    assert [launch.kernel for launch in launches] == ['k<"x", 2>'] * 3


def test_columns_that_are_no_metrics_are_left_out() -> None:
    page = csv_line(["ID", "Kernel Name", "Section", "x__y.sum"]) + csv_line(["0", "k", "s", "5"])
    assert raw_csv.parse(page).launches[0].values == {"x__y.sum": 5}


@pytest.mark.parametrize("name", OF_NCU)
def test_recording(name: str) -> None:
    """Every row that begins like one of a launch is read, and no counter of it is left as text."""
    text = of_ncu(name)
    rows = re.findall(r'^"\d+",', text, re.MULTILINE)
    table = raw_csv.parse(text)
    assert rows
    assert len(table.launches) == len(rows)
    for kernel in table.launches:
        assert kernel.kernel and "(" not in kernel.kernel
        assert kernel.grid and kernel.block and kernel.device == "0"
        assert set(kernel.values) == set(table.units)
        counters = {name: value for name, value in kernel.values.items() if COUNTER.match(name)}
        assert counters["gpu__time_duration.sum"] > 0
        assert not [name for name, value in counters.items() if isinstance(value, str)]


# ---- units ----


@pytest.mark.parametrize(
    ("value", "unit", "wanted", "expected"),
    [
        (412.5, "Gbyte/second", "GB/s", 412.5),
        (1.5, "Tbyte/s", "GB/s", 1500),
        (250, "Mbyte/second", "GB/s", 0.25),
        (4e9, "byte/second", "GB/s", 4),
        (3, "byte/nsecond", "GB/s", 3),
        (2, "Kbyte", "byte", 2000),
        (1.25, "msecond", "us", 1250),
        (870, "ns", "us", 0.87),
        (1.5, "Ghz", "MHz", 1500),
        (2, "MHz", "hz", 2e6),
        (3, "hz", "Hz", 3),
        (32, "register/thread", "", 32),
        (31, "", "%", 31),
    ],
)
def test_convert(value: float, unit: str, wanted: str, expected: float) -> None:
    assert convert(value, unit, wanted) == pytest.approx(expected, rel=1e-12)


def test_no_digit_changes_that_need_not() -> None:
    assert convert(0.1, "Gbyte/s", "GB/s") == 0.1
    for value in range(1, 1000):
        assert convert(value, "ns", "us") == value / 1000
        assert convert(value / 7, "ms", "us") == value / 7 * 1000


@pytest.mark.parametrize(("unit", "wanted"), [("ms", "GB/s"), ("sector", "us"), ("byte", "")])
def test_other_kinds_are_refused(unit: str, wanted: str) -> None:
    with pytest.raises(LabError, match=f"'{unit}'"):
        convert(1, unit, wanted)
