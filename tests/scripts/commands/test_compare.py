"""./lab compare as a whole, with programs that answer in place of those of the cpu and the gpu back end."""

from __future__ import annotations

import json
import re
from pathlib import Path

import ncu_sample
import pytest
from exercise_sample import FACTS
from lab_cli import main, metrics, work
from lab_cli.building import own_program, presets
from lab_cli.comparison import compared, timing
from lab_cli.counters import collect as counters
from lab_cli.counters import metric_table, raw_csv
from lab_cli.machine import setup
from lab_fixtures import shell_program

CHAPTER = "ch03_execution_model"
NAME = "reduceInteger"
STRIDED = {
    "gld_requests": 100.0,
    "gld_transactions": 3200.0,
    "gld_transactions_per_request": 32.0,
    "gld_efficiency": 12.5,
}
DENSE = {
    **STRIDED,
    "gld_transactions": 400.0,
    "gld_transactions_per_request": 4.0,
    "gld_efficiency": 100.0,
}
# Rows, perhaps with parameters, and the kernels that are launched for them.
LADDER = [
    ("naive", "sum<1>", STRIDED),
    ("better", "sum<2>", DENSE),
    ("betterUnroll", "sum<4>", DENSE),
]
HEAD = "exercise,parameters,kernel,median_ms,check"


def trace(rows: list[str]) -> str:
    """A kernel for each range."""
    kernels = "".join(f"{10 * n},5,7,k\n" for n, _ in enumerate(rows))
    ranges = "".join(f"{name},{10 * n},6,{10 * n},6\n" for n, name in enumerate(rows))
    head = "Name,Projected Start (ns),Projected Duration (ns),Orig Start (ns),Orig Duration (ns)"
    return f"Start (ns),Duration (ns),Strm,Name\n{kernels}\n{head}\n{ranges}"


class Lab:
    """main(), with programs that print, count and record what is given here."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *words: str) -> int:
        return main.main(["compare", "--backend=cpu", *words])

    def program(self, path: Path, ladder: list[tuple[str, str, dict[str, float]]]) -> None:
        counts = ncu_sample.page_of([(f"{kernel}(int)", values) for _, kernel, values in ladder])
        named = [row.partition("|") for row, _, _ in ladder]
        rows = [row for row, _, _ in named]
        printed = "".join(f"{NAME},{parameters},{row},,ok\n" for row, _, parameters in named)
        texts = {"out": f"{HEAD}\n{printed}", "counts": counts, "trace": trace(rows)}
        place = path.parent / f"{path.name}.texts"
        place.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (place / name).write_text(text)
        shell_program(
            path,
            f'/bin/cat "{place}/counts" > "$CUDA_EMULATOR_PROFILE"\n'
            f'/bin/cat "{place}/trace" > "$CUDA_EMULATOR_TRACE"\n'
            f'echo "$*" >> "{self.folder}/log"\n/bin/cat "{place}/out"',
        )

    def exercise(self, ladder: list[tuple[str, str, dict[str, float]]], target: str = NAME) -> None:
        self.program(self.folder / "cpu" / CHAPTER / f"{target}_instrumented", ladder)

    def ran(self) -> list[str]:
        log = self.folder / "log"
        return log.read_text().splitlines() if log.exists() else []


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exercises) -> Lab:
    exercises(f"{CHAPTER}/{NAME}", FACTS)
    monkeypatch.setattr(setup, "ensure", lambda backend: "cmake")
    monkeypatch.setattr(presets, "build", lambda cmake, preset, *targets: tmp_path / preset)
    found = Lab(tmp_path)
    found.exercise(LADDER)
    return found


@pytest.fixture
def own(lab: Lab, monkeypatch: pytest.MonkeyPatch):  # noqa: ANN201
    """own(file, ladder): a file of somebody's own, whose program is what its name says."""

    def make(name: str, ladder: list[tuple[str, str, dict[str, float]]]) -> str:
        source = lab.folder / name
        source.parent.mkdir(exist_ok=True)
        source.write_text("// a program\n")
        lab.program(lab.folder / "own" / name, ladder)
        return str(source)

    def for_cpu(sources: list[str], cmake: str, instrument: bool) -> Path:
        return lab.folder / "own" / Path(sources[0]).relative_to(lab.folder)

    monkeypatch.setattr(own_program, "for_cpu", for_cpu)
    return make


def start(lab: Lab) -> None:
    copy = work.copy_of(NAME)
    copy.parent.mkdir(parents=True)
    copy.write_text("// mine\n")


