"""Headings, links and lines of small pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from page_text import anchors, broken_links, long_lines, prose, targets

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


def test_code_is_no_prose() -> None:
    lines = [line for _, line in prose(PAGE)]
    assert "# no heading" not in lines and "    [no](y.md)" not in lines
    assert (1, "# Title") in list(prose(PAGE))
    assert "    [five](#part-1) is of the item" in lines
    assert [number for number, _ in prose("~~~\n```\n~~~\nout\n")] == [4]
    assert [number for number, _ in prose("<!-- a\nb\n-->\n<!-- c -->\nout\n")] == [4, 5]
    assert [number for number, _ in prose("```\n<!-- a\n```\nout\n")] == [4]


def test_targets() -> None:
    found = ["a.md", "b/c.svg", "#part-1", "https://example.org/f.md", "g.md", "h.png"]
    assert targets(PAGE) == found


def test_anchors_of_the_same_heading_are_numbered() -> None:
    assert anchors(PAGE) == {"title", "part", "part-1", "here"}


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
