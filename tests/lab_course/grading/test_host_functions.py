"""Functions of the host that a student writes: where they are, and what they may use."""

from __future__ import annotations

import re

import pytest
from lab_cli import catalogue
from lab_cli.errors import LabError
from lab_course.grading import gate
from lab_course.grading.kernel_source import KernelSource
from lab_course.handouts import source

SOURCE = """\
__global__ void work(int* out) { *out = 1; }
__host__ __device__ int both(int x) { return x; }
struct Streams {
    int size() { return 1; }
    void fork(int count) { }
};
const int kTable[] = {1, 2};
const auto lambda = [](int x) { return x; };
namespace inner {
void launchAll(Streams& own, int* out) {
    own.fork(own.size());
    for (int k = 0; k < 2; ++k) { const auto one = [&](int n) { work<<<n, 1>>>(out); }; one(k); }
}
}  // namespace inner
int main() { return 0; }
"""


def test_functions_in_no_class_and_no_function() -> None:
    found = KernelSource(SOURCE, "a.cu")
    assert [each.name for each in found.functions] == ["work", "both"]
    assert [each.name for each in found.host_functions] == ["launchAll", "main"]
    assert found.function("launchAll").of_host and not found.function("both").of_host
    assert found.function("launchAll").members == {"fork", "size"}


def test_a_body_of_the_host_is_replaced() -> None:
    changed = KernelSource(SOURCE, "a.cu").with_bodies({"launchAll": " "})
    assert "launchAll(Streams& own, int* out) { }\n}  // namespace" in changed


def test_mains_of_all_exercises_are_found() -> None:
    for path in catalogue.sources().values():
        assert KernelSource(path.read_text(encoding="utf-8"), path.name).function("main").of_host


def known() -> set[str]:
    shipped = KernelSource(SOURCE, "a.cu")
    return gate.names_of_device_code([shipped]) | gate.names_of_host_code(
        shipped.function("launchAll")
    )


@pytest.mark.parametrize(
    "body",
    [
        "own.fork(2); work<<<1, 1, 0, nullptr>>>(out);",
        "cudaStream_t stream; CUDA_CHECK(cudaStreamCreate(&stream));",
        "std::vector<cudaEvent_t> done(2); CUDA_CHECK(cudaEventRecord(done[0]));",
        "CUDA_CHECK(cudaMemcpyAsync(out, out, 4, cudaMemcpyDeviceToDevice));",
    ],
)
def test_what_a_function_of_the_host_may_use(body: str) -> None:
    refused = re.findall(rf"{gate.PREFIX}(\w+)", gate.taken(body, known()))
    assert {*refused} <= {"stream", "done"}  # what the body itself declares


@pytest.mark.parametrize(
    "name, body",
    [
        ("fork", "fork();"),
        ("fork", "std::vector<int> v; ::fork();"),
        ("system", "system(0);"),
        ("exit", "std::exit(0);"),
        ("malloc", "out = (int*)malloc(4);"),
        ("ofstream", "std::ofstream file;"),
        ("thread", "std::thread t;"),
        ("filesystem", "std::filesystem::remove(p);"),
        ("cudaLaunchHostFunc", "cudaLaunchHostFunc(nullptr, out, nullptr);"),
        ("cudaHostAlloc", "cudaHostAlloc(&out, 4, 0);"),
        ("main", "main();"),
    ],
)
def test_what_it_may_not(name: str, body: str) -> None:
    assert f"{gate.PREFIX}{name}" in gate.taken(body, known())


def test_a_kernel_may_use_none_of_it() -> None:
    names = gate.names_of_device_code([KernelSource(SOURCE, "a.cu")])
    for name in (*gate.OF_HOST, "launchAll"):
        assert f"{gate.PREFIX}{name}" in gate.taken(f"{name} = 0;", names)
    assert f".{gate.PREFIX}fork" in gate.taken("own.fork(1);", names)


def test_texts_in_quotes_are_refused() -> None:
    with pytest.raises(LabError, match="in quotes"):
        gate.taken('own.fork("a");', known())


def test_a_function_of_the_host_is_left_to_the_student() -> None:
    found = KernelSource(SOURCE, "a.cu").function("launchAll")
    assert source.parameters(found) == ["own", "out"]
    assert source.is_void(found)
    assert not source.is_void(KernelSource(SOURCE, "a.cu").function("main"))
