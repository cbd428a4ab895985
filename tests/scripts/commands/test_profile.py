"""./lab profile as a whole, with programs that answer in place of nvcc, ncu and the exercises."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Callable

import explain_sample
import ncu_sample
import pytest
from exercise_sample import FACTS
from lab_cli import catalogue, main, metrics
from lab_cli.building import own_program, presets
from lab_cli.commands import explained as explained_command
from lab_cli.commands import profile
from lab_cli.counters import diagnosis, explanation, metric_table, profilers, unseen
from lab_cli.counters.explanation import ByLine, Counted, Sentence
from lab_cli.machine import backend, setup
from lab_cli.machine.backend import Choice
from lab_cli.machine.gpu import Driver, Gpu
from lab_cli.paths import ROOT
from lab_fixtures import shell_program

H200 = Driver((13, 0), [Gpu("NVIDIA H200", 90)])
REDUCE = """
[profile]
metrics = ["divergent_branch", "warp_execution_efficiency", "dram_read_throughput"]
"""
# Answers lab's questions; when it compiles, it notes its command line in `log`.
NVCC = """
case "$1" in
--version) echo "Cuda compilation tools, release 13.0, V13.0.88" ;;
--list-gpu-arch) echo compute_75; echo compute_90 ;;
*) echo "nvcc $*" >> "{log}"; exit ${{NVCC_STATUS:-0}} ;;
esac
"""
OFFER = "./lab profile reduceInteger --backend cpu"
METRICS = "divergent_branch,branch_efficiency,gld_transactions,dram_read_throughput,duration"


class Lab:
    """main(), the commands that were run, and where the programs are."""

    def __init__(self, folder: Path, fake_tool: Callable[[str, str], Path]) -> None:
        self.folder = folder
        self.log = folder / "log"
        self.tool = fake_tool

    def __call__(self, *arguments: str) -> int:
        return main.main(["profile", *arguments])

    def ncu(self, output: str, status: int = 0) -> None:
        """An ncu that prints `output`."""
        text = self.folder / "ncu.txt"
        text.write_text(output)
        self.tool("ncu", f'echo "ncu $*" >> "{self.log}"; /bin/cat "{text}"; exit {status}')

    def program(self, text: str) -> None:
        """The exercise reduceInteger of every preset."""
        for preset in ("gpu", "gpu-debug", "cpu"):
            kind = "_instrumented" if preset == "cpu" else ""
            shell_program(
                self.folder / preset / "ch03_execution_model" / f"reduceInteger{kind}", text
            )

    def ran(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake_tool, exercises) -> Lab:
    """A machine with an H200 and nvcc; there is no ncu."""

    def built(cmake: str, preset: str, *targets: str) -> Path:
        with (tmp_path / "log").open("a") as log:
            log.write(f"build {preset} {' '.join(targets)}\n")
        return tmp_path / preset

    fake_tool("nvcc", NVCC.format(log=tmp_path / "log"))
    exercises("ch03_execution_model/reduceInteger", FACTS + REDUCE)
    exercises("ch09_tensor/wgmma", "gpu_only = true\n" + FACTS)
    monkeypatch.setattr(setup, "ensure", lambda backend: "cmake")
    monkeypatch.setattr(presets, "build", built)
    monkeypatch.setattr(profilers, "ask_driver", lambda: H200)
    monkeypatch.setattr(profilers, "PLACES", {"ncu": [], "nsys": []})
    monkeypatch.setattr(backend, "auto_backend", lambda: Choice("gpu", "NVIDIA H200"))
    monkeypatch.setattr(own_program, "FOLDER", tmp_path / "own")
    return Lab(tmp_path, fake_tool)


# ---- gpu ----


def test_table_of_an_exercise(lab: Lab, capfd) -> None:
    lab.ncu(ncu_sample.OUTPUT)
    assert lab("reduceInteger", "--metrics", METRICS, "--", "--size=4M") == 0
    out, err = capfd.readouterr()
    assert "reduceNeighboredLess  8192  512        40,960       98.36     4,186,112" in out
    assert "branches in which a warp split" in out
    assert "gpu back end, optimised build (nvcc -O3), on NVIDIA H200 (sm_90)" in out
    assert "==PROF==" not in out and "ints (16 MiB)" not in out
    assert '==PROF== Profiling "reduceInterleaved"' in err  # progress
    build_line, ncu_line = lab.ran()
    assert build_line == "build gpu reduceInteger"
    program = lab.folder / "gpu" / "ch03_execution_model" / "reduceInteger"
    wanted = "ncu --clock-control none --csv --page raw --print-units base --metrics "
    assert ncu_line.startswith(wanted)
    assert ncu_line.endswith(f" {program} --profile --size=4M")
    asked = re.search(r"--metrics (\S+)", ncu_line).group(1).split(",")
    assert asked[0] == "smsp__sass_branch_targets_threads_divergent.sum"
    assert len(asked) == 5


def test_as_wide_as_the_terminal(lab: Lab, monkeypatch, capfd) -> None:
    def width() -> str:
        assert lab("reduceInteger", "--metrics=duration") == 0
        return capfd.readouterr().out

    lab.ncu(ncu_sample.OUTPUT)
    monkeypatch.setattr(metric_table.MetricTable, "text", lambda table, width: str(width))
    monkeypatch.setenv("COLUMNS", "60")
    assert width() == "100"  # it goes to a file
    monkeypatch.setattr(profile.sys.stdout, "isatty", lambda: True, raising=False)
    assert width() == "60"


def test_default_metrics_are_those_of_the_exercise(lab: Lab, capfd) -> None:
    lab.ncu(ncu_sample.OUTPUT)
    assert lab("reduceInteger") == 0
    asked = re.search(r"--metrics (\S+)", lab.ran()[1]).group(1).split(",")
    assert "smsp__sass_branch_targets_threads_divergent.sum" in asked
    assert "dram__bytes_read.sum.per_second" in asked
    assert "without a value here: warp_execution_efficiency" in capfd.readouterr().out


def test_exercise_without_metrics_of_its_own_shows_those_of_any_program(lab: Lab, mine) -> None:
    lab.ncu(ncu_sample.OUTPUT)
    known = metrics.load()
    for name in ("wgmma", str(mine)):
        assert lab(name) == 0
        asked = re.search(r"--metrics (\S+)", lab.ran()[-1]).group(1).split(",")
        assert asked == [metric.nsight for metric in known.find(known.own) if metric.gpu]


@pytest.mark.parametrize(
    ("devices", "where"),
    [
        (["0"], "NVIDIA H200 (sm_90)"),
        (["1", "0", "1"], "NVIDIA H200 (sm_90), NVIDIA T4 (sm_75)"),
        (["1", ""], "NVIDIA T4 (sm_75)"),
        (["2"], "an unknown GPU"),
    ],
)
def test_where_kernels_ran(lab: Lab, monkeypatch, capfd, devices: list[str], where: str) -> None:
    two = Driver((13, 0), [*H200.gpus, Gpu("NVIDIA T4", 75)])
    monkeypatch.setattr(profilers, "ask_driver", lambda: two)
    launch = ncu_sample.launch(0, "k(int)", ["7"], "(1, 1, 1)", "(1, 1, 1)")
    launches = [launch.replace(',"0","9.0",', f',"{device}","9.0",') for device in devices]
    lab.ncu(ncu_sample.raw_page({"lts__t.sum": "sector"}, launches))
    assert lab("reduceInteger", "--metrics=lts__t.sum") == 0
    assert f"on {where}\n" in capfd.readouterr().out


def test_debug_build(lab: Lab, capfd) -> None:
    lab.ncu(ncu_sample.OUTPUT)
    assert lab("reduceInteger", "--debug", "--metrics=duration") == 0
    assert lab.ran()[0] == "build gpu-debug reduceInteger"
    assert "/gpu-debug/" in lab.ran()[1]
    assert "debug build (nvcc -G)" in capfd.readouterr().out


def test_csv_alone_on_stdout(lab: Lab, capfd) -> None:
    lab.ncu(ncu_sample.OUTPUT)
    assert lab("reduceInteger", "--metrics=gld_transactions,duration", "--csv") == 0
    out, err = capfd.readouterr()
    assert out.splitlines() == [
        "kernel,grid,block,gld_transactions,duration",
        "reduceNeighbored,8192,512,4186112,1250",
        "reduceNeighboredLess,8192,512,4186112,500",
        "reduceInterleaved,8192,512,1089536,25",
    ]
    assert err.endswith("\ngpu back end, optimised build (nvcc -O3), on NVIDIA H200 (sm_90)\n")
    assert lab("reduceInteger", "--metrics=barriers,branch,duration", "--csv") == 0
    assert capfd.readouterr().err.splitlines()[-3:] == [
        "gpu back end, optimised build (nvcc -O3), on NVIDIA H200 (sm_90)",
        "only the cpu back end counts barriers",
        "without a value here: branch",
    ]


def test_output_keeps_the_csv_and_the_table_is_still_shown(lab: Lab, tmp_path, capfd) -> None:
    lab.ncu(ncu_sample.OUTPUT)
    file = tmp_path / "kept.csv"
    assert lab("reduceInteger", "--metrics=duration", "--output", str(file)) == 0
    assert file.read_text().startswith("kernel,grid,block,duration\nreduceNeighbored,8192,")
    assert "time of the kernel" in capfd.readouterr().out


def test_failed_run_leaves_the_old_output(lab: Lab, tmp_path, capfd) -> None:
    lab.ncu("==ERROR== something\n", status=1)
    file = tmp_path / "kept.csv"
    file.write_text("old\n")
    assert lab("reduceInteger", "--output", str(file)) == 1
    assert file.read_text() == "old\n"


@pytest.mark.parametrize(
    ("output", "status", "messages"),
    [
        (
            "==PROF== Connected to process 1 (x)\n==ERROR== ERR_NVGPUCTRPERM - The user does not have"
            " permission to access NVIDIA GPU Performance Counters on the target device 0.\n",
            1,
            ["NVreg_RestrictProfilingToAdminUsers=0", "/etc/modprobe.d/", "as root", OFFER],
        ),
        (
            "==ERROR== Profiling failed because a driver resource was unavailable.\n"
            "==ERROR== The application returned an error code (9).\n",
            9,
            ["ncu reports:\n    ==ERROR== Profiling failed because a driver resource", OFFER],
        ),
        (
            "==ERROR== Failed to find metric a__b\n==ERROR== Failed to find metric c__d.sum\n"
            "==ERROR== Failed to find metric a__b\n",
            1,
            [f"lab: ncu does not have this metric for this GPU: a__b, c__d.sum\n\n    {OFFER}\n"],
        ),
        (
            "==ERROR== The application returned an error code (3).\n",
            0,
            ["lab: under ncu, the program ended with exit status 3\n"],
        ),
        ("free(): invalid pointer\n", 134, ["killed by SIGABRT", "free(): invalid pointer"]),
        ("==WARNING== No kernels were profiled.\n", 0, ["ncu saw no kernel"]),
        ("==PROF== Disconnected\n", 0, ["no kernel was launched"]),
    ],
)
def test_errors_of_ncu(lab: Lab, capfd, output: str, status: int, messages: list[str]) -> None:
    lab.ncu(output, status)
    assert lab("reduceInteger", "--metrics=duration") == 1
    out, err = capfd.readouterr()
    assert out == ""
    for message in messages:
        assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize("status", [2, 77])
def test_what_the_exercise_says_of_its_options_and_the_gpu_is_passed_on(
    lab: Lab, capfd, status: int
) -> None:
    lab.ncu(
        "reduceInteger: --size=x: expected a whole number\n"
        f"==ERROR== The application returned an error code ({status}).\n",
        status=1,
    )
    assert lab("reduceInteger", "--", "--size=x") == status
    assert "    reduceInteger: --size=x: expected" in capfd.readouterr().err


def test_the_last_lines_of_what_went_wrong(lab: Lab, capfd) -> None:
    said = [f"line {number}" for number in range(1, 21)]
    lab.ncu("\n".join(["==PROF== x", '"0","1"', *said, "==PROF== y"]), status=1)
    assert lab("reduceInteger", "--metrics=duration") == 1
    message = capfd.readouterr().err.partition("lab: ")[2]
    assert message.splitlines() == [
        "under ncu, the program ended with exit status 1, after these lines:",
        *(f"    line {number}" for number in range(9, 21)),
    ]


def test_no_ncu(lab: Lab, capfd) -> None:
    assert lab("reduceInteger") == 1
    err = capfd.readouterr().err
    assert "no ncu" in err and "Install Nsight Compute" in err and OFFER in err
    assert lab.ran() == []  # nothing is built for nothing


def test_ncu_beside_nvcc_and_in_the_usual_places(lab: Lab, monkeypatch, tmp_path) -> None:
    link = tmp_path / "nvcc"
    link.symlink_to(shell_program(tmp_path / "cuda" / "bin" / "nvcc", ""))
    assert profilers.find("ncu", str(link)) is None
    monkeypatch.setitem(profilers.PLACES, "ncu", [f"{tmp_path}/no/*/ncu", f"{tmp_path}/opt/*/ncu"])
    places = [tmp_path / "opt" / version / "ncu" for version in ("2025.9.0", "2025.10.1", "2025.8")]
    _, newest, _ = (str(shell_program(place, "")) for place in places)
    assert profilers.find("ncu", None) == newest
    beside = shell_program(tmp_path / "cuda" / "bin" / "ncu", "")
    assert profilers.find("ncu", str(link)) == str(beside)
    on_path = lab.tool("ncu", "")
    assert profilers.find("ncu", str(link)) == str(on_path)


def test_no_usable_gpu(lab: Lab, monkeypatch, capfd) -> None:
    monkeypatch.setattr(profilers, "ask_driver", lambda: Driver((12, 4), H200.gpus))
    assert lab("reduceInteger", "--backend=gpu") == 77
    err = capfd.readouterr().err
    assert "no usable GPU: the NVIDIA driver runs CUDA 12.4" in err and OFFER in err


def test_no_nvcc(lab: Lab, monkeypatch, capfd) -> None:
    monkeypatch.setattr(profilers, "find_nvcc", lambda: None)
    assert lab("reduceInteger", "--backend=gpu") == 1
    err = capfd.readouterr().err
    assert "no nvcc" in err and OFFER in err


# ---- --explain ----

# Recorded kernels.
COPY = explain_sample.values("transpose", "copyFloat4")
NAIVE = explain_sample.values("transpose", "transposeNaiveCol<1>")


@pytest.fixture
def names_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of exercises, not the paths of their pages, which the sample's checkout does not have."""
    monkeypatch.setattr(explanation, "_page", lambda exercise: exercise)


