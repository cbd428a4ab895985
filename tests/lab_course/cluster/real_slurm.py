"""A cluster of one node: slurmctld, slurmd and munged of the system's packages, on 127.0.0.1, with all that
they write in one folder, and run by whoever runs the tests. Nothing of it is left when it has ended."""

from __future__ import annotations

import ctypes
import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from lab_cli import signals

LONGEST = 240.0  # seconds for what takes some on a machine that has little to do
SYSTEM = ":/usr/local/sbin:/usr/sbin:/sbin"  # not in the PATH of every user
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol", "sinfo")
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36  # <linux/prctl.h>

CONFIGURATION = """\
ClusterName=lab
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={controller}
SlurmdPort={node}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=1,sched_interval=2
ReturnToService=2
SlurmdTimeout=5
KillWait=5
NodeName=one NodeHostname={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=one Default=YES MaxTime=INFINITE OverSubscribe=NO State=UP
"""


class CannotStart(Exception):
    """The text says what is missing, or what a program said."""


def program(name: str) -> str:
    """Its path; CannotStart where it is not installed."""
    path = shutil.which(name, path=os.environ.get("PATH", os.defpath) + SYSTEM)
    if not path:
        raise CannotStart(f"{name} is not installed (slurm-wlm and munge on Debian and Ubuntu)")
    return path


def until(holds: Callable[[], bool], what: str) -> None:
    """Waits for it."""
    limit = time.monotonic() + LONGEST
    while not holds():
        assert time.monotonic() < limit, f"after {LONGEST:g} s not: {what}"
        time.sleep(0.1)


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _end_with_us() -> None:
    """Also where the tests are killed."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Cluster:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._before = set(signals.descendants())

    def start(self) -> None:
        """CannotStart says why not."""
        for name in PROGRAMS:
            program(name)
        _prctl(PR_SET_CHILD_SUBREAPER, 1)  # what daemons leave is a child of this process then
        self.folder.chmod(0o755)  # munged wants its socket to be for all
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        text = CONFIGURATION.format(
            folder=self.folder,
            host=socket.gethostname().partition(".")[0],
            user=pwd.getpwuid(os.geteuid()).pw_name,
            controller=_free_port(),
            node=_free_port(),
        )
        (self.folder / "slurm.conf").write_text(text)
        files = {
            "key-file": key,
            "socket": self.folder / "munge.socket",
            "pid-file": self.folder / "munge.pid",
            "log-file": self.folder / "munged.log",
            "seed-file": self.folder / "munge.seed",
        }
        self._daemon(
            "munged", ["--foreground", *(f"--{name}={path}" for name, path in files.items())]
        )
        self._wait(lambda: (self.folder / "munge.socket").exists())
        self._daemon("slurmctld", ["-D", "-f", str(self.folder / "slurm.conf")])
        self.start_node()
        self._wait(lambda: "idle" in self.node_state())

    def start_node(self) -> None:
        self._daemon("slurmd", ["-D", "-f", str(self.folder / "slurm.conf"), "-N", "one"])

    def node_fails(self) -> None:
        """All that runs on it is gone at once."""
        node = self._running.pop("slurmd")
        found: set[int] = set()
        while new := self._of_node(node.pid) - found:  # none that is stopped starts another
            _send(signal.SIGSTOP, new)
            found |= new
        _send(signal.SIGKILL, found)
        node.wait(LONGEST)
        until(lambda: "down" in self.node_state(), "the controller has noticed it")

    def node_state(self) -> str:
        return self.ask("sinfo", "--noheader", "--format=%T")

    def _of_node(self, slurmd: int) -> set[int]:
        """slurmd, what runs its jobs and has left it, and what those run."""
        living = set(signals.descendants())
        first = {slurmd, *(process for process in living if _name(process) == "slurmstepd")}
        return (
            first | {below for process in first for below in signals.descendants(process)}
        ) & living

    def end(self) -> None:
        self._running.clear()
        self._kill_all()

    def variables(self) -> dict[str, str]:
        """The environment of who uses it."""
        path = os.environ.get("PATH", os.defpath) + SYSTEM
        return {**os.environ, "PATH": path, "SLURM_CONF": str(self.folder / "slurm.conf")}

    def ask(self, *command: str) -> str:
        """What one of Slurm's programs prints; nothing where it fails."""
        done = subprocess.run(
            command, env=self.variables(), capture_output=True, text=True, timeout=LONGEST
        )
        return done.stdout.strip() if done.returncode == 0 else ""

    def order(self, *command: str) -> str:
        """The same, of what must not fail."""
        return subprocess.run(
            command, env=self.variables(), check=True, capture_output=True, text=True
        ).stdout.strip()

    def _daemon(self, name: str, options: list[str]) -> None:
        with open(self.folder / f"{name}.out", "ab") as out:
            self._running[name] = subprocess.Popen(
                [program(name), *options],
                env=self.variables(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                cwd=self.folder,
                start_new_session=True,  # Ctrl-C of the tests is no affair of theirs
                preexec_fn=_end_with_us,
            )

    def _wait(self, holds: Callable[[], bool]) -> None:
        limit = time.monotonic() + LONGEST
        while not holds():
            ended = [name for name, each in self._running.items() if each.poll() is not None]
            if ended or time.monotonic() > limit:
                name = ended[0] if ended else "slurmctld"
                said = (self.folder / f"{name}.out").read_text(errors="replace").strip()
                last = said.splitlines()[-1] if said else "it says nothing"
                raise CannotStart(f"{name} cannot be started: {last}")
            time.sleep(0.1)

    def _kill_all(self) -> None:
        """What descends from this process and was not there before, until there is nothing more."""
        while living := set(signals.descendants()) - self._before:
            _send(signal.SIGKILL, living)
            time.sleep(0.01)


def _send(number: signal.Signals, processes: set[int]) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, number)


def _name(process: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{process}/comm").read_text().strip()
    return ""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
