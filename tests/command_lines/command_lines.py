"""Command lines that students type, and what must come of them: reads lists of them, and tries them.

A list has paragraphs. The first line is the exit status and a line for bash; the lines below it, if
any, say more:

    2  lab run ''
       says lab run: ''

says TEXT    is somewhere in what is printed
makes FILE   is there afterwards, and not empty; what a line does not name, it must not leave behind
lines N      of what is printed to stderr, or any; 1 by default for status 2, which is bad usage. Not
             counted are the commands that lab shows, and its choice of a back end
sends SIGNAL to all|one once TEXT    to all processes of the command, or to its first one, when the
             command of one of them has TEXT in it

Lines that begin with # are remarks. Each command has a folder of its own, with the programs of
SOURCES in it; `lab` and all exercises are on PATH.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LISTS = Path(__file__).parent
SECONDS = 300  # after which a command hangs
KEPT = ("HOME", "LANG", "LAB_BUILD_DIR")  # of the environment

SENDS = r"(INT|TERM|HUP) to (all|one) once (.+)"
# Lines of lab that are no message. (Other tests run lab at the same time.)
SHOWN = ("+ ", "back end: ", "waiting: another lab ")

# Of a program, or of Python, that has met what nobody thought of.
CRASHES = (
    "Traceback (most recent",
    "Exception ignored",
    "most likely due to a circular import",
    "terminate called",
    "Segmentation fault",
    "core dumped",
    "runtime error:",
    "Sanitizer",
    "internal compiler error",
)

MAIN = "int main() { kernel<<<1, 32>>>(); return cudaDeviceSynchronize() != cudaSuccess; }\n"
SOURCES: dict[str, bytes] = {
    "hello.cu": b'#include <cstdio>\n__global__ void kernel() { if (threadIdx.x == 0) printf("hello\\n"); }\n'
    + MAIN.encode(),
    "with blank.cu": b"__global__ void kernel() {}\n" + MAIN.encode(),
    "\u00e9t\u00e9.cu": b"__global__ void kernel() {}\n" + MAIN.encode(),
    "race.cu": b"__global__ void kernel() { __shared__ int x; x = threadIdx.x; }\n" + MAIN.encode(),
    "endless.cu": b"__global__ void kernel() { for (volatile int i = 0;; i = i + 1) {} }\n"
    + MAIN.encode(),
    "three.cu": b"__global__ void kernel() {}\nint main() { return 3; }\n",
    "aborts.cu": b"#include <cstdlib>\n__global__ void kernel() {}\nint main() { std::abort(); }\n",
    "wrong.cu": b"__global__ void kernel() { undeclared = 1; }\n" + MAIN.encode(),
    "brace.cu": b"__global__ void kernel() {\n" + MAIN.encode(),
    "binary.cu": bytes(range(256)),
    "latin1.cu": b"// caf\xe9\n__global__ void kernel() {}\n" + MAIN.encode(),
    "notes.txt": b"no program\n",
}


@dataclass
class Case:
    place: str  # list and line
    status: int
    command: str
    says: list[str] = field(default_factory=list)
    makes: list[str] = field(default_factory=list)
    lines: str = ""
    sends: tuple[signal.Signals, bool, str] | None = None  # to all?


def read(name: str) -> list[Case]:
    """The cases of NAME.txt. ValueError, with the line, for one that is not understood."""
    cases: list[Case] = []
    text = (LISTS / f"{name}.txt").read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        word, _, rest = line.strip().partition(" ")
        rest = rest.strip()
        if word.isdigit() and not line.startswith(" "):
            cases.append(Case(f"{name}.txt:{number}", int(word), rest))
        elif word == "says":
            cases[-1].says.append(rest)
        elif word == "makes":
            cases[-1].makes.append(rest)
        elif word == "lines":
            cases[-1].lines = rest
        elif word == "sends" and (found := re.fullmatch(SENDS, rest)):
            number = signal.Signals[f"SIG{found[1]}"]
            cases[-1].sends = (number, found[2] == "all", found[3])
        else:
            raise ValueError(f"{name}.txt:{number}: {line}")
    return cases


def prepare(folder: Path) -> None:
    """Writes SOURCES, and a folder with the name of a source."""
    for name, content in SOURCES.items():
        (folder / name).write_bytes(content)
    (folder / "folder.cu").mkdir()


def environment(build: Path, folder: Path) -> dict[str, str]:
    """Of a student's shell, with 80 columns: the programs of the build folder on PATH, and a folder of
    its own for temporary files."""
    tools, temporary = folder / "tools", folder / "tmp"
    tools.mkdir()
    (tools / "lab").symlink_to(ROOT / "lab")
    temporary.mkdir()
    chapters = sorted(str(build / path.parent.name) for path in ROOT.glob("*/CMakeLists.txt"))
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return {
        **kept,
        "PATH": os.pathsep.join([str(tools), *chapters, os.environ["PATH"]]),
        "TMPDIR": str(temporary),
        "COLUMNS": "80",
    }


def problems(case: Case, folder: Path, variables: dict[str, str]) -> Iterator[str]:
    """Runs the command in `folder`, which prepare() has filled, and says what is not as it must be."""
    before = entries(folder)
    process = subprocess.Popen(
        ["bash", "-c", f"exec {case.command}" if case.sends else case.command],
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    if case.sends:
        threading.Thread(target=send, args=(process, variables, *case.sends), daemon=True).start()
    try:
        stdout, stderr = (
            part.decode(errors="replace") for part in process.communicate(timeout=SECONDS)
        )
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        yield f"has not ended after {SECONDS} seconds"
        return
    printed = stdout + stderr
    status = process.returncode if process.returncode >= 0 else 128 - process.returncode
    if status != case.status:
        yield f"status {status}, expected {case.status}"
    yield from (f"prints {text!r}" for text in CRASHES if text in printed)
    yield from (f"does not say {text!r}" for text in case.says if text not in printed)
    lines = case.lines or ("1" if case.status == 2 else "any")
    messages = [line for line in stderr.splitlines() if not line.startswith(SHOWN)]
    if lines not in ("any", str(len(messages))):
        yield f"prints {len(messages)} lines to stderr, expected {lines}: {stderr}"
    new = entries(folder) - before
    yield from (f"leaves {name} behind" for name in sorted(new - set(case.makes)))
    yield from (f"does not make {name}" for name in case.makes if not is_filled(folder / name))
    yield from (f"leaves {name} behind in TMPDIR" for name in os.listdir(variables["TMPDIR"]))
    yield from (f"leaves {command_of(number)} behind" for number in living(variables))


def entries(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def is_filled(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0


def send(
    process: subprocess.Popen,
    variables: dict[str, str],
    number: signal.Signals,
    to_all: bool,
    once: str,
) -> None:
    """Sends a signal as soon as there is a process with `once` in its command."""
    while process.poll() is None:
        if any(once in command_of(other) for other in living(variables)):
            (os.killpg if to_all else os.kill)(process.pid, number)
            return
        time.sleep(0.02)


def command_of(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace")
    except OSError:  # it has just ended
        return ""


def living(variables: dict[str, str]) -> list[int]:
    """The processes that have this folder for temporary files and have not ended."""
    own = f"TMPDIR={variables['TMPDIR']}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:  # of one that has ended, nothing is left to read
            if any(word.startswith(own) for word in (folder / "environ").read_bytes().split(b"\0")):
                found.append(int(folder.name))
        except OSError:
            continue
    return found