def test_the_page_of_an_exercise() -> None:
    exercise = catalogue.exercises()[0]
    page = f"{exercise.chapter}/{exercise.name}/README.md"
    assert explanation._page(exercise.name) == page
    assert explanation._page("deleted") == "deleted"


def explained(lab: Lab, *launches: tuple[str, dict[str, float]]) -> int:
    lab.ncu(ncu_sample.page_of([(f"{kernel}(int *)", values) for kernel, values in launches]))
    return lab("reduceInteger", "--explain")


def test_a_gpu_explains_lines_as_the_emulation_counts_them(
    lab: Lab, names_alone, monkeypatch: pytest.MonkeyPatch, capfd
) -> None:
    limits = []
    atomics = Sentence("131,072 go to one address.", "Add up.", (), "atomics", "my.cu:5", "add(c);")

    def counted(names, own, options, timeout) -> tuple[None, ByLine]:
        limits.append(timeout)
        kernels = [
            Counted(("copy", "64x2", "256"), 1, [atomics]),
            Counted(("none", "1", "1"), 1, []),
        ]
        return None, ByLine(kernels, [Sentence("It waits.", title="each launch")])

    monkeypatch.setattr(explained_command, "_on_cpu", counted)
    assert explained(lab, ("copy", COPY)) == 0
    of_gpu, heading, of_lines, host, notes = capfd.readouterr().out.split("\n\n")
    assert "The limit: device memory" in of_gpu and heading == explanation.EMULATED
    assert of_lines.startswith("copy, grid 64x2, block 256\n") and "my.cu:5" in of_lines
    assert "It waits." in host and "none" not in of_lines
    assert unseen.LOOKED_AT in " ".join(notes.split())
    assert limits == [explained_command.LONGEST_COUNTING]
    assert lab("reduceInteger", "--explain", "--timeout=5") == 0
    assert limits[1:] == [5]


