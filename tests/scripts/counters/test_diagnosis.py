"""scripts/diagnosis.toml: what its rules find in the profiles that were recorded on an H200."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab_cli import catalogue
from lab_cli.counters import diagnosis, metric_table, metrics, raw_csv
from lab_cli.counters.diagnosis import KINDS, SHOWN, Finding, Rule, Values
from lab_cli.errors import LabError
from lab_cli.paths import ROOT
from lab_cli.results import csv_file

RULES = diagnosis.load()
KNOWN = metrics.load()
RECORDED = ROOT / "tests/emulator/profiler/recorded"
RESULTS = ROOT / "results/h200"
SUSTAINED = 4_814.0  # GB/s, peak of an H200's memory: results/h200/deviceQuery.csv

LOADS, STORES, BANKS = "uncoalesced loads", "uncoalesced stores", "bank conflicts"
SPLIT, IDLE, LOCAL = "divergence", "idle lanes", "local memory"
CONSTANTS, GRID, SHORT, LAST = "different constants", "small grid", "short kernel", "last wave"
FEW = "few warps for the latency"

# What the pages say of each kernel: the symptoms, and none for those that mend them. From the file that
# is named; the launches of a kernel in the order in which they stand there. What a file does not have
# cannot be found in it: the metrics of the exercises are the numbers of their own story.
EXPECTED: dict[str, dict[str, list[list[str]]]] = {
    "recorded/transpose.optimised": {
        "copyFloat4": [[]],
        "copyRow": [[]],
        "transposeNaiveRow<1>": [[STORES]],
        "transposeNaiveRow<4>": [[STORES]],
        "transposeNaiveCol<1>": [[LOADS]],
        "transposeNaiveCol<4>": [[LOADS]],
        "transposeSmem": [[BANKS]],
        "transposeSmemPad": [[]],
        "transposeSmemSwizzle": [[]],
        "transposeSmemUnroll2": [[]],
        "transposeSmemDiagonal": [[]],
        "transposeSmemDynamic": [[BANKS], [BANKS], [], []],  # blocks 8, 16, 32 and 64 wide
    },
    "recorded/transposeFast.optimised": {
        "transposeTile<32>": [[]],
        "transposeFloat4<0, 0, 1>": [[BANKS]],
        "transposeFloat4<1, 0, 1>": [[]],
    },
    "recorded/sharedBanks.optimised": {
        "staticTile<32, 0, 0, 0>": [[]],
        "staticTile<32, 0, 1, 1>": [[BANKS]],
        "staticTile<32, 0, 0, 1>": [[BANKS]],
        "staticTile<32, 1, 0, 1>": [[]],
        "swizzledTile<32>": [[]],
        "staticTile<16, 0, 0, 1>": [[BANKS]],
        "staticTile<16, 2, 0, 1>": [[]],
    },
    "recorded/reduceInteger.optimised": {
        "reduceNeighbored": [[SPLIT, LOADS]],
        "reduceNeighboredLess": [[LOADS, STORES]],
        "reduceInterleaved": [[]],
        "reduceUnrolling<8>": [[]],
        "reduceShuffle": [[]],
    },
    "recorded/simpleDivergence.debug": {
        "heavyByThread": [[SPLIT, STORES]],  # each half of a warp stores on its own
        "heavyByWarp": [[]],
        "branchByWarp": [[]],
    },
    "recorded/controlDivergence.debug": {"borderByWarp": [[]]},
    "recorded/matmul.optimised": {
        "matmulUncoalesced": [[LOADS]],
        "matmulCoalesced": [[]],
        "matmulTiled<32>": [[]],
    },
    "recorded/cornerTurning.optimised": {
        "tiledRowMajor": [[]],
        "bAsItLies": [[LOADS]],
        "bTurnedLate": [[BANKS]],
        "bTurned<32>": [[BANKS]],
        "bTurned<33>": [[]],
        "aAsItLies": [[LOADS]],
        "aTurned": [[]],
    },
    "recorded/registerTiles.optimised": {  # small: the stores of results are half of all sectors
        "registerFloat4<1>": [[STORES, BANKS]],
        "registerNoConflicts<1>": [[STORES]],
    },
    "recorded/stridedAccess.optimised": {
        "readStrided<1>": [[]],
        "readStrided<2>": [[LOADS]],
        "readStrided<32>": [[LOADS]],
        "readRandom<1>": [[LOADS]],
        "readRandom<8>": [[]],
    },
    "recorded/structLayouts.optimised": {
        "massAos": [[LOADS]],
        "massSoa": [[]],
        "massAosoa": [[]],
        "allAos": [[LOADS]],
        "allSoa": [[]],
    },
    "recorded/misalignedAccess.optimised": {"readOffset<1>": [[], []], "writeOffset<1>": [[], []]},
    "recorded/warpLayout.optimised": {"observeWarps": [[IDLE, STORES]]},  # of structs
    "recorded/nestedHelloWorld.optimised": {"nestedHelloWorld": [[IDLE, STORES]]},  # by printf()
    "h200/controlDivergence.metrics": {"borderLast": [[SPLIT]], "borderByWarp": [[]]},
    "h200/blockScheduling.metrics": {"busyBlocks": [[GRID], [GRID], [LAST], [LAST]]},
    "h200/memoryLatency.metrics": {"chaseLocal": [[LOCAL]], "chaseGlobal<1>": [[]]},
    "h200/constantMemory.metrics": {
        "lookupConstant": [[], [CONSTANTS]],
        "lookupShared": [[], []],
        "stencilConstant": [[]],
    },
    "h200/reduceInteger.1M.metrics": {
        "reduceNeighbored": [[]],
        "reduceUnrolling<4>": [[SHORT]],
        "reduceShuffle": [[GRID, SHORT]],
    },
    "h200/reduceInteger.metrics": {"reduceNeighbored": [[SPLIT]], "reduceNeighboredLess": [[]]},
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
    folder, _, stem = name.partition("/")
    if folder == "recorded":
        return of_ncu(RECORDED / f"{stem}.csv")
    return of_results(RESULTS / f"{stem}.csv")


def found(values: Values) -> list[str]:
    """Of the findings that --explain would show on a GPU."""
    return [finding.rule.symptom for finding in RULES.findings(values, "gpu")]


@pytest.mark.parametrize("file", EXPECTED)
def test_what_is_found_in_recorded_kernels(file: str) -> None:
    got: dict[str, list[list[str]]] = {}
    for kernel, values in launches(file):
        got.setdefault(kernel, []).append(found(values))
    for kernel, symptoms in EXPECTED[file].items():
        assert got[kernel][: len(symptoms)] == symptoms, kernel
