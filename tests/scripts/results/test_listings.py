"""Code of the sources on the pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab_cli.errors import LabError
from lab_cli.results.listings import select, with_listings

SOURCE = """\
// Says hello(.
template <unsigned kTimes>
__global__ void hello(int* sums,
                      int n) {
    for (unsigned i = 0; i < kTimes; ++i) {
        sums[i] = n;
        sums[i] += 1;
    }
}

void other() {
    sums[0] = 1;
}
"""


@pytest.mark.parametrize(
    ("what", "code"),
    [
        ("function other", "void other() {\n    sums[0] = 1;\n}\n"),
        ("signature other", "void other();\n"),
        ("`sums[0]`", "sums[0] = 1;\n"),
        ("`for (` ... `}`", "for (unsigned i = 0; i < kTimes; ++i) {\n    sums[i] = n;\n"
                            "    sums[i] += 1;\n}\n"),
        ("in hello, `sums[i] = n;` ... `;`", "sums[i] = n;\nsums[i] += 1;\n"),
    ],
)  # fmt: skip
def test_lines_of_a_source(what: str, code: str) -> None:
    assert select(SOURCE, what) == code


def test_a_function_with_its_template() -> None:
    hello = select(SOURCE, "function hello")
    assert hello == SOURCE[SOURCE.index("template") : SOURCE.index("\nvoid other")]


@pytest.mark.parametrize(
    ("what", "problem"),
    [
        ("function none", "function none is defined 0 times"),
        ("`sums`", "sums stands there 4 times"),
        ("in other, `kTimes`", "kTimes stands there 0 times"),
        ("`sums[0]` ... `kTimes`", "there is no kTimes behind"),
        ("hello", "expected function NAME"),
    ],
)
def test_lines_that_are_not_there(what: str, problem: str) -> None:
    with pytest.raises(LabError, match=problem):
        select(SOURCE, what)


def test_a_listing_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "x.cu").write_text(SOURCE)
    (tmp_path / "page").mkdir()
    mark, end = "<!-- source ../x.cu | `sums[0]` -->\n", "<!-- end of source -->\n"
    new = with_listings(f"a\n{mark}old\n{end}b\n", tmp_path / "page")
    assert new == f"a\n{mark}\n```cpp\nsums[0] = 1;\n```\n\n{end}b\n"
    assert with_listings(new, tmp_path / "page") == new
    with pytest.raises(LabError, match=r"y\.cu"):
        with_listings(f"{mark.replace('x.cu', 'y.cu')}{end}", tmp_path / "page")