def test_explanation(lab: Lab, names_alone, capfd) -> None:
    assert explained(lab, ("copy", COPY), ("naive", NAIVE)) == 0
    copy, naive, notes = capfd.readouterr().out.split("\n\n")
    assert copy.startswith("copy, grid 64x2, block 256\n") and "memoryBound" in copy
    assert "The limit: device memory, together with L2 cache." in copy
    assert naive.startswith("naive, ") and "Uncoalesced loads." in naive
    source, looked_at = notes.split("\n", 1)
    assert source == "gpu back end, optimised build (nvcc -O3), on NVIDIA H200 (sm_90)"
    assert " ".join(looked_at.split()) == unseen.NO_LINES
    asked = re.search(r"--metrics (\S+)", lab.ran()[1]).group(1).split(",")
    known = metrics.load().metrics
    assert asked == [known[name].nsight for name in diagnosis.load().metrics("gpu")]


def test_explanation_without_some_metrics(lab: Lab, capfd) -> None:
    lacking = {name: value for name, value in COPY.items() if name != "l2_utilization"}
    waiting = {**COPY, "stall_memory_dependency": 40.0}  # for what else was not counted
    assert explained(lab, ("lacking", lacking), ("waiting", waiting)) == 0
    out = " ".join(capfd.readouterr().out.split())
    assert "How busy the parts of the GPU were is not known here. Warps wait most for loads" in out
    assert "What the warps wait for most is not known here." in out
    assert "not decided: few warps for the latency (no l2_utilization)" in out


