"""The drawn concepts of the pages: they are what their sources make, can be read in both colour schemes,
and stand on a page."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

import draw
import drawing
from matplotlib.colors import to_rgb
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath
from matplotlib.transforms import Bbox

pytestmark = pytest.mark.draws

SVG = "{http://www.w3.org/2000/svg}"
DRAWINGS = [path.with_suffix(".svg") for path in draw.sources()]
RESERVE = 1.06  # how much wider than DejaVu Sans another font may be
SMALLEST = 11  # pixels of a letter

of_drawings = pytest.mark.parametrize("path", DRAWINGS, ids=lambda path: path.parent.name)


def size_of(looks: list[str]) -> int:
    sizes = {
        name: int(size)
        for name, size in re.findall(r"\.(\w+) \{[^}]*font-size: (\d+)px", drawing.STYLE)
    }
    base = re.search(r"text \{ font: (\d+)px", drawing.STYLE)
    assert base
    return next((sizes[look] for look in looks if look in sizes), int(base[1]))


def box_of(element: ElementTree.Element) -> Bbox:
    """Where a text lies, in a font that is a little wider than DejaVu Sans."""
    looks = element.get("class", "").split()
    font = FontProperties(
        family="DejaVu Sans Mono" if "code" in looks else "DejaVu Sans",
        weight="bold" if "head" in looks else "normal",
    )
    size = size_of(looks)
    words = TextPath((0, 0), element.text or "", size=size, prop=font)
    width = words.get_extents().width * RESERVE
    x, y = float(element.attrib["x"]), float(element.attrib["y"])
    left = x - width / 2 if "middle" in looks else x - width if "end" in looks else x
    return Bbox.from_extents(left, y - 0.8 * size, left + width, y + 0.2 * size)


def boxes_of(svg: str) -> list[tuple[str, Bbox]]:
    """The words of each text, and where it lies."""
    texts = ElementTree.fromstring(svg).iter(SVG + "text")
    return [(text.text or "", box_of(text)) for text in texts]


def overlaps_in(svg: str) -> list[tuple[str, str]]:
    pairs = itertools.combinations(boxes_of(svg), 2)
    return [(words, others) for (words, one), (others, other) in pairs if one.overlaps(other)]


def outside_of(svg: str) -> list[str]:
    height = float(ElementTree.fromstring(svg).attrib["viewBox"].split()[3])
    return [
        words
        for words, box in boxes_of(svg)
        if min(box.x0, box.y0) < 8 or box.x1 > drawing.WIDTH - 8 or box.y1 > height - 8
    ]


def luminance(colour: str) -> float:
    """Relative luminance, as the Web Content Accessibility Guidelines define it."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def schemes() -> Iterator[dict[str, str]]:
    """What each class is filled with, in the light and in the dark scheme."""
    light_text, _, dark_text = drawing.STYLE.partition("@media (prefers-color-scheme: dark)")
    fills = r"\.?(\w+) \{[^}]*fill: (#\w{6})"
    light = dict(re.findall(fills, light_text))
    yield light
    yield {**light, **dict(re.findall(fills, dark_text))}


def test_there_are_drawings() -> None:
    assert [path.with_suffix(".svg") for path in draw.sources()] == DRAWINGS
    assert DRAWINGS


@of_drawings
def test_drawing_is_what_its_source_makes(path: Path) -> None:
    made = draw.drawn(path.with_suffix(".py"))
    assert path.read_text(encoding="utf-8") == made, "python3 scripts/draw.py writes it anew"


@of_drawings
def test_drawing_says_what_it_is_and_needs_nothing_else(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    assert root.tag == SVG + "svg"
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    for name in ("title", "desc"):
        element = root.find(SVG + name)
        assert element is not None and element.text
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    assert set(re.findall(r"url\(([^)]*)\)", text)) <= {"#tip"}
    assert not re.search(r"href|@import|<script|<image", text)
    classes = {look for element in root.iter() for look in element.get("class", "").split()}
    assert classes <= set(re.findall(r"\.(\w+) \{", drawing.STYLE)), "a class without a style"


@of_drawings
def test_words_have_room(path: Path) -> None:
    svg = path.read_text(encoding="utf-8")
    assert overlaps_in(svg) == []
    assert outside_of(svg) == []


def test_words_can_be_read_in_both_schemes() -> None:
    assert min(map(int, re.findall(r"(\d+)px", drawing.STYLE))) >= SMALLEST
    for fill in schemes():
        for ground in ("ground", "under", "pale"):
            assert contrast(fill["text"], fill[ground]) >= 7, ground
        for look in drawing.COLOURED:
            assert contrast(fill["on"], fill[look]) >= 4.5, look
        assert fill["under"] == fill["ground"]


def test_words_without_room_are_found() -> None:
    crowded = drawing.Drawing("Crowded", "Two texts that meet, and one that leaves.", 100)
    crowded.text(100, 50, "one text")
    crowded.text(150, 52, "another text")
    crowded.text(750, 80, "too far to the right")
    assert overlaps_in(crowded.svg()) == [("one text", "another text")]
    assert outside_of(crowded.svg()) == ["too far to the right"]
