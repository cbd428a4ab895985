"""What the pages write as code are words that something knows: the sources, the results, or CUDA's own
tools."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest
from lab_cli.paths import ROOT
from lab_cli.results import tables
from page_text import CODE_SPAN, prose

WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]+")
SOURCES = ("*.cu", "*.cuh", "*.h", "*.cpp", "*.py", "*.cmake", "*.json", "*.toml", "*.csv", "*.txt")
FOLDERS = (
    "ch*",
    "streams",
    "dynamic_parallelism",
    "common",
    "scripts",
    "emulator",
    "cmake",
    "results",
)
FENCED = re.compile(r"^```cpp\n(.*?)^```", re.MULTILINE | re.DOTALL)

# SASS instructions and registers; architectures of nvcc, variables of the driver; the reasons for which
# ncu says that warps stall; tools, their options and what they make; what a macro makes of -D and of a name; numbers.
ELSEWHERE = {
    "BRA", "LDG", "LDS", "STS", "FFMA", "ULDC", "R0", "R5", "R6", "R7", "R10", "IMAD", "ISETP", "LDL", "MOV",
    "STL", "P0", "_Z9lanesRacePKiPim", "HMMA", "HGMMA", "LDSM", "LDGSTS", "UTMALDG", "MEMBAR",
    "dispatch_stall", "long_scoreboard", "not_selected", "smsp__warp_issue_stalled_X_per_warp_active",
    "_st", "cuda_fp16", "__mbarrier_t", "initcheck", "synccheck", "dump", "sass", "fun",
    "compute_20", "compute_75", "compute_80", "sm_86", "CUDA_MODULE_LOADING", "EAGER",
    "CUDA_FORCE_PTX_JIT", "CUDA_DISABLE_PTX_JIT", "ComputeCache", "ptxOwn",
    "cudaOccupancyMaxActiveClusters",
    "NVCC", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "fopenmp", "march", "maybe", "DA",
    "DCMAKE_CUDA_FLAGS", "DLAB_BACKEND", "LE", "ff", "ffffff00",
    "nohup", "MaxArraySize", "run_autograder", "wlm", "munge",
}  # fmt: skip

of_pages = pytest.mark.parametrize(
    "page", tables.pages(), ids=lambda page: str(page.relative_to(ROOT))
)


@functools.cache
def words_of_sources() -> frozenset[str]:
    """All words of the sources, and the names of the files."""
    words: set[str] = set()
    folders = [folder for name in FOLDERS for folder in ROOT.glob(name)]
    paths = [path for folder in folders for kind in SOURCES for path in folder.rglob(kind)]
    for path in [*paths, *ROOT.glob("CMake*"), ROOT / "lab", ROOT / "pyproject.toml"]:
        words.update(WORD.findall(path.read_text(encoding="utf-8", errors="replace")))
    names = [path.name for path in (*ROOT.glob("tests/**/*"), *ROOT.glob("*/*"), *ROOT.glob("*"))]
    return frozenset(words.union(*map(WORD.findall, names)))


def unknown_in(text: str) -> list[str]:
    """The words of a page's code in sentences that neither the sources nor its own programs have."""
    known = words_of_sources() | ELSEWHERE | set(WORD.findall(" ".join(FENCED.findall(text))))
    sentences = " ".join(line for _, line in prose(text))
    spans = " ".join(span for _, span in CODE_SPAN.findall(sentences))
    spans = re.sub(r"--kernel=\w+", "", spans)  # a part of a name: test_page_commands.py has it
    return [word for word in WORD.findall(spans) if word not in known]


@of_pages
def test_words_of_code_are_known(page: Path) -> None:
    assert unknown_in(page.read_text(encoding="utf-8")) == []


def test_an_unknown_word_is_found() -> None:
    assert unknown_in("The `__syncthreads()` of `transposeSmem`, and `tile`.") == []
    assert unknown_in("The `__syncthread()` of `transposeSmen`.") == [
        "__syncthread",
        "transposeSmen",
    ]
    assert unknown_in("`mine`\n\n```cpp\nint mine;\n```\n") == []


def test_no_word_is_listed_in_vain() -> None:
    assert sorted(ELSEWHERE & words_of_sources()) == []
    text = "".join(page.read_text(encoding="utf-8") for page in tables.pages())
    assert sorted(word for word in ELSEWHERE if word not in text) == []
