#!/usr/bin/env python3
"""The compiler flags of programs that can be profiled and checked (--instrument).

cc.py calls instrument_flags(); Emulator.cmake runs this file, which prints them:

    instrument_flags.py COMPILER...     one flag a line, for a C++ compiler and its first arguments
"""

import os
import subprocess
import sys

# Hooks at each access to memory, function and basic block; the library beside the emulator's has
# them, so that the compiler's own run-time libraries stay out. (Ubuntu's GCC protects stacks unless it
# is told not to: a branch more at the end of functions.)
FLAGS = ["-O0", "-g1", "-D__EMU_INSTRUMENTED__", "-fno-stack-protector", "-fsanitize=thread"]
# memcpy() and its like are calls (include/emu/memory_functions.h).
FLAGS += [f"-fno-builtin-{name}" for name in ("memcpy", "memmove", "memset")]
# Where an index is outside of its array the hooks hear of it as well (record/array_bounds.cpp).
# GCC from version 11 has hooks of their own for volatile accesses, and warns of fences that its
# run-time library would not understand. (And on AArch64 it shall make the same branches of a `switch`
# as on x86-64: five cases there are a table.)
NEW_GCC = [
    "-fsanitize-coverage=trace-pc",
    "-fsanitize=bounds",
    "--param=tsan-distinguish-volatile=1",
    "-Wno-tsan",
    "--param=case-values-threshold=5",
]
# clang leaves out blocks that others imply, and splits edges, unless it is told not to;
# instrument_clang.py has the rest, and knows blocks by their names.
CLANG = [
    "-fsanitize-coverage=bb,no-prune,trace-pc",
    "-fsanitize=array-bounds",
    "-fno-discard-value-names",
]
OLD_GCC = ["-fsanitize-coverage=trace-pc", "-fsanitize=bounds"]


def instrument_flags(compiler: list[str]) -> list[str]:
    """Flags for compiling, not for linking: the link would add the sanitizer's own run-time
    library. `compiler` is a command. Raises OSError if it cannot be run."""
    if is_accepted(compiler, [*FLAGS, *NEW_GCC]):
        return [*FLAGS, *NEW_GCC]
    return [*FLAGS, *(CLANG if _is_clang(compiler) else OLD_GCC)]


def is_of_clang(flags: list[str]) -> bool:
    """Whether instrument_flags() gave these for clang."""
    return flags[len(FLAGS) :] == CLANG


def _is_clang(compiler: list[str]) -> bool:
    """By whatever name: zig is, and complains of flags that clang takes."""
    command = [*compiler, "-dM", "-E", "-x", "c++", os.devnull]
    return b"__clang__" in subprocess.run(command, capture_output=True).stdout


def is_accepted(compiler: list[str], flags: list[str]) -> bool:
    """Whether the compiler takes the flags. Raises OSError if it cannot be run."""
    command = [*compiler, *flags, "-Werror", "-fsyntax-only", "-x", "c++", os.devnull]
    return subprocess.run(command, capture_output=True).returncode == 0


if __name__ == "__main__":
    try:
        print("\n".join(instrument_flags(sys.argv[1:])))
    except OSError as error:
        sys.exit(f"instrument_flags.py: cannot run '{' '.join(sys.argv[1:])}': {error.strerror}")
