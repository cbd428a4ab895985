"""Asks the NVIDIA driver which GPUs there are."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field

# CUdevice_attribute of cuda.h
COMPUTE_CAPABILITY_MAJOR = 75
COMPUTE_CAPABILITY_MINOR = 76

NO_DRIVER = "no NVIDIA driver"
NO_GPU = "no GPU"


@dataclass(frozen=True)
class Gpu:
    name: str
    architecture: int  # major * 10 + minor: 90 is sm_90


@dataclass(frozen=True)
class Driver:
    """What the driver says; `problem` is empty if it answered."""

    cuda_version: tuple[int, int] = (0, 0)  # the newest CUDA that it runs
    gpus: list[Gpu] = field(default_factory=list)
    problem: str = ""


class _DriverError(Exception):
    pass


def _check(library: ctypes.CDLL, status: int) -> None:
    if status != 0:
        text = ctypes.c_char_p()
        library.cuGetErrorString(status, ctypes.byref(text))
        reason = text.value.decode() if text.value else "unknown error"
        raise _DriverError(f"the NVIDIA driver says: {reason} (error {status})")


def _number(library: ctypes.CDLL, function: str, *arguments: int) -> int:
    value = ctypes.c_int()
    _check(library, getattr(library, function)(ctypes.byref(value), *arguments))
    return value.value


def _gpu(library: ctypes.CDLL, ordinal: int) -> Gpu:
    device = _number(library, "cuDeviceGet", ordinal)
    name = ctypes.create_string_buffer(256)
    _check(library, library.cuDeviceGetName(name, len(name), device))
    major = _number(library, "cuDeviceGetAttribute", COMPUTE_CAPABILITY_MAJOR, device)
    minor = _number(library, "cuDeviceGetAttribute", COMPUTE_CAPABILITY_MINOR, device)
    return Gpu(name.value.decode(errors="replace"), major * 10 + minor)


def ask_driver(library_name: str = "libcuda.so.1") -> Driver:
    """The driver API through its library, which every NVIDIA driver installs."""
    try:
        library = ctypes.CDLL(library_name)
    except OSError:
        return Driver(problem=NO_DRIVER)
    try:
        version = _number(library, "cuDriverGetVersion")
        cuda_version = (version // 1000, version % 1000 // 10)
        _check(library, library.cuInit(0))
        gpus = [_gpu(library, i) for i in range(_number(library, "cuDeviceGetCount"))]
    except _DriverError as error:
        return Driver(problem=str(error))
    return Driver(cuda_version, gpus, "" if gpus else NO_GPU)
