"""What the pages say of limits and defaults is what the code has: both stand here, so that neither
changes alone."""

from __future__ import annotations

import re

import pytest
from lab_cli.paths import ROOT

LIMITS = "emulator/include/emu/limits.h"
FACTS = [  # the page, what it says, the file, what that says
    ("README.md", "They need git and Python 3.9 on", "lab", "sys.version_info < (3, 9)"),
    (
        "README.md",
        "Compute capability 7.5 and up.",
        "scripts/lab_cli/machine/backend.py",
        "OLDEST_ARCHITECTURE = 75",
    ),
    (
        "README.md",
        "that of the GPU at hand, or 75, 80 and 90)",
        "scripts/lab_cli/machine/backend.py",
        "DEFAULT_ARCHITECTURES = [75, 80, 90]",
    ),
    ("GUIDE.md", "| 1 | a wrong result, or a failure |", "common/fail.h", "kExitFailure = 1,"),
    ("GUIDE.md", "| 2 | bad usage:", "common/fail.h", "kExitBadUsage = 2,"),
    ("GUIDE.md", "| 77 | a gpu build found no usable GPU |", "common/fail.h", "kExitNoGpu = 77,"),
    ("emulator/README.md", "One device, compute capability 9.0,", LIMITS, "kComputeMajor = 9;"),
    ("emulator/README.md", "1024 threads per block", LIMITS, "kMaxThreadsPerBlock = 1024;"),
    (
        "emulator/README.md",
        "48 KiB of shared memory per block",
        LIMITS,
        "kSharedPerBlock = 48 * 1024;",
    ),
    (
        "emulator/README.md",
        "(227 KiB after opting in)",
        LIMITS,
        "kSharedPerBlockOptin = 227 * 1024;",
    ),
    (
        "emulator/README.md",
        "2048 threads and 32 blocks per SM.",
        LIMITS,
        "kMaxThreadsPerSm = 2048;",
    ),
    ("emulator/README.md", "2048 threads and 32 blocks per SM.", LIMITS, "kMaxBlocksPerSm = 32;"),
    (
        "emulator/README.md",
        "`CUDA_EMULATOR_SMS` says (1 to 256:",
        "emulator/src/engine/device_settings.cpp",
        "kMost = 256;",
    ),
    (
        "emulator/README.md",
        "only in the first 16 MiB,",
        "emulator/src/engine/poison.h",
        "kPoisonedBytes = size_t{16} << 20;",
    ),
    (
        "emulator/README.md",
        "a CUDA thread has 256 KiB for its local variables",
        "emulator/src/engine/stacks.h",
        "kFiberStackSize = 256 * 1024;",
    ),
    (
        "emulator/README.md",
        "(a GPU: up to 512 KiB)",
        "emulator/src/runtime/device.cpp",
        "kMaxStack = size_t{512} << 10;",
    ),
    (
        "streams/README.md",
        "Up to 128 kernels run at a time",
        "streams/streamConcurrency.cu",
        '"kernels", &maxKernels, 8, 1, 128,',
    ),
]


@pytest.mark.parametrize(("page", "sentence", "file", "code"), FACTS)
def test_page_and_code_say_the_same(page: str, sentence: str, file: str, code: str) -> None:
    for path, text in ((page, sentence), (file, code)):
        words = " ".join((ROOT / path).read_text(encoding="utf-8").split())
        assert words.count(text) == 1, f"{path}: {text}"


def test_arguments_of_the_call_in_cmake_are_such() -> None:
    function = (ROOT / "cmake" / "LabExercise.cmake").read_text()
    known = re.findall(
        r'cmake_parse_arguments\(PARSE_ARGV 1 arg "([\w;]+)" ""\s+"([\w;]+)"\)', function
    )
    names = {name for group in known[0] for name in group.split(";")}
    page = (ROOT / "CONTRIBUTING.md").read_text()
    call = page.partition("4. **The call**")[2].partition("\n5. ")[0]
    named = set(re.findall(r"(?:^       |`)([A-Z_]{3,})\b", call, re.MULTILINE)) - {"WRONG", "NAME"}
    assert len(named) > 4
    assert named <= names
