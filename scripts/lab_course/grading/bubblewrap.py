"""What bubblewrap is told, and why it may not be able to do it."""

from __future__ import annotations

import os
import platform
import shutil
import stat
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from lab_cli.machine import apt
from lab_cli.machine.needs import SANDBOX, dotted, find_bwrap, version_in
from lab_cli.process import output_of

from . import seccomp
from .limits import Order

OLDEST = (0, 4)  # bubblewrap that has all options which are used here, but for --size
# As root, a sandbox is made by this user, nobody: the kernel does not limit root's processes. Who has
# another number for nobody loses nothing: it only must not be root's.
NOBODY = 65534
# What a dynamically linked program and a compiler need. /usr is there whole; these are links into it, or
# folders of their own on older systems.
ROOTS = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"]
FILES = ["/etc/alternatives", "/etc/ld.so.cache"]
VARIABLES = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "HOME": "/nonexistent",
    "TMPDIR": "/tmp",
}
CONTAINERS = ["/.dockerenv", "/run/.containerenv"]


@cache
def _has_size(bwrap: str) -> bool:
    """Can it limit a tmpfs? Since 0.7, and not where it is installed setuid."""
    return (
        "--size BYTES" in output_of([bwrap, "--help"]) and not os.stat(bwrap).st_mode & stat.S_ISUID
    )


def _view(order: Order) -> list[str]:
    """The files that are there. /tmp, which begins empty, is all that can be written to, with what is
    `writable`; it is in memory, and goes with the sandbox."""
    options = ["--ro-bind", "/usr", "/usr"]
    for root in ROOTS:
        if os.path.islink(root):
            options += ["--symlink", os.readlink(root), root]
        else:
            options += ["--ro-bind-try", root, root]
    for file in FILES:
        options += ["--ro-bind-try", file, file]
    options += ["--proc", "/proc", "--dev", "/dev"]
    for device in sorted(Path("/dev").glob("nvidia*")) if order.gpu else []:
        options += ["--dev-bind", str(device), str(device)]
    if order.gpu:
        options += ["--ro-bind", "/sys", "/sys"]
    else:  # memory that is shared, of which seccomp.py has more, can be had from /dev/zero, too
        options += ["--dev-bind", "/dev/null", "/dev/zero"]
    bwrap = find_bwrap()
    options += ["--size", str(order.limits.memory)] if bwrap and _has_size(bwrap) else []
    options += ["--tmpfs", "/tmp"]
    for path in order.readable:
        options += ["--ro-bind", str(path), str(path)]
    for path in order.writable:
        options += ["--bind", str(path), str(path)]
    return [*options, "--remount-ro", "/dev", "--remount-ro", "/"]


def command_line(order: Order, command: Sequence[str], descriptors: Mapping[str, int]) -> list[str]:
    """Runs `command` in the order's place. `descriptors` are by option of bwrap, which is to be started
    with no variables: the first process within has its own, where all can read them (/proc/1/environ)."""
    options = ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    options += _view(order)
    for name, value in {**VARIABLES, **order.variables}.items():
        options += ["--setenv", name, value]
    for option, descriptor in descriptors.items():
        options += [option, str(descriptor)]
    return [str(find_bwrap()), *options, "--chdir", str(order.cwd or "/tmp"), "--", *command]


def missing() -> str:
    """Why none can be made, as far as that is seen without trying; empty if there is nothing."""
    if not seccomp.known():
        return (
            f"no sandbox can be made on {platform.machine()}: its system calls are not known to lab; "
            "take a machine with x86_64 or AArch64"
        )
    bwrap = find_bwrap()
    if bwrap:
        version = version_in(output_of([bwrap, "--version"]))
        if version and version < OLDEST:
            return f"bubblewrap {dotted(version)} is too old: {dotted(OLDEST)} or newer is needed"
        return ""
    if shutil.which("apt-get"):
        return f"bubblewrap is missing; this installs it: {apt.command([SANDBOX.package])}"
    return "bubblewrap is missing: install it with your system's package manager"


def _number(path: str) -> int | None:
    try:
        return int(Path(path).read_text())
    except (OSError, ValueError):
        return None


def remedy() -> str:
    """What to do where bubblewrap is there and does not work."""
    if _number("/proc/sys/kernel/unprivileged_userns_clone") == 0:
        return (
            "user namespaces are for root only here: the administrator can type "
            "sysctl kernel.unprivileged_userns_clone=1"
        )
    if _number("/proc/sys/user/max_user_namespaces") == 0:
        return (
            "user namespaces are turned off: the administrator can type "
            "sysctl user.max_user_namespaces=10000"
        )
    if any(os.path.exists(path) for path in CONTAINERS) or os.environ.get("container"):
        return (
            "containers do not permit it by default: start this one with --security-opt "
            "seccomp=unconfined --security-opt apparmor=unconfined --security-opt "
            "systempaths=unconfined (Docker; with Podman: unmask=ALL for the last), or with --privileged"
        )
    if _number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1:
        return (
            "AppArmor permits user namespaces to listed programs only: the administrator can install "
            "Ubuntu's profile for it (apt-get install apparmor-profiles; cp /usr/share/apparmor/"
            "extra-profiles/bwrap-userns-restrict /etc/apparmor.d/; systemctl reload apparmor)"
        )
    return "ask the administrator whether unprivileged users may make user namespaces here"
