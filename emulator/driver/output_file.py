"""Writes files of text."""

import os


def write(path: str, text: str) -> None:
    """Writes the file at once: nobody sees half of it, and nothing stays behind if that fails. What is
    no file, such as /dev/stdout, is written in place. Raises OSError, which names the file."""
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            _fill(path, text)
            return
        path = os.path.realpath(path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        temporary = f"{path}.{os.getpid()}.tmp"
        try:
            _fill(temporary, text)
            os.replace(temporary, path)
        finally:
            if os.path.exists(temporary):
                os.remove(temporary)
    except OSError as error:
        error.filename = path  # that of a write has none
        raise


def _fill(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        file.write(text)
