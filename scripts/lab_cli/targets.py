"""What a command works on: the back end, and the exercises that it has."""

from __future__ import annotations

from collections.abc import Sequence

from .backend import auto_backend, choose, find_nvcc
from .catalogue import Exercise
from .errors import LabError
from .process import say


def pick_backend(request: str) -> str:
    """gpu or cpu, and what is to be said about it."""
    if request == "auto":
        choice = auto_backend()
        say(f"back end: {choice.backend} ({choice.reason})")
        return choice.backend
    if request == "gpu":
        choose("gpu", find_nvcc())  # raises where nvcc is missing
    return request


def of_backend(chosen: Sequence[Exercise], backend: str, by_name: bool) -> list[Exercise]:
    """`chosen` without what needs a GPU's hardware on cpu; asked for by name, that is an error."""
    needs_gpu = [exercise.name for exercise in chosen if exercise.cuda_only]
    if backend == "gpu" or not needs_gpu:
        return list(chosen)
    if by_name:
        raise LabError(f"{', '.join(needs_gpu)}: only on the gpu back end")
    return [exercise for exercise in chosen if not exercise.cuda_only]
