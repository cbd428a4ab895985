"""./lab bench, on exercises that are shell scripts."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import ncu_sample
import pytest
from lab_cli import main
from lab_cli.building import presets
from lab_cli.commands import bench
from lab_cli.counters import profilers
from lab_cli.counters.metric_table import MetricTable, Row
from lab_cli.errors import LabError
from lab_cli.exercise_facts import Plan, Run
from lab_cli.machine import backend, facts, setup
from lab_cli.machine.backend import Choice
from lab_cli.machine.gpu import Driver, Gpu
from lab_cli.metrics import Metric
from lab_cli.progress import Progress
from lab_cli.results import images
from lab_cli.results.csv_file import parse
from lab_cli.results.store import Store

FACTS = {"gpu": "NVIDIA X1", "driver": "1.2", "date": "2026-01-02", "commit": "abc1234"}
COLLECT = bench.collect
FIRST = """
order = 10
idea = "the first"
[tests]
runs = [""]
[bench]
runs = ["--size=1", "--size=2 --block=32"]
files = ["timeline"]
"""
SECOND = """
order = 20
idea = "the second"
[tests]
runs = [""]
[bench]
runs = ["", { options = "--size=1G", gib = 9 }]
"""
SECOND_ONCE = SECOND[: SECOND.rindex("runs")] + "runs = ['']\n"
# Logs its options, writes the file of --timeline, and prints one row. Sends Ctrl-C in the run with
# --size=2 if it is told to.
PROGRAM = r"""#!/bin/sh
echo "$*" >> "$LOG"
size=default
for option; do
    case "$option" in
        --size=*) size="${option#--size=}" ;;
        --timeline=*) printf 'kernel,begin_ms\nk,%s\n' "$size" > "${option#--timeline=}" ;;
        --map=*) printf 'P5\n2 1\n9\n%s.' "$size" > "${option#--map=}" ;;
    esac
done
if [ "$size" = 2 ] && [ -e "$LOG.interrupt" ]; then
    kill -INT "$PPID"
    exec sleep 60
