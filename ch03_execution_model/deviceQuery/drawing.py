"""What a GPU consists of, with the numbers of an H200 as deviceQuery printed them."""

from __future__ import annotations

import csv
from pathlib import Path

from drawing import Drawing

GIB, MIB, KIB = 2**30, 2**20, 2**10


def properties() -> dict[str, str]:
    path = Path(__file__).with_name("results") / "h200" / "table.csv"
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return {row["property"]: row["value"] for row in csv.DictReader(lines)}


def draw() -> Drawing:
    of = properties()
    number = {name: float(value) for name, value in of.items() if value.replace(".", "").isdigit()}
    sms = int(number["multiprocessors (SMs)"])
    drawing = Drawing(
        f"What a GPU consists of: {of['name']}",
        f"{sms} multiprocessors in front of one L2 cache and one memory. Each has"
        f" {of['warp schedulers per SM']} schedulers with the registers and cores of their own quarter,"
        " and one shared memory and L1 cache.",
        580,
    )
    drawing.text(24, 34, f"GPU ({of['name']}, clock at most {of['clock']} MHz)", "head")
    with drawing.group("sm_0"):
        draw_sm(drawing, number)
    with drawing.group("other_sms"):
        draw_other_sms(drawing, sms)
    with drawing.group("memory"):
        draw_memory(drawing, number)
    return drawing


def draw_sm(drawing: Drawing, number: dict[str, float]) -> None:
    schedulers = int(number["warp schedulers per SM"])
    cores = number["cores per SM"] / schedulers
    registers = number["registers per SM"] / schedulers
    drawing.rect(24, 50, 540, 320, "frame thick", radius=6)
    drawing.text(40, 76, "SM 0", "head")
    resident = (
        f"holds {number['warps per SM']:.0f} warps, {number['blocks per SM']:.0f} blocks at a time"
    )
    drawing.text(548, 76, resident, "small end")
    for quarter in range(schedulers):
        x = 40 + quarter * 128
        drawing.rect(x, 90, 124, 168, "pale", radius=4)
        drawing.cell(x + 8, 98, 108, 54, "orange")
        drawing.text(x + 62, 121, "scheduler", "small middle on")
        drawing.text(x + 62, 140, "1 per cycle", "small middle on")
        drawing.cell(x + 8, 158, 108, 40, "sky", f"{cores:.0f} cores", "small")
        drawing.cell(x + 8, 204, 108, 46, "green")
        drawing.text(x + 62, 222, f"{registers:,.0f}", "small middle on")
        drawing.text(x + 62, 240, "registers", "small middle on")
    shared = number["shared memory per SM"] / KIB
    words = f"shared memory ({shared:.0f} KiB for all blocks) and L1 cache"
    drawing.cell(40, 268, 508, 34, "purple", words, "small")
    for line, words in enumerate(
        [
            "scheduler: at most 1 instruction of 1 warp per cycle",
            "core: 1 FP32 multiply-add per cycle",
        ]
    ):
        drawing.text(40, 330 + line * 22, words, "small")


def draw_other_sms(drawing: Drawing, sms: int) -> None:
    for place, name in enumerate(["SM 1", "...", f"SM {sms - 1}"]):
        x = 580 + place * 66
        if name == "...":
            drawing.text(x + 32, 205, name, "head middle")
        else:
            drawing.rect(x, 50, 64, 320, "frame thick", radius=6)
            drawing.text(x + 32, 76, name, "small head middle")
            for y, height, look in [(98, 54, "orange"), (158, 40, "sky"), (204, 46, "green")]:
                drawing.rect(x + 8, y, 48, height, look)
            drawing.rect(x + 8, 268, 48, 34, "purple")


def draw_memory(drawing: Drawing, number: dict[str, float]) -> None:
    for x in (294, 612, 744):
        drawing.line((x, 372), (x, 406), look="line both")
    l2 = number["L2 cache"] / MIB
    drawing.cell(24, 410, 752, 44, "pale", f"L2 cache, {l2:.0f} MiB, of all SMs", "small")
    drawing.line((294, 456), (294, 508), look="line both")
    drawing.text(310, 487, f"at most {number['peak bandwidth']:,.0f} GB/s", "small")
    memory = number["global memory"] / GIB
    words = f"device memory (global memory), {memory:.1f} GiB"
    drawing.cell(24, 512, 752, 44, "pale", words, "small")
