"""A drawn concept: rectangles, lines and words that become an SVG file, all in one look.

A page shows a drawing about WIDTH pixels wide. It has a ground of its own, light or dark as the
reader's system is, so that it can be read on a page of either kind. The fills are those of the
figures (scripts/lab_cli/results/plots/style.py), and black words can be read on each of them; what a
colour says, words or dashes say as well.

Coordinates are pixels, y grows downwards. `look` is one or more classes of STYLE.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from xml.sax.saxutils import escape, quoteattr

WIDTH = 800

STYLE = """\
    text { font: 15px "DejaVu Sans", Verdana, sans-serif; fill: #1f2328; }
    .head { font-weight: bold; }
    .small { font-size: 13px; }
    .number { font-size: 11px; }
    .code { font-family: "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: 13px; }
    .middle { text-anchor: middle; }
    .end { text-anchor: end; }
    .on { fill: #000000; }
    rect, circle { stroke: #1f2328; }
    .ground { fill: #ffffff; stroke: #d0d7de; }
    .under { fill: #ffffff; stroke: none; }
    .sky { fill: #56b4e9; }
    .orange { fill: #e69f00; }
    .green { fill: #009e73; }
    .purple { fill: #cc79a7; }
    .pale { fill: #e6e6e6; stroke: #8c959f; }
    .idle { fill: none; stroke: #6e7781; stroke-dasharray: 3 2; }
    .frame { fill: none; }
    .thick { stroke-width: 2.5; }
    .line { fill: none; stroke: #1f2328; stroke-width: 1.5; }
    .soft { fill: none; stroke: #8c959f; }
    .dashed { stroke-dasharray: 6 4; }
    .heavy { stroke-width: 4; }
    .arrow { marker-end: url(#tip); }
    .both { marker-start: url(#tip); marker-end: url(#tip); }
    .tip { fill: #1f2328; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3; }
      .on { fill: #000000; }
      rect, circle { stroke: #e6edf3; }
      .ground { fill: #161b22; stroke: #30363d; }
      .under { fill: #161b22; }
      .pale { fill: #373e47; stroke: #8b949e; }
      .idle { fill: none; stroke: #8b949e; }
      .line { stroke: #e6edf3; }
      .soft { stroke: #6e7681; }
      .tip { fill: #e6edf3; }
    }"""

COLOURED = {"sky", "orange", "green", "purple"}


def _attributes(**values: object) -> str:
    """x=1.50 -> ' x="1.5"'"""
    shown = {
        name.rstrip("_").replace("_", "-"): f"{value:.1f}".removesuffix(".0")
        if isinstance(value, float)
        else str(value)
        for name, value in values.items()
    }
    return "".join(f" {name}={quoteattr(value)}" for name, value in shown.items())


class Drawing:
    def __init__(self, title: str, description: str, height: int) -> None:
        """`description` is for who does not see the drawing; the page's alternative text is another."""
        self._depth = 1
        self._lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
            f'viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="title description">',
            f'  <title id="title">{escape(title)}</title>',
            f'  <desc id="description">{escape(description)}</desc>',
            f"  <style>\n{STYLE}\n  </style>",
            '  <marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" '
            'markerHeight="8" orient="auto-start-reverse"><path class="tip" d="M0 0 10 5 0 10z"/></marker>',
        ]
        self.rect(1, 1, WIDTH - 2, height - 2, "ground", radius=10)

    def _add(self, line: str) -> None:
        self._lines.append("  " * self._depth + line)

    @contextmanager
    def group(self, name: str) -> Iterator[None]:
        self._add(f"<g id={quoteattr(name)}>")
        self._depth += 1
        yield
        self._depth -= 1
        self._add("</g>")

    def text(self, x: float, y: float, words: str, look: str = "") -> None:
        """`y` is the line that the words stand on."""
        place = _attributes(x=x, y=y, **({"class_": look} if look else {}))
        self._add(f"<text{place}>{escape(words)}</text>")

    def rect(
        self, x: float, y: float, width: float, height: float, look: str, radius: int = 0
    ) -> None:
        place = _attributes(x=x, y=y, width=width, height=height, class_=look)
        self._add(f"<rect{place}{_attributes(rx=radius) if radius else ''}/>")

    def cell(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        look: str,
        words: object = "",
        font: str = "number",
    ) -> None:
        """A rectangle with words in the middle. One that is idle is a little smaller: the dashes of
        neighbours on one line would fill each other's gaps."""
        inset = 1.5 if "idle" in look.split() else 0
        self.rect(x + inset, y + inset, width - 2 * inset, height - 2 * inset, look)
        if words != "":
            size = {"number": 11, "small": 13, "code": 13}[font]
            on = " on" if COLOURED & set(look.split()) else ""
            middle = y + height / 2 + 0.36 * size
            self.text(x + width / 2, middle, str(words), f"{font} middle{on}")

    def circle(self, x: float, y: float, radius: float, look: str) -> None:
        self._add(f"<circle{_attributes(cx=x, cy=y, r=radius, class_=look)}/>")

    def line(self, *points: tuple[float, float], look: str = "line") -> None:
        corners = " ".join(f"{x:g},{y:g}" for x, y in points)
        self._add(f"<polyline{_attributes(points=corners, class_=look)}/>")

    def bracket(self, left: float, right: float, y: float, words: str, below: bool = False) -> None:
        """Spans what lies below it (or above it), with words in the middle if there are any."""
        tick = -6 if below else 6
        self.line((left, y + tick), (left, y), (right, y), (right, y + tick))
        if words:
            self.text((left + right) / 2, y + (17 if below else -6), words, "small middle")

    def svg(self, identifier: str = "") -> str:
        """`identifier` says what it was drawn from."""
        about = [f"  <metadata>{escape(identifier)}</metadata>"] if identifier else []
        return "\n".join([*self._lines[:3], *about, *self._lines[3:], "</svg>", ""])