fi
printf 'kernel,size,check\nk,%s,ok\n' "$size"
"""


class Place:
    """A checkout in a temporary folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.build = root / "build"
        self.log = root / "log"

    def file(self, name: str, kind: str = "table", gpu: str = "x1", suffix: str = ".csv") -> Path:
        """A file of results of an exercise."""
        return self.root / "ch" / name / "results" / gpu / f"{kind}{suffix}"

    def program(self, name: str, text: str = PROGRAM, folder: str = "") -> None:
        path = self.build / folder / "ch" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def ran(self) -> list[str]:
        """What was run since the last call, without the temporary file's name and the repetitions."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return [re.sub(r"=/\S*", "=...", line).replace(REPS, "") for line in lines]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exercises) -> Place:
    here = Place(tmp_path)
    exercises("ch/first", FIRST)
    exercises("ch/second", SECOND)
    monkeypatch.setattr(bench, "STORE", tmp_path / "out" / "bench")
    monkeypatch.setattr(backend, "pick", lambda request: request)
    monkeypatch.setattr(setup, "ensure", lambda backend: "cmake")
    monkeypatch.setattr(presets, "build", lambda cmake, preset, *targets: here.build)
    monkeypatch.setattr(
        facts, "measured_on", lambda backend: ("x1" if backend == "gpu" else "cpu", dict(FACTS))
    )
    monkeypatch.setattr(facts, "memory_gib", lambda: 80.0)
    monkeypatch.setattr(bench, "collect", no_metrics)
    monkeypatch.setenv("LOG", str(here.log))
    for name in ("first", "second"):
        here.program(name)
    return here


REPS = "--reps=20 "  # of a run that does not say how often each kernel runs


def no_metrics(name: str, backend: str, debug: bool):
    raise LabError(f"no ncu: not on PATH. Install it\n\n ./lab profile {name} --backend cpu")


def test_twenty_repetitions_unless_the_run_or_the_back_end_says_otherwise(
    place: Place, exercises
) -> None:
    exercises("ch/first", FIRST.replace("--size=1", "--size=1 --reps=3"))
    assert main.main(["bench", "--backend=gpu", "first"]) == 0
    said = [re.findall(r"--reps=\S+", line) for line in place.log.read_text().splitlines()]
    assert said == [["--reps=3"], ["--reps=20"]]
    place.ran()
    assert main.main(["bench", "--backend=cpu", "first"]) == 0
    assert "--reps" not in place.log.read_text()


def test_rows_of_all_runs_under_one_header_and_the_facts(place: Place, capfd) -> None:
    assert main.main(["bench", "--backend=gpu"]) == 0
    assert place.file("first").read_text() == (
        "# gpu: NVIDIA X1\n# driver: 1.2\n# date: 2026-01-02\n# commit: abc1234\n"
        "kernel,size,check\nk,1,ok\nk,2,ok\n"
    )
    timeline = parse(place.file("first", "timeline").read_text(), Path("t"))
    assert timeline.facts == FACTS
    assert [row["begin_ms"] for row in timeline.rows] == ["1", "2"]
    assert place.ran() == [
        "--size=1 --timeline=... --csv",
        "--size=2 --block=32 --timeline=... --csv",
        "--csv",
        "--size=1G --csv",
    ]
    out, err = capfd.readouterr()
    assert out == ""
    assert [line for line in err.splitlines() if line.startswith("[")] == [
        "[exercise 1 of 2, run 1 of 2] first --size=1",
        "[exercise 1 of 2, run 2 of 2] first --size=2 --block=32",
        "[exercise 2 of 2, run 1 of 2] second (defaults)",
        "[exercise 2 of 2, run 2 of 2] second --size=1G",
    ]
    assert err.count("written: ") == 3
    assert sorted(place.root.glob("ch/*/results/**/*.*")) == [
        place.file("first"),
        place.file("first", "timeline"),
        place.file("second"),
    ]


IMAGES = """
[bench.images]
options = "--size=7"
files = ["map"]
"""


def test_images_come_of_a_run_of_their_own(place: Place, capfd) -> None:
    (place.root / "ch/second/exercise.toml").write_text(SECOND + IMAGES)
    assert main.main(["bench", "--backend=gpu", "second"]) == 0
    assert place.ran() == ["--csv", "--size=1G --csv", "--size=7 --map=... --csv"]
    path = place.file("second", "map", suffix=".pgm")
    image = images.parse(path.read_bytes(), path)
    assert (image.facts, image.pixels) == (FACTS, b"7.")
    assert "k,7," not in place.file("second").read_text()
    err = capfd.readouterr().err
    assert "[exercise 1 of 1, images] second --size=7\n" in err
    assert f"written: {path}\n" in err
    assert main.main(["bench", "--backend=cpu", "second"]) == 0
    assert place.ran() == ["--host-times --csv"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("2 1", "3 1", "unfinished.map.pgm: 2 bytes of pixels, but 3 x 1 up to 9 are 3"),
        ("s,ok", "s,WRONG", "wrong result: k,7,WRONG"),
    ],
)
def test_an_image_that_is_none_is_no_result(
    place: Place, capfd, old: str, new: str, message: str
) -> None:
    (place.root / "ch/second/exercise.toml").write_text(SECOND_ONCE + IMAGES)
    program = PROGRAM.replace(old, new)
    if "WRONG" in new:  # of that run alone
        program = PROGRAM.replace(
            "printf 'kernel",
            "[ $size = 7 ] && printf 'kernel,size,check\\nk,7,WRONG\\n' || printf 'kernel",
        )
    place.program("second", program)
    assert main.main(["bench", "--backend=gpu", "second"]) == 1
    assert message in capfd.readouterr().err
    assert not list(place.root.glob("ch/*/results/*/*"))


def test_cpu_runs_once_with_defaults_and_takes_no_metrics(place: Place, monkeypatch) -> None:
    monkeypatch.setattr(bench, "collect", lambda *_: pytest.fail("metrics on cpu"))
    monkeypatch.setattr(facts, "memory_gib", lambda: 1.0)  # of a GPU that is not asked
    toml = place.root / "ch/first/exercise.toml"
    toml.write_text(FIRST.replace('"--size=1",', '{ options = "", gib = 2 },'))
    assert main.main(["bench", "--backend=cpu"]) == 0
    assert place.ran() == ["--host-times --timeline=... --csv", "--host-times --csv"]
    assert place.file("first", gpu="cpu").exists()


@pytest.mark.parametrize(
    ("gib", "ran"),
    [(8.0, ["--csv"]), (9.0, ["--csv", "--size=1G --csv"]), (None, ["--csv", "--size=1G --csv"])],
)
def test_a_run_that_does_not_fit_into_memory_is_left_out(
    place: Place, monkeypatch, capfd, gib: float | None, ran: list[str]
) -> None:
    monkeypatch.setattr(facts, "memory_gib", lambda: gib)
    assert main.main(["bench", "--backend=gpu", "second"]) == 0
    assert place.ran() == ran
    left_out = "second --size=1G: left out, needs 9 GiB of the GPU's 8.0 GiB"
    assert (left_out in capfd.readouterr().err) == (gib == 8)


def test_exercise_of_which_no_run_fits(place: Place, monkeypatch, capfd) -> None:
    monkeypatch.setattr(facts, "memory_gib", lambda: 7.96)
    toml = place.root / "ch/second/exercise.toml"
    toml.write_text(SECOND.replace('"", ', ""))
    assert main.main(["bench", "--backend=gpu"]) == 1
    assert capfd.readouterr().err == (
        "second --size=1G: left out, needs 9 GiB of the GPU's 8.0 GiB\n"
        "lab: second: no run fits into the GPU's 8.0 GiB\n"
    )
    assert place.ran() == []


def test_program_that_was_not_built(place: Place, capfd) -> None:
    program = place.build / "ch" / "second"
    program.unlink()
    assert main.main(["bench", "--backend=gpu"]) == 1
    assert capfd.readouterr().err == f"lab: {program}: No such file or directory; was it built?\n"
    assert place.ran() == []


WRONG = "#!/bin/sh\nprintf 'kernel,size,check\\ngood,1,ok\\nk,1,WRONG\\n'\nexit 1\n"


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (WRONG, r"ch/first --size=1 --reps=20 \S+ --csv: exit status 1\nk,1,WRONG\n"),
        ("#!/bin/sh\nkill -SEGV $$\n", "killed by SIGSEGV"),
        ("#!/bin/sh\nexit 0\n", "no CSV in it"),
        ("#!/bin/sh\nprintf 'k,check\\n1,FAILED\\n'\n", "wrong result: 1,FAILED"),
        ("#!/bin/sh\nprintf 'k,check\\n1,ok\\n'\n", "--timeline wrote no file"),
        (PROGRAM.replace("'kernel,size", "'kernel'$size',size"), "different columns"),
        ("#!/no/such/shell\n", "cannot run"),
    ],
)
def test_failed_exercise_writes_nothing_and_the_others_go_on(
    place: Place, capfd, program: str, message: str
) -> None:
    place.program("first", program)
    old = place.file("first")
    old.parent.mkdir(parents=True)
    old.write_text("old\n")
    assert main.main(["bench", "--backend=gpu"]) == 1
    assert old.read_text() == "old\n"
    assert not place.file("first", "timeline").exists()
    assert place.file("second").exists()
    err = capfd.readouterr().err
    assert re.search(r"FAILED: .*" + message, err, re.DOTALL)
    assert "nothing of them written: first\n" in err
    assert "Traceback" not in err


def test_no_usable_gpu_ends_it(place: Place, capfd) -> None:
    place.program("first", "#!/bin/sh\nexit 77\n")
    assert main.main(["bench", "--backend=gpu"]) == 77
    assert not place.file("second").exists()
    assert capfd.readouterr().err.splitlines() == [
        "[exercise 1 of 2, run 1 of 2] first --size=1",
        "lab: no usable GPU; --backend cpu runs without one",
    ]


def test_rows_that_are_wrong_are_shown_and_no_others(place: Place, capfd) -> None:
    rows = ["k,check", "a,ok", "b,WRONG", "c,race", "d,lucky", "e,FAILED"]
    place.program("second", f"#!/bin/sh\nprintf '{chr(10).join(rows)}\\n'\nexit 1\n")
    assert main.main(["bench", "--backend=gpu", "second"]) == 1
    program = place.build / "ch" / "second"
    assert capfd.readouterr().err.splitlines() == [
        "[exercise 1 of 1, run 1 of 2] second (defaults)",
        f"FAILED: {program} --reps=20 --csv: exit status 1",
        "b,WRONG",
        "e,FAILED",
        "failed, and nothing of them written: second",
    ]


def test_a_race_that_was_seen_is_a_result(place: Place, capfd) -> None:
    """The last line has no end, and the program says more on stderr."""
    place.program("second", "#!/bin/sh\nprintf 'k,check\\na,race\\nb,lucky'; echo aside >&2\n")
    assert main.main(["bench", "--backend=gpu", "second"]) == 0
    text = place.file("second").read_text()
    assert text.endswith("\nk,check\na,race\nb,lucky\na,race\nb,lucky\n")
    assert "\naside\n" in capfd.readouterr().err


def interrupted(place: Place) -> None:
    """A bench that got Ctrl-C in its second run."""
    mark = place.root / "log.interrupt"
    mark.touch()
    # As in a terminal: what runs in the background of a shell or under nohup ignores Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert main.main(["bench", "--backend=gpu", "first"]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    mark.unlink()
    assert len(place.ran()) == 2
    assert not place.file("first").exists()


def test_resume_measures_what_is_missing(place: Place, monkeypatch, capfd) -> None:
    interrupted(place)
    monkeypatch.setattr(facts, "measured_on", lambda _: ("x1", {**FACTS, "date": "2026-01-03"}))
    assert main.main(["bench", "--backend=gpu", "--resume"]) == 0
    assert place.ran() == [
        "--size=2 --block=32 --timeline=... --csv",
        "--csv",
        "--size=1G --csv",
    ]
    results = parse(place.file("first").read_text(), Path("x"))
    assert [row["size"] for row in results.rows] == ["1", "2"]
    assert results.facts["date"] == "2026-01-02"  # when it began
    err = capfd.readouterr().err
    assert "./lab bench --resume goes on" in err
    assert "first --size=1: kept from before" in err
    assert "second starts anew: nothing of it was kept" in err


def test_progress_counts_the_runs_that_are_to_be_done(place: Place, monkeypatch) -> None:
    states: list[tuple[int, int, str]] = []

    class Noted(Progress):
        def update(self, what: str = "", done: int = 0, total: int = 0, item: str = "") -> None:
            states.append((done, total, item))

    monkeypatch.setattr(bench, "Progress", Noted)
    place.program("second", "#!/bin/sh\nexit 1\n")
    interrupted(place)
    states.clear()
    assert main.main(["bench", "--backend=gpu", "--resume"]) == 1
    assert states == [(0, 3, "first"), (1, 3, "first"), (1, 3, "second")]


def test_without_resume_all_is_measured_again(place: Place) -> None:
    interrupted(place)
    assert main.main(["bench", "--backend=gpu", "first"]) == 0
    assert len(place.ran()) == 2


def test_resume_starts_anew_with_another_program(place: Place, capfd) -> None:
    interrupted(place)
    place.program("first", PROGRAM + "# edited\n")
    assert main.main(["bench", "--backend=gpu", "--resume", "first"]) == 0
    assert len(place.ran()) == 2
    assert "first starts anew: the program changed" in capfd.readouterr().err


def test_failed_run_is_repeated_by_resume(place: Place) -> None:
    place.program("first", PROGRAM + '[ "$size" = 1 ] || [ -e "$LOG.mended" ]\n')
    assert main.main(["bench", "--backend=gpu", "first"]) == 1
    place.ran()
    (place.root / "log.mended").touch()
    assert main.main(["bench", "--backend=gpu", "first", "--resume"]) == 0
    assert place.ran() == ["--size=2 --block=32 --timeline=... --csv"]


def branches(count: float) -> MetricTable:
    """A launch with as many branches."""
    rows = [Row("k", "1", "32", [float(count)])]
    return MetricTable([Metric("branches", "b__r")], rows, "gpu back end")


def profiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Metrics can be had: 7 branches, 9 in the debug build. Returns the list of what is asked for."""
    asked: list[str] = []

    def collect(names: list[str], backend: str, debug: bool) -> MetricTable:
        (name,) = names
        asked.append(f"{name} {backend}{' debug' if debug else ''}")
        return branches(9 if debug else 7)

    monkeypatch.setattr(bench, "collect", collect)
    return asked


