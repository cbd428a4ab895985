"""Ten students at once, with one checkout that none of them can write to. Not a part of CI.

    sudo python3 tests/manual/ten_students.py [--students COUNT] [COMMAND...]

Each is a user of their own (without root: whoever runs this), with `umask 077` and a build folder of
their own, and runs the commands one after another: by default `./lab run reduceInteger` and
`./lab test transpose`, in a clone of the last commit. All must end with status 0, however long it takes,
and the checkout must be what it was.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = ["./lab run reduceInteger", "./lab test transpose"]
FIRST_UID = 60001
HEAD = "student  status  seconds"


def stands(checkout: Path) -> dict[Path, tuple[int, int]]:
    """Its files, with owner and time of change."""
    facts = {path: path.lstat() for path in checkout.rglob("*")}
    return {path: (fact.st_uid, fact.st_mtime_ns) for path, fact in facts.items()}


def identity(number: int) -> dict[str, Any]:
    if os.geteuid() != 0:
        return {}
    return {"user": FIRST_UID + number, "group": FIRST_UID + number, "extra_groups": []}


def begin(number: int, checkout: Path, home: Path, commands: list[str]) -> subprocess.Popen[bytes]:
    """What is printed goes into the file `log` of the student's home."""
    home.mkdir(mode=0o700)
    if os.geteuid() == 0:
        os.chown(home, FIRST_UID + number, FIRST_UID + number)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("LAB_")},
        "HOME": str(home),
        "LAB_BUILD_DIR": str(home / "out"),
        "PATH": "/usr/local/bin:/usr/bin:/bin",
    }
    script = f"{{ {' && '.join(commands)}; }} > {shlex.quote(str(home / 'log'))} 2>&1"
    return subprocess.Popen(
        ["sh", "-c", script], cwd=checkout, env=environment, umask=0o077, **identity(number)
    )


def run(count: int, commands: list[str], folder: Path) -> int:
    checkout = folder / "checkout"
    subprocess.run(
        ["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(checkout)], check=True
    )
    subprocess.run(["chmod", "-R", "a+rX,a-w", str(checkout)], check=True)
    before = stands(checkout)
    start = time.monotonic()
    homes = [folder / f"student{number}" for number in range(count)]
    working = {number: begin(number, checkout, home, commands) for number, home in enumerate(homes)}
    print(HEAD, flush=True)
    failed = []
    while working:
        for number, process in [*working.items()]:
            if process.poll() is not None:
                del working[number]
                seconds = time.monotonic() - start
                print(f"{number:7}  {process.returncode:6}  {seconds:7.0f}", flush=True)
                failed += [number] if process.returncode else []
        time.sleep(0.2)
    for number in failed[:1]:
        print(f"\nwhat student {number} saw:\n{(homes[number] / 'log').read_text()}")
    changed = before != stands(checkout)
    if changed:
        print("the checkout is not what it was")
    print(f"{count - len(failed)} of {count} ok")
    return 1 if failed or changed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--students", type=int, default=10)
    parser.add_argument("commands", nargs="*", metavar="COMMAND", default=COMMANDS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lab-students-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        try:
            return run(arguments.students, arguments.commands, folder)
        finally:
            subprocess.run(["chmod", "-R", "u+w", str(folder / "checkout")])


if __name__ == "__main__":
    sys.exit(main())
