"""Results files: facts, then CSV or an image."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab_cli.errors import LabError
from lab_cli.results import images
from lab_cli.results.csv_file import parse, read_text, with_facts

PATH = Path("results/x.csv")
IMAGE = Path("x.pgm")


def test_facts_and_rows() -> None:
    text = with_facts({"gpu": "some: GPU", "date": "2026-01-02"}, 'a,b\n1,"2,3"\n4,\n')
    assert text.startswith("# gpu: some: GPU\n# date: 2026-01-02\na,b\n")
    results = parse(text, PATH)
    assert results.facts == {"gpu": "some: GPU", "date": "2026-01-02"}
    assert results.columns == ["a", "b"]
    assert results.rows == [{"a": "1", "b": "2,3"}, {"a": "4", "b": ""}]


def test_lines_that_are_neither() -> None:
    results = parse("# a remark\n#gpu :X: Y \n\na\n\n1\n# date: 1\n", PATH)
    assert results.facts == {"gpu": "X: Y", "date": "1"}
    assert results.rows == [{"a": "1"}]
    assert results.path == PATH


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "results/x.csv: no CSV"),
        ("# gpu: x\n", "results/x.csv: no CSV"),
        ("a,b\n", "results/x.csv: a header, but no rows"),
        ("a,b\n1,2\n3\n", "results/x.csv: the header has 2 columns, but this row has 1: 3"),
        ("a,b\n1,2,3\n", "this row has 3: 1,2,3"),
    ],
)
def test_what_is_no_table_is_named(text: str, message: str) -> None:
    with pytest.raises(LabError, match=message):
        parse(text, PATH)


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"none\.csv: No such file"):
        read_text(tmp_path / "none.csv")
    with pytest.raises(LabError, match=r"none\.pgm: No such file"):
        images.read(tmp_path / "none.pgm")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(LabError, match=r"binary\.csv: not text"):
        read_text(tmp_path / "binary.csv")


def test_facts_and_pixels() -> None:
    plain = b"P5\n2 3\n255\nabcdef"
    image = images.parse(plain, IMAGE)
    assert image == images.Image({}, 2, 3, 255, b"abcdef")
    facts = {"gpu": "NVIDIA X1", "date": "2026-01-02"}
    data = images.with_facts(facts, plain)
    assert data == b"P5\n# gpu: NVIDIA X1\n# date: 2026-01-02\n2 3\n255\nabcdef"
    assert images.parse(data, IMAGE) == images.Image(facts, 2, 3, 255, b"abcdef")


def test_three_bytes_of_a_coloured_pixel() -> None:
    data = images.with_facts({"gpu": "X"}, b"P6\n1 2\n255\nRGBrgb")
    assert data == b"P6\n# gpu: X\n1 2\n255\nRGBrgb"
    image = images.parse(data, IMAGE)
    assert (image.channels, image.pixels, image.suffix) == (3, b"RGBrgb", ".ppm")
    assert images.parse(b"P5\n1 1\n255\ng", IMAGE).suffix == ".pgm"
    with pytest.raises(LabError, match="4 bytes of pixels, but 1 x 2 up to 255 are 6"):
        images.parse(b"P6\n1 2\n255\nRGBr", IMAGE)


def test_two_bytes_of_a_pixel() -> None:
    assert images.parse(b"P5\n1 2\n256\n\0\x01\x01\0", IMAGE).pixels == b"\0\1\1\0"
    with pytest.raises(LabError, match="2 bytes of pixels, but 1 x 2 up to 256 are 4"):
        images.parse(b"P5\n1 2\n256\n12", IMAGE)


@pytest.mark.parametrize(
    "data", [b"", b"P5\n", b"P2\n1 1\n9\n1", b"P5\n1\n9\n1", b"kernel,check\n"]
)
def test_what_is_no_image_is_named(data: bytes) -> None:
    with pytest.raises(LabError, match=r"^x\.pgm: not a binary PGM or PPM image"):
        images.parse(data, IMAGE)
