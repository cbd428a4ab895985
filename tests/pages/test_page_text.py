"""Headings, links and lines of small pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from page_text import broken_links, long_lines, prose, repeated

PAGE = """\
# Title
[one](a.md) and ![two](b/c.svg "with a title"), [three](<d e.md>), [four][ref], `[no](x.md)`

```c++
# no heading
[&](int i) {}
```

    [no](y.md)

- item
    [five](#part-1) is of the item

[ref]: https://example.org/f.md
<a href="g.md"><img src="h.png"></a> <a name="here"></a>
## Part
## Part
"""


@pytest.mark.parametrize(
    "text", ["~~~\n```\n~~~\n{}", "<!-- a\nb\n-->\n<!-- c -->\n{}", "```\n<!-- a\n```\n{}"]
)
def test_code_and_comments_end(text: str) -> None:
    assert [line for _, line in prose(text.format("out"))][-1:] == ["out"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "ch").mkdir()
    (tmp_path / "README.md").write_text("# Top\n")
    (tmp_path / "ch" / "x.cu").touch()
    (tmp_path / "ch" / "y.md").write_text("## There is one\n")
    (tmp_path / "with space.md").touch()
    return tmp_path


@pytest.mark.parametrize(
    "target",
    ["x.cu", "../README.md#top", "/README.md", "y.md#there-is-one", "#own", "../ch", "x.cu#L3",
     "../with%20space.md", "https://example.org/none", "mailto:a@b"],
)  # fmt: skip
def test_links_that_lead_somewhere(root: Path, target: str) -> None:
    page = root / "ch" / "page.md"
    page.write_text(f"# Own\n[text]({target})\n")
    assert broken_links(page, root) == []


def test_links_in_code_are_none(root: Path) -> None:
    """Headings with the same words are numbered."""
    page = root / "page.md"
    page.write_text(PAGE)
    gone = ("a.md", "b/c.svg", "g.md", "h.png")
    assert broken_links(page, root) == [f"{name}: there is no {name}" for name in gone]


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("X.cu", "there is no X.cu"),
        ("README.md", "there is no README.md"),
        ("../../outside.md", "there is no ../../outside.md"),
        ("y.md#there", "y.md has no heading #there"),
        ("#top", "page.md has no heading #top"),
    ],
)
def test_links_that_do_not(root: Path, target: str, problem: str) -> None:
    (root.parent / "outside.md").touch()
    page = root / "ch" / "page.md"
    page.write_text(f"# Own\n[text]({target})\n")
    assert broken_links(page, root) == [f"{target}: {problem}"]


def test_long_lines() -> None:
    long = "x" * 21
    lines = [
        "x" * 20,
        long,
        f"| {long}",
        f"<!-- table {long} -->",
        f"[xxxx]({long})",
        f"[{long}](y)",
    ]
    text = "\n".join([*lines, "```", long, "```", "", f"    {long}"])
    assert long_lines(text, 20) == [2, 6]


def test_sentences_that_stand_twice() -> None:
    page = "One two three. Four.\nFour. One two\nthree.\n\n```\nfive six seven.\nfive six seven.\n```\n"
    assert repeated(page, 3) == ["One two three."]
    assert repeated(page, 4) == []
