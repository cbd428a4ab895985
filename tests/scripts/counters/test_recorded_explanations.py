"""What ./lab profile --explain says of kernels that ran on an H200, beside what we know of them."""

from __future__ import annotations

import re

import explain_sample
import pytest
from lab_cli.counters import diagnosis, explanation

RULES = diagnosis.load()

# Whose remedy is named: a part of the GPU, a stall, or the symptom of a rule.
DRAM, L2, L1, SM = "device memory", "L2 cache", "L1 and shared memory", "multiprocessors"
LOAD, SHARED, SYNC = "stall_memory_dependency", "stall_shared_memory", "stall_sync"
CHAIN, REGISTERS = "stall_exec_dependency", "stall_dispatch"
QUEUE, SHARED_QUEUE, STORED = "stall_memory_throttle", "stall_mio_throttle", "stall_drain"
LOADS, STORES, BANKS = "uncoalesced loads", "uncoalesced stores", "bank conflicts"
SPLIT, IDLE, CONSTANTS = "divergence", "idle lanes", "different constants"
GRID, SHORT = "small grid", "short kernel"

LIMIT, BUSIEST, NOTHING = "The limit", "Busiest, without being full", "No part is busy"
Said = tuple[str, list[str], str, list[str]]  # verdict, its parts, the greatest stall, remedies

COPY: Said = (LIMIT, [DRAM, L2], LOAD, [DRAM])  # as fast as the memory, or nearly
# No access is in vain, and more of them could be on their way.
STREAM: Said = (BUSIEST, [DRAM, L2], LOAD, [LOAD])
FMA: Said = (LIMIT, [SM], SYNC, [SM])  # all at the peak; those that are done wait for the others

EXPECTED: dict[str, dict[str, Said]] = {
    "transpose": {
        "copyFloat4": COPY,
        # Stores of 32 sectors go to L2 one by one; loads of 32 find the other bytes in L1.
        "transposeNaiveRow<1>": (LIMIT, [L2], STORED, [L2, STORES]),
        "transposeNaiveCol<1>": (LIMIT, [L1], LOAD, [L1, LOADS]),
        "transposeSmem": (LIMIT, [L1], SHARED, [L1, BANKS]),
        # "The memory is what all of the padded kernels wait for."
        "transposeSmemPad": COPY,
        "transposeSmemDynamic, grid 1024x1024, block 8x8": (NOTHING, [], LOAD, [LOAD, BANKS]),
        # Its loops are not unrolled, and the conflicts are of the narrow block.
        "transposeSmemDynamic, grid 512x512, block 16x8": (LIMIT, [SM], LOAD, [SM, BANKS]),
        "transposeSmemDynamic, grid 256x256, block 32x8": (BUSIEST, [DRAM, L2, SM], LOAD, [LOAD]),
        "transposeSmemDynamic, grid 128x128, block 64x8": COPY,
    },
    "reduceInteger": {
        "reduceNeighbored": (BUSIEST, [SM], CHAIN, [SM, SPLIT, LOADS]),
        "reduceNeighboredLess": (BUSIEST, [L2], SYNC, [SYNC, LOADS, STORES]),
        # The next rungs have fewer steps for an element, then more loads to a thread.
        "reduceInterleaved": (NOTHING, [], SYNC, [SYNC]),
        "reduceUnrolling<4>": (BUSIEST, [L2], LOAD, [LOAD]),
        # Read 64 MiB in 19 us, and at 95.8 % of the peak where there is more to read.
        "reduceShared": STREAM,
    },
    "latencyHiding": {
        # Three registers in two banks: half of the peak, with two chains two thirds of it.
        "fmaChains<ThreeRegisters, 1>": (NOTHING, [], REGISTERS, [REGISTERS]),
        "fmaChains<ThreeRegisters, 2>": (BUSIEST, [SM], REGISTERS, [REGISTERS]),
        "fmaChains<ThreeRegisters, 4>": FMA,
        "fmaChains<TwoRegisters, 1>": (LIMIT, [SM], CHAIN, [SM]),
        "pointerChase": (NOTHING, [], LOAD, [GRID, LOAD, IDLE]),  # one thread
        # "With one load of 4 bytes in a thread, full occupancy is not enough."
        "loads<1>": STREAM,
    },
    "matmul": {
        "matmulUncoalesced": (LIMIT, [L1], QUEUE, [L1, LOADS]),
        "matmulCoalesced": (NOTHING, [], LOAD, [LOAD]),
        # "Shared memory is the limit, and the only way up is to load less for each multiply-add."
        "matmulTiled<32>": (LIMIT, [L1], SHARED_QUEUE, [L1]),
        # "2 turns for each multiply-add instead of 1.5, and nearly twice the instructions."
        "matmulTiledDynamic": (LIMIT, [L1, SM], SHARED_QUEUE, [L1]),
    },
    "constantMemory": {
        # "Neither the memory nor L1 is busy all the time": what helps is begun early, or wide.
        "stencilGlobal": (BUSIEST, [L1], LOAD, [LOAD]),
        "stencilConstant": (BUSIEST, [DRAM, L2], QUEUE, [QUEUE]),
        "stencilShared": (BUSIEST, [DRAM, L2, L1], LOAD, [LOAD]),
        # Of one block, on purpose. The first launch reads one word, the second 32.
        "lookupConstant": (NOTHING, [], SHARED, [GRID, SHARED]),
        "lookupConstant, again": (NOTHING, [], SHARED, [GRID, SHARED, CONSTANTS]),
        "lookupShared": (NOTHING, [], SHARED, [GRID, SHARED]),
        "lookupReadOnly": (NOTHING, [], LOAD, [GRID, LOAD]),
    },
    "hopperMatmul": {
        # One lane waits and loads for all. The two first store their sums themselves.
        "wgmmaSimple": (NOTHING, [], LOAD, [LOAD, SPLIT, STORES]),  # "wait for tiles"
        "wgmmaProducer": (BUSIEST, [SM], SYNC, [SYNC, SPLIT, STORES]),
        "wgmmaPersistent<1>": (LIMIT, [L2, SM], LOAD, [L2, SPLIT]),  # <2> takes 37 % less from L2
        "wgmmaPersistent<2>": (LIMIT, [SM], SYNC, [SM, SPLIT]),
    },
    "own": {
        "stridedCopy": (LIMIT, [L2], LOAD, [L2, LOADS]),
        "stridedCopy, again": (NOTHING, [], LOAD, [GRID, SHORT, LOAD]),
        "collatz": (BUSIEST, [SM], CHAIN, [CHAIN, SPLIT]),
    },
}  # fmt: skip

