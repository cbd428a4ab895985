"""Runs an instrumented program and judges what the hazard check says; the ctest cases of
tests/CMakeLists.txt use it.

    check_hazards.py SOURCE REGEX -- COMMAND...

The program must end with status 0, and a line of the report must match REGEX. Where the program is not
built, or is older than its SOURCE, this ends with 77, which ctest shows as skipped.
"""

from __future__ import annotations

import sys

from judges import hazards_problem
from program import outdated, run_noting

NOT_BUILT = 77


def main(arguments: list[str]) -> int:
    split = arguments.index("--")
    source, regex = arguments[:split]
    command = arguments[split + 1 :]
    reason = outdated(command[0], source)
    if reason:
        print(f"skipped: {reason}")
        return NOT_BUILT
    done, report = run_noting(command, "CUDA_EMULATOR_CHECK")
    sys.stdout.write(done.stdout + done.stderr + report)
    sys.stdout.flush()
    wrong = hazards_problem(done, report, regex)
    if wrong:
        print(f"FAILED: {wrong}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
