"""One program of several rounds of changes, for NAME/broken."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from lab_cli.machine.needs import find_compiler
from switched_blocks import HEADER, HEADER_TEXT, VARIABLE, Blocks, Change

SOURCE = """\
#include <cstdio>
constexpr int kFirst = 1;
struct Pair { int x = 2; };
int chosen(int n) {
    switch (n) { case 0: return 3; default: return 4; }
}
int main() {
    const int values[] = {5, 6};
    int sum = 0;
    for (int value : values) { sum += 7 * value; }
    auto lambda = [&] { sum += 8; };
    lambda();
    std::printf("%d %d\\n", sum, chosen(0));
}
"""


def change(number: int, old: str, new: str) -> Change:
    start = SOURCE.index(old)
    return Change(number, start, start + len(old), new)


@pytest.mark.parametrize(
    ("text", "lies"),
    [
        ("= 1", False),
        ("x = 2", False),
        ("return 3", True),
        ("5, 6", True),
        ("sum += 7", True),
        ("sum += 8", True),
        ("int main() {\n    const int", False),
    ],
)
def test_a_change_lies_in_a_block_of_statements(text: str, lies: bool) -> None:
    assert Blocks(SOURCE).have(change(1, text, "?" * len(text))) == lies


def test_what_stays_is_no_part_of_a_change() -> None:
    assert Blocks(SOURCE).have(change(1, "int main() {\n    const", "int main() {\n    static"))


def test_each_round_is_a_source_of_its_own(tmp_path: Path) -> None:
    """Also where a block of one round is within that of another, and two rounds change the same."""
    compiler = find_compiler()
    if not compiler:
        pytest.skip("no C++ compiler")
    changes = [
        change(1, "7 *", "1 *"),
        change(2, "7 *", "2 *"),
        change(3, "8;", "80;"),
        change(3, "return 3", "return 30"),
        change(4, "int sum = 0", "int sum = 1000"),
    ]
    (tmp_path / HEADER).write_text(HEADER_TEXT)
    source, program = tmp_path / "x.cpp", tmp_path / "x"
    source.write_text(Blocks(SOURCE).with_rounds(changes))
    command = [compiler, "-std=c++17", "-D__host__=", "-D__device__=", str(source), "-o"]
    subprocess.run([*command, str(program)], check=True)
    said = [
        subprocess.run(
            [program], env={VARIABLE: str(number)}, capture_output=True, text=True
        ).stdout
        for number in range(5)
    ]
    assert said == ["85 3\n", "19 3\n", "30 3\n", "157 30\n", "1085 3\n"]
