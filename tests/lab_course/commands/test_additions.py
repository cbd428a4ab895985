"""What courses add to ./lab doctor."""

from __future__ import annotations

from lab_cli.commands.doctor import ABSENT, OK
from lab_course import additions


def test_sandbox_that_does_not_work(fake_tool, monkeypatch) -> None:
    assert additions.sandbox_line().text == "missing: see below"
    fake_tool("bwrap", "echo bubblewrap 0.11.0")
    monkeypatch.setattr(additions.sandbox, "problem", lambda: "no sandbox can be made: why")
    line = additions.sandbox_line()
    assert (line.state, line.text) == (ABSENT, "no sandbox can be made: why")
    monkeypatch.setattr(additions.sandbox, "problem", lambda: "")
    assert additions.sandbox_line().state == OK
