"""Runs the commands of a page as they stand there, one after another, in the root of the checkout.

    readme_commands.py PAGE.md

Commands are the lines of its indented code blocks. Left out are those with a <placeholder>; a file
mine.cu is made for those that want one. Ends with the status of the first command that fails.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

OWN_PROGRAM = Path("mine.cu")
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
    indented = [line.strip() for line in page.splitlines() if line.startswith("    ")]
    return [line for line in indented if line and "<" not in line]


def main(path: str) -> int:
    commands = commands_of(Path(path).read_text(encoding="utf-8"))
    if not commands:
        sys.exit(f"{path}: no commands in indented blocks")
    OWN_PROGRAM.write_text(OWN_SOURCE)
    try:
        for command in commands:
            print(f"\n==== {command}", flush=True)
            status = subprocess.run(["bash", "-c", command]).returncode
            if status != 0:
                print(f"{path}: {command}: exit status {status}", file=sys.stderr)
                return status
    finally:
        OWN_PROGRAM.unlink()
        OWN_PROGRAM.with_suffix("").unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
