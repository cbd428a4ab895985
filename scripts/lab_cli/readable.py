"""A checkout that is another user's: can all of it be read? One that was made with `umask 077` cannot."""

from __future__ import annotations

import os
from collections.abc import Iterator

from .paths import ROOT

NOT_LOOKED_AT = {".git", ".venv", "build", "work", "out"}  # of the checkout


def problem() -> str:
    """Says what cannot be read, and what to do about it; empty where there is nothing. It takes some
    milliseconds, and none in a checkout of one's own."""
    if ROOT.stat().st_uid == os.geteuid():
        return ""
    path = next(_unreadable(), None)
    if path is None:
        return ""
    return f"{path} cannot be read: whoever installed it can type chmod -R a+rX {ROOT}"


def _unreadable() -> Iterator[str]:
    for folder, folders, files in os.walk(ROOT):
        if folder == str(ROOT):
            folders[:] = sorted(set(folders) - NOT_LOOKED_AT)
        for name in folders:
            path = os.path.join(folder, name)
            if not os.access(path, os.R_OK | os.X_OK):
                yield path
        for name in files:
            path = os.path.join(folder, name)
            if not os.access(path, os.R_OK):
                yield path
