"""The one way in which a command of lab ends early."""

from __future__ import annotations


class LabError(Exception):
    """Shown to the user as one message; `status` becomes the exit status of lab."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status