# An ncu of a GPU that lacks two metrics, and says so of one at a time.
OLDER_NCU = """
echo "ncu $*" >> "{log}"
case "$*" in
*sm__idc_divergent*) echo '==ERROR== Failed to find metric regex:^sm__idc_divergent_instruction_replays(\\.(sum|avg))?$'; exit 1 ;;
*stalled_misc*) echo '==ERROR== Failed to find metric smsp__warp_issue_stalled_misc_per_warp_active.pct'; exit 1 ;;
*) /bin/cat "{page}" ;;
esac
"""


def test_explanation_on_a_gpu_without_some_of_the_metrics(lab: Lab, names_alone, capfd) -> None:
    page = lab.folder / "page.csv"
    gone = ("constant_replays", "stall_misc")
    page.write_text(
        ncu_sample.page_of([("k(int)", {k: v for k, v in COPY.items() if k not in gone})])
    )
    lab.tool("ncu", OLDER_NCU.format(log=lab.log, page=page))
    assert lab("reduceInteger", "--explain") == 0
    out = " ".join(capfd.readouterr().out.split())
    assert "The limit: device memory" in out
    assert "not decided: different constants (no constant_replays)" in out
    assert out.count("not decided") == 1
    runs = [line for line in lab.ran()[1:] if "--metrics " in line]
    asked = [line.split("--metrics ")[1].split()[0].split(",") for line in runs]
    first, _, last = asked
    known = metrics.load().metrics
    assert set(first) - set(last) == {known[name].nsight for name in gone}
    assert lab("reduceInteger", "--metrics=constant_replays,duration") == 1
    assert "does not have this metric for this GPU: sm__idc" in capfd.readouterr().err


