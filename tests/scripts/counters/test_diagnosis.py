"""scripts/diagnosis.toml: what its rules find in the profiles that were recorded on an H200."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import explain_sample
import pytest
from lab_cli import catalogue, metrics
from lab_cli.counters import diagnosis, metric_table, raw_csv
from lab_cli.counters.diagnosis import KINDS, SHOWN, Rule, Values
from lab_cli.errors import LabError
from lab_cli.paths import ROOT
from lab_cli.results import csv_file, store
from lab_fixtures import shipped

RULES = diagnosis.load()
KNOWN = metrics.load()

LOADS, STORES, BANKS = "uncoalesced loads", "uncoalesced stores", "bank conflicts"
SPLIT, IDLE, LOCAL = "divergence", "idle lanes", "local memory"
CONSTANTS, GRID, SHORT, LAST = "different constants", "small grid", "short kernel", "last wave"
FEW = "few warps for the latency"

# What the pages say of each kernel: the symptoms, and none for those that mend them. From the file that
# is named; the launches of a kernel in the order in which they stand there. What a file does not have
# cannot be found in it: the metrics of the exercises are the numbers of their own story. Those of
# test_recorded_explanations.py are not here again.
EXPECTED: dict[str, dict[str, list[list[str]]]] = {
    "sharedBanks.counts.optimised": {
        "staticTile<32, 0, 0, 0>": [[]],
        "staticTile<32, 0, 0, 1>": [[BANKS]],
        "staticTile<32, 1, 0, 1>": [[]],
        "swizzledTile<32>": [[]],
    },
    "simpleDivergence.counts.debug": {
        "heavyByThread": [[SPLIT, STORES]],  # each half of a warp stores on its own
        "heavyByWarp": [[]],
        "branchByWarp": [[]],
    },
    "controlDivergence.counts.debug": {"borderByWarp": [[]]},
    "registerTiles.counts.optimised": {  # small: the stores of results are half of all sectors
        "registerFloat4<1>": [[STORES, BANKS]],
        "registerNoConflicts<1>": [[STORES]],
    },
    "matmulFast.counts.optimised": {  # smaller still; it loads with asynchronous copies alone
        "oneBuffer<Tile<128, 128, 8, 8, 1>, 1>": [[STORES]],
        "splitK<1>": [[STORES]],
    },
    "stridedAccess.counts.optimised": {
        "readStrided<1>": [[]],
        "readStrided<2>": [[LOADS]],
        "readStrided<32>": [[LOADS]],
        "readRandom<1>": [[LOADS]],
        "readRandom<8>": [[]],
    },
    "misalignedAccess.counts.optimised": {"readOffset<1>": [[], []], "writeOffset<1>": [[], []]},
    "warpLayout.counts.optimised": {"observeWarps": [[IDLE, STORES]]},  # of structs
    "nestedHelloWorld.counts.optimised": {"nestedHelloWorld": [[IDLE, STORES]]},  # by printf()
    "controlDivergence.metrics": {"borderLast": [[SPLIT]], "borderByWarp": [[]]},
    "blockScheduling.metrics": {"busyBlocks": [[GRID], [GRID], [LAST], [LAST]]},
    "memoryLatency.metrics": {"chaseLocal": [[LOCAL]], "chaseGlobal<1>": [[]]},
    "reduceInteger.1M.metrics": {
        "reduceNeighbored": [[]],
        "reduceUnrolling<4>": [[SHORT]],
        "reduceShuffle": [[GRID, SHORT]],
    },
}  # fmt: skip


def of_ncu(path: Path) -> Iterator[tuple[str, Values]]:
    """The launches of a recorded raw page."""
    raw = raw_csv.parse(path.read_text())
    table = metric_table.build(raw, list(KNOWN.metrics.values()), "", [])
    for row in table.rows:
        pairs = zip(table.metrics, row.values)
        values = {metric.name: value for metric, value in pairs if value is not None}
        yield row.kernel, {**following(values), **values}


def following(values: Values) -> dict[str, float]:
    """What old recordings lack, and what follows by definition from what they have."""
    more = {"warp_execution_efficiency": 100 / 32 * values["active_threads_per_instruction"]}
    for kind in ("gld", "gst"):
        requests = values[f"{kind}_requests"]
        sectors = values[f"{kind}_transactions"]
        more[f"{kind}_transactions_per_request"] = sectors / requests if requests else 0.0
    return more


def of_results(path: Path) -> Iterator[tuple[str, Values]]:
    """The launches of an optimised build in a file that ./lab bench wrote."""
    for row in csv_file.parse(path.read_text(), path).rows:
        if row.get("build", "optimised") == "optimised":
            yield row["kernel"], {name: float(row[name]) for name in row if name in KNOWN.metrics}


def launches(name: str) -> Iterator[tuple[str, Values]]:
    exercise, _, kind = name.partition(".")
    path = store.file(shipped(exercise).results / "h200", kind)
    return of_results(path) if kind.endswith("metrics") else of_ncu(path)


def found(values: Values) -> list[str]:
    """Of the findings that --explain would show on a GPU."""
    return [finding.rule.symptom for finding in RULES.findings(values)]


@pytest.mark.parametrize("file", EXPECTED)
def test_what_is_found_in_recorded_kernels(file: str) -> None:
    got: dict[str, list[list[str]]] = {}
    for kernel, values in launches(file):
        got.setdefault(kernel, []).append(found(values))
    for kernel, symptoms in EXPECTED[file].items():
        assert got[kernel][: len(symptoms)] == symptoms, kernel


def test_few_warps_for_the_latency() -> None:
    """No recorded kernel has few warps and nothing else that keeps it from more loads."""
    one_load = explain_sample.values("latencyHiding", "loads<1>")  # with all warps; L2 is busy
    rule = of_symptom(FEW)
    few = {**one_load, "theoretical_occupancy": 50.0, "l2_utilization": 59.0}
    assert rule.finding(few)
    others = {"theoretical_occupancy": 51.0, "stall_memory_dependency": 49.0, "waves": 0.74}
    others |= dict.fromkeys(["dram_utilization", "l2_utilization", "l1_utilization"], 60.0)
    for name, value in others.items():
        assert rule.finding({**few, name: value}) is None, name
    one_thread = explain_sample.values("latencyHiding", "pointerChase")
    assert one_thread["theoretical_occupancy"] == 50 and rule.finding(one_thread) is None


def test_each_rule_is_tried_on_a_recorded_kernel() -> None:
    tried = {
        name
        for kernels in EXPECTED.values()
        for launch in kernels.values()
        for name in sum(launch, [])
    }
    elsewhere = {CONSTANTS, FEW}  # the first in test_recorded_explanations.py
    assert {rule.symptom for rule in RULES.rules} == {*tried, *elsewhere}


# ---- limits and stalls ----


def shares(dram: float, l2: float, l1: float, sm: float) -> Values:
    names = ("dram_utilization", "l2_utilization", "l1_utilization", "sm_utilization")
    return dict(zip(names, (dram, l2, l1, sm)))


@pytest.mark.parametrize(
    ("values", "parts", "full"),
    [
        ((92, 60, 30, 3), ["device memory"], True),
        ((78, 92, 86, 3), ["device memory", "L2 cache"], True),
        ((77, 92, 87, 3), ["L2 cache", "L1 and shared memory"], True),
        ((10, 30, 85, 80), ["L1 and shared memory", "multiprocessors"], True),
        ((10, 30, 85, 79), ["L1 and shared memory"], True),
        ((10, 30, 20, 80), ["multiprocessors"], True),
        ((10, 30, 20, 79.9), ["multiprocessors"], False),
        ((10, 60, 20, 10), ["L2 cache"], False),
        ((59.9, 59.8, 20, 10), [], False),
    ],
)
def test_busy_parts(values: tuple[float, ...], parts: list[str], full: bool) -> None:
    busy = RULES.busy(shares(*values))
    assert busy
    assert [limit.part for limit in busy.limits] == parts
    assert busy.full == full
    assert list(busy.shares.values()) == list(values)
    for missing in shares(*values):
        assert RULES.busy({k: v for k, v in shares(*values).items() if k != missing}) is None


@pytest.mark.parametrize(
    ("values", "metric", "dominating"),
    [
        ({"stall_sync": 40.0, "stall_memory_dependency": 35.0, "warp_issuing": 25.0}, "stall_sync", True),
        ({"stall_sync": 24.0, "stall_not_selected": 60.0}, "stall_sync", False),
        ({"stall_sync": 50.1}, "stall_sync", True),
        ({"stall_sync": 49.9}, None, None),  # the rest can be another stall
        ({"stall_sync": 30.0, "stall_not_selected": 10.0, "warp_issuing": 20.0}, None, None),
        ({"stall_drain": 100.2}, "stall_drain", True),  # rounded
        ({"warp_issuing": 100.0, "stall_not_selected": 0.0}, None, None),
    ],
)  # fmt: skip
def test_the_greatest_stall(values: Values, metric: str | None, dominating: bool | None) -> None:
    waiting = RULES.waiting(values)
    if metric is None:
        assert waiting is None
    else:
        assert waiting
        assert (waiting.stall.metric, waiting.dominating) == (metric, dominating)
        assert waiting.share == values[metric]


# ---- the file ----


def of_symptom(symptom: str) -> Rule:
    (rule,) = [rule for rule in RULES.rules if rule.symptom == symptom]
    return rule


def test_what_it_names_exists() -> None:
    for named in (*RULES.rules, *RULES.limits, *RULES.stalls):
        assert set(named.exercises) <= set(catalogue.sources()), named
        assert named.remedy.endswith(".")
    symptoms = [rule.symptom for rule in RULES.rules]
    assert len(set(symptoms)) == len(symptoms)
    for rule in RULES.rules:
        assert rule.quoted and rule.exercises, rule.symptom
        assert rule.says.endswith(".") and rule.why
        assert (rule.lost is None) == (rule.kind == "size"), rule.symptom


def test_each_results_file_that_a_reason_names_is_there() -> None:
    for rule in RULES.rules:
        for word in rule.why.replace("(", " ").replace(")", " ").replace(";", " ").split():
            if word.endswith(".csv"):
                assert len([*ROOT.glob(f"*/{word}")]) == 1, rule.symptom


def test_what_each_back_end_counts() -> None:
    on_cpu = RULES.metrics("cpu")
    assert all(KNOWN.metrics[name].cpu for name in on_cpu)
    assert {"gld_efficiency", "warp_execution_efficiency", "theoretical_occupancy"} <= set(on_cpu)
    on_gpu = RULES.metrics("gpu")
    assert len(set(on_gpu)) == len(on_gpu)
    stalls = {name for name in KNOWN.metrics if name.startswith("stall_")}
    assert stalls <= set(on_gpu), "a stall that is not read could be the greatest"
    assert {*on_cpu, "dram_utilization", "sm_utilization", "warp_issuing", "waves"} <= set(on_gpu)


def test_decided_where_all_metrics_have_a_value() -> None:
    assert set(RULES.undecided({})) == {rule.symptom for rule in RULES.rules}
    assert RULES.undecided(dict.fromkeys(RULES.metrics("gpu"), 1.0)) == {}


def test_rule_without_its_metrics_is_silent() -> None:
    values = {"gld_efficiency": 12.5, "gld_transactions": 32.0, "gst_transactions": 1.0}
    assert RULES.findings(values) == []
    assert RULES.undecided(values)[LOADS] == ["gld_transactions_per_request"]
    assert found({**values, "gld_transactions_per_request": 32.0}) == [LOADS]


CONFLICTS = {
    "shared_load_transactions": 11.0, "shared_ld_bank_conflict": 9.0,
    "shared_store_transactions": 1.0, "shared_st_bank_conflict": 1.0,
    "gld_requests": 0.0, "gst_requests": 0.0,
}  # fmt: skip


def wasted(kind: str) -> Values:
    """Of each sector that a kernel loads (gld) or stores (gst), 28 bytes."""
    values = {"gld_transactions": 0.0, "gst_transactions": 0.0, f"{kind}_efficiency": 12.5}
    return {**values, f"{kind}_transactions": 10.0, f"{kind}_transactions_per_request": 2.0}


@pytest.mark.parametrize(
    ("symptom", "values", "more"),
    [
        # Lanes that share a word: nothing can be done about it.
        (LOADS, wasted("gld"), {"gld_transactions_per_request": 1.0}),
        (STORES, wasted("gst"), {"gst_transactions_per_request": 1.0}),
        # Few accesses beside many instructions, which are not counted without a GPU.
        (LOADS, wasted("gld"), {"inst_executed": 1001.0}),
        (STORES, wasted("gst"), {"inst_executed": 1001.0}),
        (BANKS, CONFLICTS, {"inst_executed": 1001.0}),
        # Few conflicts beside many other accesses.
        (BANKS, CONFLICTS, {"gld_requests": 44.0}),
        (BANKS, CONFLICTS, {"gst_requests": 44.0}),
    ],
)
def test_waste_that_is_nothing_to_speak_of(symptom: str, values: Values, more: Values) -> None:
    assert found(values) == [symptom]
    assert found({**values, "inst_executed": 1000.0}) == [symptom]
    assert found({**values, **more}) == []


def test_those_that_lose_more_come_first_and_no_more_than_two() -> None:
    values = {
        **dict.fromkeys(RULES.metrics("gpu"), 0.0),
        "gld_efficiency": 12.5, "gld_transactions": 1.0, "gld_transactions_per_request": 32.0,
        "gst_efficiency": 12.5, "gst_transactions": 2.0, "gst_transactions_per_request": 32.0,
        "warp_execution_efficiency": 100.0, "theoretical_occupancy": 100.0,
        "waves": 1.0, "duration": 10.0, "shared_load_transactions": 100.0,
    }  # fmt: skip
    assert found(values) == [STORES, LOADS]
    assert found({**values, "gld_transactions": 3.0}) == [LOADS, STORES]
    assert found({**values, "shared_ld_bank_conflict": 90.0}) == [BANKS, STORES]
    assert found({**values, "warp_execution_efficiency": 90.0}) == [IDLE, STORES]
    assert found({**values, "waves": 0.5, "duration": 9.9}) == [GRID, SHORT, STORES, LOADS]
    assert len(found(values)) == SHOWN


def test_sentences_quote_their_numbers() -> None:
    rule = of_symptom(LOADS)
    values = {
        "gld_efficiency": 22.22, "gld_transactions": 1e6, "gst_transactions": 10.0,
        "gld_transactions_per_request": 18.0,
    }  # fmt: skip
    finding = rule.finding(values)
    assert finding and "18 sectors" in finding.says and "22.2 % of" in finding.says
    cached = rule.finding({**values, "global_hit_rate": 77.78})
    assert cached and cached.says == f"{finding.says} The L1 cache had 77.8 % of the sectors."


@pytest.mark.parametrize(
    ("value", "text"), [(0.4567, "0.457"), (262_144.0, "262,144"), (1234.6, "1,235"), (0.0, "0")]
)
def test_numbers_in_sentences(value: float, text: str) -> None:
    assert diagnosis.shown(value) == text


GOOD = """
limits = []
stalls = []
[thresholds]
busy = 1
full = 2
close = 3
[stall]
dominating = 4
issuing = "warp_issuing"
ready = "stall_not_selected"
[[rules]]
symptom = "s"
kind = "waste"
lost = "100 - branch"
when = ["lost >= 1"]
says = "{branch}"
remedy = "r"
why = "w"
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("busy = 1\n", "", "[thresholds] busy is missing"),
        ('kind = "waste"', 'kind = "wast"', f"kind = 'wast': expected {', '.join(KINDS)}"),
        ('when = ["lost >= 1"]', 'when = ["lost"]', "rules, entry 1: 'lost': expected two formulas"),
        ("100 - branch", "-branch", "rules, entry 1: -branch: expected numbers"),
        ("{branch}", "{branches}", "rules, s: no metric is named 'branches'"),
        ("100 - branch", "100 - brunch", "rules, s: no metric is named 'brunch'"),
        ('lost = "100 - branch"', "", "rules, s: a condition on lost, but no formula lost"),
        ('"warp_issuing"', '"selected"', "[stall]: no metric is named 'selected'"),
        ('why = "w"', 'unless = ["no_such > 1"]\nwhy = "w"', "rules, s: no metric is named 'no_such'"),
        ('why = "w"', 'also = "{no_such}"\nwhy = "w"', "rules, s: no metric is named 'no_such'"),
        ('why = "w"\n', "", "rules, entry 1: why is missing"),
    ],
)  # fmt: skip
def test_bad_file_names_what_is_wrong(tmp_path: Path, old: str, new: str, message: str) -> None:
    file = tmp_path / "diagnosis.toml"
    file.write_text(GOOD)
    diagnosis.load.__wrapped__(file)
    assert old in GOOD
    file.write_text(GOOD.replace(old, new))
    with pytest.raises(LabError) as raised:
        diagnosis.load.__wrapped__(file)
    assert message in str(raised.value)
    assert str(raised.value).startswith(f"{file}: ")
