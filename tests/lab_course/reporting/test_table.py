"""The table of an exercise in a report, and what was measured beside it."""

from __future__ import annotations

import csv

import pytest
from lab_cli import catalogue
from lab_cli.errors import LabError
from lab_cli.results import reference, store
from lab_course.reporting import table
from lab_course.reporting.facts import Table
from lab_course.reporting.text import Cleaner
from lab_fixtures import shipped

HEAD = "exercise,device,parameters,kernel,grid,block,reps,median_ms,min_ms,max_ms,gbps,percent_peak,speedup,check\n"
EMULATION = "CPU emulation of sm_90 (a CPU)"


def line(kernel: str, tile: int = 32, check: str = "ok", device: str = EMULATION) -> str:
    return (
        f"transpose,{device},rows=512 cols=512 tile={tile},{kernel},16x64,{tile}x8,3,0.0768250003,0.07,"
        f"0.08,27.2977805,12.5,0.5,{check}\n"
    )


def built(text: str, name: str = "transpose", emulated: bool = True) -> Table:
    exercise = shipped(name)
    return table.build(table.read(exercise, text, emulated), reference.load(exercise), Cleaner())


def names(found: Table) -> list[str]:
    return [column.name for column in found.columns]


def test_an_emulation_has_no_rates() -> None:
    found = built(HEAD + line("copyRow"))
    assert names(found) == ["kernel", "grid", "block", "median_ms", "check"]
    assert found.device == EMULATION
    assert found.parameters == "rows=512 cols=512 tile=32"
    assert found.rows[0].cells == {
        "kernel": "copyRow", "options": None, "grid": "16x64", "block": "32x8", "reps": 3, "check": "ok",
        "median_ms": 0.0768250003, "min_ms": 0.07, "max_ms": 0.08,
    }  # fmt: skip
    assert found.rows[0].shown["median_ms"] == "0.07683"


def test_a_gpu_has_them_with_the_titles_of_the_pages() -> None:
    found = built(HEAD + line("copyRow", device="NVIDIA X"), emulated=False)
    titles = {column.name: column.title for column in found.columns}
    assert titles["gbps"] == "GB/s" and titles["percent_peak"] == "% of peak"
    assert found.rows[0].shown["gbps"] == "27" and found.rows[0].shown["speedup"] == "0.50"


def test_what_prints_the_name_of_a_gpu_is_an_emulation_all_the_same() -> None:
    assert "gbps" not in names(built(HEAD + line("copyRow", device="NVIDIA H200")))


def test_titles_of_the_exercises_own_columns() -> None:
    text = "exercise,device,parameters,kernel,grid,block,offset,sectors,check\n"
    text += "misalignedAccess,x,size=1K offset=3,readOffset,1,1,3,4.5,ok\n"
    found = built(text, "misalignedAccess")
    assert [column.title for column in found.columns][3:5] == ["offset", "sectors"]
    assert found.rows[0].shown["sectors"] == "4.50"
    assert "options" not in names(found)


def test_options_that_differ_are_a_column() -> None:
    found = built(HEAD + line("transposeSmemDynamic", 8) + line("transposeSmemDynamic", 16))
    assert found.parameters == "rows=512 cols=512"
    assert [row.shown["options"] for row in found.rows] == ["tile=8", "tile=16"]


def measured(name: str, parameters: str) -> list[dict[str, str]]:
    text = store.file(shipped(name).results / reference.GPU).read_text()
    rows = csv.DictReader(line for line in text.splitlines() if line[0] != "#")
    return [row for row in rows if row["parameters"] == parameters]


def test_beside_a_row_stands_the_largest_run_of_its_kernel_on_the_reference() -> None:
    found = built(HEAD + line("copyRow") + line("mine"))
    first, second = (row.reference for row in found.rows)
    rows = measured("transpose", "rows=16384 cols=16384 tile=32")
    (wanted,) = (row for row in rows if row["kernel"] == "copyRow")
    assert first and first.parameters == "rows=16K cols=16K tile=32"
    assert first.median_ms == float(wanted["median_ms"])
    assert (first.rate, first.unit) == (float(wanted["gbps"]), "GB/s")
    assert first.percent_peak == float(wanted["percent_peak"])
    assert second is None  # of a kernel that the reference has not got
    assert found.reference_gpu == "NVIDIA H200"
    assert found.reference_parameters == "rows=16K cols=16K tile=32"