def want_debug(place: Place, name: str) -> None:
    """The exercise's .toml has debug = true."""
    facts = place.root / "ch" / name / "exercise.toml"
    facts.write_text(facts.read_text() + "debug = true\n")


def test_debug_build_is_profiled_too_where_the_config_says_so(place: Place, monkeypatch) -> None:
    asked = profiled(monkeypatch)
    monkeypatch.setattr(facts, "memory_gib", lambda: 8.0)  # leaves out a run, and nothing else
    want_debug(place, "second")
    assert main.main(["bench", "--backend=gpu"]) == 0
    assert asked == ["first gpu", "second gpu", "second gpu debug"]
    text = place.file("second", "metrics").read_text()
    assert parse(text, Path("m")).facts == FACTS
    assert text.endswith("kernel,build,grid,block,branches\nk,optimised,1,32,7\nk,debug,1,32,9\n")
    assert "debug" not in place.file("first", "metrics").read_text()


def test_no_metrics_without_those_of_the_debug_build(place: Place, monkeypatch, capfd) -> None:
    def collect(names: list[str], backend: str, debug: bool) -> MetricTable:
        if debug:
            raise LabError("it does not compile: x.cu\nline 7")
        return branches(7)

    monkeypatch.setattr(bench, "collect", collect)
    want_debug(place, "first")
    assert main.main(["bench", "--backend=gpu"]) == 0
    assert not place.file("first", "metrics").exists()
    assert place.file("second", "metrics").exists()
    reason = "no metrics of the debug build of first: it does not compile: x.cu (./lab profile "
    assert f"{reason}first --debug says more)\n" in capfd.readouterr().err


