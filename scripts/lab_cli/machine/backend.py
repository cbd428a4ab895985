"""Chooses the back end: gpu where nvcc and a GPU are there that can run what nvcc builds, else cpu.
Where only nvcc is missing, lab installs that of PyPI.

CMake asks as well, and installs nothing: python3 -m lab_cli.machine.backend auto|gpu
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from ..errors import LabError
from ..files import make_build_folder, write
from ..paths import OUT
from ..process import output_of, say
from . import cuda_wheels
from .gpu import NO_DRIVER, Driver, Gpu, ask_driver

OLDEST_ARCHITECTURE = 75
DEFAULT_ARCHITECTURES = [75, 80, 90]
CACHE = OUT / "lab_backend.json"
NVIDIA_PROC = Path("/proc/driver/nvidia")
DOWNLOADS = "https://developer.nvidia.com/cuda-downloads"


@dataclass(frozen=True)
class Choice:
    backend: str  # gpu or cpu
    reason: str
    nvcc: str = ""
    architectures: str = ""  # default of CMAKE_CUDA_ARCHITECTURES


@dataclass(frozen=True)
class Toolkit:
    nvcc: str
    version: tuple[int, int]
    architectures: list[int]  # that nvcc compiles for


def find_nvcc() -> str | None:
    """CUDACXX, else PATH, else the usual folders, else what lab has installed."""
    wanted = os.environ.get("CUDACXX")
    if wanted:
        return shutil.which(wanted)
    homes = [
        os.environ.get("CUDA_HOME"),
        os.environ.get("CUDA_PATH"),
        "/usr/local/cuda",
        "/opt/cuda",
    ]
    places = [os.path.join(home, "bin") for home in homes if home]
    installed = shutil.which("nvcc") or shutil.which("nvcc", path=os.pathsep.join(places))
    return installed or cuda_wheels.nvcc()


def ask_nvcc(nvcc: str) -> Toolkit | None:
    """None if it does not run."""
    release = re.search(r"release (\d+)\.(\d+)", output_of([nvcc, "--version"]))
    if not release:
        return None
    names = re.findall(r"compute_(\d+)", output_of([nvcc, "--list-gpu-arch"]))
    version = (int(release.group(1)), int(release.group(2)))
    return Toolkit(nvcc, version, sorted({int(name) for name in names}))


def age_problem(toolkit: Toolkit, gpu: Gpu) -> str:
    """Why this GPU is too old; empty if it is not."""
    oldest = max([OLDEST_ARCHITECTURE, *toolkit.architectures[:1]])
    if gpu.architecture >= oldest:
        return ""
    return f"{gpu.name} is sm_{gpu.architecture}, older than sm_{oldest}"


def gpu_problem(toolkit: Toolkit, driver: Driver) -> str:
    """Why a program that this toolkit builds does not run here; empty if it does."""
    if driver.problem:
        return driver.problem
    if driver.cuda_version[0] < toolkit.version[0]:
        return (
            f"the NVIDIA driver runs CUDA {driver.cuda_version[0]}.{driver.cuda_version[1]}, "
            f"which is older than nvcc's {toolkit.version[0]}.{toolkit.version[1]}"
        )
    return age_problem(toolkit, driver.gpus[0])


def wheels_problem(driver: Driver) -> str:
    """Why nvcc of PyPI would be of no use here; empty if it would be."""
    wanted = os.environ.get("CUDACXX")
    if wanted:
        return f"CUDACXX={wanted} is not there"
    if driver.problem:
        return driver.problem
    if cuda_wheels.size() is None:
        return f"PyPI has none for {platform.machine()}"
    major = cuda_wheels.VERSION[0]
    runs = driver.cuda_version
    if runs[0] < major:
        return (
            f"the NVIDIA driver runs CUDA {runs[0]}.{runs[1]}, and nvcc of PyPI needs one for CUDA "
            f"{major}: who administers this machine can update the driver to "
            f"{cuda_wheels.OLDEST_DRIVER} or newer, or install the CUDA toolkit {runs[0]}"
        )
    return age_problem(Toolkit("", cuda_wheels.VERSION, []), driver.gpus[0])


def no_nvcc(driver: Driver) -> str:
    """Says that it is missing, and what is to be done or in the way."""
    problem = wheels_problem(driver)
    if problem == NO_DRIVER:
        return "no nvcc"
    if problem:
        return f"no nvcc; {problem}"
    failure = cuda_wheels.failure()
    if failure:
        return f"no nvcc; {failure}; ./lab run --backend gpu tries again"
    return "no nvcc; ./lab run --backend gpu installs it from PyPI"


def default_architectures(toolkit: Toolkit, driver: Driver) -> str:
    """native, where nvcc knows the GPU; else the default list as far as nvcc knows it.

    The newest of the list is also embedded as PTX, which a driver compiles for a newer GPU.
    """
    seen = {gpu.architecture for gpu in driver.gpus}
    if seen and not gpu_problem(toolkit, driver) and seen <= set(toolkit.architectures):
        return "native"
    known = [a for a in DEFAULT_ARCHITECTURES if a in toolkit.architectures]
    return ";".join(str(a) for a in known or toolkit.architectures[-1:])


def choose(request: str, nvcc: str | None, driver: Driver | None = None) -> Choice:
    """`request` is auto or gpu. Without `driver`, the one of this machine is asked."""
    toolkit = ask_nvcc(nvcc) if nvcc else None
    driver = driver or ask_driver()
    if toolkit is None:
        problem = f"{nvcc} does not run" if nvcc else no_nvcc(driver)
        if request == "gpu":
            raise LabError(
                f"the gpu back end needs the CUDA toolkit: {problem}. Install it ({DOWNLOADS}), or "
                "set CUDACXX to your nvcc, or take the cpu back end"
            )
        return Choice("cpu", problem)
    problem = gpu_problem(toolkit, driver)
    if request == "auto" and problem:
        return Choice("cpu", problem)
    origin = " of PyPI" if nvcc == cuda_wheels.nvcc() else ""
    nvcc_version = f"nvcc {toolkit.version[0]}.{toolkit.version[1]}{origin}"
    seen = f"but its programs will not run here: {problem}" if problem else driver.gpus[0].name
    reason = f"{nvcc_version}, {seen}"
    return Choice("gpu", reason, toolkit.nvcc, default_architectures(toolkit, driver))


def _fingerprint(nvcc: str) -> list[str]:
    """Changes when the answer to `auto` may change, and is quick to take."""
    facts = [nvcc, str(os.stat(nvcc).st_mtime_ns), str(os.environ.get("CUDA_VISIBLE_DEVICES"))]
    try:
        facts.append((NVIDIA_PROC / "version").read_text())
        facts += sorted(os.listdir(NVIDIA_PROC / "gpus"))
    except OSError:
        pass
    return facts


def auto_backend() -> Choice:
    """choose("auto"), where a GPU was found remembered in out/: a driver takes its time."""
    nvcc = find_nvcc()
    if nvcc is None:
        return choose("auto", None)
    fingerprint = _fingerprint(nvcc)
    try:
        cached = json.loads(CACHE.read_text())
        if cached["fingerprint"] == fingerprint:
            return Choice(**cached["choice"])
    except (OSError, ValueError, KeyError, TypeError):
        pass  # not there, or not ours: ask again
    choice = choose("auto", nvcc)
    if choice.backend == "gpu":
        make_build_folder(CACHE.parent)
        facts = {"fingerprint": fingerprint, "choice": asdict(choice)}
        write(CACHE, json.dumps(facts, indent=1) + "\n")
    return choice


def has_gpu() -> bool:
    """Whether programs for it can be built and run here, as they are now."""
    return auto_backend().backend == "gpu"


def pick(request: str) -> str:
    """The back end for --backend auto, gpu or cpu, and what is to be said about it. Installs nvcc where
    a GPU lacks nothing else."""
    if request != "cpu" and find_nvcc() is None:
        _install_nvcc(request)
    if request == "auto":
        choice = auto_backend()
        say(f"back end: {choice.backend} ({choice.reason})")
        return choice.backend
    if request == "gpu":
        choose("gpu", find_nvcc())  # raises where nvcc is missing
    return request


def _install_nvcc(request: str) -> None:
    """For auto once: what failed is not tried again with each command."""
    if wheels_problem(ask_driver()) or (request == "auto" and cuda_wheels.failure()):
        return
    try:
        cuda_wheels.install()
    except LabError as error:
        if request == "gpu":
            raise LabError(
                f"{error}. ./lab run --backend gpu tries again; or install the CUDA toolkit "
                f"({DOWNLOADS}), or take the cpu back end"
            ) from error


def main(request: str) -> int:
    """The answer for cmake/Backend.cmake: the fields of Choice, as JSON."""
    try:
        choice = choose(request, find_nvcc())
    except LabError as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps(asdict(choice)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
