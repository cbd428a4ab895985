"""An image that an exercise wrote: a colour for each value, on a logarithmic scale, or one for each name.
Or a photograph, as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import matplotlib
import numpy
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ...errors import LabError
from ..images import Image
from . import style
from .heatmap import COLOURS

AROUND_INCHES = 0.85  # title, and legend
NAMED = [style.PALE, style.BLUE, style.ORANGE, style.GREEN]


@dataclass(frozen=True)
class Picture:
    """`label` says what the values are. `names` are those of the values 0, 1 ...: then there is no
    scale. The largest value that the image may have is black and called `top`, if that is given.
    `shades`: the values are shades of grey. `colour`: pixels have red, green and blue (a PPM)."""

    label: str = ""
    top: str = ""
    names: Sequence[str] = field(default_factory=list)
    shades: bool = False
    colour: bool = False

    def draw(self, image: Image, title: str) -> Figure:
        bytes_each = 2 if image.most > 255 else 1
        values = numpy.frombuffer(image.pixels, f">u{bytes_each}")
        values = values.reshape(image.height, image.width, image.channels).astype(int)
        if self.shades or self.colour:
            return self._as_it_is(values, image, title)
        values = values[:, :, 0]
        width = style.WIDTH - (0.2 if self.names else 1.2)
        figure = style.new_figure(width * image.height / image.width + AROUND_INCHES, title)
        axes = figure.subplots()
        axes.set_axis_off()
        if self.names:
            self._named(axes, values)
        else:
            self._scaled(figure, axes, values, image.most)
        return figure

    def _as_it_is(self, values: numpy.ndarray, image: Image, title: str) -> Figure:
        """Half as wide as other figures, so that two fit side by side."""
        shares = values / image.most
        figure = style.new_figure(style.WIDTH / 2 * image.height / image.width + 0.4, title)
        figure.set_figwidth(style.WIDTH / 2)
        axes = figure.subplots()
        axes.set_axis_off()
        axes.imshow(
            shares if self.colour else shares[:, :, 0], "gray", vmin=0, vmax=1, interpolation="none"
        )
        return figure

    def _named(self, axes: Axes, values: numpy.ndarray) -> None:
        count = len(self.names)
        if values.max() >= count:
            raise LabError(f"value {values.max()} has no name: there are {count}")
        colours = NAMED[:count]
        axes.imshow(
            values, ListedColormap(colours), vmin=-0.5, vmax=count - 0.5, interpolation="none"
        )
        patches = [
            Patch(facecolor=colour, edgecolor=style.GREY, label=f"{name}: {share:.1%}")
            for value, (colour, name) in enumerate(zip(colours, self.names))
            for share in [(values == value).mean()]
        ]
        axes.legend(
            handles=patches,
            title=self.label or None,
            loc="upper center",
            bbox_to_anchor=(0.5, 0),
            ncols=count,
            frameon=False,
        )

    def _scaled(self, figure: Figure, axes: Axes, values: numpy.ndarray, most: int) -> None:
        """Values begin at 0, which has no logarithm: shown is 1 more."""
        stays = values == most if self.top else numpy.zeros_like(values, dtype=bool)
        shown = numpy.ma.masked_array(values + 1, stays)
        colours = matplotlib.colormaps[COLOURS].with_extremes(bad=style.BLACK)
        mesh = axes.imshow(shown, colours, norm=LogNorm(1, most + 1), interpolation="none")
        ticks = [4**power for power in range(32) if 4**power <= most]
        bar = figure.colorbar(mesh, label=self.label, shrink=0.9)
        bar.set_ticks([tick + 1 for tick in ticks], labels=[f"{tick:,}" for tick in ticks])
        bar.minorticks_off()
        bar.outline.set_visible(False)
        if self.top:
            axes.legend(
                handles=[Patch(facecolor=style.BLACK, label=self.top)],
                loc="upper left",
                bbox_to_anchor=(0, 0),
                frameon=False,
            )
