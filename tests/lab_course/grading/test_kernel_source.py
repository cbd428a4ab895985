"""Where kernels begin and end in a .cu file, and other bodies in their place."""

from __future__ import annotations

import pytest
from lab_cli import catalogue
from lab_cli.errors import LabError
from lab_course.grading.kernel_source import KernelSource

SOURCE = """\
// __global__ void inComment() { }
#include <cstddef>
template <unsigned kParts>
__launch_bounds__(128) __global__ void first(const float* in, float* out) {
    for (;;) { /* } */ }
    const char c = '}';
}
__device__ int helper(int x) { return x; }
void host() { first<2><<<1, 1>>>(nullptr, nullptr); }
#if 0
__global__ void second() { old(); }
#endif
__global__ void second() { }
"""


def test_definitions_of_device_code_alone() -> None:
    source = KernelSource(SOURCE, "a.cu")
    assert [function.name for function in source.functions] == ["first", "helper", "second"]
    first = source.function("first")
    assert source.line(first.start) == 3
    assert first.signature[:2] == ("template", "<")
    assert first.signature[-2:] == ("out", ")")
    assert source.body("first").strip().startswith("for")
    assert source.body("first").strip().endswith("'}';")


def test_nothing_else_changes_with_a_body() -> None:
    source = KernelSource(SOURCE, "a.cu")
    changed = source.with_bodies({"second": " two(); ", "helper": "one();"})
    assert changed == SOURCE.replace("second() { }", "second() { two(); }").replace(
        "{ return x; }", "{one();}"
    )


@pytest.mark.parametrize("text", ["__global__ void other() {", "__global__ void other();"])
def test_what_is_no_definition(text: str) -> None:
    with pytest.raises(LabError, match="a.cu: other is not there"):
        KernelSource(text, "a.cu").function("other")


def test_kernels_of_all_exercises_are_found() -> None:
    """As many as the word stands there at the beginning of a line, but for comments."""
    for source in catalogue.sources().values():
        text = source.read_text(encoding="utf-8")
        found = KernelSource(text, source.name)
        kernels = [each for each in found.functions if "__global__" in each.signature]
        lines = [
            line for line in text.splitlines() if line.startswith(("__global__", "static __glo"))
        ]
        assert len(kernels) >= len(lines)
        assert found.with_bodies({}) == text
