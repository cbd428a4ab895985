"""Programs that do harm do none, and it is said what they did; those that do none run as ever."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from lab_cli import signals
from lab_cli.counters.collect import VARIABLE
from lab_cli.errors import LabError
from lab_cli.machine.needs import find_compiler
from lab_cli.paths import ROOT, SCRIPTS
from lab_course.grading import bubblewrap, running, sandbox
from lab_course.grading.limits import Limits, Order, bytes_in, shown_bytes
from lab_course.grading.sandbox import Ended

LIMITS = Limits(
    seconds=60,
    cpu_seconds=60,
    memory=300 * 10**6,
    processes=40,
    file=10**6,
    disk=20 * 10**6,
    output=10**5,
)
BUILD = Path(os.environ.get("CPU_BUILD", ROOT / "out" / "cpu")).absolute()
REFUSED = "Operation not permitted"


@pytest.fixture(scope="session")
def compiler() -> str:
    path = find_compiler()
    if path is None:
        pytest.skip("no compiler")
    return path


def open_to_all() -> Path:
    """A folder that the user nobody can reach, too."""
    folder = Path(tempfile.mkdtemp(prefix="lab-test-", dir="/tmp"))
    folder.chmod(0o755)
    return folder


@pytest.fixture(scope="session")
def hostile(compiler: str) -> Iterator[Path]:
    folder = open_to_all()
    program = folder / "hostile"
    source = Path(__file__).with_name("hostile.cpp")
    command = [compiler, "-std=c++17", "-O1", str(source), "-o", str(program), "-pthread"]
    subprocess.run(command, check=True)
    yield program
    shutil.rmtree(folder)


@pytest.fixture
def place() -> Iterator[Path]:
    folder = open_to_all()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def no_sandbox() -> str:
    return sandbox.problem()


@pytest.fixture(params=["sandboxed", "bare"])
def sandboxed(request, no_sandbox: str) -> bool:
    if request.param == "sandboxed" and no_sandbox:
        pytest.skip(no_sandbox)
    return request.param == "sandboxed"


@pytest.fixture
def only_sandboxed(no_sandbox: str) -> None:
    if no_sandbox:
        pytest.skip(no_sandbox)


def processes_of(program: Path) -> list[int]:
    """Those that run it, but for the dead. One whose first thread has ended says so by another."""
    return [
        int(folder.name)
        for folder in Path("/proc").iterdir()
        if folder.name.isdecimal()
        and any(os.fsencode(program) in text for text in command_lines(folder))
    ]


def command_lines(folder: Path) -> Iterator[bytes]:
    try:
        for task in (folder / "task").iterdir():
            yield (task / "cmdline").read_bytes()
    except OSError:  # it has just ended
        return


def run(program: Path, *words: object, limits: Limits = LIMITS, **options: object) -> Ended:
    """A program of a student, of which nothing is left then."""
    options.setdefault("single_process", True)
    if options.get("sandboxed", True):
        options["readable"] = [program, *options.get("readable", [])]
    before = set(os.listdir("/proc/self/fd"))
    ended = sandbox.run([str(program), *map(str, words)], limits, **options)
    assert processes_of(program) == []
    assert set(os.listdir("/proc/self/fd")) == before
    return ended


def test_status_and_output(sandboxed: bool) -> None:
    for status in (0, 3, 77):
        command = ["sh", "-c", f"echo out; echo error >&2; exit {status}"]
        ended = sandbox.run(command, LIMITS, sandboxed=sandboxed)
        assert (ended.status, ended.output, ended.reason) == (status, "out\nerror\n", "")
    ended = sandbox.run(["printf", r"a\377b"], LIMITS, sandboxed=sandboxed)
    assert (ended.status, ended.output) == (0, "a�b")
    ended = sandbox.run(["/no/such"], LIMITS, sandboxed=sandboxed)
    assert ended.status == 127
    assert "/no/such" in ended.output and "No such file" in ended.output


def test_environment(sandboxed: bool, monkeypatch) -> None:
    monkeypatch.setenv("SECRET", "1")
    ended = sandbox.run(["env"], LIMITS, variables={"GIVEN": "a b"}, sandboxed=sandboxed)
    names = dict(line.split("=", 1) for line in ended.output.splitlines())
    names.pop("PWD", None)
    assert names.pop("TMPDIR").startswith("/tmp" if sandboxed else tempfile.gettempdir())
    assert names == {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": "/nonexistent",
        "GIVEN": "a b",
    }


def test_environment_of_lab(only_sandboxed: None, monkeypatch) -> None:
    """No process of the sandbox has it, where all can read it."""
    monkeypatch.setenv("SECRET", "1")
    ended = sandbox.run(["sh", "-c", "cat /proc/[0-9]*/environ"], LIMITS)
    assert "SECRET" not in ended.output
    assert "TMPDIR=/tmp" in ended.output


def test_descriptors(sandboxed: bool) -> None:
    """stdin, stdout, stderr, and the folder that is listed: no way to what lab has open."""
    with open("/etc/passwd") as file:
        os.set_inheritable(file.fileno(), True)
        ended = sandbox.run(["ls", "/proc/self/fd"], LIMITS, sandboxed=sandboxed)
    assert ended.output.split() == ["0", "1", "2", "3"]


def test_folder_that_it_runs_in(sandboxed: bool, place: Path) -> None:
    ended = sandbox.run(["pwd"], LIMITS, readable=[place], cwd=place, sandboxed=sandboxed)
    assert ended.output == f"{place}\n"


def test_killed_by_a_signal(sandboxed: bool, hostile: Path) -> None:
    ended = run(hostile, "crash", sandboxed=sandboxed)
    assert (ended.status, ended.reason) == (128 + signal.SIGSEGV, "")


def test_nobody_to_ask(sandboxed: bool, hostile: Path) -> None:
    assert run(hostile, "ask", sandboxed=sandboxed).output == "0 bytes\n"


@pytest.mark.parametrize("kind", ["spin", "sleep", "sleep headless"])
def test_does_not_end(sandboxed: bool, hostile: Path, kind: str) -> None:
    seconds = 3 if kind == "sleep" else 0.5  # until it has said so, also on a busy machine
    ended = run(hostile, kind, limits=replace(LIMITS, seconds=seconds), sandboxed=sandboxed)
    assert (ended.status, ended.reason) == (137, f"had not ended after {seconds} s")
    assert seconds <= ended.seconds < 30
    assert ended.output == ("sleeps: done\n" if kind == "sleep" else "")


def test_computes_too_long(sandboxed: bool, hostile: Path) -> None:
    ended = run(hostile, "spin", limits=replace(LIMITS, cpu_seconds=0.5), sandboxed=sandboxed)
    assert (ended.status, ended.reason) == (137, "took more than 0.5 s of CPU time")


@pytest.mark.parametrize("kind", ["eat", "eat shared", "eat headless"])
def test_eats_memory(sandboxed: bool, hostile: Path, kind: str) -> None:
    ended = run(hostile, kind, sandboxed=sandboxed)
    if sandboxed and kind == "eat shared":
        assert ended.output == f"mmap: {REFUSED}\n"
    else:
        assert (ended.status, ended.reason) == (137, "took more than 300 MB of memory")


@pytest.mark.parametrize("kind", ["eat unseen", "eat zeros"])
@pytest.mark.parametrize("single_process", [True, False])
def test_takes_no_memory_that_is_not_seen(
    only_sandboxed: None, hostile: Path, kind: str, single_process: bool
) -> None:
    ended = run(hostile, kind, single_process=single_process)
    assert (ended.status, ended.reason) == (0, "")
    assert ended.output in (f"mmap: {REFUSED}\n", "mmap: No such device\n")


def test_prints_without_end(sandboxed: bool, hostile: Path) -> None:
    ended = run(hostile, "print", sandboxed=sandboxed)
    assert (ended.status, ended.reason) == (137, "printed more than 100 kB")
    assert len(ended.output) == LIMITS.output


def test_starts_many_threads(sandboxed: bool, hostile: Path) -> None:
    ended = run(hostile, "threads", sandboxed=sandboxed)
    assert (ended.status, ended.reason) == (137, "ran more than 40 processes and threads")


def test_starts_many_processes(sandboxed: bool, hostile: Path) -> None:
    ended = run(hostile, "many", sandboxed=sandboxed, single_process=False)
    assert (ended.status, ended.reason) == (137, "ran more than 40 processes and threads")


def test_is_told_to_end_just_when_it_has_ended() -> None:
    order = sandbox.Order(["true"], LIMITS, [], [], {}, None, False)
    with running.Bare(order) as program:
        while not program.has_ended():
            time.sleep(0.001)
        program.kill()


def test_fork_bomb(only_sandboxed: None, hostile: Path) -> None:
    ended = run(hostile, "fork", single_process=False)
    assert (ended.status, ended.reason) == (137, "ran more than 40 processes and threads")
    limits = replace(LIMITS, seconds=0.5)
    ended = run(hostile, "fork", limits=limits)  # not even once
    assert ended.output == f"fork: {REFUSED}\n"


def test_as_many_processes_as_it_may(only_sandboxed: None, hostile: Path) -> None:
    """Those of the user outside do not count, nor those of other sandboxes."""
    if running.version_in(os.uname().release) < running.COUNTS_BY_NAMESPACE:
        pytest.skip("this kernel does not limit it")
    limits = replace(LIMITS, processes=60, seconds=5)
    script = "for i in $(seq 50); do sleep 0.5 & done; wait; echo all"
    results: list[Ended] = []

    def work() -> None:
        results.append(sandbox.run(["sh", "-c", script], limits))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [(ended.output, ended.reason) for ended in results] == [("all\n", "")] * 3


def test_leaves_a_daemon(sandboxed: bool, hostile: Path) -> None:
    ended = run(hostile, "daemon", sandboxed=sandboxed, single_process=False)
    assert (ended.status, ended.output, ended.reason) == (0, "daemon: done\n", "")


def test_one_large_file(sandboxed: bool, hostile: Path, place: Path) -> None:
    ended = run(hostile, "fill", place / "x", writable=[place], sandboxed=sandboxed)
    assert (ended.status, ended.reason) == (137, "wrote a file of more than 1 MB")
    assert (place / "x").stat().st_size <= LIMITS.file


@pytest.mark.parametrize("kind", ["files", "empty files"])
def test_many_files(sandboxed: bool, hostile: Path, place: Path, kind: str) -> None:
    ended = run(hostile, kind, place, writable=[place], sandboxed=sandboxed)
    assert (ended.status, ended.reason) == (137, "wrote more than 20 MB of files")


@pytest.mark.parametrize("limited", [True, False])
@pytest.mark.parametrize("kind", ["files", "removed files", "empty files"])
def test_fills_its_tmp(
    only_sandboxed: None, hostile: Path, monkeypatch, kind: str, limited: bool
) -> None:
    """Which is memory; where bwrap can limit it, and where it is only looked at."""
    if not limited:
        monkeypatch.setattr(bubblewrap, "_has_size", lambda bwrap: False)
    ended = run(hostile, kind, "/tmp")
    if ended.reason:
        assert (ended.status, ended.reason) == (137, "took more than 300 MB of memory")
    else:
        assert limited and ended.output == "write: No space left on device\n"


@pytest.mark.parametrize("folder", ["/", "/dev", "/dev/shm", "/usr", "/etc", "/proc"])
def test_writes_nowhere_else(only_sandboxed: None, hostile: Path, folder: str) -> None:
    ended = run(hostile, "write", f"{folder}/x")
    assert ended.output.startswith("open: ") and "done" not in ended.output


def test_tmp_of_a_bare_run_is_removed(hostile: Path, place: Path, monkeypatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    command = ["sh", "-c", "echo x > $TMPDIR/x && echo $TMPDIR"]
    ended = sandbox.run(command, LIMITS, sandboxed=False)
    assert ended.output.startswith(str(place))
    ended = sandbox.run(["sh", "-c", f"exec {hostile} files $TMPDIR"], LIMITS, sandboxed=False)
    assert ended.reason == "wrote more than 20 MB of files"
    assert os.listdir(place) == []


def test_files_that_come_back(sandboxed: bool) -> None:
    names = ["text", "bytes", "link", "pipe", "folder", "none"]
    script = (
        "echo a > text; printf '\\377' > $TMPDIR/bytes; ln -s /usr/bin/env link; mkfifo pipe; mkdir folder; "
        "echo b > other"
    )
    ended = sandbox.run(["sh", "-c", script], LIMITS, kept=names, sandboxed=sandboxed)
    assert ended.files == {"text": "a\n", "bytes": "�"}
    ended = sandbox.run(
        ["sh", "-c", "echo a > text; kill -9 $$"], LIMITS, kept=["text"], sandboxed=sandboxed
    )
    assert (ended.status, ended.files) == (137, {"text": "a\n"})
    ended = sandbox.run(["ls"], LIMITS, sandboxed=sandboxed)
    assert ended.output == ""


def test_sees_no_file_of_others(only_sandboxed: None, hostile: Path, place: Path) -> None:
    own, neighbour = place / "own" / "x.cu", place / "neighbour" / "x.cu"
    for path in (own, neighbour):
        path.parent.mkdir()
        path.write_text("text")
    hidden = [
        "/etc/shadow",
        "/etc/passwd",
        "/etc/hostname",
        "/var/lib",
        "/run",
        "/sys",
        Path.home(),
        ROOT / "README.md",
        ROOT,
        neighbour,
        place / "own" / ".." / "neighbour" / "x.cu",
        f"/proc/{os.getpid()}/environ",
        "/proc/1/root/etc/shadow",
    ]
    for path in hidden:
        ended = run(hostile, "read", path, readable=[own])
        assert re.match("open: (No such file|Permission denied)", ended.output), path
    assert run(hostile, "read", own, readable=[own]).output == "read: done\n"


def test_lists_its_own_processes_alone(only_sandboxed: None) -> None:
    ended = sandbox.run(["sh", "-c", "cat /proc/[0-9]*/comm; true"], LIMITS)
    assert ended.output.split() == ["bwrap", "sh"]


def test_writes_only_where_it_may(only_sandboxed: None, hostile: Path, place: Path) -> None:
    readable, writable = place / "readable", place / "writable"
    for folder in (readable, writable):
        folder.mkdir()
        (folder / "x").touch()
        folder.chmod(0o777)  # for nobody, too, of root's
        (folder / "x").chmod(0o666)
    file = place / "file"
    file.touch()
    places = {"readable": [readable], "writable": [writable, file]}
    for path in (readable / "x", readable / "new"):
        ended = run(hostile, "write", path, **places)
        assert re.match("open: Read-only file system\n", ended.output)
    for path in (writable / "new", file):
        assert run(hostile, "write", path, **places).output == "write: done\n"
        assert path.read_text() == "x"
    run(hostile, "write", place / "new", **places)  # in its own /tmp, as the places are
    assert sorted(os.listdir(place)) == ["file", "readable", "writable"]


def test_path_that_is_not_there(only_sandboxed: None, place: Path) -> None:
    with pytest.raises(LabError, match=f"cannot run true in a sandbox: .*{place}/none"):
        sandbox.run(["true"], LIMITS, readable=[place / "none"])


def test_links_are_not_followed(only_sandboxed: None, place: Path) -> None:
    """Nor is what they point to given to nobody, by root."""
    (place / "link").symlink_to(place / "file")
    (place / "file").touch()
    for places in ({"readable": [place / "link"]}, {"writable": [place / "link"]}):
        with pytest.raises(LabError, match="link is a link"):
            sandbox.run(["true"], LIMITS, **places)
    assert (place / "file").stat().st_uid == os.geteuid()


def test_what_the_machine_uses_does_not_count(only_sandboxed: None) -> None:
    """Not even while bwrap makes the sandbox, and still sees all of it."""
    limits = replace(LIMITS, memory=20 * 10**6, processes=1)
    for _ in range(20):
        assert sandbox.run(["true"], limits).reason == ""


def test_path_that_nobody_can_reach(only_sandboxed: None, place: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root's sandbox is another user's")
    (place / "closed" / "open").mkdir(parents=True)
    (place / "closed").chmod(0o700)
    with pytest.raises(LabError, match="closed/open: Permission denied.*by the user nobody"):
        sandbox.run(["true"], LIMITS, readable=[place / "closed" / "open"])


@pytest.mark.parametrize("single_process", [True, False])
def test_no_network(only_sandboxed: None, hostile: Path, single_process: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        ended = run(hostile, "connect", port, single_process=single_process)
        assert ended.output == f"socket: {REFUSED}\n"
    interfaces = sandbox.run(["cat", "/proc/net/dev"], LIMITS).output
    assert re.findall(r"^ *(\w+):", interfaces, re.MULTILINE) == ["lo"]


def test_ends_no_other_process(only_sandboxed: None, hostile: Path) -> None:
    user = {"user": bubblewrap.NOBODY} if os.geteuid() == 0 else {}
    with subprocess.Popen(["sleep", "1000"], cwd="/", **user) as other:
        try:
            ended = run(hostile, "end others", other.pid)
            assert other.poll() is None
        finally:
            other.kill()
    assert ended.output.startswith("kill: No such process\n")


def test_calls_that_lead_out(only_sandboxed: None, hostile: Path) -> None:
    output = run(hostile, "calls").output
    answers = dict(line.split(": ") for line in output.splitlines())
    assert answers.pop("clone3") == answers.pop("io_uring") == "Function not implemented"
    assert set(answers.values()) == {REFUSED} and len(answers) == 12


def test_some_also_where_processes_may_be_started(only_sandboxed: None, hostile: Path) -> None:
    for command in (["unshare", "-U", "true"], ["unshare", "-r", "true"]):
        assert REFUSED in sandbox.run(command, LIMITS).output
    assert sandbox.run(["sh", "-c", "(true) && true | cat && echo ok"], LIMITS).output == "ok\n"


@pytest.mark.parametrize("single_process", [True, False])
def test_file_with_rights(
    only_sandboxed: None, hostile: Path, place: Path, single_process: bool
) -> None:
    folder = place / "writable"
    folder.mkdir()
    ended = run(hostile, "set user", folder / "x", writable=[folder], single_process=single_process)
    answers = dict(line.split(": ") for line in ended.output.splitlines())
    assert answers.pop("harmless") == "done"
    assert set(answers.values()) == {REFUSED} and len(answers) == 5
    assert [path.name for path in folder.iterdir()] == ["x"]
    assert stat.S_IMODE((folder / "x").stat().st_mode) == 0o755


def test_has_no_rights(only_sandboxed: None) -> None:
    status = sandbox.run(["cat", "/proc/self/status"], LIMITS).output
    assert re.findall(r"^Cap\w+:\t(\w+)$", status, re.MULTILINE) == ["0" * 16] * 5
    assert "NoNewPrivs:\t1" in status and "Seccomp:\t2" in status
    uid = re.search(r"^Uid:\t(\d+)", status, re.MULTILINE)
    assert uid and int(uid[1]) == (os.geteuid() or bubblewrap.NOBODY)
    assert sandbox.run(["cat", "/proc/self/oom_score_adj"], LIMITS).output == "1000\n"


LAB = """
import sys
from pathlib import Path
from lab_cli import signals
from lab_course.grading import sandbox
from lab_course.grading.limits import Limits
def work():
    program = sys.argv[1]
    limits = {limits}
    sandbox.run([program, "sleep"], limits, readable=[Path(program)], sandboxed={sandboxed})
    return 0
