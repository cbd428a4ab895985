"""./lab profile --source, --map and --html as commands: options, files and exit statuses."""

from __future__ import annotations

import csv
import io
import json
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from exercise_sample import FACTS
from lab_cli import main
from lab_cli.commands import by_line
from lab_cli.counters.metric_table import MetricTable
from lab_cli.errors import LabError
from lab_cli.lines import page
from lab_cli.machine import backend
from lab_cli.machine.backend import Choice

sys.path.append(str(Path(__file__).resolve().parents[1] / "lines"))

import cost_sample as sample  # noqa: E402

ASSIGNMENT = """
[[assignment]]
name = "spreadLess"
sentence = "Writes it."
stars = 1
kernels = ["spread"]
before = "turn"
comment = "// Does it."
hints = ["a", "b", "c"]
sizes = ["--size=1", "--size=2", "--size=3"]
check = "--size=1"
bounds = [{ count = "gst_efficiency >= 95 %", options = "--size=1", goal = true }]
"""


class Lab:
    """main(), with a profile of kernels that nobody has to build."""

    def __init__(self, folder: Path) -> None:
        self.file = sample.written(folder)
        self.kernels = [make(self.file) for make in sample.ALL_KERNELS]
        self.table = MetricTable([], [], "counted by hand")
        self.asked: list[tuple] = []

    def collect(self, *asked):
        self.asked.append(asked)
        return self.table, sample.profile(*self.kernels)

    def __call__(self, *arguments: str, of: str = "") -> int:
        return main.main(["profile", of or str(self.file), *arguments])


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exercises) -> Lab:
    found = Lab(tmp_path)
    exercises("ch03_execution_model/reduceInteger", FACTS + ASSIGNMENT)
    monkeypatch.setattr(by_line, "collect", found.collect)
    monkeypatch.setattr(backend, "auto_backend", lambda: Choice("gpu", "NVIDIA H200"))
    monkeypatch.chdir(tmp_path)
    return found


def test_source(lab: Lab, capfd) -> None:
    assert lab("--source", "--backend=cpu", "--timeout=9", "--", "7") == 0
    shown = capfd.readouterr().out
    assert shown.startswith("count: mine.cu:40 ") and "\x1b" not in shown
    assert all(len(line) <= by_line.WIDTH_OF_A_FILE for line in shown.splitlines())
    assert lab.asked == [([str(lab.file)], "cpu", ["7"], 9, [])]


def test_as_wide_as_the_terminal_and_in_colour(lab: Lab, monkeypatch, capfd) -> None:
    monkeypatch.setattr(by_line.sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "150")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert lab("--source", "--kernel=turn") == 0
    coloured = capfd.readouterr().out
    assert "\x1b[" in coloured
    assert any(120 < len(line) <= 150 for line in coloured.splitlines())
    monkeypatch.setenv("NO_COLOR", "1")
    assert lab("--source", "--kernel=turn") == 0
    assert "\x1b[" not in capfd.readouterr().out


def test_the_back_end_is_the_one_of_the_machine(lab: Lab) -> None:
    assert lab("--source") == 0
    assert lab("--map=27") == 0  # which takes samples of warps
    assert [asked[1] for asked in lab.asked] == ["gpu", "cpu"]


def test_one_kernel(lab: Lab, capfd) -> None:
    assert lab("--source", "--kernel=prea") == 0
    shown = capfd.readouterr().out
    assert shown.startswith("mine.cu:27 ") and "atomicAdd" not in shown
    assert lab("--source", "--kernel=nothing") == 2
    assert "turn, spread, odd, count, halve" in capfd.readouterr().err


def test_csv_and_json(lab: Lab, tmp_path: Path, capfd) -> None:
    kept = tmp_path / "lines.csv"
    assert lab("--source", "--csv", "--output", str(kept)) == 0
    shown = capfd.readouterr().out
    rows = list(csv.DictReader(io.StringIO(shown)))
    assert {row["kernel"] for row in rows} == {kernel.name for kernel in lab.kernels}
    assert kept.read_text() == shown
    assert lab("--source", "--json", "--kernel=odd") == 0
    (odd,) = json.loads(capfd.readouterr().out)["kernels"]
    assert odd["kernel"] == "odd"


