"""Pictures of what sampled warps did, for the pages of exercises: SVG that can be read in light and dark.

They look like the drawn concepts (scripts/drawing.py). Blue is what a lane does or wants, dashes are what is
idle or moved in vain, and orange is what meets in a bank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from drawing import WIDTH, Drawing

from .model import SECTOR, WARP
from .page import touched
from .page.touched import BANKS, LINE, WORD, Elements

LEFT, CELL, ROW = 124, 20, 20
MARGIN = 24
HEAD = 34  # pixels of a panel's title
MOST_ROWS = 16  # of a panel; further ones are counted
CODE_LETTER = 8.3  # pixels; in DejaVu Sans Mono 7.83
LANE = 11  # pixels of a lane in the map of divergence


@dataclass(frozen=True)
class Way:
    """A line that a warp came to, with these lanes."""

    code: str
    lanes: int


@dataclass(frozen=True)
class Touch:
    """An access of a warp to an array. `shift`: bytes by which a shared array begins behind bank 0."""

    array: str
    kind: str
    size: int  # bytes of a lane
    lanes: int
    offsets: tuple[int, ...]
    shift: int = 0

    @property
    def wanted(self) -> Elements:
        return touched.elements(self.lanes, self.offsets)


def access(title: str, panels: Sequence[tuple[str, Touch]]) -> Drawing:
    """Cache lines of global memory with their sectors, a panel with its name for each access."""
    heights = [HEAD + _count(len(_lines(touch))) * (ROW + 5) for _, touch in panels]
    drawing = Drawing(title, _told(panels), 48 + sum(heights) + 12 * len(panels) + 40)
    drawing.text(MARGIN, 34, title, "head")
    y = 48
    for number, ((name, touch), height) in enumerate(zip(panels, heights)):
        with drawing.group(f"access_{number}"):
            _draw_access(drawing, y, name, touch)
        y += height + 12
    with drawing.group("key"):
        some_are_shared = any(
            len(lanes) > 1 for _, touch in panels for lanes in _lanes_of_words(touch).values()
        )
        _draw_key(drawing, y + 2, some_are_shared)
    return drawing


def sums(touch: Touch) -> str:
    found = touched.in_global(touch.wanted, touch.size)
    sectors = f"{len(found.sectors):,} sector{'s' if len(found.sectors) > 1 else ''}"
    return f"{sectors}, {found.used:,} of {found.moved:,} bytes used"


def _told(panels: Sequence[tuple[str, Touch]]) -> str:
    return " ".join(f"{name}: {sums(touch)}." for name, touch in panels)


def _lines(touch: Touch) -> list[int]:
    sectors = touched.in_global(touch.wanted, touch.size).sectors
    return sorted({sector * SECTOR // LINE for sector in sectors})


def _count(rows: int) -> int:
    """With the row that says how many more there are."""
    return rows if rows <= MOST_ROWS else MOST_ROWS + 1


def _draw_access(drawing: Drawing, y: float, name: str, touch: Touch) -> None:
    drawing.text(MARGIN, y + 20, name, "small")
    drawing.text(WIDTH - MARGIN, y + 20, sums(touch), "small end")
    sectors = touched.in_global(touch.wanted, touch.size).sectors
    lanes = _lanes_of_words(touch)
    lines = _lines(touch)
    for row, line in enumerate(lines[:MOST_ROWS]):
        top = y + HEAD + row * (ROW + 5)
        drawing.text(MARGIN, top + 15, _place(touch, line * LINE), "number")
        for sector in range(line * LINE // SECTOR, (line + 1) * LINE // SECTOR):
            x = LEFT + (sector * SECTOR - line * LINE) / WORD * CELL
            _draw_sector(drawing, x, top, sector, sector in sectors, lanes)
    if len(lines) > MOST_ROWS:
        words = f"... and {len(lines) - MOST_ROWS:,} more cache lines"
        drawing.text(LEFT, y + HEAD + MOST_ROWS * (ROW + 5) + 15, words, "small")


def _draw_sector(
    drawing: Drawing, x: float, y: float, sector: int, is_touched: bool, lanes: dict[int, list[int]]
) -> None:
    words = SECTOR // WORD
    if not is_touched:
        drawing.rect(x, y, words * CELL, ROW, "frame soft")
        return
    for place in range(words):
        served = lanes.get(sector * words + place)
        look = "sky" if served else "idle"
        drawing.cell(x + place * CELL, y, CELL, ROW, look, _short(served) if served else "")
    drawing.rect(x, y, words * CELL, ROW, "frame thick")


def _lanes_of_words(touch: Touch) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for lane, offset in touch.wanted.items():
        for word in touched.words(offset, touch.size, touch.shift):
            found.setdefault(word, []).append(lane)
    return found


def _short(lanes: Sequence[int]) -> str:
    """A lane's number, or how many lanes they are."""
    return str(lanes[0]) if len(lanes) == 1 else f"{len(lanes)}x"


def _place(touch: Touch, byte: int) -> str:
    """Not every array has a name."""
    return f"{touch.array}, byte {byte:,}" if touch.array else f"byte {byte:,}"


def _draw_key(drawing: Drawing, y: float, some_are_shared: bool) -> None:
    drawing.cell(MARGIN, y, CELL, CELL, "sky", 5)
    drawing.text(MARGIN + 28, y + 15, "4 bytes that lane 5 accesses", "small")
    left = MARGIN + 258
    if some_are_shared:
        drawing.cell(left, y, CELL, CELL, "sky", "2x")
        drawing.text(left + 28, y + 15, "by two lanes", "small")
        left += 122
    drawing.cell(left, y, CELL, CELL, "idle")
    drawing.text(left + 28, y + 15, "moved, not used", "small")
    left += 170
    drawing.rect(left, y, 80, CELL, "frame thick")
    drawing.text(left + 88, y + 15, "a sector: 32 bytes", "small")


