"""./lab trace as a whole, with a program that answers in place of nsys."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab_cli import main
from lab_cli.building import presets
from lab_cli.commands import trace
from lab_cli.counters import nsys, profilers
from lab_cli.errors import LabError
from lab_cli.machine import setup
from lab_cli.machine.gpu import NO_DRIVER, Driver, Gpu

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

NSYS = """
echo "nsys $*" >> "{log}"
case "$*" in
profile*) {profile} ;;
*cuda_gpu_kern_sum*) /bin/cat "{folder}/kernels.txt" ;;
*cuda_gpu_mem_time_sum*) /bin/cat "{folder}/copies.txt" ;;
*nvtx_sum*) /bin/cat "{folder}/skipped.txt" ;;
*um_total_sum*) /bin/cat "{folder}/pages.txt" ;;
esac
"""


class Lab:
    def __init__(self, folder: Path, fake_tool, built: list[tuple[str, ...]]) -> None:
        self.built = built
        self.folder = folder
        self.log = folder / "log"
        self.report = folder / "out" / "trace" / "transpose.nsys-rep"
        self.tool = fake_tool

    def nsys(self, profile: str) -> None:
        (self.folder / "kernels.txt").write_text(KERNELS)
        (self.folder / "copies.txt").write_text(COPIES)
        (self.folder / "skipped.txt").write_text(SKIPPED)
        (self.folder / "pages.txt").write_text(SKIPPED)
        self.tool("nsys", NSYS.format(log=self.log, folder=self.folder, profile=profile))

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
    return Lab(tmp_path, fake_tool, built)


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
    assert err.splitlines()[-1] == f"the timeline is in {report}: open it with nsys-ui"
    program = lab.folder / "gpu" / "ch04_memory" / "transpose"
    stem = lab.folder / "out" / "trace" / "transpose"
    assert lab.ran() == [
        "nsys profile --trace=cuda,nvtx --sample=none --cpuctxsw=none --force-overwrite=true "
        "--cuda-um-gpu-page-faults=true --cuda-um-cpu-page-faults=true "
        f"--output={stem} {program} --rows=64 --reps=5",
        *(
            f"nsys stats --report {report} --format csv --output - --force-export=true {lab.report}"
            for report in ("cuda_gpu_kern_sum", "cuda_gpu_mem_time_sum", "nvtx_sum", "um_total_sum")
        ),
    ]
    assert lab.built == [("cmake for gpu", "gpu", "transpose")]


def test_pages_of_managed_memory(lab: Lab, capfd) -> None:
    lab.nsys(lab.records())
    (lab.folder / "pages.txt").write_text(PAGES)
    assert lab("transpose") == 0
    assert capfd.readouterr().out.endswith(
        "none recorded\n\nmanaged memory: 402.653 MB to the device, no MB to the host, "
        "862 page faults of the device, 2,688 of the host\n"
    )


@pytest.mark.parametrize("option", [["--reps=9"], ["--reps", "9"]])
def test_reps_of_the_user_win(lab: Lab, option: list[str]) -> None:
    lab.nsys(lab.records())
    assert lab("transpose", "--", *option) == 0
    assert lab.ran()[0].endswith(" ".join(["transpose", *option]))


def test_import_that_fails_says_what_to_install(lab: Lab, capfd) -> None:
    lab.report.parent.mkdir(parents=True)
    lab.report.write_text("of an earlier run")
    lab.nsys("echo Importer error status: libdw.so.1 cannot be opened")
    assert lab("transpose") == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert err.partition("lab: ")[2].splitlines() == [
        "nsys wrote no report. Its last lines:",
        "    Importer error status: libdw.so.1 cannot be opened",
        "If it says that it cannot import: it needs the libraries libdw and libelf "
        "(sudo apt-get install libdw1 libelf1).",
    ]
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
    for status in (0, 1):
        program = str(fake_tool("nsys", f"echo SKIPPED: no data; exit {status}"))
        if status == 0:
            text = nsys.summarise(program, tmp_path, nsys.SUMMARIES[0])
            assert text == "kernels: none recorded\n"
        else:
            with pytest.raises(LabError, match="gave no table:\n    SKIPPED: no data$"):
                nsys.summarise(program, tmp_path, nsys.SUMMARIES[0])


def test_only_whole_rows_are_shown() -> None:
    lines = [
        "a line",
        "Time (%),Total Time (ns),Name",
        '1.0,"2,000","k(int)"',
        "cut,off",
        "",
        "end",
    ]
    assert nsys.parse("\n".join(lines), "Time (%)") == [
        {"Time (%)": "1.0", "Total Time (ns)": "2,000", "Name": "k(int)"}
    ]
    row = {"Time (%)": "1.0", "Total Time (ns)": "n/a", "Med (ns)": "-", "Name": "k(int)"}
    assert nsys.table(nsys.SUMMARIES[0], [row]).splitlines()[1].split() == ["1.0", "n/a", "-", "k"]


def test_no_nsys(lab: Lab, capfd) -> None:
    assert lab("transpose") == 1
    assert capfd.readouterr().err == (
        "lab: no nsys: not on PATH, not beside nvcc, not in the usual places. Install Nsight Systems "
        "(https://developer.nvidia.com/nsight-systems)\n"
    )
    assert lab.built == []  # nothing is built for nothing


def test_no_gpu(lab: Lab, monkeypatch, capfd) -> None:
    monkeypatch.setattr(profilers, "ask_driver", lambda: Driver(problem=NO_DRIVER))
    assert lab("transpose") == 77
    err = capfd.readouterr().err
    assert "no usable GPU: no NVIDIA driver" in err
    assert "./lab profile transpose --backend cpu" in err


def test_unknown_name(lab: Lab, capfd) -> None:
    assert lab("tranpose") == 2
    assert "did you mean transpose?" in capfd.readouterr().err


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


def test_ranges_lose_the_colon_of_the_default_domain() -> None:
    rows = [{"Time (%)": "100.0", "Instances": "1", "Range": ":oneStream"}]
    assert nsys.table(nsys.SUMMARIES[2], rows).endswith("  oneStream\n")
