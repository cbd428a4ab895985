"""./lab trace as a whole, with a program that answers in place of nsys, and one in place of an
exercise on the cpu back end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from exercise_sample import FACTS
from lab_cli import main
from lab_cli.building import presets
from lab_cli.commands import trace
from lab_cli.counters import nsys, profilers, recording
from lab_cli.errors import LabError
from lab_cli.machine import backend, setup
from lab_cli.machine.gpu import NO_DRIVER, Driver, Gpu
from lab_fixtures import shell_program
from recordings import of_nsys

NVCC = 'case "$1" in --version) echo "release 13.0," ;; *) echo compute_75; echo compute_90 ;; esac'

# After real output; the first two reports have rows, the third has none.
KERNELS = """\
Generating SQLite file report.sqlite from report.nsys-rep
Processing [report.sqlite] with [cuda_gpu_kern_sum.py]...

Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name
91.2,1824000,4,456000.0,455000.0,450000,464000,600.0,"reduceNeighbored(int *, int *, unsigned long)"
8.8,17600,4,4400.0,4400.5,4300,4500,80.0,"void matmulTiled<(unsigned int)16>(const float *)"
"""
COPIES = """\
"Time (%)","Total Time (ns)","Count","Avg (ns)","Med (ns)","Min (ns)","Max (ns)","StdDev (ns)","Operation"
"100.0","2,500","2","1250.0","1250.0","1000","1500","10.0","[CUDA memcpy Host-to-Device]"
"""
PAGES = """\
Processing [report.sqlite] with [um_total_sum.py]...
Total HtoD Migration Size (MB),Total DtoH Migration Size (MB),Total CPU Page Faults,Total GPU PageFaults,Minimum Virtual Address,Maximum Virtual Address
402.653,,2688,862,0x7FD1E8000000,0x7FD1FFFAD000
"""
SKIPPED = "SKIPPED: report.sqlite does not contain NV Tools Extension (NVTX) data.\n"

ROOT = Path(__file__).resolve().parents[3]
REPORTS = ["cuda_gpu_kern_sum", "cuda_gpu_mem_time_sum", "nvtx_sum", "um_total_sum"]
DRAWN = [recording.WORK, recording.RANGES]
OF_RANGES = "Ranges go from the beginning to the end of the work that the host started in them."

NSYS = """
echo "nsys $*" >> "{log}"
case "$*" in
profile*) {profile} ;;
*cuda_gpu_kern_sum*) /bin/cat "{folder}/kernels.txt" ;;
*cuda_gpu_mem_time_sum*) /bin/cat "{folder}/copies.txt" ;;
*nvtx_sum*) /bin/cat "{folder}/skipped.txt" ;;
*um_total_sum*) /bin/cat "{folder}/pages.txt" ;;
*cuda_gpu_trace*) /bin/cat "{folder}/work.txt" ;;
*nvtx_gpu_proj_trace*) /bin/cat "{folder}/ranges.txt" ;;
esac
"""

# What a program of the cpu back end does.
PROGRAM = """
echo "program $*" >> "{log}"
echo "what it prints"
/bin/cat > "$CUDA_EMULATOR_TRACE" << end
Start (ns),Duration (ns),Strm,Name
100,50,13,"addOne(int*)"
150,20,7,"[CUDA memset]"

