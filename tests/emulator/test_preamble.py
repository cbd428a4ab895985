"""cc.py --preamble: the includes of a program are compiled once, and again when something has changed."""

import subprocess
import sys
from pathlib import Path

import preamble
import pytest

DRIVER = Path(preamble.__file__).with_name("cc.py")
HEAD = '#line 1 "a.cu"\n'


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("#include <a>\n#include <b>\nint x;\n", 2),
        ("// int y;\n/* int\n z; */ #include <a>\nint x;\n#include <b>\n", 3),
        ("#define A \\\n  1\n#include <a>\n\nint x;\n", 3),
        ("#if A\n#include <a>\n#endif\n#include <b>\n#ifdef B\n#include <c>\nint x;\n#endif\n", 4),
        ("int x;\n#include <a>\n", 0),
        ("", 0),
    ],
)
def test_where_a_preamble_ends(lines: str, expected: int) -> None:
    found, rest = preamble.split(HEAD + lines)
    assert found.count("\n") == (expected + 1 if expected else 0)
    first, _, code = rest.partition("\n")
    behind = (HEAD + lines).splitlines(keepends=True)[found.count("\n") :]
    assert code == "".join(behind)
    if expected:  # the lines of the rest have their numbers still
        assert first == f'#line {expected + 1} "a.cu"'


def test_a_digest_depends_on_all_that_counts(tmp_path: Path) -> None:
    header = tmp_path / "a.h"
    header.touch()
    digests = {
        preamble.digest(*given, [str(header)])
        for given in [("text", ["g++"]), ("other", ["g++"]), ("text", ["g++", "-O1"])]
    }
    header.unlink()
    digests.add(preamble.digest("text", ["g++"], [str(header)]))
    assert len(digests) == 4


PROGRAM = """\
#include <cstdio>
#include "value.h"

int main() {
    std::printf("%d\\n", VALUE + ADDED);
}
"""


@pytest.fixture
def compiled(tmp_path, of_build, gcc):
    """compiled(added): what the program prints that was compiled with a preamble."""
    if not gcc:
        pytest.skip("preambles are g++'s")
    folder = tmp_path / "preamble"
    folder.mkdir()

    def run(added: str) -> str:
        source = tmp_path / "a.cu"
        source.write_text(PROGRAM.replace("ADDED", added))
        output = tmp_path / "a"
        command = [sys.executable, str(DRIVER), f"--preamble={folder}", *of_build]
        subprocess.run([*command, str(source), "-o", str(output)], check=True)
        return subprocess.run([str(output)], capture_output=True, text=True).stdout

    return run


def test_a_preamble_is_compiled_again_only_when_it_has_changed(compiled, tmp_path: Path) -> None:
    header = tmp_path / "value.h"
    header.write_text("#define VALUE 10\n")
    kept = tmp_path / "preamble" / "preamble.h.gch"
    assert compiled("1") == "11\n"
    first = kept.stat().st_mtime_ns
    assert compiled("2") == "12\n" and kept.stat().st_mtime_ns == first
    header.write_text("#define VALUE 20\n")
    assert compiled("2") == "22\n" and kept.stat().st_mtime_ns > first


def test_an_error_has_its_line(compiled, tmp_path: Path, capfd) -> None:
    (tmp_path / "value.h").write_text("#define VALUE 10\n")
    with pytest.raises(subprocess.CalledProcessError):
        compiled("nonsense")
    assert "a.cu:5:" in capfd.readouterr().err
