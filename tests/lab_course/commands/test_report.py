"""./lab report as a whole: with programs that stand in for exercises, and once with a real one."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from exercise_sample import ASSIGNMENT, FACTS
from lab_cli import catalogue, main
from lab_cli.building import own_program, presets
from lab_cli.comparison.versions import Launch
from lab_cli.errors import LabError
from lab_cli.lines.model import Access, Kernel, LineProfile, Place
from lab_cli.machine import setup, zig
from lab_cli.paths import ROOT
from lab_cli.process import each_line
from lab_cli.testing import ctest, listing
from lab_cli.testing.summary import Case
from lab_course.commands import report
from lab_course.reporting import collect
from lab_course.reporting.text import Cleaner
from lab_fixtures import shipped
from testing_sample import listed

pytest.importorskip("jinja2")

SOURCE = "ch04_memory/transpose/transpose.cu"
HEAD = "exercise,device,parameters,kernel,grid,block,reps,median_ms,min_ms,max_ms,gbps,check"
GOOD = f"{HEAD}\ntranspose,CPU emulation,size=3,k<1>,1,32,3,0.5,0.4,0.6,12,ok"
BAD = GOOD.replace(",ok", ",WRONG")
CLEAN = "no hazards found (2 kernel launches, 1 copy)"
# With lines of a source whose comments say the same, one of them behind a form feed.
HAZARD = (
    f"1. race in shared memory\n   kernel k\n     x.cu:4: thread (32,0,0) writes | s[i] = 1; // {CLEAN}\n"
    f"     x.cu:5: thread (31,0,0) reads | a = s[63 - i]; // \f{CLEAN}\n\n1 hazard found"
)
COUNTED = """\
"ID","Kernel Name","Block Size","Grid Size","Device","smsp__sass_branch_targets_threads_divergent.sum"
"","","","","",""
"0","k(int *)","(32, 1, 1)","(1, 1, 1)","0","7"
"""
LISTED = {"tests": [
    {"name": f"transpose/{about}", "properties": [
        {"name": "LABELS", "value": ["exercise", "transpose", about, "quick"]}]}
    for about in ("results", "counts")
]}  # fmt: skip
RAN = """<testsuite><testcase name="transpose/results" status="{}"><system-out>what {} said</system-out>
</testcase><testcase name="transpose/counts" status="run"/></testsuite>"""


class Lab:
    """./lab report in a folder of its own, with the exercise transpose, whose programs are scripts."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.programs = folder / "build"
        self.built: list[str] = []
        self.ran = RAN.format("run", "it")
        self.fails = ""  # what the compiler says
        self.hangs = ""  # a script, which a test does
        self.program(f"printf '%s\\n' '{GOOD}'")
        self.instrumented()
        monkeypatch.setattr(presets, "build", self._build)
        monkeypatch.setattr(ctest, "run_lines", self._ctest)
        monkeypatch.setattr(listing, "output_of", lambda command: json.dumps(LISTED))

    def __call__(self, *arguments: str) -> int:
        return main.main(["report", "--backend=cpu", *arguments])

    def program(self, script: str, name: str = "ch04_memory/transpose") -> None:
        path = self.programs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def instrumented(self, check: str = CLEAN, more: str = "") -> None:
        self.program(
            f'[ -z "$CUDA_EMULATOR_CHECK" ] || printf "%s\\n" "{check}" > "$CUDA_EMULATOR_CHECK"\n'
            f"[ -z \"$CUDA_EMULATOR_PROFILE\" ] || printf '%s' '{COUNTED}' > \"$CUDA_EMULATOR_PROFILE\"\n"
            f"{more}",
            "ch04_memory/transpose_instrumented",
        )

    def _build(self, cmake: str, preset: str, *targets: str) -> Path:
        self.built.append(" ".join([preset, *targets]))
        if self.fails:
            raise LabError("cmake --build: exit status 1; the reason is above", printed=self.fails)
        return self.programs

    def _ctest(self, command: Sequence[str], each: Callable[[str], None]) -> int:
        assert command[-2:] == ["-R", "^(transpose/results|transpose/counts)$"]
        each("1/2 Test #1: transpose/results .... Passed\n")
        if self.hangs:
            each("    Start 2: transpose/counts\n")
            return each_line(["sh", "-c", self.hangs], each)
        Path(command[command.index("--output-junit") + 1]).write_text(self.ran)
        return 0

    def json(self, name: str = "report.json") -> dict[str, Any]:
        return json.loads((self.folder / name).read_text(encoding="utf-8"))

    def page(self, name: str = "report.html") -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def part(self, name: str) -> dict[str, Any]:
        return self.json()["programs"][0][name]