def test_output_beside_the_listing(lab: Lab, tmp_path: Path, capfd) -> None:
    assert lab("--source", "--output", str(tmp_path / "lines.csv")) == 0
    assert "atomicAdd(sum" in capfd.readouterr().out
    assert (tmp_path / "lines.csv").read_text().startswith("kernel,grid,")


def test_map(lab: Lab, capfd) -> None:
    assert lab("--map=21", "--block=0", "--warp=0", "--step=2") == 0
    shown = capfd.readouterr().out
    assert "execution 2" in shown and ".0.............................." not in shown.split("\n")[0]
    assert lab("--map=mine.cu:21", "--kernel=turn") == 0
    assert lab("--map=14") == 2
    assert "12, 21" in capfd.readouterr().err


def test_page(lab: Lab, tmp_path: Path, monkeypatch, capfd) -> None:
    written = []
    monkeypatch.setattr(page, "write", lambda *given: written.append(given))
    assert lab("--html", str(tmp_path / "page.html")) == 0
    assert lab("--html") == lab("--html", "--source") == 0
    assert [path for _, _, path, _ in written] == [
        tmp_path / "page.html",
        Path("mine.html"),
        Path("mine.html"),
    ]
    profile, table, _, found = written[0]
    assert profile.kernels == lab.kernels and table is lab.table
    assert found is None  # on a GPU, --explain says it
    assert "written: mine.html" in capfd.readouterr().err


def test_a_page_has_what_was_found_in_its_kernels(lab: Lab, monkeypatch) -> None:
    written = []
    monkeypatch.setattr(page, "write", lambda *given: written.append(given))
    monkeypatch.setattr(backend, "find_nvcc", lambda: None)
    assert lab("--html", "--backend=cpu", "--kernel=count") == lab("--html", "--backend=cpu") == 0
    of_one, of_all = (found.kernels for _, _, _, found in written)
    assert [each.launch[0] for each in of_one] == ["count"] and of_one[0].sentences
    assert [each.launch[0] for each in of_all] == [kernel.name for kernel in lab.kernels]
    assert "warp_execution_efficiency" in lab.asked[0][-1]


def test_wrong_results_are_listed_and_fail(lab: Lab, tmp_path: Path, capfd) -> None:
    lab.table = replace(lab.table, failure=LabError("element 3 is WRONG"), notes=["a mistake"])
    assert lab("--source") == 1
    out, err = capfd.readouterr()
    assert "atomicAdd(sum" in out and "a mistake" in out and "element 3 is WRONG" in err
    assert lab("--source", "--csv") == 1
    assert capfd.readouterr().out == ""


def test_in_a_copy_the_kernels_of_the_assignment_are_listed(lab: Lab, monkeypatch, capfd) -> None:
    assert lab("--source", of="reduceInteger") == 0
    assert "atomicAdd(sum" in capfd.readouterr().out
    monkeypatch.setattr(by_line, "work", SimpleNamespace(is_meant=lambda name: True))
    assert lab("--source", of="reduceInteger") == 0
    shown = capfd.readouterr().out
    assert "out[32 * i] = in[i];" in shown and "atomicAdd(sum" not in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--json"], "--json goes with --source"),
        (["--kernel=k"], "--kernel goes with --source"),
        (["--block=0,0,0"], "--block goes with --map"),
        (["--warp=0"], "--warp goes with --map"),
        (["--step=1", "--source"], "--step goes with --map"),
        (["--source", "--explain"], "--source does not go with --explain"),
        (["--source", "--map=3"], "--source does not go with --map"),
        (["--source", "--csv", "--json"], "--source does not go with --csv together with --json"),
        (["--map=3", "--csv"], "--map does not go with --csv"),
        (["--map=3", "--backend=gpu"], "--map does not go with --backend gpu"),
        (["--source", "--metrics=duration"], "--source does not go with --metrics"),
        (["--map=x"], "expected LINE or FILE:LINE"),
        (["--map=0"], "expected LINE or FILE:LINE"),
        (["--map=3", "--block=a"], "expected the numbers of a block"),
        (["--map=3", "--warp=-1"], "expected a whole number"),
        (["--html=page.pdf"], "expected a file that ends in .html"),
        (["--html=nowhere/page.html"], "nowhere"),
    ],
)
def test_bad_usage(lab: Lab, capfd, options: list[str], message: str) -> None:
    assert lab(*options) == 2
    assert message in capfd.readouterr().err
    assert lab.asked == []
