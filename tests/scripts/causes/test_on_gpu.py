"""What --explain adds on a GPU: the line that has most of a symptom, and Nsight Compute's estimates."""

from __future__ import annotations

from pathlib import Path

import explain_sample
import pytest
from cause_sample import access, kernel, line
from lab_cli.causes import on_gpu
from lab_cli.counters import explanation, ncu_rules
from lab_cli.counters.explanation import ByLine
from lab_cli.counters.metric_table import MetricTable, Row
from lab_cli.counters.raw_csv import RawTable
from lab_cli.lines import collect_gpu
from lab_cli.lines.collect_gpu import Report
from lab_cli.lines.model import SHARED, STORE, Kernel, LineProfile

HEADER = '"ID","Kernel Name","Rule Name","Estimated Speedup Type","Estimated Speedup"\n'
LOADS, BANKS = "uncoalesced loads", "bank conflicts"


def details(*rules: tuple[str, float]) -> str:
    return HEADER + "".join(f'"0","k","{rule}","global","{share}"\n' for rule, share in rules)


@pytest.fixture
def by_line(monkeypatch: pytest.MonkeyPatch):
    """Of a program whose lines were counted as in this kernel."""

    def made(of: Kernel, page: str = "") -> ByLine:
        monkeypatch.setattr(
            collect_gpu, "profile_of", lambda built, report: LineProfile([of], exact=False)
        )
        return on_gpu.by_line(None, Report(RawTable(), "", page))  # type: ignore[arg-type]

    return made


def explained(by_line: ByLine) -> str:
    """A kernel that ran on an H200, transposeNaiveCol<1>, under the name of the sample's."""
    recorded = explain_sample.table("transpose")
    (row,) = [each for each in recorded.rows if each.kernel == "transposeNaiveCol<1>"]
    table = MetricTable(recorded.metrics, [Row("sample", "264", "256", row.values)], "recorded")
    return " ".join(explanation.text(table, "gpu", 10_000, by_line).split())


STRIDED = access(12, stride=None, strides={}, units=32_000)


def test_the_line_and_the_estimate_stand_beside_the_finding(by_line) -> None:
    of = kernel([access(11), STRIDED])
    found = by_line(of, details(("UncoalescedGlobalAccess", 74.29), ("CPIStall", 9.1)))
    text = explained(found)
    assert "Uncoalesced loads: most at /nowhere/sample.cu:12" in text
    assert "estimates a speed-up of 74 % (its rule UncoalescedGlobalAccess)" in text
    assert "CPIStall" not in text  # a part is full: what warps wait for has no remedy


def test_without_estimates_and_lines_it_is_as_before(by_line) -> None:
    text = explained(by_line(kernel([access()])))
    assert "Uncoalesced loads. A warp's load touches" in text and "estimates" not in text


def test_which_line_has_most(by_line) -> None:
    stored = access(13, kind=STORE, stride=None, strides={}, units=9000)
    conflicts = access(14, space=SHARED, stride=None, strides={}, units=3000, least=1000)
    lines = [line(15, 10, divergent=1), line(16, 10, divergent=2)]
    found = by_line(kernel([STRIDED, stored, conflicts], lines))
    (located,) = found.located.values()
    assert {symptom: each.where.rpartition(":")[2] for symptom, each in located.items()} == {
        LOADS: "12", "uncoalesced stores": "13", BANKS: "14", "divergence": "16",
    }  # fmt: skip


def test_what_stands_in_the_source_is_named(by_line, tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text("__global__ void f(float* a) {\n    a[0] = 0.1 * a[1];\n}\n")
    of = kernel([access()], [line(2, 100, source)])
    text = explained(by_line(of))
    assert f"Double precision in float code: {source}:2" in text and "0.1f" in text


def test_sections_are_asked_for_and_unknown_metrics_are_left_out(monkeypatch) -> None:
    asked = []

    def run(built, metrics, options, timeout, sections):
        asked.append(list(metrics))
        assert sections == ncu_rules.SECTIONS
        if "new" in metrics:
            raise on_gpu.ncu.UnknownMetrics(["new"], "")
        return Report(RawTable(), "")

    monkeypatch.setattr(collect_gpu, "run", run)

    class Built:
        nsight_names = ["old", "new"]

    on_gpu.run(Built(), [], None)  # type: ignore[arg-type]
    assert asked == [["old", "new"], ["old"]]