def test_explanation_where_ncu_complains_of_what_was_not_asked(lab: Lab, capfd) -> None:
    lab.ncu("==ERROR== Failed to find metric regex:^sm__nosuch\n", status=1)
    assert lab("reduceInteger", "--explain") == 1
    assert "does not have this metric for this GPU: sm__nosuch" in capfd.readouterr().err
    assert len(lab.ran()) == 2


def test_explanation_is_as_wide_as_the_terminal(lab: Lab, monkeypatch, capfd) -> None:
    monkeypatch.setattr(profile.sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "50")
    assert explained(lab, ("copy", COPY), ("naive", NAIVE)) == 0
    lines = capfd.readouterr().out.splitlines()
    assert all(len(line) <= 50 or len(line.split()) == 1 for line in lines)
    assert max(map(len, (line for line in lines if len(line.split()) > 1))) > 40


# ---- a student's own file, on the gpu ----


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "my files" / "mine.cu"
    path.parent.mkdir()
    path.write_text("int main() {}\n")
    return path


@pytest.mark.parametrize(
    ("options", "flags", "program"),
    [([], "-O3 -lineinfo", "mine.gpu"), (["--debug"], "-g -G", "mine.gpu-debug")],
)
def test_own_file(lab: Lab, mine: Path, options: list[str], flags: str, program: str) -> None:
    lab.ncu(ncu_sample.OUTPUT)
    assert lab(str(mine), "--metrics=duration", *options, "--", "7") == 0
    build_line, nvcc_line, ncu_line = lab.ran()
    preset = "gpu-debug" if options else "gpu"
    assert build_line == f"build {preset} lab_common"
    built = lab.folder / "own" / program
    common = f"-L{lab.folder / preset / 'common'} -llab_common"
    assert nvcc_line == (
        f"nvcc -std=c++17 {flags} -arch=native -rdc=true -I {ROOT / 'common'} {mine} -o {built} "
        f"{common} -lcudadevrt"
    )
    assert ncu_line.endswith(f" {built} 7")  # no --profile: it is not an exercise