Name,Projected Start (ns),Projected Duration (ns),Orig Start (ns),Orig Duration (ns)
"rung",100,70,90,100
end
exit {status}
"""


class Lab:
    def __init__(self, folder: Path, fake_tool, built: list[tuple[str, ...]]) -> None:
        self.built = built
        self.folder = folder
        self.log = folder / "log"
        self.report = folder / "out" / "trace" / "transpose.nsys-rep"
        self.figure = self.report.with_suffix(".svg")
        self.tool = fake_tool

    def nsys(self, profile: str) -> None:
        (self.folder / "kernels.txt").write_text(KERNELS)
        (self.folder / "copies.txt").write_text(COPIES)
        (self.folder / "skipped.txt").write_text(SKIPPED)
        (self.folder / "pages.txt").write_text(SKIPPED)
        for name, report in (("work", recording.WORK), ("ranges", recording.RANGES)):
            text = of_nsys("streams", report)
            (self.folder / f"{name}.txt").write_text(f"Processing [report]...\n{text}\n")
        self.tool("nsys", NSYS.format(log=self.log, folder=self.folder, profile=profile))

    def program(self, status: int = 0, text: str = PROGRAM) -> None:
        text = text.format(log=self.log, status=status)
        shell_program(self.folder / "cpu" / "ch04_memory" / "transpose", text)

    def records(self) -> str:
        return f': > "{self.report}"'

    def __call__(self, *arguments: str) -> int:
        return main.main(["trace", *arguments])

    def ran(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake_tool, exercises) -> Lab:
    fake_tool("nvcc", NVCC)
    exercises("ch04_memory/transpose")
    built: list[tuple[str, ...]] = []

    def build(cmake: str, preset: str, *targets: str) -> Path:
        built.append((cmake, preset, *targets))
        return tmp_path / preset

    monkeypatch.setattr(setup, "ensure", lambda backend: f"cmake for {backend}")
    monkeypatch.setattr(presets, "build", build)
    h200 = Driver((13, 0), [Gpu("NVIDIA H200", 90)])
    monkeypatch.setattr(profilers, "ask_driver", lambda: h200)
    monkeypatch.setattr(profilers, "PLACES", {"ncu": [], "nsys": []})
    monkeypatch.setattr(trace, "OUT", tmp_path / "out")
    monkeypatch.setattr(backend, "pick", lambda request: "gpu")
    monkeypatch.setattr(setup, "python_for", lambda modules: sys.executable)
    return Lab(tmp_path, fake_tool, built)


@pytest.mark.draws
def test_summaries(lab: Lab, capfd) -> None:
    lab.nsys(lab.records())
    assert lab("transpose", "--", "--rows=64") == 0
    out, err = capfd.readouterr()
    assert out == (
        "share [%]  count  total [us]  median [us]  min [us]  max [us]  kernels\n"
        "     91.2      4    1,824.00       455.00    450.00    464.00  reduceNeighbored\n"
        "      8.8      4       17.60         4.40      4.30      4.50  matmulTiled<16>\n"
        "\n"
        "share [%]  count  total [us]  median [us]  min [us]  max [us]  copies and fills of memory\n"
        "    100.0      2        2.50         1.25      1.00      1.50"
        "  [CUDA memcpy Host-to-Device]\n"
        "\n"
        "ranges of the host program (NVTX): none recorded\n"
    )
    report = lab.folder / "out" / "trace" / "transpose.nsys-rep"
    tool = lab.folder / "bin" / "nsys"
    assert err.splitlines()[-5:] == [
        f"the recording is {report}: nsys-ui opens it, too",
        *(
            f"+ {tool} stats --report {name} --format csv --output - --force-export=true {report}"
            for name in DRAWN
        ),
        OF_RANGES,
        f"drawn: {lab.figure}",
    ]
    figure = lab.figure.read_text()
    for text in ("transpose: what ran when, NVIDIA H200", "stream 18", "inOrder"):
        assert f"<!-- {text} -->" in figure
    program = lab.folder / "gpu" / "ch04_memory" / "transpose"
    stem = lab.folder / "out" / "trace" / "transpose"
    assert lab.ran() == [
        "nsys profile --trace=cuda,nvtx --sample=none --cpuctxsw=none --force-overwrite=true "
        "--cuda-um-gpu-page-faults=true --cuda-um-cpu-page-faults=true --cuda-graph-trace=node "
        f"--output={stem} {program} --reps=5 --rows=64",
        *(
            f"nsys stats --report {report} --format csv --output - --force-export=true {lab.report}"
            for report in [*REPORTS, *DRAWN]
        ),
    ]
    assert lab.built == [("cmake for gpu", "gpu", "transpose")]


@pytest.mark.draws
def test_pages_of_managed_memory(lab: Lab, capfd) -> None:
    lab.nsys(lab.records())
    (lab.folder / "pages.txt").write_text(PAGES)
    assert lab("transpose") == 0
    assert capfd.readouterr().out.endswith(
        "none recorded\n\nmanaged memory: 402.653 MB to the device, no MB to the host, "
        "862 page faults of the device, 2,688 of the host\n"
    )


def test_import_that_fails_says_what_to_install(lab: Lab, capfd) -> None:
    lab.report.parent.mkdir(parents=True)
    lab.report.write_text("of an earlier run")
    lab.nsys("echo Importer error status: libdw.so.1 cannot be opened")
    assert lab("transpose") == 1
    out, err = capfd.readouterr()
    assert out == ""
    message = err.partition("lab: ")[2]
    assert "    Importer error status: libdw.so.1 cannot be opened\n" in message
    assert "sudo apt-get install libdw1 libelf1" in message
    assert not lab.report.exists()


@pytest.mark.parametrize(
    ("status", "expected", "message"),
    [
        (1, 1, "under nsys, the program ended with exit status 1"),
        (139, 1, "under nsys, the program ended with killed by SIGSEGV"),
        (2, 2, "the program ended with exit status 2"),
        (77, 77, "the program ended with exit status 77"),
    ],
)
def test_program_that_fails(lab: Lab, capfd, status: int, expected: int, message: str) -> None:
    lab.nsys(f"{lab.records()}; echo reason; exit {status}")
    assert lab("transpose") == expected
    assert capfd.readouterr().err.endswith(f"\nlab: {message}:\n    reason\n")
    assert len(lab.ran()) == 1


@pytest.mark.parametrize(
    "text", ["ERROR: Report 'cuda_gpu_kern_sum' not found\n", "Time (%),Name\n"]
)
def test_report_that_nsys_does_not_have(lab: Lab, capfd, text: str) -> None:
    lab.nsys(lab.records())
    (lab.folder / "kernels.txt").write_text(text)
    assert lab("transpose") == 1
    message = "lab: nsys stats --report cuda_gpu_kern_sum gave no table:\n    "
    assert capfd.readouterr().err.endswith(message + text)


def test_report_of_nothing_that_fails(fake_tool, tmp_path: Path) -> None:
    program = str(fake_tool("nsys", "echo SKIPPED: no data; exit 1"))
    with pytest.raises(LabError, match="gave no table:\n    SKIPPED: no data$"):
        nsys.summarise(program, tmp_path, nsys.SUMMARIES[0])


def test_only_whole_rows_are_shown() -> None:
    text = 'a line\nTime (%),Total Time (ns),Name\n1.0,"2,000","k(int)"\ncut,off\n\nend'
    row = {"Time (%)": "1.0", "Total Time (ns)": "2,000", "Name": "k(int)"}
    assert nsys.parse(text, "Time (%)") == [row]
    row = {"Time (%)": "1.0", "Total Time (ns)": "n/a", "Med (ns)": "-", "Name": "k(int)"}
    assert nsys.table(nsys.SUMMARIES[0], [row]).splitlines()[1].split() == ["1.0", "n/a", "-", "k"]


def test_no_nsys_or_no_gpu(lab: Lab, monkeypatch, capfd) -> None:
    assert lab("transpose") == 1
    err = capfd.readouterr().err
    assert err.startswith("lab: no nsys") and "Install Nsight Systems" in err
    assert "\n    ./lab trace transpose --backend cpu\n" in err
    monkeypatch.setattr(profilers, "ask_driver", lambda: Driver(problem=NO_DRIVER))
    assert lab("transpose", "--backend=gpu") == 77
    assert "\n    ./lab trace transpose --backend cpu\n" in capfd.readouterr().err
    assert lab.built == []  # nothing is built for nothing


@pytest.mark.draws
def test_rungs_are_drawn_in_a_file_of_their_own(lab: Lab, capfd) -> None:
    lab.nsys(lab.records())
    assert lab("transpose", "--rung", "lapped") == 0
    figure = lab.figure.with_name("transpose.lapped.svg")
    lines = capfd.readouterr().err.splitlines()
    assert lines[-1] == f"drawn: {figure}"
    assert OF_RANGES not in lines  # there are none in it
    text = figure.read_text()
    assert "<!-- overlapped, the last of 3 repetitions: 272.3 us -->" in text
    assert not lab.figure.exists()


@pytest.mark.draws
def test_unknown_rung(lab: Lab, capfd) -> None:
    lab.nsys(lab.records())
    assert lab("transpose", "--rung=own/Streams") == 2
    out, err = capfd.readouterr()
    assert "lab: --rung own/Streams: no range with this in its name has work;" in err
    assert "inOrder, overlapped, graph, managed\n" in err
    assert out.startswith("share [%]")  # the summaries are there all the same
    assert [*lab.figure.parent.glob("*.svg")] == []


def test_files_of_rungs_have_plain_names() -> None:
    assert trace.file_of("x", "a/b c.d+e", "gpu").name == "x.a_b_c_d_e.svg"


@pytest.mark.draws
def test_more_rungs_than_can_be_drawn(lab: Lab, capfd) -> None:
    lab.nsys(lab.records())
    header, *ranges = of_nsys("streams", recording.RANGES).splitlines()
    (row,) = [line for line in ranges if line.startswith(":graph")]
    (lab.folder / "ranges.txt").write_text(
        "\n".join([header, *(row.replace("graph", f"graph{k}") for k in range(9))])
    )
    assert lab("transpose", "--rung=graph") == 0
    lines = capfd.readouterr().err.splitlines()
    assert "Of 9 rungs with graph in their name, the last 8." in lines
    text = lab.figure.with_name("transpose.graph.svg").read_text()
    shown = [f"<!-- graph{k}: 734.7 us -->" in text for k in range(9)]
    assert shown == [False, *[True] * 8]


def test_empty_recording(lab: Lab, capfd) -> None:
    lab.nsys(lab.records())
    for name in ("work", "ranges"):
        (lab.folder / f"{name}.txt").write_text(SKIPPED)
    assert lab("transpose") == 1
    out, err = capfd.readouterr()
    assert err.endswith("\nlab: nothing to draw: neither a kernel nor a copy was recorded\n")
    assert out.startswith("share [%]")


def test_recording_of_an_nsys_that_has_other_columns(lab: Lab, capfd) -> None:
    lab.nsys(lab.records())
    (lab.folder / "work.txt").write_text("Start (ns),Dur (ns),Name\n1,2,k\n")
    assert lab("transpose") == 1
    message = "lab: the report cuda_gpu_trace has no column Duration (ns), Strm; it has Start"
    assert message in capfd.readouterr().err


@pytest.mark.draws
def test_repetitions_are_not_in_the_summary(lab: Lab, capfd) -> None:
    lab.nsys(lab.records())
    (lab.folder / "skipped.txt").write_text(
        "Time (%),Total Time (ns),Instances,Med (ns),Min (ns),Max (ns),Range\n"
        "50.0,6000,2,1,1,1,:slow\n33.3,4000,10,1,1,1,:repetition\n16.7,2000,2,1,1,1,:fast\n"
    )
    lab("transpose")
    lines = capfd.readouterr().out.splitlines()[-2:]
    assert [(line.split()[0], line.split()[-1]) for line in lines] == [
        ("75.0", "slow"),
        ("25.0", "fast"),
    ]


@pytest.mark.draws
@pytest.mark.parametrize(
    ("chosen", "facts", "said"),
    [("gpu", "rdc = true\n", True), ("cpu", "rdc = true\n", True), ("gpu", "", False)],
)
def test_kernels_of_kernels_are_said_to_be_missing(
    lab: Lab, exercises, capfd, chosen: str, facts: str, said: bool
) -> None:
    lab.nsys(lab.records())
    lab.program()
    exercises("ch04_memory/transpose", facts + FACTS)
    assert lab("transpose", f"--backend={chosen}") == 0
    text = "Kernels that a kernel launches have no bars of their own."
    assert (text in capfd.readouterr().err.splitlines()) == said
    figure = lab.figure if chosen == "gpu" else lab.figure.with_name("transpose.cpu.svg")
    assert (text in figure.read_text()) == said


# ---- on the cpu back end


@pytest.mark.draws
def test_order_of_the_emulation(lab: Lab, monkeypatch, capfd) -> None:
    lab.program()
    assert lab("transpose", "--backend", "cpu", "--", "--rows=64") == 0
    out, err = capfd.readouterr()
    figure = lab.figure.with_name("transpose.cpu.svg")
    assert out == ""
    assert err.splitlines()[-1] == f"drawn: {figure}"
    text = figure.read_text()
    for label in ("stream 13", "fill", "rung", "addOne", "ranges (NVTX)"):
        assert f"<!-- {label} -->" in text
    assert "transpose: what ran when, the cpu back end (emulation)" in text
    assert "An emulation ran this" in text and "is not to be seen here" in text
    assert lab.ran() == ["program --reps=5 --rows=64"]
    assert lab.built == [("cmake for cpu", "cpu", "transpose")]


@pytest.mark.draws
def test_cpu_back_end_where_there_is_no_gpu(lab: Lab, fake_tool, monkeypatch, capfd) -> None:
    monkeypatch.setattr(backend, "pick", lambda request: "cpu")
    lab.program()
    assert lab("transpose", "--rung=rung", "--", "--reps=2") == 0
    assert lab.ran() == ["program --reps=5 --reps=2"]
    assert lab.figure.with_name("transpose.rung.cpu.svg").exists()


@pytest.mark.parametrize(("status", "expected"), [(1, 1), (2, 2), (77, 1)])
def test_program_that_fails_on_the_cpu_back_end(
    lab: Lab, capfd, status: int, expected: int
) -> None:
    lab.program(status)
    assert lab("transpose", "--backend=cpu") == expected
    err = capfd.readouterr().err
    assert f"what it prints\nlab: the program ended with exit status {status}" in err
    assert not lab.figure.parent.exists()


def test_program_that_writes_no_recording(lab: Lab, capfd) -> None:
    lab.program(text="echo emulator: cannot write x")
    assert lab("transpose", "--backend=cpu") == 1
    assert capfd.readouterr().err.endswith(
        "lab: the program wrote no recording:\n    emulator: cannot write x\n"
    )


@pytest.mark.draws
def test_the_real_program(lab: Lab, monkeypatch, exercises) -> None:
    """A rung of an exercise, its repetitions and its streams."""
    build = Path(os.environ.get("CPU_BUILD", ROOT / "out" / "cpu")).absolute()
    if not (build / "streams" / "streamConcurrency").exists():
        pytest.skip("streamConcurrency is not built")
    exercises("streams/streamConcurrency")
    monkeypatch.setattr(presets, "build", lambda *arguments: build)
    options = ["--kernels=4", "--microseconds=10", "--reps=3"]
    assert lab("streamConcurrency", "--backend=cpu", "--rung=ownStreams", "--", *options) == 0
    text = (lab.figure.parent / "streamConcurrency.ownStreams.cpu.svg").read_text()
    assert text.count("<!-- ownStreams, the last of 3 repetitions -->") == 3  # 1, 2 and 4 kernels
    for number, streams in enumerate([1, 2, 4]):
        lanes = [f'<g id="{number}: stream {13 + k}, row 0">' in text for k in range(6)]
        assert lanes == [k < streams for k in range(6)]


# ---- matplotlib


def test_without_matplotlib_the_summaries_are_there(lab: Lab, monkeypatch, capfd) -> None:
    def fails(modules: list[str]) -> str:
        assert modules[0] == "matplotlib"
        raise LabError("pip does not reach its server")

    monkeypatch.setattr(setup, "python_for", fails)
    lab.nsys(lab.records())
    assert lab("transpose") == 0
    out, err = capfd.readouterr()
    assert out.startswith("share [%]")
    assert (
        "lab: pip does not reach its server\nwithout matplotlib no figure is drawn: ./lab doctor"
    ) in err
    assert not lab.figure.exists()


def test_the_python_that_has_matplotlib_does_it_all(lab: Lab, monkeypatch, capfd) -> None:
    ran = []

    def run(command: list[str]) -> int:
        ran.append(command)
        return 5

    monkeypatch.setattr(setup, "python_for", lambda modules: "/other/python")
    monkeypatch.setattr(trace, "run_shown", run)
    lab.nsys(lab.records())
    start = ["/other/python", "-B", str(ROOT / "lab"), "trace", "transpose"]
    assert lab("transpose", "--", "--rows=64") == 5
    assert lab("transpose", "--rung=a b", "--backend=cpu") == 5
    assert ran == [
        [*start, "--backend=gpu", "--", "--rows=64"],
        [*start, "--backend=cpu", "--rung=a b", "--"],
    ]
    assert lab.ran() == lab.built == []


def test_drawing_is_imported_only_when_needed() -> None:
    """./lab itself must run without matplotlib."""
    program = "import sys, lab_cli.main; sys.exit('matplotlib' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "scripts")}
    assert subprocess.run([sys.executable, "-c", program], env=environment).returncode == 0


# As the installers of CUDA 13.0 and of the profilers put them; what comes first is taken first.
INSTALLED = {
    "ncu": [
        "/usr/local/cuda-13.0/bin/ncu",
        "/usr/local/cuda-13.0/nsight-compute-2025.3.1/ncu",
        "/opt/nvidia/nsight-compute/2025.3.1/ncu",
    ],
    "nsys": [
        "/usr/local/cuda-13.0/bin/nsys",
        "/opt/nvidia/nsight-systems/2025.3.2/bin/nsys",
        "/usr/local/cuda-13.0/nsight-compute-2025.3.1/target-linux-x64/nsys",
        "/usr/local/cuda-13.0/nsight-compute-2025.3.1/host/target-linux-x64/nsys",
        "/opt/nvidia/nsight-compute/2025.3.1/target-linux-x64/nsys",
        "/opt/nvidia/nsight-compute/2025.3.1/host/target-linux-x64/nsys",
    ],
}


@pytest.mark.parametrize("program", INSTALLED)
def test_profilers_are_found_where_installers_put_them(
    program: str, tmp_path: Path, fake_tool, monkeypatch
) -> None:
    places = [f"{tmp_path}{place}" for place in profilers.PLACES[program]]
    monkeypatch.setattr(profilers, "PLACES", {program: places})
    assert profilers.find(program, None) is None
    for place in reversed(INSTALLED[program]):
        path = Path(f"{tmp_path}{place}")
        path.parent.mkdir(parents=True)
        path.touch()
        assert profilers.find(program, None) != str(path)  # cannot be run
        path.chmod(0o755)
        assert profilers.find(program, None) == str(path)