# ---- banks


def banks(title: str, panels: Sequence[tuple[str, Touch]]) -> Drawing:
    """The words of an array in shared memory, 32 to a row, and which of them a warp wants in one access."""
    heights = [HEAD + 20 + _count(len(_rows(touch))) * ROW for _, touch in panels]
    told = " ".join(f"{name}: {wavefronts(touch)}." for name, touch in panels)
    drawing = Drawing(title, told, 48 + sum(heights) + 16 * len(panels) + 40)
    drawing.text(MARGIN, 34, title, "head")
    y = 48
    for number, ((name, touch), height) in enumerate(zip(panels, heights)):
        with drawing.group(f"banks_{number}"):
            _draw_banks(drawing, y, name, touch)
        y += height + 16
    drawing.cell(MARGIN, y + 2, CELL, CELL, "sky", 5)
    drawing.text(MARGIN + 28, y + 17, "a word that lane 5 wants, alone in its bank", "small")
    drawing.cell(MARGIN + 378, y + 2, CELL, CELL, "orange", 5)
    drawing.text(MARGIN + 406, y + 17, "one of several words in its bank", "small")
    return drawing


def wavefronts(touch: Touch) -> str:
    count = len(touched.in_shared(touch.wanted, touch.size, touch.kind, touch.shift))
    return f"{count} wavefront{'s' if count > 1 else ''}"


def _rows(touch: Touch) -> list[int]:
    return sorted({word // BANKS for word in _lanes_of_words(touch)})


def _draw_banks(drawing: Drawing, y: float, name: str, touch: Touch) -> None:
    drawing.text(MARGIN, y + 20, name, "small")
    drawing.text(WIDTH - MARGIN, y + 20, wavefronts(touch), "small end")
    lanes = _lanes_of_words(touch)
    meeting = touched.in_bank(touch.wanted, touch.size, touch.shift)
    drawing.text(MARGIN, y + HEAD + 12, "bank", "number")
    for bank in range(BANKS):
        drawing.text(LEFT + (bank + 0.5) * CELL, y + HEAD + 12, str(bank), "number middle")
    top = y + HEAD + 20
    rows = _rows(touch)
    for number, row in enumerate(rows[:MOST_ROWS]):
        at = top + number * ROW
        byte = row * BANKS * WORD - touch.shift
        drawing.text(MARGIN, at + 15, _place(touch, max(0, byte)), "number")
        drawing.rect(LEFT, at, BANKS * CELL, ROW, "frame soft")
        for word in range(row * BANKS, (row + 1) * BANKS):
            if word in lanes:
                look = "orange" if meeting[word % BANKS] > 1 else "sky"
                place = (LEFT + word % BANKS * CELL, at, CELL, ROW)
                drawing.cell(*place, look, _short(lanes[word]))
    if len(rows) > MOST_ROWS:
        words = f"... and {len(rows) - MOST_ROWS} more rows"
        drawing.text(LEFT, top + MOST_ROWS * ROW + 15, words, "small")


# ---- divergence


def divergence(title: str, panels: Sequence[tuple[str, Sequence[Way]]]) -> Drawing:
    """The lines as a warp came to them, from the top, and its 32 lanes: filled where they are active."""
    heights = [HEAD + 8 + len(ways) * ROW for _, ways in panels]
    told = " ".join(
        f"{name}: " + ", then ".join(f"{_active(way)} lanes at `{way.code}`" for way in ways) + "."
        for name, ways in panels
    )
    drawing = Drawing(title, told, 48 + sum(heights) + 12 * len(panels) + 40)
    drawing.text(MARGIN, 34, title, "head")
    y = 48
    for number, ((name, ways), height) in enumerate(zip(panels, heights)):
        with drawing.group(f"warp_{number}"):
            _draw_ways(drawing, y, name, ways)
        y += height + 12
    drawing.rect(MARGIN, y + 2, 18, 18, "sky")
    drawing.text(MARGIN + 26, y + 16, "active lane", "small")
    drawing.rect(MARGIN + 148, y + 2, 18, 18, "idle")
    drawing.text(MARGIN + 174, y + 16, "switched off", "small")
    return drawing


def _active(way: Way) -> int:
    return len(touched.active(way.lanes))


def _draw_ways(drawing: Drawing, y: float, name: str, ways: Sequence[Way]) -> None:
    left = WIDTH - MARGIN - WARP * LANE
    drawing.text(MARGIN, y + 20, name, "small")
    for lane in range(0, WARP, 8):
        drawing.text(left + (lane + 0.5) * LANE, y + HEAD - 1, str(lane), "number middle")
    drawing.text(left + (WARP - 0.5) * LANE, y + HEAD - 1, str(WARP - 1), "number middle")
    for number, way in enumerate(ways):
        top = y + HEAD + 6 + number * ROW
        room = int((left - MARGIN - 8) / CODE_LETTER)
        code = way.code if len(way.code) <= room else f"{way.code[: room - 3]}..."
        drawing.text(MARGIN, top + 13, code, "code")
        active = touched.active(way.lanes)
        for lane in range(WARP):
            look = "sky" if lane in active else "idle"
            drawing.cell(left + lane * LANE, top + 1, LANE, ROW - 4, look)
