"""Images that exercises write."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab_cli.errors import LabError
from lab_cli.results import images

PATH = Path("x.pgm")


def test_facts_and_pixels() -> None:
    plain = b"P5\n2 3\n255\nabcdef"
    image = images.parse(plain, PATH)
    assert image == images.Image({}, 2, 3, 255, b"abcdef")
    facts = {"gpu": "NVIDIA X1", "date": "2026-01-02"}
    data = images.with_facts(facts, plain)
    assert data == b"P5\n# gpu: NVIDIA X1\n# date: 2026-01-02\n2 3\n255\nabcdef"
    assert images.parse(data, PATH) == images.Image(facts, 2, 3, 255, b"abcdef")


def test_two_bytes_of_a_pixel() -> None:
    assert images.parse(b"P5\n1 2\n256\n\0\x01\x01\0", PATH).pixels == b"\0\1\1\0"
    with pytest.raises(LabError, match="2 bytes of pixels, but 1 x 2 up to 256 are 4"):
        images.parse(b"P5\n1 2\n256\n12", PATH)


@pytest.mark.parametrize(
    "data", [b"", b"P5\n", b"P2\n1 1\n9\n1", b"P5\n1\n9\n1", b"kernel,check\n"]
)
def test_what_is_no_image_is_named(data: bytes) -> None:
    with pytest.raises(LabError, match=r"^x\.pgm: not a binary PGM image \(P5\)$"):
        images.parse(data, PATH)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="none.pgm: No such file"):
        images.read(tmp_path / "none.pgm")
