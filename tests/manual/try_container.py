"""Tries a container of .devcontainer/ as an editor opens it, with buildah. Not a part of CI.

    sudo python3 tests/manual/try_container.py [--gpu] [--base IMAGE | --debootstrap] [--uid UID] [COMMAND...]

Builds the image, gives its user the uid of the workspace's owner, as editors do, and runs the command,
by default `./lab test`, as this user in a clone of the last commit. Everything that it leaves in the
workspace must be the user's. Ends with the status of the command. Where no registry of images can be
reached, --debootstrap makes Debian's from Debian's packages, and --base names one that is there.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".devcontainer"
WORKSPACE = "/workspaces/cuda-lab"
HERE = ["--isolation", "chroot", "--network", "host"]  # no privileges but root's, no bridge


def run(*command: str) -> None:
    print("+", *command, file=sys.stderr, flush=True)
    subprocess.run(command, check=True, stdout=sys.stderr)


def output(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def facts(gpu: bool) -> tuple[Path, dict[str, Any]]:
    """devcontainer.json, and what it says."""
    path = FOLDER / "gpu" / "devcontainer.json" if gpu else FOLDER / "devcontainer.json"
    return path, json.loads(path.read_text(encoding="utf-8"))


def debian(folder: Path) -> str:
    """An image of Debian 12 from its packages."""
    run("debootstrap", "--variant=minbase", "bookworm", str(folder / "debian"))
    empty = output("buildah", "from", "scratch")
    try:
        run("buildah", "copy", "--quiet", empty, str(folder / "debian"), "/")
        run("buildah", "commit", "--quiet", empty, "lab-debian")
    finally:
        run("buildah", "rm", empty)
    return "localhost/lab-debian"


def build(path: Path, config: dict[str, Any], base: str | None) -> str:
    arguments = {**config["build"].get("args", {}), **({"BASE": base} if base else {})}
    words = [f"--build-arg={name}={value}" for name, value in arguments.items()]
    file = path.parent / config["build"]["dockerfile"]
    image = f"lab-container-{path.parent.name.strip('.')}"
    run("buildah", "build", *HERE, *words, "--tag", image, "--file", str(file), str(path.parent))
    return image


def with_uid(container: str, user: str, uid: int) -> None:
    """What editors do where updateRemoteUserUID is true."""
    script = (
        f"if id {user} >/dev/null; then sed -i 's/^{user}:x:[0-9]*:[0-9]*:/{user}:x:{uid}:{uid}:/' "
        f"/etc/passwd; sed -i 's/^{user}:x:[0-9]*:/{user}:x:{uid}:/' /etc/group; "
        f"chown -R {uid}:{uid} /home/{user}; fi"
    )
    run("buildah", "run", *HERE, "--user", "root", container, "sh", "-c", script)


def strangers(workspace: Path, uid: int) -> list[Path]:
    """Files in it that are somebody else's."""
    return [path for path in workspace.rglob("*") if path.lstat().st_uid != uid]


def try_in(container: str, config: dict[str, Any], workspace: Path, command: Sequence[str]) -> int:
    variables = {
        name: value.replace("${containerWorkspaceFolder}", WORKSPACE)
        for name, value in config.get("containerEnv", {}).items()
    }
    options = ["--user", config["remoteUser"], "--workingdir", WORKSPACE]
    options += ["--volume", f"{workspace}:{WORKSPACE}"]
    options += [f"--env={name}={value}" for name, value in variables.items()]
    whole = ["buildah", "run", *HERE, *options, container, *command]
    print("+", *whole, file=sys.stderr, flush=True)
    return subprocess.run(whole).returncode


def main(arguments: argparse.Namespace) -> int:
    path, config = facts(arguments.gpu)
    with tempfile.TemporaryDirectory(prefix="lab-container-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        base = debian(folder) if arguments.debootstrap else arguments.base
        container = output("buildah", "from", build(path, config, base))
        try:
            with_uid(container, config["remoteUser"], arguments.uid)
            workspace = folder / "workspace"
            run("git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(workspace))
            run("chown", "-R", f"{arguments.uid}:{arguments.uid}", str(workspace))
            status = try_in(container, config, workspace, arguments.command or ["./lab", "test"])
            others = strangers(workspace, arguments.uid)
        finally:
            run("buildah", "rm", container)
    if others:
        print(f"not the user's: {', '.join(map(str, others[:9]))}", file=sys.stderr)
    return status or bool(others)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--gpu", action="store_true", help="the one with CUDA")
    base = parser.add_mutually_exclusive_group()
    base.add_argument("--base", metavar="IMAGE", help="in place of the one that it says")
    base.add_argument("--debootstrap", action="store_true", help="of Debian's packages, made here")
    parser.add_argument("--uid", type=int, default=1234, help="of the workspace's owner")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    return parser.parse_args()


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit("root is needed to give the workspace to another user")
    sys.exit(main(parsed()))
