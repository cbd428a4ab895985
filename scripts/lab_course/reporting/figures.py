"""The figures of an exercise as parts of a page of HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from lab_cli.catalogue import Exercise
from lab_cli.errors import LabError
from lab_cli.paths import ROOT, shown
from lab_cli.results import csv_file, figures, images, reference
from lab_cli.results.figures import Spec

from .facts import Figure, Figures

SVG = "http://www.w3.org/2000/svg"
LINK = "{http://www.w3.org/1999/xlink}href"
# What ./lab plot draws with. All else is left out: a figure in a page must not be more than a picture.
ELEMENTS = {"svg", "g", "path", "defs", "use", "clipPath", "rect", "image", "pattern"}
# In place of the style sheet of the file, which would be one of the whole page.
STYLE = "stroke-linejoin: round; stroke-linecap: butt"


def of(exercise: Exercise, folder: str) -> Figures:
    """Those of results/`folder`, the GPU of this machine, and where there is none of the reference's."""
    specs = [spec for spec in figures.of([exercise]) if not spec.is_counted]
    if not specs:
        return Figures("this exercise has no figures")
    found = []
    for spec in specs:
        for name in dict.fromkeys([folder, reference.GPU]):
            if spec.file(exercise.results / name).exists():
                found.append(
                    _figure(exercise, spec, exercise.results / name, name != reference.GPU)
                )
                break
    return Figures("" if found else "none has been drawn: ./lab bench, then ./lab plot", found)


def _figure(exercise: Exercise, spec: Spec, folder: Path, this_machine: bool) -> Figure:
    path = spec.file(folder)
    measured = _facts(spec, folder)
    return Figure(
        spec.name,
        shown(path),
        measured.get("gpu", folder.name),
        measured.get("date", ""),
        this_machine,
        _alternative(exercise, path.name) or f"{exercise.name}: {spec.name}",
    )


def _facts(spec: Spec, folder: Path) -> dict[str, str]:
    """Of the file that it was drawn from."""
    source = spec.source(folder)
    try:
        if spec.is_image:
            return images.parse(images.read(source), source).facts
        return csv_file.parse(csv_file.read_text(source), source).facts
    except LabError:
        return {}


def _alternative(exercise: Exercise, file: str) -> str:
    """What the exercise's page says in place of the figure."""
    page = exercise.page
    text = page.read_text(encoding="utf-8", errors="replace") if page.exists() else ""
    found = re.search(rf"!\[([^\]]*)\]\([^)]*/{re.escape(file)}\)", text)
    return " ".join(found[1].split()) if found else ""


def markup(figure: Figure, prefix: str, root: Path = ROOT) -> str:
    """The SVG as an element of HTML: its identifiers begin with `prefix`, and it does nothing but draw.
    LabError where it cannot be read."""
    path = root / figure.file
    try:
        svg = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError) as error:
        raise LabError(f"{figure.file}: {error}") from error
    ElementTree.register_namespace("", SVG)
    _clean(svg, prefix)
    for name in ("width", "height", "version"):
        svg.attrib.pop(name, None)
    svg.attrib.update({"role": "img", "aria-label": figure.text, "style": STYLE})
    return ElementTree.tostring(svg, encoding="unicode", short_empty_elements=False)


def _clean(element: ElementTree.Element, prefix: str) -> None:
    element.text = element.tail = None  # of indentation
    element.attrib = dict(_attributes(element.attrib, prefix))
    if element.tag == f"{{{SVG}}}path":
        element.attrib.setdefault("d", "")  # of a space: a validator wants one
    for child in [*element]:
        namespace, _, name = str(child.tag).rpartition("}")
        if namespace == "{" + SVG and name in ELEMENTS:
            _clean(child, prefix)
        else:
            element.remove(child)


def _attributes(attributes: dict[str, str], prefix: str) -> Iterator[tuple[str, str]]:
    for name, value in attributes.items():
        if name == "id":
            yield name, prefix + value
        elif name in (LINK, "href"):
            if value.startswith("#"):
                yield "href", f"#{prefix}{value[1:]}"
            elif value.startswith("data:image/png;base64,"):
                yield "href", "".join(value.split())
        elif not name.startswith(("on", "{")):
            yield name, re.sub(r"url\(#", f"url(#{prefix}", value)