def test_own_files(lab: Lab, mine: Path) -> None:
    """An exercise's own file among others is no exercise."""
    part = mine.parent / "part.cu"
    part.touch()
    lab.ncu(ncu_sample.OUTPUT)
    source = lab.folder / "ch03_execution_model" / "reduceInteger" / "reduceInteger.cu"
    assert lab(str(source), str(part), "--metrics=duration") == 0
    build_line, nvcc_line, ncu_line = lab.ran()
    built = lab.folder / "own" / "reduceInteger.gpu"
    assert build_line == "build gpu lab_common"
    assert f" {source} {part} -o {built} " in nvcc_line
    assert ncu_line.endswith(f" {built}")


def test_gpu_that_is_newer_than_nvcc(lab: Lab, mine: Path, monkeypatch) -> None:
    newer = Driver((13, 2), [Gpu("newer", 140)])
    monkeypatch.setattr(profilers, "ask_driver", lambda: newer)
    lab.ncu(ncu_sample.OUTPUT)
    assert lab(str(mine), "--metrics=duration") == 0
    assert " -arch=sm_90 " in lab.ran()[1]


def test_own_file_that_does_not_compile(lab: Lab, mine: Path, monkeypatch, capfd) -> None:
    lab.ncu(ncu_sample.OUTPUT)
    monkeypatch.setenv("NVCC_STATUS", "2")
    assert lab(str(mine)) == 1
    assert f"\nlab: {mine} does not compile (exit status 2" in capfd.readouterr().err
    assert [line.split()[0] for line in lab.ran()] == ["build", "nvcc"]


# ---- bad usage ----


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reduceintger"], "did you mean reduceInteger?"),
        (["MINE", "--output=MINE"], "--output MINE: that is the program"),
        (["reduceInteger", "--output=/dev/full"], "cannot write /dev/full: it is not a file"),
        (["reduceInteger", "--metrics=gld_eff"], "did you mean gld_efficiency"),
        (["reduceInteger", "--backend=cpu", "--metrics=duration"], "not available without a GPU"),
        (["reduceInteger", "--explain", "--metrics=duration"], "does not go with --metrics"),
        (["reduceInteger", "--explain", "--debug"], "does not go with --debug"),
        (["reduceInteger", "--explain", "--csv"], "does not go with --csv"),
        (
            ["MINE", "--backend=gpu", "--metrics=barriers"],
            "no counter of a GPU gives barriers\n\n    ./lab profile MINE --backend cpu\n",
        ),
    ],
)
def test_bad_usage(lab: Lab, mine: Path, capfd, arguments: list[str], message: str) -> None:
    assert lab(*(word.replace("MINE", str(mine)) for word in arguments)) == 2
    assert message.replace("MINE", str(mine)) in capfd.readouterr().err
    assert lab.ran() == []