def test_a_sweep_of_blocks() -> None:
    rows = measured("sumMatrix", "rows=16384 cols=16384")
    asked = [row for row in rows if row["kernel"] == rows[0]["kernel"]][:5:2]
    text = "exercise,device,parameters,kernel,grid,block,median_ms,check\n" + "".join(
        f"sumMatrix,x,rows=256 cols=256,{row['kernel']},1,{row['block']},1,ok\n" for row in asked
    )
    found = [row.reference and row.reference.median_ms for row in built(text, "sumMatrix").rows]
    assert found == [float(row["median_ms"]) for row in asked] and len(set(found)) == 3


def test_a_sweep_stands_beside_the_same_place_in_the_sweep() -> None:
    found = built(HEAD + "".join(line("transposeSmemDynamic", tile) for tile in (64, 8, 17)))
    parameters = [row.reference.parameters if row.reference else "" for row in found.rows]
    assert parameters == ["rows=16K cols=16K tile=64", "rows=16K cols=16K tile=8", ""]
    assert [row.reference.shown for row in found.rows[:2] if row.reference] == ["", ""]
    assert found.reference_parameters == "rows=16K cols=16K"


def test_of_every_exercise_the_rows_of_the_largest_run_are_their_own_references() -> None:
    """Shifted by a row, or of another size, they would be others."""
    looked_at = 0
    for exercise in catalogue.exercises():
        references = reference.load(exercise)
        rows = [row for row in references.rows if row.get("median_ms")]
        for last in {row["parameters"]: row for row in rows}.values():
            own = [row for row in rows if row["parameters"] == last["parameters"]]
            for row, found in zip(own, references.beside(own, exercise.facts)):
                if found and found["parameters"] == row["parameters"]:
                    looked_at += 1
                    assert found["median_ms"] == row["median_ms"], (exercise.name, row)
    assert looked_at > 500


def test_without_results_there_is_no_reference(exercises) -> None:
    results = catalogue.results_of(exercises("ch/transpose"))
    found = built(HEAD + line("copyRow"))
    assert found.reference_gpu == "" and found.rows[0].reference is None
    (results / reference.GPU).mkdir(parents=True)
    store.file(results / reference.GPU).write_text("x")
    assert reference.load(catalogue.one("transpose")).rows == ()


@pytest.mark.parametrize("text", ["", "kernel,check\n", HEAD + "hello\n" + line("copyRow")])
def test_what_is_no_table(text: str) -> None:
    with pytest.raises(LabError, match="transpose --csv: "):
        built(text)


def test_any_cells_make_a_table() -> None:
    many, long = "9" * 5000, "x" * 999
    text = (
        f"kernel,parameters,median_ms,<b>,check\nk,size=² n={many},nan,{long},ok\nk,,inf,,WRONG\n"
    )
    found = built(text)
    assert [row.cells["median_ms"] for row in found.rows] == ["nan", "inf"]
    assert [len(row.shown["<b>"]) for row in found.rows] == [300, 0]
    assert len(found.rows[0].shown["options"]) == 300


def test_many_rows_are_cut(monkeypatch) -> None:
    monkeypatch.setattr(table, "MOST_ROWS", 3)
    found = built(HEAD + line("copyRow") * 5)
    assert (len(found.rows), found.rows_left_out) == (3, 2)


def test_a_wrong_row_is_noticed() -> None:
    exercise = shipped("transpose")
    assert table.wrong(table.read(exercise, HEAD + line("a") + line("b", check="WRONG"), True))
    assert not table.wrong(table.read(exercise, HEAD + line("WRONG", check="race"), True))