def test_two_kernels_of_an_exercise(lab: Lab, capfd) -> None:
    assert lab(NAME, "naive", "better") == 0
    out = capfd.readouterr().out
    assert re.search(r"^before +naive +grid 64x2, block 256$", out, re.MULTILINE)
    assert re.search(r"^better +sectors per load 32 -> 4 \(8 times fewer\)$", out, re.MULTILINE)
    assert "gld_transactions" in out and "loads 100" in out  # what differs, and what is equal
    assert lab.ran() == ["--profile --csv"]  # one run has both


def test_options_follow_behind_dashes(lab: Lab) -> None:
    assert lab(NAME, "naive", "better", "--", "--size=9") == 0
    assert lab.ran() == ["--profile --size=9 --csv"]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("naive better", "naive better"),  # betterUnroll has it, too
        ("NAIVE unroll", "naive betterUnroll"),
        ("sum<1> sum<2>", "sum<1> sum<2>"),  # kernels
    ],
)
def test_kernels_by_a_part_of_their_names(lab: Lab, capfd, words: str, names: str) -> None:
    assert lab(NAME, *words.split()) == 0
    found = re.findall(r"^(?:before|after) +(\S+) +grid", capfd.readouterr().out, re.MULTILINE)
    assert found == names.split()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("naive nothing", ["nothing", "naive, better and betterUnroll"]),
        ("naive betterr", ["betterr", "did you mean better?"]),
        ("naive b", ["b may be better or betterUnroll"]),
        ("naive sum", ["sum<1>, sum<2> or sum<4>"]),
    ],
)
def test_kernels_that_are_not_there(lab: Lab, capfd, words: str, named: list[str]) -> None:
    assert lab(NAME, *words.split()) == 2
    out, err = capfd.readouterr()
    assert out == ""
    last = err.splitlines()[-1]
    assert last.startswith("lab: ") and [word for word in named if word not in last] == []


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (f"{NAME} naive naive", "naive twice"),
        (f"{NAME} {NAME}", f"./lab compare {NAME} KERNEL KERNEL"),
        (f"{NAME}:naive {NAME}", f"./lab compare {NAME} KERNEL KERNEL"),
        (f"{NAME}:naive {NAME}:naive", "with itself"),
        (f"{NAME}: x", "behind the colon"),
        (f"{NAME} a b c", "c: two versions"),
        (f"{NAME} a.cu b", "a.cu: expected a kernel"),
        (NAME, f"./lab start {NAME}"),
        (f"{NAME} missing.cu", "no file missing.cu"),
        ("reduceIntegr a b", f"did you mean {NAME}?"),
        ("mine.cu", "with what?"),
    ],
)
def test_what_cannot_be_compared(lab: Lab, monkeypatch, capfd, words: str, named: str) -> None:
    monkeypatch.setattr(setup, "ensure", lambda *_, **__: pytest.fail("set up"))
    assert lab(*words.split()) == 2
    assert named in capfd.readouterr().err


def test_a_row_comes_before_kernels_with_the_same_part(lab: Lab, capfd) -> None:
    lab.exercise(
        [("naive", "k", STRIDED), ("sumTwice", "sumTwice<1>", DENSE), ("two", "twice", DENSE)]
    )
    assert lab(NAME, "naive", "umTwice") == 0
    assert re.search("^after +sumTwice +grid", capfd.readouterr().out, re.MULTILINE)


def test_a_part_that_is_a_word_comes_before_one_that_is_none(lab: Lab, capfd) -> None:
    lab.exercise([("sumUncoalesced", "a", STRIDED), ("sumCoalesced", "b", DENSE)])
    assert lab(NAME, "uncoalesced", "coalesced") == 0
    assert re.search("^after +sumCoalesced +grid", capfd.readouterr().out, re.MULTILINE)


def test_a_kernel_against_each_row_of_a_name(lab: Lab, capfd) -> None:
    rows = [("tiled|n=9 tile=8", "t", STRIDED), ("tiled|n=9 tile=16", "t", DENSE)]
    lab.exercise([LADDER[0], *rows])
    assert lab(NAME, "naive", "tiled") == 0
    out = capfd.readouterr().out
    assert re.search(r"^after +tiled \(tile=16\)", out, re.MULTILINE) and "32 -> 4" in out
    assert "Equal in all counts: tiled (tile=8)." in out


def test_two_words_for_one_kernel(lab: Lab, capfd) -> None:
    assert lab(NAME, "naive", "nai") == 2
    assert "naive and nai are both naive" in capfd.readouterr().err


def test_a_kernel_of_each_of_two_programs(lab: Lab, own, capfd) -> None:
    mine = own("mine.cu", [("", "mySum", DENSE), ("", "other", DENSE)])
    assert lab(f"{NAME}:naive", f"{mine}:mySum") == 0
    out = capfd.readouterr().out
    assert f"naive, {NAME}" in out and "mySum, mine.cu" in out and "32 -> 4" in out
    assert lab(f"{NAME}:naive", mine) == 2
    assert "mine.cu has 2 kernels" in capfd.readouterr().err


