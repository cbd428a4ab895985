"""Programs of the emulator that are ended from outside leave nothing behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import cc
import pytest

DRIVER = Path(cc.__file__).parent
SIGNALS = [signal.SIGTERM, signal.SIGHUP, signal.SIGINT]
# Notes that it has begun a temporary file and the output, its last argument, and goes on for ever.
COMPILER = """#!/bin/sh
: > "$TMPDIR/begun.s"
for output; do :; done
: > "$output"
echo $$ > ../ready.new
mv ../ready.new ../ready
exec sleep 1000
"""
# Python does so before a file that is complete gets its name.
SITE = """
import os, time
def replace(*_):
    open("../ready", "w").close()
    time.sleep(1000)
os.replace = replace
"""
# The compiler has begun a while before Popen() is done.
LATE = """
import subprocess, time
start = subprocess.Popen._execute_child
def late(*arguments):
    start(*arguments)
    time.sleep(1)
subprocess.Popen._execute_child = late
"""
# As g++ starts cc1plus.
FORKS = "#!/bin/sh\nsleep 1000 &\necho $$ $! > ../ready.new\nmv ../ready.new ../ready\nwait\n"
# ./lab sends SIGTERM when it gets SIGINT, which the terminal sends to all.
TWICE = """
import os, shutil, signal
remove = shutil.rmtree
def twice(*arguments, **options):
    os.kill(os.getpid(), signal.SIGTERM)
    remove(*arguments, **options)
shutil.rmtree = twice
"""
AT_ONCE = "import os\nos.kill(os.getpid(), %d)\n"
IN_AN_IMPORT = """
import os, sys
class Finder:
    @staticmethod
    def find_spec(name, *_):
        if name == 'command_line': os.kill(os.getpid(), %d)
sys.meta_path.insert(0, Finder)
"""


def await_end(process: int) -> None:
    """Fails if the process goes on. It was sent its signal, but may not have taken it yet; and whoever
    inherits a process that has ended may not have asked for its status."""
    stat = Path(f"/proc/{process}/stat")
    for _ in range(6000):
        try:
            if stat.read_text().rpartition(")")[2].split()[0] == "Z":
                return
        except OSError:
            return
        time.sleep(0.01)
    os.kill(process, signal.SIGKILL)
    pytest.fail("the compiler goes on")


@pytest.fixture
def ended(tmp_path):
    """ended(number, program, *arguments): runs a program in the folder `files`, which has a.cu and b.o,
    ends it with that signal once it is ready, and returns the exit status, what it printed, and what is
    in the folder then, and in that for temporary files."""
    (tmp_path / "files").mkdir()
    (tmp_path / "temporary").mkdir()
    (tmp_path / "files" / "a.cu").write_text("__global__ void k();\n")
    (tmp_path / "files" / "b.o").touch()
    (tmp_path / "c++").write_text(COMPILER)
    (tmp_path / "c++").chmod(0o755)

    def run(number, program, *arguments, wrapper=()):
        with open(tmp_path / "printed", "w") as printed:
            process = subprocess.Popen(
                [*wrapper, sys.executable, "-B", str(DRIVER / program), *arguments],
                cwd=tmp_path / "files",
                env={
                    **os.environ,
                    "CXX": str(tmp_path / "c++"),
                    "PYTHONPATH": str(tmp_path),
                    "TMPDIR": str(tmp_path / "temporary"),
                },
                stdout=printed,
                stderr=printed,
            )
        ready = tmp_path / "ready"
        while not ready.exists():
            assert process.poll() is None, (tmp_path / "printed").read_text()
            time.sleep(0.01)
        process.send_signal(number)
        status = process.wait(timeout=60)
        for compiler in ready.read_text().split():
            await_end(int(compiler))
        folders = [sorted(os.listdir(tmp_path / name)) for name in ("files", "temporary")]
        return status, (tmp_path / "printed").read_text(), *folders

    return run


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize(
    "arguments", ["-c a.cu", "-c a.cu -o x.o", "a.cu --emulator b.o", "b.o --emulator b.o"]
)
def test_compiler_driver(ended, number, arguments):
    done = ended(number, "cc.py", *arguments.split())
    assert done == (128 + number, "", ["a.cu", "b.o"], [])


@pytest.mark.parametrize(
    "number, file, text",
    [
        (signal.SIGTERM, "c++", FORKS),
        (signal.SIGTERM, "sitecustomize.py", LATE),
        (signal.SIGINT, "sitecustomize.py", TWICE),
    ],
)
def test_what_a_compiler_has_begun(ended, tmp_path, number, file, text):
    (tmp_path / file).write_text(text)
    assert ended(number, "cc.py", "-c", "a.cu") == (128 + number, "", ["a.cu", "b.o"], [])


def test_the_first_signal_comes_while_the_folder_is_made_or_removed(tmp_path):
    (tmp_path / "a.cu").touch()
    environment = {
        **os.environ,
        "PYTHONPATH": str(tmp_path / "site"),
        "TMPDIR": str(tmp_path / "tmp"),
    }
    (tmp_path / "tmp").mkdir()
    (tmp_path / "site").mkdir()
    send = "    os.kill(os.getpid(), signal.SIGTERM)\n"
    for module, function, before, behind in (
        ("os", "mkdir", "", send),
        ("shutil", "rmtree", send, ""),
        ("shutil", "rmtree", "", send),
    ):
        (tmp_path / "site" / "sitecustomize.py").write_text(
            f"import os, signal, {module}\noriginal = {module}.{function}\n"
            f"def ends(*arguments, **options):\n{before}"
            f"    done = original(*arguments, **options)\n{behind}    return done\n"
            f"{module}.{function} = ends\n"
        )
        command = [sys.executable, str(DRIVER / "cc.py"), "-c", "a.cu"]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True)
        assert (done.returncode, done.stdout, done.stderr) == (128 + signal.SIGTERM, b"", b"")
        assert os.listdir(tmp_path / "tmp") == []


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("site, blocked", [(AT_ONCE, SIGNALS), (IN_AN_IMPORT, [])])
def test_a_signal_while_python_starts(tmp_path, number, site, blocked):
    """It waits, if whoever starts the program has it so; and there is no traceback of an import."""
    (tmp_path / "sitecustomize.py").write_text(site % number)
    done = subprocess.run(
        [sys.executable, str(DRIVER / "cc.py"), "--help"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, blocked),
        capture_output=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, b"", b"")


@pytest.mark.parametrize("number", SIGNALS)
def test_translator(ended, tmp_path, number):
    (tmp_path / "sitecustomize.py").write_text(SITE)
    done = ended(number, "translate.py", "a.cu", "-o", "a.cpp")
    assert done == (128 + number, "", ["a.cu", "b.o"], [])


def test_what_is_ignored_stays_ignored(ended, tmp_path):
    """As nohup does it."""
    (tmp_path / "c++").write_text(
        "#!/bin/sh\n: > ../ready\nkill -HUP $PPID\nfor output; do :; done\n: > $output\n"
    )
    # The compiler is a child of the driver: no ccache is between them.
    wrapper = ["sh", "-c", 'trap "" HUP; CXX="env $CXX" exec "$@"', "sh"]
    status, printed, _, temporary = ended(signal.SIGHUP, "cc.py", "a.cu", "-c", wrapper=wrapper)
    assert (status, printed, temporary) == (0, "", [])