def test_resume_takes_metrics_anew_and_measures_nothing_for_them(place: Place, monkeypatch) -> None:
    asked = profiled(monkeypatch)
    assert main.main(["bench", "--backend=gpu", "first"]) == 0
    place.ran()
    want_debug(place, "first")
    assert main.main(["bench", "--backend=gpu", "first", "--resume"]) == 0
    assert place.ran() == []
    assert asked == ["first gpu", "first gpu", "first gpu debug"]
    results = parse(place.file("first", "metrics").read_text(), Path("m"))
    assert [(row["build"], row["branches"]) for row in results.rows] == [
        ("optimised", "7"),
        ("debug", "9"),
    ]


# Takes the page that lies in the folder of the preset whose program it is given.
NCU = """
for word; do
    case "$word" in */ch/first) folder="${word%/ch/first}" ;; esac
done
/bin/cat "$folder/page.csv"
"""


def test_each_build_has_the_numbers_of_its_own_program(
    place: Place, monkeypatch, fake_tool
) -> None:
    monkeypatch.setattr(bench, "collect", COLLECT)
    monkeypatch.setattr(presets, "build", lambda cmake, preset, *targets: place.build / preset)
    driver = Driver((13, 0), [Gpu("NVIDIA H200", 90)])
    monkeypatch.setattr(profilers, "require_gpu", lambda _: (Choice("gpu", "", "nvcc"), driver))
    fake_tool("ncu", NCU)
    for preset, count in (("gpu", "7"), ("gpu-debug", "8")):
        (place.build / preset).mkdir()
        place.program("first", folder=preset)
        launch = ncu_sample.launch(0, "k(int)", [count], "(2, 1, 1)", "(32, 1, 1)")
        page = ncu_sample.raw_page({"smsp__sass_branch_targets.sum": ""}, [launch])
        (place.build / preset / "page.csv").write_text(page)
    want_debug(place, "first")
    assert main.main(["bench", "--backend=gpu", "first"]) == 0
    rows = parse(place.file("first", "metrics").read_text(), Path("m")).rows
    assert [(row["kernel"], row["build"], row["grid"], row["branch"]) for row in rows] == [
        ("k", "optimised", "2", "7"),
        ("k", "debug", "2", "8"),
    ]


