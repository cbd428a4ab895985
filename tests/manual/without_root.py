"""The cpu back end as for somebody who is not root on a machine without compiler, CMake, Ninja and make.

    python3 tests/manual/without_root.py              runs and tests all exercises, in out/without_root
    python3 tests/manual/without_root.py NAME...      some

What is installed here is off PATH, and its headers and packages of CMake are hidden in namespaces of this
process's own (unshare); lab gets all that it needs from PyPI, into out/without_root.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "out" / "without_root"
HIDDEN = re.compile(
    r".*(\+\+|gcc|clang|ninja|nvcc|ccache).*|cc|c89|c99|cmake|ctest|make|gmake|sudo|apt-get|ar|ranlib|ld|addr2line"
)

PACKAGES = ["include", "local/include", "lib/cmake", "local/lib/cmake", "lib/*/cmake"]  # of /usr
INSIDE = "LAB_HEADERS_ARE_HIDDEN"


def hide() -> None:
    for folder in (path for pattern in PACKAGES for path in Path("/usr").glob(pattern)):
        subprocess.run(["mount", "-t", "tmpfs", "none", str(folder)], check=True)


def programs(folder: Path) -> None:
    """Links in `folder` to all that PATH has, but for what is hidden."""
    folder.mkdir(parents=True, exist_ok=True)
    for place in os.environ["PATH"].split(os.pathsep):
        for program in Path(place).iterdir() if os.path.isdir(place) else []:
            link = folder / program.name
            if not HIDDEN.fullmatch(program.name) and not os.path.lexists(link):
                link.symlink_to(program)


def run_and_test(names: list[str]) -> int:
    hide()
    programs(FOLDER / "programs")
    variables = {name: value for name, value in os.environ.items() if name not in ("CXX", "CC")}
    variables.update({"PATH": str(FOLDER / "programs"), "LAB_BUILD_DIR": str(FOLDER)})
    for command in (["doctor"], ["run", *names], ["test", *names], ["doctor"]):
        print("+ ./lab", *command, flush=True)
        status = subprocess.call([sys.executable, str(ROOT / "lab"), *command], env=variables)
        if status != 0 and command != ["doctor"]:
            return status
    return 0


def main(names: list[str]) -> int:
    if INSIDE in os.environ:
        return run_and_test(names)
    alone = ["unshare", "--map-root-user", "--mount"]
    command = [*alone, sys.executable, "-B", __file__, *names]
    return subprocess.call(command, env={**os.environ, INSIDE: "1"})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
