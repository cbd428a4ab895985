"""The hazard check, on kernels with one hazard each and on kernels without. What it says about
barriers is what compute-sanitizer's synccheck says on a GPU; see emulator/README.md for where the two
differ on races."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from check_report import line_of, only, run

HAZARDS = Path(__file__).parent / "check" / "hazards.cu"


@pytest.fixture
def check(build, tmp_path):
    return lambda kernel: run(build / "tests" / "hazards", tmp_path / "report", kernel)


def marked(mark):
    return line_of(HAZARDS, mark)


READ_AFTER_WRITE = "race in shared memory: read after write"
WRITE_AFTER_READ = "race in shared memory: write after read"
WRITE_AFTER_WRITE = "race in shared memory: write after write"
ATOMIC_AND_PLAIN = "race in shared memory: atomic and plain access"
BLOCK = "put a __syncthreads() between"
WARP = "put a __syncwarp() or __syncthreads() between"


@pytest.mark.parametrize(
    "kernel, title, variable, first, second, remedy",
    [
        ("readAfterWrite", READ_AFTER_WRITE, "tile", "raw-write", "raw-read", BLOCK),
        ("writeAfterRead", WRITE_AFTER_READ, "tile", "war-read", "war-write", BLOCK),
        ("rowOfTile", READ_AFTER_WRITE, "tile", "tile-write", "tile-read", BLOCK),
        ("vectors", READ_AFTER_WRITE, "dynamic shared memory", "quads-write", "quads-read", WARP),
        ("wrongTile", READ_AFTER_WRITE, "s", "wrong-tile-write", "wrong-tile-read", WARP),
        ("shuffleDoesNotOrder", READ_AFTER_WRITE, "s", "shuffle-write", "shuffle-read", WARP),
        ("volatileAndPlain", READ_AFTER_WRITE, "s", "volatile-write", "plain-read", WARP),
        ("histogramNotCleared", ATOMIC_AND_PLAIN, "bins", "clear", "count", BLOCK),
    ],
)
def test_race(check, kernel, title, variable, first, second, remedy):
    finding = only(check(kernel))
    assert finding.title == title
    assert finding.kernel == kernel
    assert finding.where.startswith(variable + ", element ")
    assert finding.lines() == [marked(first), marked(second)]
    threads = [thread for _, thread, _, _ in finding.acts]
    assert threads[0] != threads[1]
    assert finding.fix.startswith(remedy)


@pytest.mark.parametrize("kernel, remedy", [("partnersNear", WARP), ("partnersNearAndFar", BLOCK)])
def test_a_barrier_of_the_warp_is_enough_if_it_is_in_all_launches(check, kernel, remedy):
    finding = only(check(kernel))
    assert finding.lines() == [marked("partner-write"), marked("partner-read")]
    assert finding.fix.startswith(remedy)


def test_race_names_element_threads_and_source(check):
    finding = only(check("rowOfTile"))
    assert finding.where == "tile, element 9 (of 4 bytes)"  # tile[1][0]: rows of 9
    assert [act[1:3] for act in finding.acts] == [
        ("thread (0,1,0)", "writes"),
        ("thread (1,0,0)", "reads"),
    ]
    assert finding.acts[1][3].startswith("out[threadIdx.y * 8 + threadIdx.x] = tile[")
    # Of 64 elements, all but the 8 on the diagonal.
    assert finding.times == 56


def test_vector_counts_once(check):
    finding = only(check("vectors"))
    assert finding.where == "dynamic shared memory, element 1 (of 16 bytes)"
    assert finding.times == 32


def test_grid_barrier_orders(check):
    finding = only(check("cooperative"))
    assert finding.kernel == "cooperative"
    assert finding.title == WRITE_AFTER_READ
    assert finding.lines() == [marked("grid-read"), marked("grid-write")]


def test_writes_of_different_values(check):
    finding = only(check("writeAfterWrite"))
    assert finding.title == WRITE_AFTER_WRITE
    assert finding.where == "last"
    assert finding.lines() == [marked("waw")] * 2
    assert "let one of them write" in finding.fix


def test_volatile_does_not_order_lanes(check):
    finding = only(check("volatileWarp"))
    assert finding.title == "race in shared memory: volatile does not order the lanes of a warp"
    assert finding.lines() == [marked("volatile")] * 2
    assert finding.times == 16
    assert "__syncwarp()" in finding.fix


def test_same_hazard_in_many_blocks_is_one(check):
    finding = only(check("manyBlocks"))
    assert finding.block == "(0,0,0)"
    assert finding.times == 6400  # of 64 threads in 100 blocks


@pytest.mark.parametrize(
    "kernel",
    "sameValue bytesOfOneWord syncedWarp syncedTile volatileFlag histogram earlyReturn "
    "returnFromEndlessLoop returnWithDestructor returnBeforeHelper usesCounter "
    "shuffleWithinMask".split(),
)
def test_silent(check, kernel):
    report = check(kernel)
    assert report.findings == []
    assert report.launches == 1
    assert "cudaSuccess" in report.output


def test_launches_of_kernels_count(check):
    assert check("parent").launches == 2


# ---- out of bounds

OUT = "device memory out of bounds: "


@pytest.mark.parametrize(
    "kernel, about, where, mark, act",
    [
        ("beyondEnd", "4 bytes beyond the end", "element 100 of 100 (of 4 bytes each)", "beyond",
         "thread (36,0,0) writes"),
        ("straddles", "8 bytes beyond the end", "", "straddle", "thread (1,0,0) writes"),
    ],
)  # fmt: skip
def test_device_memory_out_of_bounds(check, kernel, about, where, mark, act):
    report = check(kernel)
    finding, *others = report.findings
    # (What straddles the end of whole elements is also misaligned.)
    assert [other.title.split(":")[0] for other in others] == (
        ["misaligned address"] if kernel == "straddles" else []
    )
    assert finding.title == f"{OUT}{about} of allocation 2 (400 bytes)"
    assert finding.where == where
    assert finding.block == ("(1,0,0)" if kernel == "beyondEnd" else "(0,0,0)")
    assert finding.lines() == [marked(mark)]
    assert " ".join(finding.acts[0][1:3]) == act
    assert finding.times == 1
    assert "cudaSuccess" in report.output  # the kernel ran on


@pytest.mark.parametrize(
    "kernel, title, mark, what",
    [
        ("fromHost", "host memory", "host", "reads"),
        ("atomicOnHost", "host memory", "host-atomic", "updates it atomically"),
        ("freed", "device memory after cudaFree()", "freed", "writes"),
    ],
)
def test_memory_that_is_not_the_kernels(check, kernel, title, mark, what):
    finding = only(check(kernel))
    assert finding.title.partition(":")[0] == title
    assert finding.lines() == [marked(mark)]
    assert finding.acts[0][2] == what
    assert finding.times == 32


def test_null_pointer(check):
    report = check("nullPointer")
    finding = only(report)
    assert finding.title == "kernel failed: a null pointer is used"
    assert finding.acts[0][:3] == (marked("null"), "thread (0,0,0)", "writes")
    assert "cudaErrorIllegalAddress" in report.output


def test_address_that_belongs_to_nobody(check):
    finding = only(check("farFromAll"))
    assert re.fullmatch(
        "kernel failed: illegal address 0x[0-9a-f]+, which belongs to no allocation", finding.title
    )
    assert finding.acts[0][:3] == (marked("far"), "thread (0,0,0)", "reads")


def test_beyond_dynamic_shared_memory(check):
    report = check("beyondDynamic")
    write, read = report.findings
    for finding in (write, read):
        assert finding.title == (
            "shared memory out of bounds: the launch asked for 124 bytes of dynamic shared memory"
        )
        assert finding.where == "element 31 (of 4 bytes) of dynamic shared memory"
        assert finding.acts[0][1] == "thread (31,0,0)"
    assert write.lines() == [marked("beyond-dynamic")]
    assert [f.acts[0][2] for f in report.findings] == ["writes", "reads"]


def test_uninitialised_shared_memory(check):
    finding = only(check("uninitialisedInFunction"))
    assert finding.title == "uninitialised shared memory"
    assert finding.where.startswith("sums, element 16 ")
    assert finding.lines() == [marked("uninitialised-in-function")]
    assert finding.times == 32


# ---- barriers


@pytest.mark.parametrize(
    "kernel, mark",
    [
        ("barrierInIf", "in-if"),
        ("returnAfterPassing", "passed"),
        ("passedWithDestructor", "passed-with-destructor"),
        ("returnOfHelper", "in-helper"),
        ("tripCounts", "trips"),
    ],
)
def test_barrier_passed_by(check, kernel, mark):
    finding = only(check(kernel))
    assert finding.title == "barrier in divergent code: not all threads reach __syncthreads()"
    waiting, passing = finding.acts
    assert waiting[0] == marked(mark)
    assert waiting[2] == "waits"
    assert passing[2] == "ends without having been there, like 15 more of its block"
    reaches = {"barrierInIf": "thread (16,0,0)", "tripCounts": "thread (0,0,0)"}
    assert passing[1] == reaches.get(kernel, "thread (16,0,0)")


@pytest.mark.parametrize(
    "kernel, marks, times",
    [
        ("barriersOfIfAndElse", ["of-if", "of-else"], 1),
        ("tripCountsAndMore", ["trips-first", "trips-second"], 1),
        ("barriersOnOneLine", ["one-line", "one-line"], 3),  # blocks
    ],
)
def test_two_barriers(check, kernel, marks, times):
    report = check(kernel)
    finding = only(report)
    assert finding.title == "barrier in divergent code: threads of one block wait at two barriers"
    assert finding.lines() == [marked(mark) for mark in marks]
    assert all(what == "waits at __syncthreads()" for _, _, what, _ in finding.acts)
    assert finding.times == times
    apart = kernel != "barriersOnOneLine"  # which counts as one
    assert ("cudaErrorLaunchFailure" in report.output) == apart


# ---- shuffles


@pytest.mark.parametrize(
    "kernel, mark, thread, what, times",
    [
        ("shuffleFromEnded", "from-ended", "thread (18,0,0)",
         "reads lane 20, which has ended or is not in the block", 2),
        ("shuffleOutsideMask", "outside-mask", "thread (0,0,0)",
         "reads lane 16, which is not in the mask", 16),
    ],
)  # fmt: skip
def test_shuffle_from_a_lane_that_takes_no_part(check, kernel, mark, thread, what, times):
    report = check(kernel)
    (finding,) = report.findings
    assert finding.title.startswith("note: shuffle from a lane that takes no part: __shfl_")
    ((line, *act, _),) = finding.acts
    assert (line, *act) == (marked(mark), thread, what)
    assert finding.times == times
    assert not finding.hazard
    assert report.launches == 1
    assert report.hazards == 0


# ---- programs of several sources, and of nvcc's atomic functions


def test_source_without_headers(instrumented, tmp_path):
    """The report names it, not its translation: check_report.py expects names that end with .cu."""
    (tmp_path / "kernel.cu").write_text("\n__global__ void k(int* p) { p[0] = threadIdx.x; }\n")
    (tmp_path / "main.cu").write_text(
        "__global__ void k(int* p);\n"
        "int main() { int* d; cudaMalloc(&d, 4); k<<<1, 2>>>(d); cudaDeviceSynchronize(); }\n"
    )
    program = instrumented(tmp_path / "main.cu", str(tmp_path / "kernel.cu"))
    finding = only(run(program, tmp_path / "report"))
    assert finding.lines() == [2, 2]


HANDED_OVER = """
__global__ void k%d(int* data, unsigned* flag) {
    if (blockIdx.x == 0) {
        *data = 5;  // writes%d
        %s;
    } else {
        while (%s == 0) {
        }
        data[1] = *data;  // reads%d
    }
}
"""
LAUNCHES = """
template <class K> void launch(K kernel) {
    int* d;
    cudaMalloc(&d, 3 * sizeof(int));
    cudaMemset(d, 0, 3 * sizeof(int));
    kernel<<<2, 1>>>(d, reinterpret_cast<unsigned*>(d + 2));
    cudaDeviceSynchronize();
    cudaFree(d);
}
int main() { %s }
"""
SET = "__nv_atomic_store_n(flag, 1, __NV_ATOMIC_%s)"
ADD = "__nv_atomic_add(flag, 1, __NV_ATOMIC_%s)"
FENCE = "__nv_atomic_thread_fence(__NV_ATOMIC_%s), " + SET % "RELAXED"
GET = "__nv_atomic_load_n(flag, __NV_ATOMIC_%s)"
CAS = (
    "unsigned e = 0; "
    "__nv_atomic_compare_exchange_n(flag, &e, 1, 0, __NV_ATOMIC_%s, __NV_ATOMIC_RELAXED)"
)
HANDS_OVER = [
    (SET % "RELEASE", GET % "ACQUIRE", True),
    (SET % "SEQ_CST", GET % "SEQ_CST", True),
    (SET % "RELAXED", GET % "ACQUIRE", False),
    (ADD % "ACQ_REL", GET % "RELAXED", True),
    (ADD % "ACQUIRE", GET % "RELAXED", False),
    (CAS % "RELEASE", GET % "ACQUIRE", True),
    (CAS % "RELAXED", GET % "ACQUIRE", False),
    (FENCE % "RELEASE", GET % "ACQUIRE", True),
    (FENCE % "RELAXED", GET % "ACQUIRE", False),
    (SET % "RELEASE", "__ldcg(flag)", True),
]


def test_what_atomic_functions_of_nvcc_hand_over(instrumented, tmp_path):
    kernels = [HANDED_OVER % (i, i, s, g, i) for i, (s, g, _) in enumerate(HANDS_OVER)]
    calls = " ".join(f"launch(k{i});" for i in range(len(kernels)))
    source = tmp_path / "k.cu"
    source.write_text("".join(kernels) + LAUNCHES % calls)
    report = run(instrumented(source), tmp_path / "report")
    races = [i for i, (*_, right) in enumerate(HANDS_OVER) if not right]
    assert [finding.lines() for finding in report.findings] == [
        [line_of(source, f"writes{i}"), line_of(source, f"reads{i}")] for i in races
    ]
    (remark,) = report.not_judged
    assert remark.startswith(f"{len(kernels) - len(races)} pairs of lines that a fence ")


IN_A_WARP = [
    ("__nv_atomic_store_n(s, t, R); out[t] = __nv_atomic_load_n(s, R);", False),
    ("__nv_atomic_store_n(s, t, R); atomicAdd(s, 1);", False),
    ("__nv_atomic_exchange_n(s, t, R); out[t] = __nv_atomic_fetch_max(s, t, R);", False),
    ("s[0] = 3; __syncwarp(); out[t] = s[0] + __nv_atomic_load_n(s, R);", False),
    ("__nv_atomic_store_n(s, t, R); out[t] = s[0];", True),
    ("s[0] = t; out[t] = __nv_atomic_load_n(s, R);", True),
    ("out[t] = __nv_atomic_load_n(s, R);", True),  # nobody has written it
    ("__nv_atomic_exchange((Wide*)s, &wide, &wide, R); out[t] = wide.x[3];", False),
    ("__nv_atomic_store((Wide*)s, &wide, R); __nv_atomic_load((Wide*)s, &wide, R);", False),
    ("__nv_atomic_store((Wide*)s, &wide, R); out[t] = s[3];", True),
    ("s[2] = t; __nv_atomic_load((Wide*)s, &wide, R);", True),
    ("__nv_atomic_load((Wide*)s, &wide, R); out[t] = wide.x[0];", True),
    ("__nv_atomic_fetch_add(out + 32, 1, R);", True),  # out of bounds
    ("__nv_atomic_load((Wide*)(out + 4 * t + 1), &wide, R);", True),
]


def test_atomic_functions_of_nvcc_in_a_warp(instrumented, tmp_path):
    text = "struct alignas(16) Wide { int x[4]; };\n"
    calls = ""
    for i, (code, _) in enumerate(IN_A_WARP):
        text += (
            f"__global__ void k{i}(int* out) {{ __shared__ alignas(16) int s[4]; Wide wide{{}}; "
            f"const int t = threadIdx.x; {code.replace('R)', '__NV_ATOMIC_RELAXED)')} }}\n"
        )
        calls += f"cudaMalloc(&d, 128); cudaMemset(d, 0, 128); k{i}<<<1, 32>>>(d);\n"
    source = tmp_path / "k.cu"
    source.write_text(text + f"int main() {{ int* d;\n{calls}cudaDeviceSynchronize(); }}\n")
    report = run(instrumented(source), tmp_path / "report")
    found = {line for finding in report.findings for line in finding.lines()}
    assert found == {2 + i for i, (_, wrong) in enumerate(IN_A_WARP) if wrong}


# ---- the report as text


@pytest.fixture
def text_of(build, tmp_path):
    """text_of(program, *arguments): the report on a program of the tests."""

    def check_program(program, *arguments):
        report = tmp_path / "report"
        subprocess.run(
            [build / "tests" / program, *arguments],
            env={**os.environ, "CUDA_EMULATOR_CHECK": str(report)},
            check=True,
            stdout=subprocess.DEVNULL,
        )
        return report.read_text()

    return check_program


def test_a_finding_is_six_lines(text_of):
    text = text_of("hazards", "rowOfTile")
    what, where, first, second, why, fix, empty, last = text.splitlines()
    assert what.startswith("1. race in shared memory")
    assert "kernel rowOfTile, block (0,0,0), tile, element 9" in where and "55 more" in where
    for act, mark in ((first, "tile-write"), (second, "tile-read")):
        assert f"hazards.cu:{marked(mark)}: thread (" in act and " | " in act
    assert why.strip() and fix.strip() and not empty
    assert last == "1 hazard found"


def test_what_was_looked_at_where_nothing_is_found(text_of):
    pattern = r"no hazards found \(\d+ kernel launch(es)?, \d+ cop(y|ies)\)\n"
    assert re.fullmatch(pattern, text_of("planted", "allWritten"))