# ---- cpu ----

CPU_PAGE = ncu_sample.raw_page(
    {
        "smsp__sass_branch_targets_threads_divergent.sum": "",
        "sm__maximum_warps_per_active_cycle_pct": "%",
    },
    [ncu_sample.launch(0, "reduceNeighbored(int*)", ["786,432", "100"], "(8, 1, 1)", "(32, 1, 1)")],
)


def writes_profile(lab: Lab) -> str:
    """The script of a program that writes CPU_PAGE where it is told to."""
    page = lab.folder / "page.csv"
    page.write_text(CPU_PAGE)
    return f'echo its own table\necho "$*" >> "{lab.log}"\n/bin/cat "{page}" > "$CUDA_EMULATOR_PROFILE"'


def test_cpu_table(lab: Lab, capfd) -> None:
    lab.program(writes_profile(lab))
    names = "duration,divergent_branch,theoretical_occupancy,x__y"
    assert lab("reduceInteger", "--backend=cpu", "--metrics", names, "--", "--size=3") == 0
    out, err = capfd.readouterr()
    assert re.search(r"^reduceNeighbored +8 +32 +786,432 +<= 100$", out, re.MULTILINE)
    assert "not available without a GPU: duration, x__y\n" in out
    assert "theoretical_occupancy: an upper bound, of block size and shared memory alone" in out
    assert "cpu back end: counted in an emulation" in out
    assert "its own table" not in out + err
    assert lab.ran() == ["build cpu reduceInteger_instrumented", "--profile --size=3"]


def counts_of(kernel: str, threads: int, launches: int = 1) -> dict[str, object]:
    """What an instrumented program writes of a kernel, by line: here it has none."""
    sizes = {"grid": [100, 1, 1], "block": [threads, 1, 1], "launches": launches, "shared": 0}
    nothing = dict.fromkeys(("basic_blocks", "accesses", "memories", "samples"), [])
    return {"name": kernel, "address": 0, "blocks_per_sm": 2, **sizes, **nothing}


def test_explanation_on_the_cpu(lab: Lab, names_alone, capfd) -> None:
    counts = {name: COPY[name] for name in diagnosis.load().metrics("cpu")}
    totals, by_line = lab.folder / "counts.csv", lab.folder / "counts.json"
    totals.write_text(ncu_sample.page_of([("odd(int)", counts), ("even(int)", counts)]))
    kernels = [counts_of("odd(int)", 80, launches=3), counts_of("even(int)", 96)]
    by_line.write_text(json.dumps({"program": "", "kernels": kernels, "host": []}))
    lab.program(
        f'/bin/cat "{totals}" > "$CUDA_EMULATOR_PROFILE"\n/bin/cat "{by_line}" > "$CUDA_EMULATOR_LINES"'
    )
    assert lab("reduceInteger", "--backend=cpu", "--explain") == 0
    of_odd, of_even, notes = capfd.readouterr().out.split("\n\n")
    assert of_odd.startswith("odd, grid 100, block 80 (3 launches, counted together)\n")
    assert "16 of 96 lanes" in of_odd and "warpLayout" in of_odd
    assert of_even.startswith("even, ") and " ".join(of_even.split()).endswith(explanation.NOTHING)
    assert all(note in " ".join(notes.split()) for note in unseen.without_gpu())


def test_auto_without_a_gpu_says_so_and_takes_the_cpu(lab: Lab, monkeypatch, capfd) -> None:
    monkeypatch.setattr(backend, "auto_backend", lambda: Choice("cpu", "no nvcc"))
    lab.program(writes_profile(lab))
    assert lab("reduceInteger", "--debug") == 0
    err = capfd.readouterr().err
    assert "back end: cpu (no nvcc)" in err
    assert "--debug is for the gpu back end" in err


