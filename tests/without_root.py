"""The cpu back end as for somebody who is not root on a machine without compiler, CMake, Ninja and make.

    python3 tests/without_root.py NAME...      runs and tests these exercises, in out/without_root

What is installed here is off PATH; lab gets all of it from PyPI, into out/without_root.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "out" / "without_root"
HIDDEN = re.compile(
    r".*(\+\+|gcc|clang|ninja).*|cc|c89|c99|cmake|ctest|make|gmake|sudo|apt-get|ar|ranlib|ld|addr2line"
)


def programs(folder: Path) -> None:
    """Links in `folder` to all that PATH has, but for what is hidden."""
    folder.mkdir(parents=True, exist_ok=True)
    for place in os.environ["PATH"].split(os.pathsep):
        for program in Path(place).iterdir() if os.path.isdir(place) else []:
            link = folder / program.name
            if not HIDDEN.fullmatch(program.name) and not os.path.lexists(link):
                link.symlink_to(program)


def main(names: list[str]) -> int:
    programs(FOLDER / "programs")
    variables = {name: value for name, value in os.environ.items() if name not in ("CXX", "CC")}
    variables.update({"PATH": str(FOLDER / "programs"), "LAB_BUILD_DIR": str(FOLDER)})
    for command in (["doctor"], ["run", *names], ["test", *names], ["doctor"]):
        print("+ ./lab", *command, flush=True)
        status = subprocess.call([sys.executable, str(ROOT / "lab"), *command], env=variables)
        if status != 0 and command != ["doctor"]:
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
