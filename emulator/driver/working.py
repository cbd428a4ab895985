"""What is begun on the way to an output, and ends with the program however that ends: children, and a
folder for temporary files."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from ending import held


def keep_own_rights() -> None:
    """From now on, the owner can read, write and run what this program and its children make, whatever
    umask the caller has set."""
    os.umask(os.umask(0) & 0o077)


def run(command: list[str], environment: dict[str, str]) -> int:
    """Runs the command and returns its exit status. It ends with this program, and so do the programs
    that it has started, as compilers do: they are a session of their own."""
    process = None
    try:
        with held():  # the signal may come when it has begun, and Popen() does not know yet
            process = subprocess.Popen(command, env=environment, start_new_session=True)
        return process.wait()
    except BaseException:
        if process is not None and process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        raise


@contextmanager
def temporary_folder(prefix: str, name: str = "") -> Iterator[str]:
    """A new folder, removed at the end. It has this name behind the prefix if it can. Raises OSError."""
    path = ""
    try:
        with held():
            path = _named_folder(prefix + name) if name else ""
            path = path or tempfile.mkdtemp(prefix=prefix)
        yield path
    finally:
        if path:
            with held():
                shutil.rmtree(path, ignore_errors=True)


def _named_folder(name: str) -> str:
    """Empty if there is one of that name, which may be another user's."""
    path = os.path.join(tempfile.gettempdir(), name)
    try:
        os.mkdir(path, 0o700)
    except OSError:
        return ""
    return path
