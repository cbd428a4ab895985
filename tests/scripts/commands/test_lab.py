"""The command line of ./lab, its list of exercises, and the summary of a run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from lab_cli import catalogue, lock, main, paths, process
from lab_cli.building import presets
from lab_cli.commands import cc
from lab_cli.errors import LabError
from lab_cli.machine import backend, setup
from lab_cli.paths import ROOT

EXERCISE = catalogue.exercises()[0].name
COMMANDS = [command.__name__.rpartition(".")[2] for command in main.COMMANDS]


def test_list_names_every_exercise_and_says_what_it_is(capfd) -> None:
    assert main.main(["list"]) == 0
    sources = {path.parent.name for path in ROOT.glob("*/*/exercise.toml")}
    described = dict(re.findall(r"^  (\w+) +(\S.*)$", capfd.readouterr().out, re.MULTILINE))
    assert set(described) == sources


def test_help_names_every_command(capfd) -> None:
    assert main.main(["--help"]) == 0
    out = capfd.readouterr().out
    assert [command for command in COMMANDS if f"./lab {command} " not in out] == []


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS if name != "cc")])
def test_help_fits_the_terminal(monkeypatch, capfd, command: list[str]) -> None:
    words = []
    for columns in (60, 80, 120):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert main.main([*command, "--help"]) == 0
        out = capfd.readouterr().out
        assert max(map(len, out.splitlines())) <= columns
        words.append(out.split())
    assert words[0] == words[1] == words[2]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ("list --size=3", " list: --size=3:"),
        ("list x", " list: x:"),
        ("list x -y", " list: -y:"),
        ("doctor -- x y", " doctor: x:"),
        ("run --back=cpu", " run: --back=cpu:"),
        ("check -x", " check: -x:"),
        ("check --", " check: NAME|FILE.cu"),
        ("trace x y", " trace: y:"),
        ("new", " new: CHAPTER/NAME"),
        ("check x --timeout=0", " check: --timeout: 0:"),
        ("run x --timeout soon", " run: --timeout: soon:"),
        ("profile x --timeout nan", " profile: --timeout: nan:"),
        ("run --timeout 1e400", " run: --timeout: 1e400:"),
        ("run --backend tpu", " run: --backend: tpu: expected auto, gpu or cpu"),
        ("profile x --metrics ,", " profile: --metrics: ,:"),
        ("profile x --metrics=", " profile: --metrics: '':"),
        ("profile x --output=", " profile: --output: '':"),
        ("trace x --rung=", " trace: --rung: '':"),
        ("plot --gpu=", " plot: --gpu: '':"),
        ("--size=3", ": --size=3:"),
        ("-- x", ": --:"),
        ("-", ": -:"),
        ("", ": '':"),
        ("a\nb\x1b", ": a\\nb\\x1b:"),
    ],
)
def test_what_a_command_does_not_take_is_named(arguments: str, named: str, capfd) -> None:
    assert main.main(arguments.split(" ")) == 2
    out, err = capfd.readouterr()
    assert out == "" and err.count("\n") == 1
    assert err.startswith(f"lab{named}") and " --help " in err  # where more is said


@pytest.mark.parametrize(
    ("word", "meant"),
    [("rum", "run?"), (EXERCISE, f"./lab run {EXERCISE}"), ("my.cu", "a .cu file")],
)
def test_what_may_be_meant(word: str, meant: str, capfd) -> None:
    assert main.main([word]) == 2
    err = capfd.readouterr().err
    assert err.startswith(f"lab: {word}: ") and meant in err


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("run", "--backend=cpu -v"),
        ("profile", "--timeout 5"),
        ("report", "-o x"),
        ("bench", "--slurm --time 5"),
    ],
)
def test_names_may_stand_among_options(command: str, option: str) -> None:
    for words in (f"a {option} b", f"{option} a b", f"a b {option}"):
        assert main.parsed([command, *words.split()]).names == ["a", "b"], words


@pytest.mark.parametrize("command", [command for command in COMMANDS if command != "cc"])
def test_options_are_written_out(command: str, capfd) -> None:
    names = ["x"] if command in ("profile", "compare", "check", "trace", "new") else []
    assert main.main([command, *names, "--hel"]) == 2
    assert f"lab {command}: --hel: no such option" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("words", "near"), [("test --freh", "--fresh"), ("run x --bakend=cpu", "--backend")]
)
def test_an_option_that_is_nearly_right_names_the_right_one(words: str, near: str, capfd) -> None:
    assert main.main(words.split()) == 2
    assert f"did you mean {near}?" in capfd.readouterr().err
    assert main.main(["run", "x", "--prfile"]) == 2
    assert "did you mean" not in capfd.readouterr().err


@pytest.mark.parametrize("arguments", [["list"], ["--help"]])
def test_nobody_reads_on(arguments: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, str(ROOT / "lab"), *arguments],
        stdout=write,
        stderr=subprocess.PIPE,
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.parametrize("name", ["transpose", "ch04"])  # which has no other
def test_one_exercise_gets_its_options_and_stdout_alone(faked: Path, capfd, name: str) -> None:
    assert main.main(["run", "--backend=cpu", name, "--", "--csv", "--rows=3"]) == 0
    out, err = capfd.readouterr()
    assert out == "transpose --csv --rows=3\n"
    assert "transpose --csv --rows=3" in err  # the command, before it runs


@pytest.mark.parametrize("status", [1, 2, 77])
def test_status_of_one_exercise_is_passed_on(faked, monkeypatch, status: int) -> None:
    monkeypatch.setenv("STATUS", str(status))
    assert main.main(["run", "--backend=cpu", "transpose"]) == status


@pytest.mark.parametrize("names", [["transpose"], []])
def test_program_that_is_not_there(faked: Path, names: list[str], capfd) -> None:
    program = faked / "ch04_memory" / "transpose"
    program.unlink()
    assert main.main(["run", "--backend=cpu", *names]) == 1
    err = capfd.readouterr().err
    assert err.endswith(f"lab: cannot run {program}: No such file or directory\n")


@pytest.mark.parametrize("command", ["run", "test", "bench", "profile", "check", "trace"])
@pytest.mark.parametrize(("name", "status"), [("transposs", 2), ("wgmma", 1)])
def test_nothing_is_set_up_for_nothing(
    faked, monkeypatch, command: str, name: str, status: int
) -> None:
    backend = [] if command == "check" else ["--backend=cpu"]
    names = ["transpose", name] if command in ("run", "test", "bench") else [name]
    monkeypatch.setattr(setup, "ensure", lambda *_, **__: pytest.fail("set up"))
    assert main.main([command, *backend, *names]) == status


@pytest.mark.parametrize(
    ("arguments", "targets"),
    [
        ("run --backend=cpu", "cpu exercises"),
        ("run --backend=gpu wgmma", "gpu wgmma"),
        ("bench --backend=cpu transpose", "cpu transpose"),
    ],
)
def test_what_is_built(faked, monkeypatch, arguments: str, targets: str) -> None:
    built: list[str] = []

    def build(cmake: str, *targets: str) -> Path:
        built.extend(targets)
        raise LabError("built")

    monkeypatch.setattr(backend, "pick", lambda request: request)
    monkeypatch.setattr(presets, "build", build)
    assert main.main(arguments.split()) == 1
    assert built == targets.split()


@pytest.fixture
def handed_over(faked: Path, monkeypatch) -> tuple[list[tuple[str, ...]], list[list[str]]]:
    """What ./lab cc builds, and the commands that it becomes; those fail here."""
    built: list[tuple[str, ...]] = []
    ran: list[list[str]] = []

    def build(cmake: str, preset: str, *targets: str) -> Path:
        built.append((preset, *targets))
        return faked

    monkeypatch.setattr(presets, "build", build)
    monkeypatch.setattr(cc, "_become", lambda command: ran.append(list(command)))
    return built, ran


def test_cc_hands_over_with_the_libraries(handed_over, faked: Path, capfd) -> None:
    _, ran = handed_over
    assert main.main(["cc", "mine.cu", "-o", "mine", "--", "-x"]) == 1
    library = ["--emulator", str(faked / "emulator" / "libcuda_emulator.a")]
    assert ran[0][:4] == [sys.executable, str(ROOT / "emulator" / "driver" / "cc.py"), *library]
    assert ran[0][4:6] == [f"-L{faked / 'common'}", "-llab_common"]
    assert ran[0][6:] == ["mine.cu", "-o", "mine", "--", "-x"]
    assert capfd.readouterr() == ("", "")  # as compilers are


@pytest.mark.parametrize("option", ["-v", "--dryrun"])
def test_cc_shows_the_driver_if_asked_to(handed_over, option: str, capfd) -> None:
    main.main(["cc", "mine.cu", option])
    shown = capfd.readouterr().err
    assert shown.startswith("+ ") and " emulator/driver/cc.py --emulator " in shown
    assert shown.endswith(f" mine.cu {option}\n")


@pytest.mark.parametrize(
    ("options", "target"),
    [
        (["a.cu", "--instrument", "-G"], "cuda_emulator_instrument ..._instrumented"),
        (["-O0", "a.cu"], "cuda_emulator ..._debug"),
        (["a.cu", "-hello"], "cuda_emulator ..._optimised"),
        (["a.cu", "--help"], ""),
        (["--version"], ""),
        ([], ""),
    ],
)
def test_cc_builds_what_it_needs(handed_over, options, target: str) -> None:
    built, ran = handed_over
    main.main(["cc", *options])
    wanted = target.replace("...", "cuda_emulator_precompiled").split()
    assert built == ([("cpu", *wanted, "lab_common")] if target else [])
    assert ran[0][6 if target else 2 :] == options


def test_cc_becomes_the_driver() -> None:
    """Its status is that of ./lab, and its output and process are, too."""
    done = subprocess.run([str(ROOT / "lab"), "cc"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage: lab cc FILE...")
    code = (
        "import os, signal, sys; sys.path.insert(0, 'scripts')\n"
        "from lab_cli.commands import cc\n"
        "print(os.getpid(), flush=True)\n"
        "cc._become([sys.executable, '-c', 'import os, signal;"
        " print(os.getpid(), signal.pthread_sigmask(signal.SIG_BLOCK, []))'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    before, after = done.stdout.splitlines()
    process, _, blocked = after.partition(" ")
    assert process == before
    assert all(name in blocked for name in ("SIGINT", "SIGTERM", "SIGHUP"))


def test_programs_that_path_leads_to_are_named_as_one_types_them(fake_tool, tmp_path) -> None:
    cmake = fake_tool("cmake", "")
    fake_tool("ctest", "")
    assert presets.shortest(str(cmake)) == "cmake"
    assert presets.ctest_beside(str(cmake)) == "ctest"
    assert presets.shortest(str(tmp_path / "cmake")) == str(tmp_path / "cmake")
    assert presets.ctest_beside(str(tmp_path / "cmake")) == str(tmp_path / "ctest")


def test_only_a_new_folder_is_configured(tmp_path: Path, monkeypatch) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(presets, "OUT", tmp_path)
    monkeypatch.setattr(presets.cmake_runs, "configure", ran.append)
    monkeypatch.setattr(presets.cmake_runs, "build", ran.append)
    presets.build("/no/cmake", "cpu")
    (tmp_path / "cpu" / "build.ninja").touch()
    assert presets.build("/no/cmake", "cpu", "transpose", "matmul") == tmp_path / "cpu"
    folder = str(tmp_path / "cpu")
    assert ran == [
        ["/no/cmake", "--preset", "cpu", "-B", folder],
        ["/no/cmake", "--build", folder],
        ["/no/cmake", "--build", folder, "--target", "transpose", "matmul"],
    ]


@pytest.mark.parametrize("moved", ["CMAKE_CACHEFILE_DIR", "CMAKE_HOME_DIRECTORY", ""])
def test_a_folder_of_a_checkout_that_has_moved_is_built_anew(
    tmp_path: Path, monkeypatch, capfd, moved: str
) -> None:
    monkeypatch.setattr(presets, "OUT", tmp_path / "link")
    monkeypatch.setattr(presets.cmake_runs, "configure", lambda command: None)
    monkeypatch.setattr(presets.cmake_runs, "build", lambda command: None)
    folder = tmp_path / "out" / "cpu"
    (folder / "ch").mkdir(parents=True)
    (tmp_path / "link").symlink_to("out")
    (folder / "build.ninja").touch()
    (folder / "ch" / "x.o").touch()
    made = {"CMAKE_CACHEFILE_DIR": folder, "CMAKE_HOME_DIRECTORY": ROOT}
    if moved:
        made[moved] = tmp_path
    lines = [f"{name}:INTERNAL={value}\n" for name, value in made.items()]
    (folder / "CMakeCache.txt").write_text("".join(lines))
    presets.build("cmake", "cpu")
    kept = {"lab.lock"} if moved else {"build.ninja", "CMakeCache.txt", "ch", "lab.lock"}
    assert {path.name for path in folder.iterdir()} == kept
    said = capfd.readouterr().err
    here = ROOT if moved == "CMAKE_HOME_DIRECTORY" else tmp_path / "link" / "cpu"
    line = f"{tmp_path}/link/cpu was made for {tmp_path}, not for {here}: it is built anew\n"
    assert said == (line if moved else "")


def test_of_several_that_build_the_same_one_builds_at_a_time(tmp_path: Path, monkeypatch) -> None:
    said: list[str] = []
    waiting = threading.Semaphore(0)
    begun, together = threading.Event(), threading.Event()
    inside: list[str] = []

    def build(command: Sequence[str]) -> None:
        if command[-1] == "first":
            begun.set()
            assert waiting.acquire(timeout=60) and waiting.acquire(timeout=60)
        inside.append(command[-1])
        if len(inside) > 1:
            together.set()
        together.wait(0.1)
        inside.remove(command[-1])

    monkeypatch.setattr(presets, "OUT", tmp_path)
    monkeypatch.setattr(presets.cmake_runs, "build", build)
    monkeypatch.setattr(lock, "say", lambda text: (said.append(text), waiting.release()))
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "build.ninja").touch()
    others = [threading.Thread(target=presets.build, args=("cmake", "cpu", n)) for n in "ab"]
    first = threading.Thread(target=presets.build, args=("cmake", "cpu", "first"))
    first.start()
    assert begun.wait(60)
    for thread in others:
        thread.start()
    for thread in (first, *others):
        thread.join()
    assert not together.is_set()
    assert said == [f"waiting: another lab builds in {tmp_path / 'cpu'}"] * 2


def test_builds_can_be_elsewhere(tmp_path: Path) -> None:
    elsewhere = {**os.environ, "LAB_BUILD_DIR": str(tmp_path / "mine")}
    ask = "from lab_cli import paths; print(paths.OUT, paths.VENV)"
    done = subprocess.run(
        [sys.executable, "-c", ask],
        cwd=ROOT / "scripts",
        env=elsewhere,
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == [str(tmp_path / "mine"), str(tmp_path / "mine" / ".venv")]


def test_a_step_is_its_command_but_where_it_fails_shown_in_full(capfd) -> None:
    process.step(["echo", "much"], "working", lambda line, progress: None)
    assert capfd.readouterr() == ("", "+ echo much\n")
    read: list[str] = []
    command = ["sh", "-c", "echo reason; echo again >&2; exit 3"]
    with pytest.raises(LabError, match="exit status 3; the reason is above") as raised:
        process.step(command, "working", lambda line, progress: read.append(line))
    assert raised.value.status == 3
    assert read == ["reason", "again"]
    shown = "+ sh -c 'echo reason; echo again >&2; exit 3'\nreason\nagain\n"
    assert capfd.readouterr() == ("", shown)


def test_a_program_runs_where_it_is_told_to(tmp_path: Path, capfd) -> None:
    assert process.run(["pwd"], cwd=tmp_path) == 0
    assert process.run(["pwd"], cwd=tmp_path, to_stderr=True) == 0
    assert capfd.readouterr() == (f"{tmp_path}\n", f"+ pwd\n+ pwd\n{tmp_path}\n")


@pytest.mark.parametrize(
    ("script", "mode", "message"),
    [
        ("#!/no/such/interpreter\n", 0o755, "it is there, what it is to be run with"),
        ("#!/bin/sh\n", 0o644, "Permission denied: nobody has the right to run it"),
        ("\x7fELF", 0o755, "Exec format error: it was built for another machine"),
    ],
)
def test_why_a_program_does_not_start(tmp_path: Path, script: str, mode: int, message: str) -> None:
    program = tmp_path / "program"
    program.write_text(script)
    program.chmod(mode)
    for start in (process.run, lambda command: process.run_lines(command, print)):
        with pytest.raises(LabError, match=f"cannot run {program}: {message}"):
            start([str(program)])


@pytest.mark.parametrize(
    ("returncode", "text"),
    [
        (128, "exit status 128"),
        (129, "killed by SIGHUP"),
        (-11, "killed by SIGSEGV"),
        (137, "killed by SIGKILL"),
        (255, "exit status 255"),  # there is no signal 127
    ],
)
def test_how_a_program_ended(returncode: int, text: str) -> None:
    assert process.describe(process.status_of(returncode)) == text


def test_lines_come_as_they_are_printed(capfd) -> None:
    lines: list[str] = []
    script = "printf 'a\\n\\377\\n'; echo c >&2; printf d; kill -9 $$"
    assert process.run_lines(["sh", "-c", script], lines.append) == 137
    assert lines == ["a\n", "\ufffd\n", "c\n", "d"]
    out, err = capfd.readouterr()
    assert out == "" and err.startswith("+ sh -c ")


@pytest.mark.parametrize(
    ("command", "output"),
    [
        (["sh", "-c", "echo a; printf '\\377'; echo b >&2"], "a\n\ufffd"),
        (["sh", "-c", "echo a; exit 1"], ""),
        (["/no/such/tool"], ""),
        (["cat"], ""),  # nothing is typed in
    ],
)
def test_a_quick_question(command: list[str], output: str, capfd) -> None:
    assert process.output_of(command) == output
    assert capfd.readouterr() == ("", "")


def test_a_failure_of_the_system_is_one_line(monkeypatch, capfd) -> None:
    def fails(argv: list[str]) -> int:
        raise OSError(28, "No space left on device", "/x/y")

    monkeypatch.setattr(main, "dispatch", fails)
    assert main.main(["run"]) == 1
    assert capfd.readouterr().err == "lab: /x/y: No space left on device: make room\n"


def test_without_a_folder_to_build_in_nothing_is_installed(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for arguments in (f"run {EXERCISE}", "cc mine.cu"):
        done = subprocess.run(
            [sys.executable, str(ROOT / "lab"), *arguments.split()],
            capture_output=True,
            text=True,
            env={**os.environ, "LAB_BUILD_DIR": str(tmp_path / "file"), "CUDACXX": "/none"},
        )
        assert done.returncode == 1
        assert re.fullmatch(
            "(back end: .*\n)?lab: cannot make the folder .*/file: .*/file is a file; "
            "LAB_BUILD_DIR=FOLDER in the environment puts builds elsewhere\n",
            done.stderr,
        )


@pytest.mark.parametrize(("umask", "mode"), [(0o777, 0o700), (0o322, 0o755)])
def test_what_lab_makes_is_its_owners_whatever_the_umask_is(
    tmp_path: Path, umask: int, mode: int
) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "lab"), "list"],
        env={**os.environ, "LAB_BUILD_DIR": str(tmp_path / "out")},
        stdout=subprocess.DEVNULL,
        umask=umask,
    )
    assert done.returncode == 0
    made = [*tmp_path.rglob("*")]
    assert made
    for path in made:
        expected = mode if path.is_dir() else mode & 0o666
        assert path.stat().st_mode & 0o777 == expected


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    code = "import os, sys; os.rmdir(os.getcwd()); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    command = [sys.executable, "-c", code, str(ROOT / "lab"), "list"]
    variables = {**os.environ, "LAB_BUILD_DIR": "out"}
    done = subprocess.run(command, cwd=gone, capture_output=True, text=True, env=variables)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "lab: LAB_BUILD_DIR=out: the current folder, which it begins at, has been removed\n"
    )


def test_commands_are_shown_relative_to_the_checkout() -> None:
    assert process.shown([str(ROOT / "build" / "a b"), "--x=1"]) == "'build/a b' --x=1"
    assert process.shown([f"{ROOT}2/x", str(ROOT), f"-I{ROOT}/x"]) == f"{ROOT}2/x {ROOT} -I{ROOT}/x"
    assert paths.shown(ROOT / "build" / "a b") == "build/a b"
    assert paths.shown(Path(f"{ROOT}2/x")) == f"{ROOT}2/x"