def test_two_files_whose_kernels_have_the_same_names(lab: Lab, own, capfd) -> None:
    one = own("1/a.cu", [("", "f", STRIDED), ("", "g<1>", DENSE), ("", "h", DENSE)])
    two = own("2/a.cu", [("", "g<2>", DENSE), ("", "f", DENSE), ("", "i", DENSE)])
    assert lab(one, two) == 0
    out = capfd.readouterr().out
    assert len(re.findall("^before ", out, re.MULTILINE)) == 1 and "32 -> 4" in out
    assert "Equal in all counts: g<2>." in out
    assert "Only in the version before: h." in out and "Only in the version after: i." in out


def test_two_files_with_one_kernel_each(lab: Lab, own, capfd) -> None:
    assert lab(own("a.cu", [("", "f", STRIDED)]), own("b.cu", [("", "g", DENSE)])) == 0
    out = capfd.readouterr().out
    assert "f, a.cu" in out and "g, b.cu" in out


def test_two_files_that_have_nothing_in_common(lab: Lab, own, capfd) -> None:
    one = own("a.cu", [("", "f", STRIDED), ("", "g", DENSE)])
    two = own("b.cu", [("", "h", STRIDED), ("", "i", DENSE)])
    assert lab(one, two) == 2
    assert "as in a.cu:f b.cu:h" in capfd.readouterr().err


def test_yours_and_shipped(lab: Lab, monkeypatch, capfd) -> None:
    monkeypatch.setattr("lab_cli.main.Copy.refresh", lambda copy: None)
    start(lab)
    lab.exercise(LADDER, f"{NAME}_shipped")
    lab.exercise([LADDER[0], ("better", "sum<2>", STRIDED)])
    assert lab(NAME) == 0
    out = capfd.readouterr().out
    assert "better, shipped" in out and "better, yours" in out
    assert re.search(r"^worse +sectors per load 4 -> 32", out, re.MULTILINE)
    assert "Equal in all counts: naive." in out
    assert "Only in the version before: betterUnroll." in out
    assert len(lab.ran()) == 2
    assert lab(f"{NAME}:naive") == 0
    assert "All counts are equal." in capfd.readouterr().out
    assert lab(NAME, "--shipped") == 2


def test_kernels_of_a_started_exercise_are_yours(lab: Lab, monkeypatch, capfd) -> None:
    monkeypatch.setattr("lab_cli.main.Copy.refresh", lambda copy: None)
    start(lab)
    lab.exercise([("naive", "k", DENSE), ("better", "l", DENSE)])
    lab.exercise(LADDER, f"{NAME}_shipped")
    assert lab(NAME, "naive", "better") == 0
    assert "All counts are equal." in capfd.readouterr().out
    assert lab(NAME, "naive", "better", "--shipped") == 0
    assert "32 -> 4" in capfd.readouterr().out


def test_json(lab: Lab, capfd) -> None:
    assert lab(NAME, "naive", "better", "--json") == 0
    found = json.loads(capfd.readouterr().out)
    (pair,) = found["pairs"]
    assert pair["before"]["launches"][0]["counts"]["gld_transactions"] == 3200
    first = pair["differences"][0]
    assert (first["before"], first["after"], first["verdict"]) == (32, 4, "better")
    assert pair["time"] is None


def test_page(lab: Lab, capfd) -> None:
    page = lab.folder / "page.html"
    assert lab(NAME, "naive", "better", "--html", str(page)) == 0
    out, err = capfd.readouterr()
    assert "32 -> 4" in out and f"written: {page}" in err
    text = page.read_text()
    assert "sectors per load" in text
    assert not re.search(r"https?://|<script|<link rel=.stylesheet", text)


def test_the_page_is_not_written_over_a_program(lab: Lab, own, capfd) -> None:
    one, two = own("a.cu", [("", "f", STRIDED)]), own("b.cu", [("", "g", DENSE)])
    assert lab(one, two, "--html", two) == 2
    assert "that is the program" in capfd.readouterr().err


def test_wrong_results_are_compared_and_said(lab: Lab, capfd) -> None:
    path = lab.folder / "cpu" / CHAPTER / f"{NAME}_instrumented"
    path.write_text(path.read_text() + 'echo "    WRONG: naive: 1 != 2"\nexit 1\n')
    assert lab(NAME, "naive", "better") == 1
    out, err = capfd.readouterr()
    assert "32 -> 4" in out and "WRONG: naive" in err


def test_a_program_that_fails(lab: Lab, capfd) -> None:
    path = lab.folder / "cpu" / CHAPTER / f"{NAME}_instrumented"
    path.write_text(path.read_text() + 'echo "it broke"\nexit 3\n')
    assert lab(NAME, "naive", "better") == 1
    out, err = capfd.readouterr()
    assert out == "" and "it broke" in err and "exit status 3" in err


