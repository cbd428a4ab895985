"""Counts by line on a GPU, with programs that answer in place of nvcc, ncu, nvdisasm and the exercise."""

from __future__ import annotations

import json
from pathlib import Path

import ncu_pages
import pytest
from exercise_sample import FACTS
from lab_cli import main
from lab_cli.building import presets
from lab_cli.counters import profilers
from lab_cli.errors import LabError
from lab_cli.lines.collect import collect
from lab_cli.machine import setup
from lab_cli.machine.gpu import Driver, Gpu
from lab_fixtures import shell_program

NVCC = """
case "$1" in
--version) echo "Cuda compilation tools, release 13.0, V13.0.88" ;;
--list-gpu-arch) echo compute_75; echo compute_90 ;;
esac
"""
# Writes a report, or prints its pages.
NCU = """
echo "ncu $*" >> "{folder}/log"
case "$*" in
*"--page raw"*) exec /bin/cat "{folder}/raw" ;;
*"--page source"*) exec /bin/cat "{folder}/source" ;;
esac
while [ $# -gt 1 ]; do
    [ "$1" = -o ] && echo report > "$2.ncu-rep"
    shift
done
echo '==PROF== Profiling "reduceAtomic": 0%....100%'
{then}
"""
METRICS = ["gld_efficiency"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake_tool, exercises) -> Path:
    """A machine with an H200, and the pages of two kernels of reduceFloat."""
    fake_tool("nvcc", NVCC)
    fake_tool("ncu", NCU.format(folder=tmp_path, then=""))
    exercises("ch03_execution_model/reduceFloat", FACTS)
    shell_program(tmp_path / "gpu" / "ch03_execution_model" / "reduceFloat", "")
    (tmp_path / "raw").write_text(ncu_pages.data("reduceFloat.raw.csv"))
    (tmp_path / "source").write_text(ncu_pages.data("reduceFloat.source.csv"))
    (tmp_path / "sass").write_text(ncu_pages.data("reduceFloat.sass"))
    monkeypatch.setattr(setup, "ensure", lambda backend: "cmake")
    monkeypatch.setattr(presets, "build", lambda cmake, preset, *targets: tmp_path / preset)
    driver = Driver((13, 0), [Gpu("NVIDIA H200", 90)])
    monkeypatch.setattr(profilers, "ask_driver", lambda: driver)
    monkeypatch.setattr(profilers, "PLACES", {"ncu": [], "nsys": []})
    return tmp_path


def test_one_run_gives_the_lines_and_the_totals(folder: Path) -> None:
    table, profile = collect(["reduceFloat"], "gpu", ["--size=1K"], None, METRICS)
    assert [row.kernel for row in table.rows] == ["reduceAtomic", "reduceOneLaunch"]
    assert [kernel.name for kernel in profile.kernels] == ["reduceAtomic", "reduceOneLaunch"]
    assert not profile.exact and "NVIDIA H200 (sm_90)" in profile.source
    run, *pages = (folder / "log").read_text().splitlines()
    program = folder / "gpu" / "ch03_execution_model" / "reduceFloat"
    assert run.startswith(
        "ncu --clock-control none --section SourceCounters --import-source yes --metrics "
        "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct -f -o "
    )
    assert run.endswith(f" {program} --profile --size=1K")
    assert sorted(page.partition(" --csv ")[2] for page in pages) == [
        "--page raw --print-units base",
        "--page source --print-source cuda,sass",
    ]


def callers(folder: Path) -> list[str]:
    """Of the first kernel's first access."""
    _, profile = collect(["reduceFloat"], "gpu", [], None, METRICS)
    return ncu_pages.summary(profile.kernels[0].accesses[0])[1]


def test_nvdisasm_tells_the_callers(folder: Path, fake_tool) -> None:
    assert callers(folder) == []
    fake_tool(
        "cuobjdump",
        f'[ "$1 $2" = "-xelf all" ] && [ -x "$3" ] && : > "{folder}/made" && : > a.cubin',
    )
    fake_tool(
        "nvdisasm",
        f'[ "$1 $2" = "-gi a.cubin" ] && [ -e a.cubin ] && exec /bin/cat "{folder}/sass"',
    )
    assert callers(folder) == ["reduceFloat.cu:83"]
    assert not Path("a.cubin").exists()  # in a folder of its own


def test_tools_that_fail_are_done_without(folder: Path, fake_tool) -> None:
    fake_tool("cuobjdump", ": > a.cubin")
    fake_tool("nvdisasm", f'/bin/cat "{folder}/sass"; exit 1')
    assert callers(folder) == []


def test_code_of_another_build_is_not_used(folder: Path, fake_tool) -> None:
    fake_tool("cuobjdump", ": > a.cubin")
    fake_tool("nvdisasm", f'exec /bin/cat "{folder}/sass"')
    sass = folder / "sass"
    sass.write_text(sass.read_text().replace("LDG.E.128", "LDG.E.64").replace("LDG.E", "LD.E"))
    assert callers(folder) == []


def test_wrong_results_are_profiled_all_the_same(folder: Path, fake_tool) -> None:
    wrong = 'echo "    WRONG: reduceAtomic: x"; echo "==ERROR== The application returned an error code (1)."; exit 1'
    fake_tool("ncu", NCU.format(folder=folder, then=wrong))
    table, profile = collect(["reduceFloat"], "gpu", [], None, METRICS)
    assert len(profile.kernels) == 2
    assert table.failure and "exit status 1" in str(table.failure)


@pytest.mark.parametrize(
    ("then", "message"),
    [
        ('echo "==ERROR== ERR_NVGPUCTRPERM - no permission"; exit 1', "may not read the GPU's"),
        ('echo "==ERROR== Failed to find metric a__b"; exit 1', "does not have this metric"),
        ('echo "==WARNING== No kernels were profiled."', "ncu saw no kernel"),
    ],
)
def test_errors_of_ncu(folder: Path, fake_tool, then: str, message: str) -> None:
    fake_tool("ncu", NCU.format(folder=folder, then=then))
    with pytest.raises(LabError, match=message):
        collect(["reduceFloat"], "gpu", [], None, METRICS)


def test_a_report_that_cannot_be_printed(folder: Path) -> None:
    (folder / "source").unlink()
    with pytest.raises(LabError, match=r"(?s)ncu cannot read its report:.*cat.*--backend cpu"):
        collect(["reduceFloat"], "gpu", [], None, METRICS)


def test_as_json(folder: Path, capfd) -> None:
    assert main.main(["profile", "reduceFloat", "--backend", "gpu", "--source", "--json"]) == 0
    out = json.loads(capfd.readouterr().out)
    assert out["counted_exactly"] is False
    assert {kernel["kernel"] for kernel in out["kernels"]} == {"reduceAtomic", "reduceOneLaunch"}
