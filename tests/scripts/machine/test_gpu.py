"""What the driver is asked, with a library that answers in its place."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from lab_cli.machine.gpu import NO_DRIVER, Driver, Gpu, ask_driver
from lab_cli.machine.needs import find_compiler

# Signatures and numbers as in cuda.h; two devices, the second of which has handle 1.
FAKE_DRIVER = """
#include <cstring>
extern "C" {
int cuDriverGetVersion(int* version) { *version = VERSION; return 0; }
int cuInit(unsigned) { return INIT; }
int cuDeviceGetCount(int* count) { *count = COUNT; return 0; }
int cuDeviceGet(int* device, int ordinal) { *device = ordinal; return 0; }
int cuDeviceGetName(char* name, int length, int device) {
    std::strncpy(name, device == 0 ? "NVIDIA H200" : "NVIDIA T4", length);
    return NAME;
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
    if (attribute == 75) *value = device == 0 ? 9 : 7;
    else if (attribute == 76) *value = device == 0 ? 0 : 5;
    else return 1;
    return 0;
}
int cuGetErrorString(int status, const char** text) {
    if (status == 100) *text = "no CUDA-capable device is detected";
    return 0;
}
}
"""


def answer(folder: Path, init: int, count: int, version: int = 12090, name: int = 0) -> Driver:
    compiler = find_compiler()
    if compiler is None:
        pytest.skip("no C++ compiler")
    source = folder / "driver.cpp"
    source.write_text(FAKE_DRIVER)
    library = folder / "libcuda.so.1"
    defines = [f"-DINIT={init}", f"-DCOUNT={count}", f"-DVERSION={version}", f"-DNAME={name}"]
    command = [compiler, "-shared", "-fPIC", *defines, str(source), "-o", str(library)]
    subprocess.run(command, check=True)
    return ask_driver(str(library))


def test_gpus_and_version(tmp_path: Path) -> None:
    expected = [Gpu("NVIDIA H200", 90), Gpu("NVIDIA T4", 75)]
    assert answer(tmp_path, init=0, count=2) == Driver((12, 9), expected)


def test_no_gpu(tmp_path: Path) -> None:
    assert answer(tmp_path, init=0, count=0, version=13000) == Driver((13, 0), [], "no GPU")


def test_gpu_that_fails_alone(tmp_path: Path) -> None:
    problem = answer(tmp_path, init=0, count=2, name=999).problem
    assert problem == "the NVIDIA driver says: unknown error (error 999)"


def test_error_of_the_driver_is_passed_on(tmp_path: Path) -> None:
    problem = "the NVIDIA driver says: no CUDA-capable device is detected (error 100)"
    assert answer(tmp_path, init=100, count=1) == Driver((0, 0), [], problem)


def test_no_driver() -> None:
    assert ask_driver("libthere_is_no_such_driver.so.1").problem == NO_DRIVER