sys.exit(signals.passing_on(work))
"""


def sleeps(program: Path) -> bool:
    """Does it run by now, rather than what starts it?"""
    for process in processes_of(program):
        try:
            words = Path(f"/proc/{process}/cmdline").read_bytes()
        except OSError:
            continue
        if words == os.fsencode(program) + b"\0sleep\0":
            return True
    return False


def wait_until(holds: Callable[[], bool]) -> None:
    limit = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < limit
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_ends_with_lab(sandboxed: bool, hostile: Path, number: int, place: Path) -> None:
    code = LAB.format(limits=LIMITS, sandboxed=sandboxed)
    lab = subprocess.Popen(
        [sys.executable, "-c", code, str(hostile)],
        env={**os.environ, "PYTHONPATH": str(SCRIPTS), "TMPDIR": str(place)},
    )
    wait_until(lambda: sleeps(hostile) or lab.poll() is not None)
    lab.send_signal(number)
    status = lab.wait(timeout=60)
    assert status == (-number if number == signal.SIGKILL else 128 + number)
    if number == signal.SIGKILL:  # nobody is left to wait for the others
        wait_until(lambda: not processes_of(hostile))
    else:
        assert os.listdir(place) == []
    assert processes_of(hostile) == []


def test_who_is_ended_from_outside_has_no_result(sandboxed: bool, hostile: Path) -> None:
    """Such as by Ctrl-C, where the command runs in a thread of lab's, which goes on for a while."""
    raised: list[str] = []

    def work() -> None:
        with pytest.raises(LabError) as caught:
            run(hostile, "sleep", sandboxed=sandboxed)
        raised.append(str(caught.value))

    thread = threading.Thread(target=work)
    thread.start()
    wait_until(lambda: sleeps(hostile))
    signals.end_descendants()
    thread.join()
    assert raised == [f"what ran {hostile} was ended from outside"]
    assert processes_of(hostile) == []