# ---- gpu ----


@pytest.fixture
def gpu(lab: Lab, monkeypatch: pytest.MonkeyPatch):  # noqa: ANN201
    """gpu(times of `better`): an exercise whose row naive takes 2 ms, and better these times, run by run."""

    def make(times: list[float]) -> None:
        clock = lab.folder / "clock"
        clock.write_text("\n".join(map(str, times)) + "\n")
        program = lab.folder / "gpu" / CHAPTER / NAME
        shell_program(
            program,
            f'echo "$*" >> "{lab.folder}/gpu.log"\n'
            f'number=$(wc -l < "{lab.folder}/gpu.log")\n'
            f'time=$(sed -n "$((number % {len(times)} + 1))p" "{clock}")\n'
            f'echo "{HEAD}"; echo "{NAME},,naive,2.0,ok"\n'
            f'echo "{NAME},,better,$time,ok"; echo "{NAME},,betterUnroll,9.0,ok"',
        )

    return make


def on_gpu(*words: str) -> int:
    return main.main(["compare", "--backend=gpu", *words])


def test_times(lab: Lab, gpu, capfd) -> None:
    gpu([1.0])
    assert on_gpu(NAME, "naive", "better", "--json", "--", "--size=9") == 0
    found = json.loads(capfd.readouterr().out)["pairs"][0]
    time = found["time"]
    assert time["before_ms"] == [2.0] * timing.PAIRS and time["after_ms"] == [1.0] * timing.PAIRS
    assert time["differ"] and time["ratio"] == 0.5
    assert found["differences"][0]["before"] == 32  # the counts are there, too
    ran = (lab.folder / "gpu.log").read_text().splitlines()
    one, two = (f"--csv {timing.REPS} --size=9 --kernel={name}" for name in ("naive", "better"))
    assert ran[:2] == [one, two]  # these do not count
    assert ran[2:] == [one, two, two, one] * (timing.PAIRS // 2)


def test_times_that_do_not_differ(lab: Lab, gpu, capfd) -> None:
    gpu([1.9, 2.1])
    assert on_gpu(NAME, "naive", "better") == 0
    out = capfd.readouterr().out
    assert f"no difference that these {timing.PAIRS} pairs of runs can show" in " ".join(
        out.split()
    )


def test_sizes_that_are_too_large_for_an_emulation(lab: Lab, gpu, late: str, capfd) -> None:
    """The times are those of these sizes, the counts those of the defaults."""
    gpu([1.0])
    path = lab.folder / "cpu" / CHAPTER / f"{NAME}_instrumented"
    head, _, script = path.read_text().partition("\n")
    path.write_text(f'{head}\ncase "$*" in *--size=8K*) {late} ;; esac\n{script}')
    assert on_gpu(NAME, "naive", "better", "--json", "--", "--size=8K") == 0
    found = json.loads(capfd.readouterr().out)
    assert compared.OF_DEFAULTS in found["notes"]
    assert found["pairs"][0]["differences"][0]["before"] == 32 and found["pairs"][0]["time"]
    assert "--size=8K" in (lab.folder / "gpu.log").read_text()
    assert on_gpu(NAME, "naive", "better", "--json", "--", "--size=9") == 0
    assert compared.OF_DEFAULTS not in json.loads(capfd.readouterr().out)["notes"]


def test_what_needs_a_gpu_is_counted_with_ncu(
    lab: Lab, exercises, fake_tool, monkeypatch, capfd
) -> None:
    """A kernel gets the time of the row of its name, where it is the only one of this name."""
    exercises("ch09_tensor/wgmma", "gpu_only = true\n" + FACTS)
    table = metric_table.build(
        raw_csv.parse(ncu_sample.REDUCTIONS), metrics.load().find(["gld_transactions"]), "ncu", []
    )
    monkeypatch.setattr(counters, "collect", lambda *_, **__: table)
    rows = "".join(f"wgmma,,{row.kernel},{n}.5,ok\n" for n, row in enumerate(table.rows, 1))
    shell_program(lab.folder / "gpu" / "ch09_tensor" / "wgmma", f'echo "{HEAD}\n{rows}"')
    assert on_gpu("wgmma", "reduceNeighbored", "reduceInterleaved", "--json") == 0
    found = json.loads(capfd.readouterr().out)
    (pair,) = found["pairs"]
    assert found["source"] == "ncu"
    assert pair["time"]["before_ms"][0] == 1.5 and pair["time"]["after_ms"][0] == 3.5
    assert {each["metric"] for each in pair["changed"]} == {"gld_transactions"}
    assert main.main(["compare", "--backend=cpu", "wgmma", "a", "b"]) == 1
    assert "only on the gpu back end" in capfd.readouterr().err
