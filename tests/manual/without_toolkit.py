"""The gpu back end as on a machine without a CUDA toolkit: with nvcc, CUB and cuBLAS of PyPI.

    python3 tests/manual/without_toolkit.py             builds and tests all exercises, in out/without_toolkit
    python3 tests/manual/without_toolkit.py NAME...     some

What is installed here is hidden in namespaces of this process's own (unshare); a toolkit in another place
than the usual ones has to be off PATH. Where there is no GPU, the tests end as skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "out" / "without_toolkit"
VARIABLES = ["CUDACXX", "CUDA_HOME", "CUDA_PATH"]
INSIDE = "LAB_TOOLKIT_IS_HIDDEN"


def hide() -> None:
    for home in map(Path, ["/usr/local/cuda", "/opt/cuda"]):
        if home.is_dir():
            subprocess.run(["mount", "-t", "tmpfs", "none", str(home.resolve())], check=True)
    nvcc = shutil.which("nvcc")
    if nvcc:
        subprocess.run(["mount", "--bind", "/dev/null", os.path.realpath(nvcc)], check=True)


def build_and_test(names: list[str]) -> int:
    sys.path.insert(0, str(ROOT / "scripts"))
    from lab_cli.machine import backend, cuda_wheels

    hide()
    if not cuda_wheels.nvcc():
        cuda_wheels.install()  # lab itself would, where there is a GPU
    if backend.find_nvcc() != cuda_wheels.nvcc():
        raise SystemExit(f"a CUDA toolkit could not be hidden: {backend.find_nvcc()}")
    print(backend.choose("gpu", cuda_wheels.nvcc()).reason, flush=True)
    return subprocess.call([str(ROOT / "lab"), "test", "--backend", "gpu", *names])


def main(names: list[str]) -> int:
    if INSIDE in os.environ:
        return build_and_test(names)
    variables = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    variables.update({INSIDE: "1", "LAB_BUILD_DIR": str(FOLDER)})
    alone = ["unshare", "--map-root-user", "--mount"]
    return subprocess.call([*alone, sys.executable, "-B", __file__, *names], env=variables)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
