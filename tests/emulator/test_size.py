"""What a build takes on the disk: nothing in it that is large and that not all need."""

import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from lab_cli import catalogue

COMPRESSED = 0x800  # SHF_COMPRESSED of a section's flags
EXERCISE = next(each for each in catalogue.exercises() if each.facts.counts.options)
# Of one source of the library: the program calls the first, and nothing calls the second.
USED, UNUSED = b"_Z21cudaDeviceSynchronizev\0", b"_Z23cudaDeviceGetByPCIBusIdPiPKc\0"


def sections(path: Path) -> dict[str, int]:
    """The flags of the sections of a 64-bit ELF file, by name."""
    data = path.read_bytes()
    assert data[:5] == b"\x7fELF\2", f"{path} is no 64-bit ELF file"
    (table,) = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<3H", data, 58)
    headers = [struct.unpack_from("<2I4Q", data, table + i * size) for i in range(count)]
    text = headers[names][4]
    return {
        data[text + name : data.index(b"\0", text + name)].decode(): flags
        for name, _, flags, *_ in headers
    }


def commands(build: Path, *targets: str) -> list[str]:
    """All that ninja would run for them."""
    if not (build / "build.ninja").exists() or not shutil.which("ninja"):
        pytest.skip("not built with ninja")
    command = ["ninja", "-C", str(build), "-t", "commands", *targets]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.parametrize("program", ["tests/hazards", f"{EXERCISE.chapter}/{EXERCISE.name}"])
def test_debug_information_is_compressed(build, program):
    if "LAB_COMPRESSES_DEBUG:INTERNAL=1" not in (build / "CMakeCache.txt").read_text():
        pytest.skip("the compiler or its linker does not compress")
    path = build / program
    objects = [*path.parent.glob(f"CMakeFiles/{path.name}.dir/**/*.o")]
    assert objects
    for file in [path, *objects]:
        found = sections(file)
        assert found[".debug_info"] & found[".debug_line"] & COMPRESSED, file


def test_programs_have_the_functions_that_they_use_alone(build):
    program = (build / "tests" / "hazards").read_bytes()
    assert USED in program
    assert UNUSED in (build / "emulator" / "libcuda_emulator.a").read_bytes()
    assert UNUSED not in program


def test_programs_take_no_precompiled_headers(build):
    wanted = ["exercises", f"{EXERCISE.name}_instrumented", "hazards"]
    for line in commands(build, *wanted):
        if "--precompile" not in line:  # of hazards, for these tests
            assert ".gch" not in line and "cmake_pch" not in line


@pytest.mark.parametrize("kind", ["optimised", "debug", "instrumented"])
def test_one_kind_of_precompiled_header_is_made_at_a_time(build, kind):
    made = commands(build, f"cuda_emulator_precompiled_{kind}")
    (line,) = [command for command in made if "--precompile" in command]
    assert f"--precompile {build}/emulator/precompiled/{kind}" in line


def test_an_exercise_is_compiled_once_for_run_and_once_for_check_and_profile(build):
    wanted = [f"{EXERCISE.name}{suffix}" for suffix in ("", "_instrumented", "_faulty")]
    compiled = [c for c in commands(build, *wanted) if c.endswith(f"/{EXERCISE.name}.cpp")]
    assert len(compiled) == 2
