"""What --explain says of the causes: which of them, in which order, and with what beside them."""

from __future__ import annotations

import ast
import inspect
import pkgutil
from pathlib import Path

import pytest
from cause_sample import access, host, kernel, line, place
from lab_cli import catalogue, causes, metrics, words
from lab_cli.causes import finding, ranking, sentences
from lab_cli.causes.finding import Finding
from lab_cli.counters import explanation, unseen
from lab_cli.counters.metric_table import MetricTable, Row
from lab_cli.lines import weights
from lab_cli.lines.model import CONSTANT, IRREGULAR, SHARED, HostCall, Kernel, LineProfile
from lab_cli.paths import ROOT

WIDTH = 100


def table(*kernels: Kernel, efficiency: float = 100.0) -> MetricTable:
    asked = metrics.load().find(["warp_execution_efficiency"])
    rows = [Row(each.name, "264", "256", [efficiency]) for each in kernels]
    return MetricTable(asked, rows, "counted by hand")


def explained(of: Kernel, *calls: HostCall, efficiency: float = 100.0) -> list[str]:
    """The paragraphs."""
    counts = table(of, efficiency=efficiency)
    by_line = sentences.by_line(LineProfile([of], calls), counts)
    return explanation.text(counts, "cpu", WIDTH, by_line).split("\n\n")


CONFLICTS = access(20, space=SHARED, stride=128, units=32_000, least=1000, conflicts=31_000)
STRIDED = access(10, stride=32, units=32_000)


def test_the_paragraph_of_a_kernel(tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text("out[i] = in[8 * i];\n")
    of = kernel([access(stride=32, units=32_000, place=place(1, source))], launches=2)
    heading, *lines = explained(of)[0].splitlines()
    assert heading == "sample, grid 264, block 256 (2 launches, counted together)"
    head = " ".join(lines[: lines.index("        out[i] = in[8 * i];")]).split()
    assert head[0] == "Uncoalesced" and head[-1] == f"{source}:1"
    text = " ".join(" ".join(lines).split())
    assert "removes 28 of 32 sectors" in text and "-> Let neighbouring lanes" in text
    assert text.endswith("See ch04_memory/stridedAccess/README.md")


def test_a_kernel_without_a_cause_and_what_was_not_looked_at() -> None:
    fine, notes = explained(kernel([access()]))
    assert " ".join(fine.split()).endswith(explanation.NOTHING)
    text = " ".join(notes.split())
    assert "counted by hand" in text and unseen.LOOKED_AT in text
    for word in ("long_scoreboard", "mio_throttle", "dram_utilization", "registers_per_thread"):
        assert word in text


def test_registers_are_known_where_nvcc_is_there() -> None:
    counts = table(kernel())
    profile = LineProfile([kernel([access()])])
    known = [sentences.Resources("sample", 32, 0, 0, 0)]
    by_line = sentences.by_line(profile, counts, known=known)
    assert "registers_per_thread" not in explanation.text(counts, "cpu", WIDTH, by_line)


def test_the_lanes_of_the_table_count() -> None:
    of = kernel([access()], [line(5, 10, branches=10, divergent=10)])
    assert "Divergence: " in explained(of, efficiency=50.0)[0]
    assert "Divergence: " not in explained(of)[0]


def test_the_hosts_code_has_a_paragraph_of_its_own() -> None:
    copies = HostCall("copy", place(30), 1000, 4000)
    _, of_host, _ = explained(kernel([access()]), copies)
    assert of_host.startswith("The host's code\n  Many small copies: /nowhere/sample.cu:30\n")


def all_at_once() -> Kernel:
    """A kernel with more causes than are told."""
    constants = access(30, space=CONSTANT, units=16_000, least=1000, stride=IRREGULAR)
    divided = line(40, 1000, operations={"to_double": 0})
    others = [access(50, requests=500, stride=64, units=16_000), constants, CONFLICTS, STRIDED]
    return kernel(others, [divided], grid=(265, 1, 1), blocks_per_sm=2, block=(80, 1, 1))


def test_the_most_important_first_and_no_more_than_four() -> None:
    (found,) = ranking.of_kernels(LineProfile([all_at_once()]), {})
    weights = [each.weight for each in found.findings]
    assert weights == sorted(weights, reverse=True) and len(weights) == ranking.MOST
    assert not any(each.hint for each in found.findings)
    (two,) = ranking.of_kernels(LineProfile([kernel([STRIDED, CONFLICTS])]), {})
    assert [each.place for each in two.findings] == [place(10), place(20)]


def test_hints_are_told_last_as_what_may_be_right() -> None:
    misaligned = access(units=5000)
    of = kernel([misaligned], block=(80, 1, 1))
    lines = explained(of)[0].splitlines()
    titles = [each.strip() for each in lines if each.startswith("  ") and each[2] != " "]
    assert titles[0].startswith("Lanes without a thread")
    assert titles[1].startswith("Perhaps misaligned accesses")


# ---- what the modules write down


def written_exercises() -> set[str]:
    """The lists of names in the calls that make findings."""
    names: set[str] = set()
    known = set(catalogue.sources())
    for info in pkgutil.iter_modules(causes.__path__, "lab_cli.causes."):
        if not info.ispkg:
            module = __import__(info.name, fromlist=["x"])
            for node in ast.walk(ast.parse(inspect.getsource(module))):
                if isinstance(node, ast.List):
                    texts = [each.value for each in node.elts if isinstance(each, ast.Constant)]
                    if set(texts) & known:
                        names |= set(texts)
    return names


def test_exercises_are_there() -> None:
    names = written_exercises()
    assert len(names) > 10 and names <= set(catalogue.sources())


def test_results_that_reasons_name_are_there() -> None:
    files = [*Path(causes.__path__[0]).glob("*.py"), Path(weights.__file__)]
    named = {
        word.strip("():;,.")
        for file in files
        for word in file.read_text().split()
        if word.strip("():;,.").endswith(".csv")
    }
    assert len(named) > 8
    for name in named:
        assert len([*ROOT.glob(f"*/{name}"), *ROOT.glob(name)]) == 1, name


@pytest.mark.parametrize(
    ("value", "text"),
    [(4, "4"), (1024, "1,024"), (12.75, "12.8"), (0.5, "0.5"), (131071.6, "131,072")],
)
def test_numbers(value: float, text: str) -> None:
    assert words.number(value) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.5, "50 %"), (0.996, "99.6 %"), (1.0, "100 %"), (0.0, "0 %"), (0.004, "0.4 %")],
)
def test_shares(share: float, text: str) -> None:
    assert finding.percent(share) == text


def test_findings_say_what_was_counted_and_what_to_do() -> None:
    (found,) = ranking.of_kernels(LineProfile([all_at_once()]), {})
    copies = host([HostCall("copy", place(30), 1000, 4000)])
    for each in [*found.findings, *found.hints, *copies]:
        assert isinstance(each, Finding)
        for sentence in (each.says, each.gain, each.remedy):
            assert sentence.endswith(".") and (sentence[0].isupper() or sentence[0].isdigit())
        assert any(letter.isdigit() for letter in each.says + each.gain)
        assert each.exercises