def test_what_is_started_while_lab_ends(sandboxed: bool, hostile: Path, monkeypatch) -> None:
    """By a thread that was between two programs when all others were ended."""
    begins = iter([False])
    monkeypatch.setattr(signals, "ending", lambda: next(begins, True))
    with pytest.raises(LabError, match="was ended from outside"):
        run(hostile, "sleep", limits=replace(LIMITS, seconds=5), sandboxed=sandboxed)
    assert processes_of(hostile) == []


def test_nothing_is_started_while_lab_ends(sandboxed: bool, hostile: Path, monkeypatch) -> None:
    monkeypatch.setattr(signals, "_ending", True)
    started: list[Order] = []
    monkeypatch.setattr(sandbox, "Bare", started.append)
    monkeypatch.setattr(sandbox, "InSandbox", started.append)
    with pytest.raises(LabError):
        run(hostile, "sleep", sandboxed=sandboxed)
    assert started == []


def test_counts(only_sandboxed: None, tmp_path: Path) -> None:
    """Those of a program that may start addr2line, which finds what is not the student's code."""
    path = BUILD / "ch04_memory" / "transpose_instrumented"
    if not path.exists():
        pytest.skip(f"{path} is not built")
    command = [str(path), "--rows=64", "--cols=32", "--profile"]
    report = tmp_path / "report"
    outside = {**os.environ, VARIABLE: str(report)}
    subprocess.run(command, env=outside, stdout=subprocess.DEVNULL, check=True)
    ended = sandbox.run(
        command,
        replace(LIMITS, memory=10**9),
        readable=[path],
        variables={VARIABLE: "report"},
        kept=["report"],
    )
    assert (ended.status, ended.reason) == (0, "")
    launch = r'^"(\d+)","\d+"'  # number of the launch, and of the process
    inside = re.sub(launch, r"\1", ended.files["report"], flags=re.MULTILINE)
    assert inside == re.sub(launch, r"\1", report.read_text(), flags=re.MULTILINE)
    assert "transposeSmem(" in inside


