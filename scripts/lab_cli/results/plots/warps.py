"""What a few warps did: the lanes at each line, or the memory that an access touches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from drawing import Drawing

from ...errors import LabError
from ...lines import pictures
from ...lines.pictures import Touch, Way
from ..csv_file import Row
from ..warps import DIVERGENCE


@dataclass(frozen=True)
class Warps:
    """`picture` is divergence, access or banks. A panel shows one warp of a kernel, under a title of its own, in
    a run with `options` (default: none): `warp` (default: 0) of `block` (default: 0).

    Of divergence, it shows the lines that contain one of `lines`, in the order in which the warp came to them,
    or the first `most` of these. Of the others, it shows an access: the `number`th (default: 1) of its `kind`
    (load, store or atomic) in the line that contains `code`, the `execution`th time (default: 1).
    """

    picture: str
    panels: Sequence[dict[str, Any]]

    def draw(self, rows: Sequence[Row], title: str) -> Drawing:
        """The rows are those of the figure."""
        titles = [panel["title"] for panel in self.panels]
        found = [(name, [row for row in rows if row["panel"] == name]) for name in titles]
        missing = ", ".join(name for name, own in found if not own)
        if missing:
            raise LabError(f"no rows of {missing}: ./lab plot --count counts them")
        if self.picture == DIVERGENCE:
            ways = [(name, [_way(row) for row in own]) for name, own in found]
            return pictures.divergence(title, ways)
        draw = pictures.banks if self.picture == "banks" else pictures.access
        return draw(title, [(name, _touch(own[0])) for name, own in found])


def _way(row: Row) -> Way:
    return Way(row["code"], int(row["lanes"], 16))


def _touch(row: Row) -> Touch:
    return Touch(
        row["array"],
        row["kind"],
        int(row["size"]),
        int(row["lanes"], 16),
        tuple(map(int, row["offsets"].split())),
        int(row["shift"]),
    )