@pytest.fixture
def lab(exercises, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    exercises(
        "ch04_memory/transpose", FACTS + '[profile]\nmetrics = ["divergent_branch", "duration"]\n'
    )
    exercises("ch09_tensor/wgmma", "gpu_only = true\n" + FACTS)
    monkeypatch.setattr(setup, "ensure", lambda backend, modules=(): "cmake")
    monkeypatch.setattr(setup, "python_for", lambda modules: sys.executable)
    monkeypatch.setattr(zig, "is_compiler", lambda path: False)
    for name in ("CUDA_EMULATOR_CHECK", "CUDA_EMULATOR_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return Lab(tmp_path, monkeypatch)


def test_all_is_right(lab: Lab, capfd) -> None:
    assert lab("transpose", "--json") == 0
    out, err = capfd.readouterr()
    assert out == "transpose                 results ok, tests ok, hazard check ok\n"
    assert err.endswith("written: report.html\nwritten: report.json\n")
    assert lab.built[0] == "cpu transpose transpose_instrumented"
    found = lab.json()
    assert (found["schema"], found["status"], found["emulated"]) == ("lab-report/1", 0, True)
    assert lab.part("run")["table"]["rows"][0]["cells"]["median_ms"] == 0.5
    counts = {"about": "counts", "passed": 1, "failed": 0, "skipped": 0}
    assert lab.part("tests")["counts"][1] == counts
    assert lab.part("check")["summary"] == CLEAN
    metrics = lab.part("metrics")
    assert metrics["launches"] == [{"kernel": "k", "grid": "1", "block": "32", "values": [7.0]}]
    assert "not available without a GPU: duration" in metrics["notes"]
    number = '<td class="number" data-value="7.0">7</td>'
    for words in ("About transpose.", "k&lt;1&gt;", number, CLEAN):
        assert words in lab.page()
    assert "GB/s" not in lab.page()


def test_json_goes_beside_the_page_or_where_it_is_told_to(lab: Lab) -> None:
    (lab.folder / "out").mkdir()
    assert lab("transpose", "-o", "out/mine.html") == 0
    assert [path.name for path in (lab.folder / "out").iterdir()] == ["mine.html"]
    assert lab("transpose", "-o", "out/mine.html", "--json") == 0
    assert lab.json("out/mine.json")["programs"][0]["name"] == "transpose"
    assert lab("transpose", "-o", "out/mine.html", "--json=facts.json") == 0
    assert lab.json("facts.json") is not None


def test_a_wrong_result(lab: Lab, capfd) -> None:
    lab.program(f"printf '%s\\n' '{BAD}'; echo '    WRONG: k: element 3' >&2; exit 1")
    lab.instrumented(more="echo '    WRONG: k: element 3'; exit 1")
    assert lab("transpose", "--json") == 1
    assert "results WRONG" in capfd.readouterr().out
    assert (lab.part("run")["verdict"], lab.part("run")["problem"]) == ("WRONG", "")
    assert lab.part("run")["printed"]["text"] == "    WRONG: k: element 3\n"
    metrics = lab.part("metrics")  # it is counted all the same
    assert (metrics["problem"], metrics["launches"][0]["values"]) == ("", [7])
    assert "a count may be that of its mistake" in metrics["notes"][-1]


def test_a_wrong_row_counts_whatever_the_program_ends_with(lab: Lab) -> None:
    lab.program(f"printf '%s\\n' '{BAD}'")
    assert lab("transpose", "--json") == 1
    assert lab.part("run")["verdict"] == "WRONG"


def test_a_test_that_fails(lab: Lab) -> None:
    lab.ran = RAN.format("fail", "&lt;b>it&lt;/b> \x26amp;")
    assert lab("transpose", "--json") == 1
    assert lab.part("tests")["verdict"] == "failed"
    (case,) = lab.part("tests")["failed"]
    assert case["name"] == "transpose/results"
    assert case["printed"]["text"] == "what <b>it</b> & said"
    assert "what &lt;b&gt;it&lt;/b&gt; &amp; said" in lab.page()


def test_counts_that_differ_may_be_what_was_asked_for(lab: Lab) -> None:
    right = 'name="transpose/counts" status="run"'
    lab.ran = RAN.format("run", "it").replace(right, right.replace("run", "fail"))
    assert lab("transpose", "--json") == 1
    (note,) = lab.part("tests")["notes"]
    assert note.startswith("nothing but counts differs") and note in lab.page()
    lab.ran = lab.ran.replace('status="run"', 'status="fail"')
    assert lab("transpose", "--json") == 1
    assert lab.part("tests")["notes"] == []


def test_hazards_and_those_on_purpose(lab: Lab, exercises) -> None:
    lab.instrumented(HAZARD, "exit 3")
    assert lab("transpose", "--json") == 1
    assert (lab.part("check")["verdict"], lab.part("check")["notes"]) == ("hazards", [])
    assert "race in shared memory" in lab.page()
    exercises("ch04_memory/transpose", FACTS + '[tests.hazards]\n"--size=1" = { hazards = 2 }\n')
    assert lab("transpose", "--json") == 1
    (note,) = lab.part("check")["notes"]
    assert "2 hazards on purpose" in note and note in lab.page()
    lab.instrumented()
    lab("transpose", "--json")
    assert lab.part("check")["notes"] == []


def test_a_program_that_fails_under_the_check_and_the_profile(lab: Lab) -> None:
    lab.instrumented(CLEAN, "echo 'out of memory'; exit 3")
    assert lab("transpose", "--json") == 1
    check, metrics = lab.part("check"), lab.part("metrics")
    assert check["verdict"] == "failed"
    for part in (check, metrics):
        assert part["problem"] == "the program ended with exit status 3"
        assert part["printed"]["text"] == "out of memory\n"
    assert "is above" not in lab.page()


def test_no_kernel_is_no_failure(lab: Lab) -> None:
    lab.instrumented("no kernel was launched: nothing was looked at")
    assert lab("transpose", "--json") == 0
    assert lab.part("check")["verdict"] == "not known"


def test_options_go_to_the_programs_and_are_named(lab: Lab) -> None:
    lab.program(f"printf '%s\\n' '{GOOD}'; echo \"got $*\" >&2")
    lab.instrumented(CLEAN, 'echo "got $*"; exit 3')
    assert lab("transpose", "--json", "--", "--size=3", "a b") == 1
    assert lab.json()["options"] == ["--size=3", "a b"]
    assert lab.part("run")["printed"]["text"] == "got --size=3 a b --csv\n"
    assert lab.part("check")["printed"]["text"] == "got --profile --size=3 a b\n"
    assert lab.part("metrics")["printed"]["text"] == "got --profile --size=3 a b\n"


def test_refused_options_are_bad_usage(lab: Lab, capfd) -> None:
    script = 'echo "transpose: --nope: no such option" >&2; exit 2'
    lab.program(script)
    lab.instrumented("", script)
    assert lab("transpose", "--json", "--", "--nope") == 2
    assert lab.part("run")["verdict"] == lab.part("check")["verdict"] == "refused"
    assert "--nope: no such option" in lab.page()
    assert lab("transpose") == 1  # without options it is the fault of the exercise


def test_a_late_program_and_a_late_check(lab: Lab, late: str) -> None:
    """The report has what they had printed until then."""
    good, bad = f"printf '%s\\n' '{GOOD}'", "had not ended after 1 seconds (--timeout)"
    for program, hazards, verdicts in (
        (f"{good}; {late}", "", ("late", "ok")),
        (good, late, ("ok", "late")),
    ):
        lab.program(program)
        lab.instrumented(HAZARD if hazards else CLEAN, hazards)
        assert lab("transpose", "--json", "--timeout=1") == 1
        assert (lab.part("run")["verdict"], lab.part("check")["verdict"]) == verdicts
        assert bad in lab.page()
        assert lab.part("run")["table"]["rows"]
    assert "race in shared memory" in lab.part("check")["findings"]["text"]
    assert "had not ended" in lab.part("metrics")["problem"]


def test_a_late_test(lab: Lab, late: str) -> None:
    lab.hangs = late
    assert lab("transpose", "--json", "--timeout=1") == 1
    assert lab.part("tests")["verdict"] == "late"
    assert "; transpose/counts began last. " in lab.part("tests")["problem"]
    assert lab.part("run")["verdict"] == lab.part("check")["verdict"] == "ok"


def test_of_the_tests_that_failed_the_first_about_each_thing_is_shown() -> None:
    cases = [
        Case(f"transpose {test.about} {number}", test, "fail", f"{test.about} {number}")
        for test in listed("transpose/results", "transpose/counts")
        for number in range(9)
    ]
    found = collect.tests_of([Case("first", cases[0].test, "run"), *cases], Cleaner())
    assert len(found.failed) == 18
    shown = [case.printed.text for case in found.failed if case.printed.text]
    assert shown == ["results 0", "counts 0"]
    assert found.failed[1].printed.left_out == len("results 1")


def test_what_does_not_compile(lab: Lab, capfd) -> None:
    error = f"{SOURCE}:3: error: <x> was not declared"
    lab.fails = f"\x1b[31m{ROOT}/{error}\x1b[0m"
    assert lab("transpose", "wgmma", "--json") == 1
    run = lab.part("run")
    assert run["verdict"] == "failed"
    assert run["problem"] == "it does not compile: cmake --build: exit status 1"
    assert run["printed"]["text"] == error
    for name in ("tests", "check", "metrics"):
        assert lab.part(name)["problem"] == "the program could not be built"
    assert lab.built == ["cpu transpose transpose_instrumented"]
    assert "&lt;x&gt; was not declared" in lab.page()


def test_an_exercise_that_needs_a_gpu_is_named_and_the_other_is_there(lab: Lab, capfd) -> None:
    assert lab("wgmma", "transpose", "--json") == 1
    first, second = capfd.readouterr().out.splitlines()
    assert first.count("not known") == 3 and second.count(" ok") == 3
    for name in ("run", "tests", "check"):
        assert lab.part(name)["problem"] == "wgmma: only on the gpu back end"


def test_a_program_without_a_usable_gpu(lab: Lab) -> None:
    lab.program("echo 'no usable GPU' >&2; exit 77")
    assert lab("transpose", "--json") == 1
    assert lab.part("run")["problem"] == "no usable GPU; --backend cpu runs without one"


def test_with_zig_what_cannot_be_had_is_named(lab: Lab, monkeypatch) -> None:
    monkeypatch.setattr(zig, "is_compiler", lambda path: True)
    assert lab("transpose", "--json") == 0
    assert lab.built == ["cpu transpose"]
    assert "zig's compiler" in lab.part("check")["problem"]
    assert "zig's compiler" in lab.part("metrics")["problem"]
    assert "zig's compiler" in lab.part("tests")["notes"][0]


def test_what_is_no_table_is_shown(lab: Lab) -> None:
    lab.program(f"printf '%s\\n' 'hello from <b>thread</b> 3' '{GOOD}'")
    assert lab("transpose", "--json") == 1
    run = lab.part("run")
    assert run["table"] is None and "its table cannot be read: transpose --csv: " in run["problem"]
    assert run["printed"]["text"].startswith("hello from <b>thread</b> 3\n")


def test_a_flood_is_cut(lab: Lab) -> None:
    lab.program("yes | head -c 50000000")
    assert lab("transpose", "--json") == 1
    assert "more than a table has" in lab.part("run")["problem"]
    assert lab.part("run")["printed"]["left_out"] > 1_000_000
    assert len(lab.page()) < 100_000


def test_ctest_says_nothing(lab: Lab) -> None:
    lab.ran = "<testsuite/>"
    assert lab("transpose", "--json") == 0
    assert lab.part("tests")["verdict"] == "not known"


@pytest.fixture
def mine(lab: Lab, monkeypatch) -> Path:
    """A program of one's own that compiles to a script."""

    def compile(command: list[str], to_stderr: bool, held: bool) -> int:
        source = next(Path(word) for word in command if word.endswith(".cu"))
        if "error" in source.read_text():
            return 1
        path = Path(command[command.index("-o") + 1])
        instrumented = lab.programs / "ch04_memory" / "transpose_instrumented"
        text = instrumented.read_text() if "--instrument" in command else source.read_text()
        path.write_text(text)
        path.chmod(0o755)
        return 0

    monkeypatch.setattr(own_program, "FOLDER", lab.folder / "own")
    monkeypatch.setattr(own_program, "run", compile)
    (lab.folder / "mine").mkdir()
    source = lab.folder / "mine" / "mine.cu"
    source.write_text(f"#!/bin/sh\necho '</pre><script>x</script>'; echo {source} $* >&2; exit 3\n")
    return source


def test_a_program_of_ones_own(lab: Lab, mine: Path, capfd) -> None:
    assert lab(str(mine), "--json", "--", "-x") == 1
    assert capfd.readouterr().out == "mine.cu                   results failed, hazard check ok\n"
    assert lab.part("run")["printed"]["text"] == "</pre><script>x</script>\nmine.cu -x\n"
    assert lab.part("run")["problem"] == "exit status 3"
    program = lab.json()["programs"][0]
    assert program["tests"] is program["figures"] is program["changes"] is None
    page = lab.page()
    assert page.count("<script>") == 1 and str(lab.folder) not in page
    assert "&lt;/pre&gt;&lt;script&gt;x&lt;/script&gt;" in page


def test_one_of_ones_own_that_does_not_compile(lab: Lab, mine: Path) -> None:
    mine.write_text("error")
    assert lab(str(mine), "--json") == 1
    assert lab.part("run")["verdict"] == "failed"
    assert lab.part("run")["problem"] == "mine.cu does not compile (exit status 1)"
    assert lab.part("check")["problem"] == "the program could not be built"


def test_the_file_of_an_exercise_is_that_exercise(lab: Lab) -> None:
    assert lab(str(lab.folder / "ch04_memory" / "transpose" / "transpose.cu"), "--json") == 0
    assert lab.json()["programs"][0]["kind"] == "exercise"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "NAME|FILE.cu is missing"),
        (["tranpose"], "did you mean transpose?"),
        ([""], "a name is empty"),
        (["no.cu"], "there is no file no.cu"),
        (["transpose", "--size=3"], "options of an exercise follow after --"),
        (["transpose", "-o", "nowhere/report.html"], "there is no folder"),
        (["transpose", "-o", "."], "it is a folder"),
        (["transpose", "--json=nowhere/x.json"], "there is no folder"),
        (["--json", "transpose"], "--json: transpose: expected a file that ends in .json"),
        (["transpose", "-o", "x.json", "--json"], "the page and its JSON are two files"),
        ([SOURCE, "-o", SOURCE], "that is the program"),
        (["transpose", SOURCE], "name exercises and chapters, or the files of one"),
    ],
)
def test_bad_usage_runs_nothing(
    lab: Lab, capfd, monkeypatch, arguments: list[str], message: str
) -> None:
    monkeypatch.setattr(setup, "python_for", lambda modules: pytest.fail("installed"))
    assert lab(*arguments) == 2
    assert message in capfd.readouterr().err
    assert lab.built == [] and not list(lab.folder.glob("*.html"))