def test_no_bubblewrap(fake_tool, monkeypatch) -> None:
    fake_tool("other", "")
    monkeypatch.setattr(bubblewrap.seccomp, "known", lambda: True)
    assert sandbox.problem() == (
        "bubblewrap is missing: install it with your system's package manager"
    )
    fake_tool("apt-get", "")
    assert sandbox.problem().startswith("bubblewrap is missing; this installs it: ")
    assert sandbox.problem().endswith("apt-get install -y --no-install-recommends bubblewrap")
    fake_tool("bwrap", "echo bubblewrap 0.3.3")
    assert sandbox.problem() == "bubblewrap 0.3.3 is too old: 0.4 or newer is needed"
    monkeypatch.setattr(bubblewrap.seccomp, "known", lambda: False)
    assert "its system calls are not known to lab" in sandbox.problem()


@pytest.mark.parametrize(
    ("files", "container", "says"),
    [
        ({"/proc/sys/kernel/unprivileged_userns_clone": 0}, False, "unprivileged_userns_clone=1"),
        ({"/proc/sys/user/max_user_namespaces": 0}, False, "user.max_user_namespaces=10000"),
        ({"/proc/sys/user/max_user_namespaces": 9}, True, "seccomp=unconfined"),
        (
            {"/proc/sys/kernel/apparmor_restrict_unprivileged_userns": 1},
            False,
            "bwrap-userns-restrict",
        ),
        ({"/proc/sys/kernel/apparmor_restrict_unprivileged_userns": 0}, False, "administrator"),
    ],
)
def test_bubblewrap_that_does_not_work(
    fake_tool, monkeypatch, files: dict[str, int], container: bool, says: str
) -> None:
    fake_tool("bwrap", "echo bwrap: No permissions to create new namespace >&2; exit 1")
    monkeypatch.setattr(bubblewrap.seccomp, "known", lambda: True)
    monkeypatch.setattr(bubblewrap.seccomp, "filter_program", lambda *_, **__: b"")
    monkeypatch.setattr(running.os, "geteuid", lambda: 1000)  # nobody could not reach the tool
    monkeypatch.setattr(bubblewrap, "_number", files.get)
    monkeypatch.setattr(bubblewrap, "CONTAINERS", ["/" if container else "/no/such"])
    monkeypatch.delenv("container", raising=False)
    problem = sandbox.problem()
    assert problem.startswith(
        "no sandbox can be made: cannot run true in a sandbox: bwrap: No perm"
    )
    assert says in problem
    assert "\n" not in problem


