"""One program of several bodies of a kernel, for NAME/assignments."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from kernel_bodies import VARIABLE, with_choice, without_namespaces
from lab_cli.machine.needs import find_compiler
from lab_course.grading.kernel_source import KernelSource

PLAIN = """\
#include <cstdio>
__global__ void fill(int* x) {
    *x = 1;
}
"""
TEMPLATE = """\
#include <cstdio>
template <typename T, unsigned kSize = 3>
__global__ void fill(T* x) {
    *x = 1 * kSize;
}
"""
CALLED = PLAIN.replace("__global__", "__device__")
DEDUCED = TEMPLATE.replace("__global__", "__device__").replace(", unsigned kSize = 3", "")
DEDUCED = DEDUCED.replace(" * kSize", "")
WORDS = (
    "__global__",
    "__device__",
    "__host__",
    "EMU_NOT_RECORDED",
)  # no compiler for the host knows
MAIN = 'int main() {{ int x = 0; fill{arguments}(&x); std::printf("%d %d", x, __LINE__); }}\n'


@pytest.mark.parametrize(
    ("text", "arguments", "said"),
    [
        (PLAIN, "", ["2 5", "7 5"]),
        (TEMPLATE, "<int, 5>", ["2 6", "7 6"]),
        (CALLED, "", ["2 5", "7 5"]),
        (DEDUCED, "", ["2 6", "7 6"]),
    ],
)
def test_each_body_is_a_kernel(tmp_path: Path, text: str, arguments: str, said: list[str]) -> None:
    """What stands behind it has the same lines."""
    compiler = find_compiler()
    if not compiler:
        pytest.skip("no C++ compiler")
    source = KernelSource(text + MAIN.format(arguments=arguments), "x.cu")
    file, program = tmp_path / "x.cpp", tmp_path / "x"
    file.write_text(with_choice(source, "fill", [" *x = 2; ", "\n*x = 7;\n"]))
    command = [
        compiler,
        "-std=c++17",
        *(f"-D{word}=" for word in WORDS),
        str(file),
        "-o",
        str(program),
    ]
    subprocess.run(command, check=True)
    for number, expected in enumerate(said):
        environment = {VARIABLE: str(number)}
        done = subprocess.run([program], env=environment, capture_output=True, text=True)
        assert done.stdout == expected


def test_a_report_has_the_names_of_the_source() -> None:
    text = with_choice(KernelSource(PLAIN, "x.cu"), "fill", ["", ""])
    (name,) = set(re.findall(r"&(\w+1::fill)", text))
    assert without_namespaces(f'"{name}(int*)","{name}<1>"') == '"fill(int*)","fill<1>"'
