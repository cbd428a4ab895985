"""The script of a job: plain bash, which somebody can read, change and submit without lab."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab_cli.paths import BUILD_VARIABLE, OUT, ROOT

from .folder import Folder
from .settings import DIRECTIVES, FILE, Settings

LAB = ROOT / "lab"
INDEX = "SLURM_ARRAY_TASK_ID"

BEGIN = """\
status={status}
end() {{ # notes the exit status, in a file that is there as a whole or not at all
    echo "$1" > "$status.new" && mv "$status.new" "$status"
    exit "$1"
}}

rm -f "$status"
cd {here} || end 1
"""
MODULES = f"""\
type module > /dev/null 2>&1 || . /etc/profile  # where a login gets it from
if ! type module > /dev/null 2>&1; then
    echo "lab: {FILE} names modules, and there is no command module on $(uname -n)" >&2
    end 1
fi
module load {{modules}} || end 1
"""


@dataclass(frozen=True)
class Work:
    """What a job does: the words of a command of lab. Of an array, each element does it with --only and
    one of `names`."""

    words: Sequence[str]
    settings: Settings
    names: Sequence[str] = ()

    def directives(self, folder: Folder) -> dict[str, str]:
        """Options of sbatch."""
        index = "%a" if self.names else ""
        # What Slurm puts in place of %a and its like must not be put into the rest of the path.
        at = Folder(Path(str(folder.path).replace("%", "%%")))
        found = {
            "job-name": f"lab-{self.words[0]}",
            "output": str(at.file("output", index)),
            "error": str(at.file("errors", index)),
        }
        for name in DIRECTIVES:
            if getattr(self.settings, name):
                found[name] = getattr(self.settings, name)
        if self.names:
            found["array"] = f"0-{len(self.names) - 1}"
        # An element that ran on a node that failed finds what it has finished; a program would run twice.
        found["requeue" if self.names else "no-requeue"] = ""
        return found

    def script(self, folder: Folder) -> str:
        lines = ["#!/bin/bash"]
        for option, value in self.directives(folder).items():
            lines.append(
                f"#SBATCH {shlex.quote(f'--{option}={value}' if value else f'--{option}')}"
            )
        status = shlex.quote(str(folder.path)) + (
            f'/"${INDEX}".status' if self.names else "/status"
        )
        lines += ["", BEGIN.format(status=status, here=shlex.quote(os.getcwd())).rstrip()]
        if os.environ.get(BUILD_VARIABLE):
            lines.append(f"export {BUILD_VARIABLE}={shlex.quote(str(OUT))}")
        if self.settings.modules:
            modules = shlex.join(self.settings.modules)
            lines.append(MODULES.format(modules=modules).rstrip())
        command = shlex.join([str(LAB), *self.words])
        if self.names:
            lines += ["", "names=(", *(f"    {shlex.quote(name)}" for name in self.names), ")"]
            command += f' --only="${{names[{INDEX}]}}"'
        return "\n".join([*lines, "", command, "end $?", ""])
