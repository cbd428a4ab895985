"""CI runs the README's commands as they stand there."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import readme_commands


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a tool that git knows and files of somebody's own that it does not. No
    temporary folder stays behind."""
    folder, temporary = tmp_path / "checkout", tmp_path / "temporary"
    (folder / "tools").mkdir(parents=True)
    (folder / "tools" / "tool.txt").write_text("a tool\n")
    for command in (["init", "-q"], ["add", "tools"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    for own in ("mine.cu", "mine/notes", "build/cache", "report.html"):
        (folder / own).parent.mkdir(exist_ok=True)
        (folder / own).write_text("own\n")
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.chdir(folder)
    return folder


def contents(folder: Path) -> dict[Path, str]:
    files = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {path.relative_to(folder): path.read_text() for path in files}


def test_they_run_in_order_until_one_fails(checkout: Path, capfd) -> None:
    (checkout / "page.md").write_text(
        "A page\n\n```\n    exit 4\n```\n\n    echo one   # a remark\n    git clone <this>\n\ntext\n\n    ls mine.cu\n    exit 3\n"
        "    echo four\n"
    )
    assert readme_commands.main("page.md") == 3
    out, err = capfd.readouterr()
    shown = [line for line in out.splitlines() if line]
    assert shown == [
        "==== echo one   # a remark",
        "one",
        "==== ls mine.cu",
        "mine.cu",
        "==== exit 3",
    ]
    assert err == "page.md: exit 3: exit status 3\n"


def test_nobodys_own_files_are_touched(checkout: Path, capfd) -> None:
    """They are not even there."""
    (checkout / "page.md").write_text(
        "    ls\n    cat tools/tool.txt\n    grep -q square mine.cu\n    mkdir build\n    cp mine.cu mine\n"
        "    cp mine report.html\n    rm mine.cu\n"
    )
    before = contents(checkout)
    assert readme_commands.main("page.md") == 0
    assert contents(checkout) == before
    assert [*(checkout.parent / "temporary").iterdir()] == []
    printed = [line for line in capfd.readouterr().out.splitlines() if line[:1] not in ("", "=")]
    assert printed == ["mine.cu", "tools", "a tool"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupted_it_leaves_nothing_behind(checkout: Path, number: signal.Signals) -> None:
    (checkout / "page.md").write_text("    sleep 1000 & touch x; echo begun; wait\n")
    before = contents(checkout)
    command = [sys.executable, readme_commands.__file__, "page.md"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        while process.stdout.readline() != "begun\n":
            assert process.poll() is None
        process.send_signal(number)
        process.stdout.read()  # to the end: what it has started has ended, too
        assert process.wait() == 128 + number
    assert contents(checkout) == before
    assert [*(checkout.parent / "temporary").iterdir()] == []


def test_a_page_without_commands_is_an_error(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("text\n")
    with pytest.raises(SystemExit, match="no commands"):
        readme_commands.main(str(page))
