"""Draws figures from results files: all that was asked for, or none of a file that is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Union

from matplotlib.figure import Figure

from ...errors import LabError
from ...files import write
from ...paths import shown
from .. import images
from ..csv_file import parse
from ..figures import Spec, require
from . import style
from .curves import Curves
from .footprint import Footprint
from .heatmap import HeatMap
from .ladder import Ladder
from .picture import Picture
from .predicted import Predicted
from .roofline import Roofline
from .saturation import Saturation
from .timeline import Timeline
from .warps import Warps
from .waves import Waves

Chart = Union[
    Ladder, Curves, HeatMap, Timeline, Waves, Saturation, Predicted, Footprint, Roofline, Picture
]
CHARTS = {
    "ladder": Ladder,
    "curves": Curves,
    "heatmap": HeatMap,
    "timeline": Timeline,
    "waves": Waves,
    "saturation": Saturation,
    "predicted": Predicted,
    "footprint": Footprint,
    "roofline": Roofline,
    "image": Picture,
}


def chart_of(spec: Spec) -> Chart:
    chart: Chart = CHARTS[spec.entry["chart"]](**spec.options)
    return chart


def figure_of(spec: Spec, text: str, path: Path) -> Figure:
    """`text` is that of the results file `path`."""
    chart = chart_of(spec)
    try:
        if isinstance(chart, Picture):
            image = images.parse(text.encode("latin-1"), path)
            sizes = {"width": str(image.width), "height": str(image.height)}
            title = spec.title(sizes, image.facts.get("gpu", "unknown GPU"))
            with style.settings():
                return chart.draw(image, title)
        results = parse(text, path)
        rows = spec.select(results.rows)
        require(rows, chart.columns())
        title = spec.title(rows[0], results.facts.get("gpu", "unknown GPU"))
        with style.settings():
            return chart.draw(rows, title)
    except LabError as error:
        raise LabError(f"{shown(path)}, figure {spec.name}: {error}") from error


def svg_of(spec: Spec, text: str, path: Path) -> bytes:
    """What the figure's file must hold. `text` is that of the results file `path`."""
    if not spec.is_counted:
        return style.svg(figure_of(spec, text, path), spec.identifier(text))
    title = f"{spec.exercise}: {spec.entry['title']}"
    try:
        rows = [row for row in parse(text, path).rows if row["figure"] == spec.name]
        drawing = Warps(**spec.options).draw(rows, title)
    except LabError as error:
        raise LabError(f"{shown(path)}, figure {spec.name}: {error}") from error
    return drawing.svg(spec.identifier(text)).encode()


def draw(spec: Spec, folder: Path) -> Path:
    """Writes the figure's file."""
    text = spec.text(folder)
    path = spec.file(folder)
    write(path, svg_of(spec, text, spec.source(folder)))
    return path


def gpus(specs: Sequence[Spec], gpu: str) -> list[str]:
    """The folders of results to draw in: `gpu`, or all that have rows of a figure, except the
    emulation's."""
    known = {
        folder.name
        for results in {spec.results for spec in specs}
        for folder in results.glob("*")
        if any(spec.source(folder).exists() for spec in specs if spec.results == results)
    }
    if gpu and gpu not in known:
        there = ", ".join(sorted(known)) or "none"
        raise LabError(f"--gpu {gpu}: no results/{gpu} of an exercise; there are {there}", status=2)
    found = [gpu] if gpu else sorted(known - {"cpu"})
    if not found:
        raise LabError("no results of a GPU to draw: ./lab bench measures them")
    return found
