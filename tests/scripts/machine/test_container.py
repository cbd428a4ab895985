"""The containers of .devcontainer/ have what lab needs, and no more."""

from __future__ import annotations

import re

import pytest
from lab_cli.machine import cuda_wheels, needs
from lab_cli.paths import ROOT
from try_container import facts

DOCKERFILE = (ROOT / ".devcontainer" / "Dockerfile").read_text()
# What `lab` starts from, and for PyPI.
OTHERS = {"ca-certificates", "git", "python3", "python3-venv"}


def test_packages_are_those_that_lab_would_install() -> None:
    found = re.search(r"apt-get install (.*?)&&", DOCKERFILE, re.DOTALL)
    assert found
    packages = {word for word in found[1].replace("\\", " ").split() if not word.startswith("-")}
    assert packages == {need.package for need in needs.needs_of("cpu", tests=True)} | OTHERS


@pytest.mark.parametrize("gpu", [False, True])
def test_an_ordinary_user_builds_in_a_folder_of_the_containers_own(gpu: bool) -> None:
    path, config = facts(gpu)
    assert (path.parent / config["build"]["dockerfile"]).read_text() == DOCKERFILE
    user = config["remoteUser"]
    assert re.search(rf"useradd .* {user}$", DOCKERFILE, re.MULTILINE)
    assert re.search(rf"^USER {user}$", DOCKERFILE, re.MULTILINE)
    assert config["updateRemoteUserUID"] is True
    folder = "gpu-container" if gpu else "container"
    variables = {"LAB_BUILD_DIR": "${containerWorkspaceFolder}/out/" + folder}
    assert config["containerEnv"] == variables


def test_cuda_is_the_one_that_lab_would_install() -> None:
    _, config = facts(gpu=True)
    version = needs.dotted(cuda_wheels.VERSION)
    assert config["build"]["args"]["BASE"].startswith(f"nvidia/cuda:{version}.")
