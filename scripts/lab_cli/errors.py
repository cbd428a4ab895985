"""The one way in which a command of lab ends early, and the exit statuses that have a meaning."""

from __future__ import annotations

NO_GPU = 77  # of an exercise, and of lab: no usable GPU


class LabError(Exception):
    """Shown to the user as one message; `status` becomes the exit status of lab."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status
