#!/usr/bin/env python3
"""Compares the images that an exercise writes with those that it wrote on an H200, pixel by pixel.

    same_images.py PROGRAM IMAGE... -- OPTION...

runs PROGRAM with OPTIONS and --IMAGE=FILE for each IMAGE, which results/h200/IMAGE.pgm has.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))

from lab_cli.results import images  # noqa: E402


def read(path: Path) -> images.Image:
    """Without what is known of where it comes from."""
    return replace(images.parse(path.read_bytes(), path), facts={})


def main(program: str, names: list[str], options: list[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="lab-images-") as folder:
        written = {name: Path(folder) / f"{name}.pgm" for name in names}
        files = [f"--{name}={path}" for name, path in written.items()]
        status = subprocess.run([program, *options, *files]).returncode
        if status != 0:
            return status  # 77 without a GPU
        recorded = {
            name: Path(__file__).parents[1] / "results" / "h200" / f"{name}.pgm" for name in names
        }
        other = [name for name in names if read(written[name]) != read(recorded[name])]
    for name in other:
        print(f"FAILED: --{name} writes another image than {recorded[name].relative_to(ROOT)} has")
    return 1 if other else 0


if __name__ == "__main__":
    end = sys.argv.index("--")
    sys.exit(main(sys.argv[1], sys.argv[2:end], sys.argv[end + 1 :]))