def test_another_python_that_has_jinja_does_it_all(lab: Lab, monkeypatch) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr(
        setup, "python_for", lambda modules: "/other/python" if "jinja2" in modules else ""
    )
    monkeypatch.setattr(report, "run_shown", lambda command: commands.append(command) or 3)
    words = ["transpose", "-o", "a.html", "--json", "--timeout=2", "--", "--size=3", "--", "-o"]
    assert lab(*words) == 3
    start = ["/other/python", "-B", str(ROOT / "lab"), "report", "--backend=cpu"]
    assert commands == [[*start, *words]]
    assert lab.built == []


def test_it_says_nothing_of_whose_machine_it_is(lab: Lab, monkeypatch) -> None:
    monkeypatch.setenv("USER", "anna-k")
    lab.program(f"printf '%s\\n' '{GOOD}'; echo $HOME/x {ROOT}/common/lab.cuh >&2")
    assert lab("transpose", "--json") == 0
    both = lab.page() + (lab.folder / "report.json").read_text()
    for word in (os.uname().nodename, "anna-k", str(ROOT) + "/", os.path.expanduser("~") + "/"):
        assert word not in both, word
    assert lab.part("run")["printed"]["text"] == "~/x common/lab.cuh\n"


def test_the_real_program(monkeypatch, tmp_path: Path, capfd) -> None:
    """An exercise of the project, its tests, and what counts it."""
    build = Path(os.environ.get("CPU_BUILD", ROOT / "out" / "cpu")).absolute()
    exercise = shipped("warpLayout")
    if not all(exercise.program(build, instrumented).exists() for instrumented in (False, True)):
        pytest.skip("warpLayout is not built: ./lab test builds it")
    cache = (build / "CMakeCache.txt").read_text()
    cmake = re.search(r"^CMAKE_COMMAND:INTERNAL=(.*)$", cache, re.MULTILINE)
    assert cmake
    monkeypatch.setattr(setup, "ensure", lambda *_: cmake[1])
    monkeypatch.setattr(setup, "python_for", lambda modules: sys.executable)
    monkeypatch.setattr(presets, "build", lambda *_: build)
    path = tmp_path / "report.html"
    assert main.main(["report", "--backend=cpu", "warpLayout", "-o", str(path), "--json"]) == 0
    found = json.loads(path.with_suffix(".json").read_text())
    (program_facts,) = found["programs"]
    assert "warpLayout.cu" in program_facts["sources"]
    assert program_facts["run"]["verdict"] == program_facts["check"]["verdict"] == "ok"
    assert len(program_facts["run"]["table"]["rows"]) == 16
    assert {count["about"] for count in program_facts["tests"]["counts"]} >= {"results", "options"}
    assert sum(count["failed"] for count in program_facts["tests"]["counts"]) == 0
    assert program_facts["metrics"]["launches"]
    page = path.read_text()
    assert "wasted [%]" in page


