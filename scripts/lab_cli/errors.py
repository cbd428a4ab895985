"""The one way in which a command of lab ends early, and the exit statuses that have a meaning."""

from __future__ import annotations

BAD_USAGE = 2
LONGEST = 160  # characters of a name or a path in a message
NO_GPU = 77  # of an exercise, and of lab: no usable GPU


class LabError(Exception):
    """Shown to the user as one message; `status` becomes the exit status of lab. `who` says it: lab, or
    one of its commands. `printed`: what a program said before it, which has been shown."""

    def __init__(self, message: str, status: int = 1, who: str = "lab", printed: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.who = who
        self.printed = printed


def printable(text: str) -> str:
    """What somebody typed, for a message: on one line, with what cannot be seen escaped, not too long,
    and never empty."""
    if len(text) > LONGEST:
        text = text[: LONGEST - 3] + "..."
    return "".join(map(_shown, text)) or "''"


def _shown(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # how Python has a byte that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return character if character.isprintable() else ascii(character)[1:-1]
