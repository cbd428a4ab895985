"""Runs the commands of a page as they stand there, one after another.

    readme_commands.py PAGE.md      in the root of a checkout

Commands are the lines of its indented code blocks. Left out are those with a <placeholder>. They run in a
temporary folder that looks like a fresh checkout, with links to all that git knows, and in which there is
a file mine.cu for those that want one. So nobody's own files are read, overwritten or removed; what
./lab builds is in the checkout as ever, since it follows the link.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
OWN_SOURCE = """\
#include <cstdio>
__global__ void square(int* values) { values[threadIdx.x] *= values[threadIdx.x]; }
int main() {
    int* values;
    cudaMallocManaged(&values, 32 * sizeof(int));
    for (int i = 0; i < 32; ++i) values[i] = i;
    square<<<1, 32>>>(values);
    cudaDeviceSynchronize();
    std::printf("%d\\n", values[31]);
    cudaFree(values);
}
"""


def commands_of(page: str) -> list[str]:
    """What stands between ``` is to be read, not to be run."""
    outside = "".join(page.split("```")[::2])
    indented = [line.strip() for line in outside.splitlines() if line.startswith("    ")]
    return [line for line in indented if line and "<" not in line]


def fill(folder: Path) -> None:
    """Makes links to what git knows of the current folder, and mine.cu."""
    known = subprocess.run(["git", "ls-files", "-z"], stdout=subprocess.PIPE, check=True).stdout
    for name in {os.fsdecode(path).partition("/")[0] for path in known.split(b"\0") if path}:
        (folder / name).symlink_to(Path.cwd() / name)
    (folder / "mine.cu").write_text(OWN_SOURCE)


def run(command: str, folder: Path) -> int:
    """Its exit status. It ends with this program, and so does what it has started."""
    process = subprocess.Popen(["bash", "-c", command], cwd=folder, start_new_session=True)
    try:
        return process.wait()
    except SystemExit:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()
        raise


def end(number: int, _: FrameType | None) -> None:
    for other in ENDING:  # once is enough: a second one would come amid the cleaning up
        signal.signal(other, signal.SIG_IGN)
    raise SystemExit(128 + number)


def main(path: str) -> int:
    commands = commands_of(Path(path).read_text(encoding="utf-8"))
    if not commands:
        sys.exit(f"{path}: no commands in indented blocks")
    with tempfile.TemporaryDirectory(prefix="lab-readme-") as name:
        fill(Path(name))
        for command in commands:
            print(f"\n==== {command}", flush=True)
            status = run(command, Path(name))
            if status != 0:
                print(f"{path}: {command}: exit status {status}", file=sys.stderr)
                return status
    return 0


if __name__ == "__main__":
    for ending in ENDING:
        if signal.getsignal(ending) != signal.SIG_IGN:  # as nohup has it
            signal.signal(ending, end)
    sys.exit(main(sys.argv[1]))
