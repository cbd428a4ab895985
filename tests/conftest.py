"""Tests send signals, and wait for what these end: also where whoever runs pytest has told it to ignore
them, as `nohup` does and a script that runs it in the background.

They leave no compiled code in the checkout: lab and the emulator would read there what a full disk has
cut short.

Only the tests of tests/pages read the pages of the checkout (*.md). So no other test has to run again
when nothing but a page has changed."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

sys.dont_write_bytecode = True
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"

for number, handler in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, handler)

TESTS = Path(__file__).resolve().parent
BUILT = TESTS.parent / "out"
now: list[Path] = []  # the file of the test that runs, or is collected


def pytest_collectstart(collector: pytest.Collector) -> None:
    now[:] = [collector.path]


def pytest_runtest_setup(item: pytest.Item) -> None:
    now[:] = [item.path]


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish() -> None:
    now.clear()  # pytest's own cache has a README.md


def keep_from_pages(event: str, arguments: tuple[object, ...]) -> None:
    """An audit hook. AssertionError where a test outside of tests/pages opens a page."""
    if event != "open" or not now or TESTS / "pages" in now[0].parents:
        return
    name = arguments[0]
    if isinstance(name, (str, bytes)) and os.fsdecode(name).endswith(".md"):
        path = Path(os.fsdecode(name)).resolve()
        if TESTS.parent in path.parents and BUILT not in path.parents:
            raise AssertionError(f"reads {path}: a test that reads pages belongs into tests/pages")


sys.addaudithook(keep_from_pages)