def test_options_of_the_oldest_bubblewrap(no_sandbox: str, monkeypatch) -> None:
    """0.4, as RHEL 8 and 9 and Debian 11 have it; --clearenv is one of 0.5."""
    known = (
        "--unshare-all --die-with-parent --new-session --cap-drop --ro-bind --ro-bind-try --bind "
        "--dev-bind --symlink --proc --dev --tmpfs --remount-ro --setenv --json-status-fd --seccomp "
        "--block-fd --chdir --"
    ).split()
    monkeypatch.setattr(bubblewrap, "_has_size", lambda bwrap: False)
    monkeypatch.setattr(bubblewrap, "find_bwrap", lambda: "/bwrap")
    order = sandbox.Order(["x"], LIMITS, [Path("/a")], [Path("/b")], {}, Path("/"), True)
    words = bubblewrap.command_line(order, ["x"], {"--json-status-fd": 3, "--seccomp": 4})
    assert {word for word in words if word.startswith("--")} <= set(known)


def test_bytes_as_words() -> None:
    words = ["1 GB", "1.5 MB", "100 kB", "300 bytes"]
    assert [shown_bytes(number) for number in (10**9, 1_500_000, 10**5, 300)] == words


def test_bytes_in_a_folder(tmp_path: Path) -> None:
    assert bytes_in(tmp_path, 10**9) == 0
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "x").write_bytes(b"x" * 100_000)
    (tmp_path / "link").symlink_to("/usr")
    size = bytes_in(tmp_path, 10**9)
    assert 100_000 + 3 * 4096 <= size < 200_000
    for i in range(100):
        (tmp_path / str(i)).touch()
    assert bytes_in(tmp_path, 10**9) >= size + 100 * 4096
    assert 50_000 < bytes_in(tmp_path, 50_000) < 200_000
    assert bytes_in(tmp_path / "none", 1) == 0