def test_metrics_that_cannot_be_had_leave_old_files_alone(place: Place, capfd) -> None:
    old = place.file("first", "metrics")
    old.parent.mkdir(parents=True)
    old.write_text("old\n")
    assert main.main(["bench", "--backend=gpu"]) == 0
    assert old.read_text() == "old\n"
    err = capfd.readouterr().err
    assert err.count("no metrics of") == 1  # one reason, one line
    assert "no metrics of first: no ncu: not on PATH (./lab profile first says more)\n" in err


def test_failed_exercise_gets_no_metrics(place: Place, monkeypatch) -> None:
    asked = profiled(monkeypatch)
    place.program("first", WRONG)
    main.main(["bench", "--backend=gpu"])
    assert asked == ["second gpu"]


def test_run_counts_as_finished_only_with_all_its_files(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.touch()
    store = Store(tmp_path / "store", "x")
    store.begin(program, Plan([Run([])], ["timeline"]), FACTS)
    store.keep(0, {"": "a\n1\n"})
    assert store.has(0, [])
    assert not store.has(0, ["timeline"])
    store.keep(0, {"timeline": "b\n2\n"})
    assert store.has(0, ["timeline"])
    assert not store.has(1, [])


@pytest.mark.parametrize(
    ("plan", "facts", "reason"),
    [
        (Plan([Run(["--x"])], ["timeline"]), FACTS, ""),
        (Plan([Run(["--x"], gib=9)], ["timeline"], debug=True), FACTS, ""),
        (Plan([Run(["--x"])], ["timeline"]), {**FACTS, "driver": "2", "date": "x"}, ""),
        (Plan([Run(["--x"])]), FACTS, "the list of runs changed"),
        (Plan([Run(["--x"])] * 2, ["timeline"]), FACTS, "the list of runs changed"),
        (Plan([Run([])], ["timeline"]), FACTS, "the list of runs changed"),
        (Plan([]), {**FACTS, "commit": "b", "gpu": "Y"}, "the commit was abc1234, and is b"),
        (Plan([]), {**FACTS, "gpu": "Y"}, "the gpu was NVIDIA X1, and is Y"),
    ],
)
def test_what_may_be_gone_on_with(tmp_path: Path, plan: Plan, facts: dict, reason: str) -> None:
    program = tmp_path / "program"
    program.touch()
    Store(tmp_path / "store", "x").begin(program, Plan([Run(["--x"])], ["timeline"]), FACTS)
    store = Store(tmp_path / "store", "x")
    assert store.resume(program, plan, facts) == reason
    assert store.facts == ({} if reason else FACTS)


@pytest.mark.parametrize("state", ["{", "[]", "{}", '{"facts": {}}', '{"facts": 1}', None])
def test_state_that_is_none(tmp_path: Path, state: str | None) -> None:
    store = Store(tmp_path, "x")
    if state is not None:
        (tmp_path / "state.json").write_text(state)
    assert store.resume(tmp_path, Plan([]), FACTS) == "nothing of it was kept"


def test_file_of_a_failed_run_is_not_taken_for_that_of_the_next(place: Place) -> None:
    writes_once = PROGRAM.replace("--timeline=*)", "--timeline=*) [ -e $LOG.mark ] ||")
    place.program("first", writes_once + "[ -e $LOG.mark ] || { touch $LOG.mark; exit 1; }\n")
    assert main.main(["bench", "--backend=gpu", "first"]) == 1
    assert main.main(["bench", "--backend=gpu", "first", "--resume"]) == 1
    assert not place.file("first").exists()


def test_results_that_cannot_be_written_are_one_line(place: Place, capfd) -> None:
    (place.root / "ch/first/results").write_text("a file")
    assert main.main(["bench", "--backend=gpu"]) == 1
    err = capfd.readouterr().err
    assert "cannot make the folder" in err
    assert "Traceback" not in err