@pytest.mark.parametrize(("status", "expected"), [(1, 1), (2, 2), (139, 1)])
def test_program_that_fails_on_the_cpu(lab: Lab, capfd, status: int, expected: int) -> None:
    lab.program(writes_profile(lab) + f"\necho element 3 is WRONG\nexit {status}")
    assert lab("reduceInteger", "--backend=cpu") == expected
    out, err = capfd.readouterr()
    assert out == ""
    assert "its own table\nelement 3 is WRONG\n" in err
    assert "the program ended with" in err


WRONG_ROW = "    WRONG: reduceNeighbored: element 3 is 0, expected 1"
OF_ITS_MISTAKE = "of a kernel that is WRONG, a count may be that of its mistake\n"


def test_what_is_wrong_is_counted_all_the_same(lab: Lab, tmp_path: Path, capfd) -> None:
    lab.program(f"{writes_profile(lab)}\necho '{WRONG_ROW}'\nexit 1")
    words = ["reduceInteger", "--backend=cpu", "--metrics=divergent_branch"]
    assert lab(*words) == 1
    out, err = capfd.readouterr()
    assert "reduceNeighbored  8     32        786,432\n" in out
    assert "theoretical_occupancy" not in out and "not available" not in out
    assert out.endswith(OF_ITS_MISTAKE)
    assert f"its own table\n{WRONG_ROW}\n" in err and "ended with exit status 1" in err
    assert lab(*words, "--csv") == lab(*words, "--output", str(tmp_path / "counts.csv")) == 1
    assert capfd.readouterr().out == "" and not (tmp_path / "counts.csv").exists()
    lab.program(f"{writes_profile(lab)}\necho '{WRONG_ROW}'\nexit 139")
    assert lab(*words) == 1
    assert capfd.readouterr().out == ""


def test_what_is_wrong_under_ncu_is_counted_all_the_same(lab: Lab, capfd) -> None:
    ended = "==ERROR== The application returned an error code (1).\n"
    lab.ncu(f"==PROF== Connected\n{WRONG_ROW}\n{ended}{ncu_sample.REDUCTIONS}", 1)
    assert lab("reduceInteger", "--metrics=divergent_branch") == 1
    out, err = capfd.readouterr()
    assert "reduceInterleaved     8192  512        40,960\n" in out
    assert out.endswith(OF_ITS_MISTAKE)
    assert err.endswith(f"with exit status 1, after these lines:\n    {WRONG_ROW}\n")
    assert lab("reduceInteger", "--metrics=divergent_branch", "--csv") == 1
    assert capfd.readouterr().out == ""
    lab.ncu(f"{WRONG_ROW}\n{ended}", 1)
    assert lab("reduceInteger", "--metrics=divergent_branch") == 1
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("text", ["exit 0", ': > "$CUDA_EMULATOR_PROFILE"'])
def test_no_kernels_on_the_cpu(lab: Lab, capfd, text: str) -> None:
    lab.program(text)
    assert lab("reduceInteger", "--backend=cpu") == 1
    assert "no kernel was launched" in capfd.readouterr().err


def test_own_file_on_the_cpu(lab: Lab, mine: Path, monkeypatch) -> None:
    ran: list[list[str]] = []

    def compile(command: list[str], to_stderr: bool, held: bool) -> int:
        ran.append(command)
        shell_program(Path(command[command.index("-o") + 1]), writes_profile(lab))
        return 0

    monkeypatch.setattr(own_program, "run", compile)
    assert lab(str(mine), "--backend=cpu", "--", "7") == 0
    assert lab.ran() == [
        "build cpu cuda_emulator_instrument cuda_emulator_precompiled_instrumented lab_common",
        "7",
    ]
    (command,) = ran
    library = lab.folder / "cpu" / "emulator" / "libcuda_emulator.a"
    assert command[2:] == [
        *("--instrument", str(mine), "-I", str(ROOT / "common")),
        *("-o", str(lab.folder / "own" / "mine.cpu-profile")),
        *(f"-L{lab.folder / 'cpu' / 'common'}", "-llab_common", "--emulator", str(library)),
    ]