def test_the_worst_line_of_each_kernel(tmp_path: Path) -> None:
    source = tmp_path / "mine.cu"
    source.write_text("__global__ void k(float* out) {\n    out[32 * threadIdx.x] = 1;\n}\n")
    place = Place(source, 2)
    store = Access(place, (), "store", "global", 4, 1, 32, 128, 32, 4)
    fine = Access(place, (), "store", "global", 4, 1, 32, 128, 4, 4)
    kernels = [
        Kernel(name, (8, 2, 1), (32, 1, 1), 1, 0, 32, None, {}, [access])
        for name, access in (("k<1>", store), ("k<2>", fine))
    ]
    (found,) = collect.worst_lines_of(LineProfile(kernels), Cleaner())
    assert (found.kernel, found.grid, found.block) == ("k<1>", "8x2", "32")
    assert (found.file, found.line) == ("mine.cu", 2)
    assert found.source == "out[32 * threadIdx.x] = 1;" and "28 of 32 sectors" in found.words


def test_how_a_kernel_differs_from_the_one_before(exercises) -> None:
    """Of assignments whose kernels were launched."""
    exercises("ch03/order", FACTS + ASSIGNMENT.format(name="inOrder"))
    assignments = catalogue.one("order").facts.assignments
    strided = {"gst_requests": 10.0, "gst_transactions": 320.0, "gst_efficiency": 12.5}
    dense = {"gst_requests": 10.0, "gst_transactions": 40.0, "gst_efficiency": 100.0}
    launches = [Launch("worse", "1", "32", strided), Launch("better<2>", "1", "32", dense)]
    (found,) = collect.differs_of(assignments, launches)
    assert (found.kernel, found.before) == ("better", "worse")
    assert found.words[0].startswith("sectors per store 32 -> 4 (better")
    assert collect.differs_of(assignments, launches[:1]) == []