REMEDIES = {
    **{limit.remedy: limit.part for limit in RULES.limits},
    **{stall.remedy: stall.metric for stall in RULES.stalls},
    **{rule.remedy: rule.symptom for rule in RULES.rules},
}


def paragraphs(name: str) -> list[list[str]]:
    """Of each kernel the lines, a sentence or a remedy in each."""
    text = explanation.text(explain_sample.table(name), "gpu", 10_000)
    *kernels, notes = text.split("\n\n")
    assert notes.startswith("recorded\n")
    return [kernel.splitlines() for kernel in kernels]


def said(lines: list[str]) -> Said:
    (limits,) = [line for line in lines if line.startswith("  Of their peaks: ")]
    (stall,) = [line for line in lines if line.startswith("  Warps wait most for ")]
    found = re.search(rf"\. ({LIMIT}|{BUSIEST}|{NOTHING}): (.*)\.$", limits)
    metric = re.search(r"\((stall_\w+); ncu: \w+\)", stall)
    assert found and metric, lines
    verdict, parts = found.groups()
    named = [] if verdict == NOTHING else re.split(r", together with |, ", parts)
    advice = [line.partition("-> ")[2].partition(" See ")[0] for line in lines if "-> " in line]
    return verdict, named, metric[1], [REMEDIES[remedy] for remedy in advice]


@pytest.mark.parametrize("name", EXPECTED)
def test_what_is_said_of_each_kernel(name: str) -> None:
    got: dict[str, Said] = {}
    for heading, *lines in paragraphs(name):
        kernel, of = heading.partition(", grid ")[0], heading
        if f"{kernel}, again" in EXPECTED[name] and kernel in got:
            of = f"{kernel}, again"
        elif kernel in EXPECTED[name]:
            of = kernel
        assert of not in got, heading
        got[of] = said(lines)
    assert got == EXPECTED[name]


def test_each_remedy_is_one_alone() -> None:
    assert len(REMEDIES) == len([*RULES.limits, *RULES.stalls, *RULES.rules])


def test_numbers_are_those_that_were_counted() -> None:
    small = " ".join(next(lines for lines in paragraphs("own") if "grid 4," in lines[0]))
    assert "it is 0.00 of a wave, " in small and "The kernel takes 2.1 us." in small
    assert "device memory 0 %, L2 cache 1 %, L1 and shared memory 0 %, " in small
    collatz = " ".join(paragraphs("own")[-1])
    assert "instruction before: 32 % of their time (stall_exec_dependency; ncu: wait). " in collatz
    assert "Of a warp's lanes 55.2 % take part in an instruction" in collatz
    neighbored = " ".join(paragraphs("reduceInteger")[0])
    assert (
        "22 % of their time (stall_exec_dependency; ncu: wait), which is not much. " in neighbored
    )
    copy = " ".join(paragraphs("transpose")[0])
    assert "95 % of their time (stall_memory_dependency; ncu: long_scoreboard); with a part" in copy
    assert "The limit: device memory, together with L2 cache." in copy


def test_launches_with_the_same_findings_are_told_once() -> None:
    lookups = [lines[0] for lines in paragraphs("constantMemory") if "lookup" in lines[0]]
    assert [line.endswith("(2 launches, numbers of the first)") for line in lookups] == [
        False, False, True, True,
    ]  # fmt: skip


def test_what_ncu_could_not_say_is_named() -> None:
    """It has no waves of wgmmaSimple, and an occupancy of 0."""
    text = explanation.text(explain_sample.table("hopperMatmul"), "gpu", 100)
    undecided = [line for line in text.splitlines() if line.startswith("not decided: ")]
    symptoms = ("small grid", "last wave", "few warps for the latency")
    assert undecided == [f"not decided: {symptom} (no waves)" for symptom in symptoms]


def test_lines_keep_to_the_width_and_a_number_stands_beside_its_unit() -> None:
    for width in range(40, 100, 4):
        text = explanation.text(explain_sample.table("transpose"), "gpu", width)
        assert all(len(line) <= width for line in text.splitlines() if len(line.split()) > 1)
        assert not re.search(r"^ *%", text, re.MULTILINE)
