"""The filter of system calls, run as the kernel does. How it behaves in a sandbox is in test_sandbox.py."""

from __future__ import annotations

import errno
import platform
import struct
import subprocess
from pathlib import Path

import pytest
from lab_cli.machine.needs import find_compiler
from lab_course.grading import seccomp

ALLOWED, KILLED = "allowed", "killed"


def answer(program: bytes, architecture: int, number: int, *arguments: int) -> str:
    """What the filter says of a call: an interpreter of the instructions that it is made of."""
    data = struct.pack("<IIQ6Q", number, architecture, 0, *arguments, *[0] * (6 - len(arguments)))
    accumulator = at = 0
    while True:
        operation, if_true, if_false, value = struct.unpack_from("<HBBI", program, 8 * at)
        at += 1
        if operation == seccomp.RETURN:
            break
        if operation == seccomp.LOAD:
            (accumulator,) = struct.unpack_from("<I", data, value)
        else:
            holds = {
                seccomp.EQUAL: accumulator == value,
                seccomp.AT_LEAST: accumulator >= value,
                seccomp.ANY_BIT: bool(accumulator & value),
            }[operation]
            at += if_true if holds else if_false
    if value == seccomp.ALLOW:
        return ALLOWED
    return KILLED if value == seccomp.KILL else errno.errorcode[value & 0xFFFF]


class Filter:
    def __init__(self, machine: str, single_process: bool, gpu: bool = False) -> None:
        self.architecture = seccomp.MACHINES[machine]
        self.column = list(seccomp.MACHINES).index(machine)
        self.program = seccomp.filter_program(single_process, machine, gpu)

    def __call__(self, call: str, *arguments: int) -> str:
        number = seccomp.NUMBERS[call][self.column]
        assert number is not None
        return answer(self.program, self.architecture, number, *arguments)


@pytest.fixture(params=seccomp.MACHINES)
def machine(request) -> str:
    return request.param


def test_every_call_has_its_answer(machine: str) -> None:
    for single_process in (False, True):
        asked = Filter(machine, single_process)
        for call, numbers in seccomp.NUMBERS.items():
            if numbers[asked.column] is None or call in seccomp.LOOKED_AT:
                continue
            expected = "ENOSYS" if call in seccomp.UNKNOWN else "EPERM"
            if call in seccomp.IN_A_SINGLE_PROCESS and not single_process:
                expected = ALLOWED
            assert asked(call) == expected, call


def test_other_calls_are_allowed(machine: str) -> None:
    asked = Filter(machine, True)
    listed = {numbers[asked.column] for numbers in seccomp.NUMBERS.values()}
    for number in set(range(600)) - listed:
        assert answer(asked.program, asked.architecture, number) == ALLOWED


def test_threads_and_processes(machine: str) -> None:
    of_pthread = 0x3D0F00  # the flags of glibc's pthread_create(): CLONE_THREAD and its company
    of_fork = 17 | 0x1200000  # SIGCHLD, CLONE_CHILD_SETTID, CLONE_CHILD_CLEARTID
    single, several = Filter(machine, True), Filter(machine, False)
    assert single("clone", of_pthread) == several("clone", of_pthread) == ALLOWED
    assert single("clone", of_fork) == "EPERM"
    assert several("clone", of_fork) == ALLOWED
    for bit in (17, 25, 26, 27, 28, 29, 30):  # CLONE_NEWNS ... CLONE_NEWNET
        assert several("clone", of_fork | 1 << bit) == "EPERM"
        assert single("clone", of_pthread | 1 << bit) == "EPERM"


def test_sockets_where_there_is_a_gpu(machine: str) -> None:
    """Without which NVIDIA's driver does not start; and nothing else."""
    without, with_gpu = Filter(machine, True), Filter(machine, True, gpu=True)
    assert without("socket") == without("socketpair") == "EPERM"
    assert with_gpu("socket") == with_gpu("socketpair") == ALLOWED
    for call, numbers in seccomp.NUMBERS.items():
        if call not in seccomp.OF_GPU and numbers[with_gpu.column] is not None:
            assert with_gpu(call) == without(call), call


def test_memory_that_processes_share(machine: str) -> None:
    for flags, expected in ((0x22, ALLOWED), (0x1, ALLOWED), (0x21, "EPERM"), (0x23, "EPERM")):
        assert Filter(machine, True)("mmap", 0, 4096, 3, flags) == expected
        assert Filter(machine, True, gpu=True)("mmap", 0, 4096, 3, flags) == ALLOWED


def test_modes(machine: str) -> None:
    asked = Filter(machine, False)
    for mode, expected in ((0o755, ALLOWED), (0o4755, "EPERM"), (0o2755, "EPERM")):
        assert asked("fchmod", 3, mode) == expected
        assert asked("fchmodat", 3, 0, mode) == asked("fchmodat2", 3, 0, mode) == expected
        assert asked("mknodat", 3, 0, mode) == expected
        assert asked("openat", 3, 0, 0o101, mode) == expected  # O_CREAT | O_WRONLY
        assert asked("openat", 3, 0, 0o20000001, mode) == expected  # __O_TMPFILE
        assert asked("openat", 3, 0, 0o1, mode) == ALLOWED  # no mode, whatever stands there
        if machine == "x86_64":
            assert asked("chmod", 0, mode) == asked("creat", 0, mode) == expected
            assert asked("mknod", 0, mode) == asked("open", 0, 0o101, mode) == expected
            assert asked("open", 0, 0, mode) == ALLOWED


def test_calls_of_another_machine(machine: str) -> None:
    asked = Filter(machine, False)
    assert answer(asked.program, 0x40000003, 0) == KILLED  # AUDIT_ARCH_I386
    if machine == "x86_64":  # the second set of numbers
        assert answer(asked.program, asked.architecture, 0x40000000 + 57) == "ENOSYS"


def test_machine() -> None:
    assert seccomp.known("x86_64") and seccomp.known("aarch64")
    assert not seccomp.known("riscv64")
    assert seccomp.known() == (platform.machine() in seccomp.MACHINES)


def test_numbers_are_those_of_the_headers(tmp_path: Path) -> None:
    """As far as these know a call."""
    compiler = find_compiler()
    if compiler is None or not seccomp.known():
        pytest.skip("no compiler, or an unknown machine")
    lines = "".join(
        f'#ifdef SYS_{call}\nstd::printf("{call} %d\\n", SYS_{call});\n#endif\n'
        for call in seccomp.NUMBERS
    )
    source, program = tmp_path / "numbers.cpp", tmp_path / "numbers"
    source.write_text(f"#include <cstdio>\n#include <sys/syscall.h>\nint main() {{\n{lines}}}\n")
    subprocess.run([compiler, str(source), "-o", str(program)], check=True)
    known = subprocess.run([str(program)], stdout=subprocess.PIPE, text=True, check=True).stdout
    column = list(seccomp.MACHINES).index(platform.machine())
    found = {name: int(number) for name, number in map(str.split, known.splitlines())}
    assert len(found) > 30
    assert found == {name: seccomp.NUMBERS[name][column] for name in found}
