"""Where something was measured: GPU, driver, toolkit, date, commit; and the folder named after it."""

from __future__ import annotations

import datetime
import os
import platform
import re
from pathlib import Path

from ..errors import LabError
from ..paths import ROOT
from ..process import output_of
from .backend import ask_nvcc, find_nvcc
from .gpu import ask_driver
from .needs import find_compiler

UNKNOWN = "unknown"
DRIVER_VERSION = Path("/proc/driver/nvidia/version")
CPU_INFO = Path("/proc/cpuinfo")
# What says nothing about which GPU it is.
MAKERS_WORDS = {"nvidia", "geforce", "tesla", "quadro", "gpu"}
# Edits of these change no measurement.
NOT_SOURCES = [":(exclude,glob)*/*/results/**", ":(exclude)*.md"]


def slug(gpu_name: str) -> str:
    """The name of a GPU's folder of results.

    Lower case, without the maker's words; a number joins the word before it, other words are joined
    by '-': "NVIDIA GeForce RTX 4090 Laptop GPU" -> rtx4090-laptop.
    """
    result = ""
    for word in re.findall(r"[a-z0-9]+", gpu_name.lower()):
        if word not in MAKERS_WORDS:
            joint = "" if not result or word.isdigit() else "-"
            result += joint + word
    return result or "gpu"


def _first_gpu() -> str:
    driver = ask_driver()
    if driver.problem:
        raise LabError(f"nothing to measure on: {driver.problem}; --backend cpu runs without a GPU")
    return driver.gpus[0].name


def driver_version() -> str:
    text = output_of(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"])
    if not text.strip():  # "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  ..."
        text = DRIVER_VERSION.read_text() if DRIVER_VERSION.exists() else ""
    found = re.search(r"\d{3,}\.\d+(?:\.\d+)?", text)
    return found.group() if found else UNKNOWN


def memory_gib() -> float | None:
    """GPU memory in GiB, of the smallest where there are several; None where nobody says."""
    question = ["nvidia-smi", "--query-gpu=memory.total", "--format=csv,noheader,nounits"]
    sizes = [float(size) for size in re.findall(r"^(\d+)$", output_of(question), re.MULTILINE)]
    return min(sizes) / 1024 if sizes else None


def host_cpu() -> str:
    text = CPU_INFO.read_text() if CPU_INFO.exists() else ""
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found.group(1).strip() if found else platform.machine()


def commit() -> str:
    """HEAD, with -dirty where the sources differ from it.

    LAB_COMMIT names it instead where it is set: for a copy of the checkout without its history.
    """
    named = os.environ.get("LAB_COMMIT")
    if named:
        return named
    git = ["git", "-C", str(ROOT), "-c", f"safe.directory={ROOT}"]  # also another user's checkout
    head = output_of([*git, "rev-parse", "--short", "HEAD"]).strip()
    if not head:
        return UNKNOWN
    edited = output_of([*git, "status", "--porcelain", "--", ".", *NOT_SOURCES]).strip()
    return head + ("-dirty" if edited else "")


def _toolkit() -> str:
    nvcc = find_nvcc()
    toolkit = ask_nvcc(nvcc) if nvcc else None
    return "CUDA {}.{}".format(*toolkit.version) if toolkit else UNKNOWN


def host_compiler() -> str:
    lines = output_of([find_compiler() or "c++", "--version"]).splitlines()
    return lines[0] if lines else UNKNOWN


def measured_on(backend: str) -> tuple[str, dict[str, str]]:
    """The folder of results, and the facts in the order in which files have them."""
    on_gpu = backend == "gpu"
    gpu = _first_gpu() if on_gpu else f"none, CPU emulation on {host_cpu()}"
    facts = {
        "gpu": gpu,
        "driver": driver_version() if on_gpu else "none",
        "toolkit": _toolkit() if on_gpu else host_compiler(),
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "commit": commit(),
    }
    return (slug(gpu) if on_gpu else "cpu"), facts
