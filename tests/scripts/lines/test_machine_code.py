"""Which line each instruction is of, where basic blocks end, and what instructions compute."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab_cli.lines import machine_code
from lab_cli.lines.machine_code import Instruction, MachineCode
from lab_cli.lines.model import Place
from lab_cli.paths import ROOT

MINE, HEADER = Path("/home/me/mine.cu"), ROOT / "emulator" / "include" / "emu" / "atomics.h"
TRANSLATED = ROOT / "ch04_memory" / "textures.emu" / "textures" / "textures.cpp"
LISTING = f"""
mine:     file format elf64-x86-64

0000000000001000 <k(float*)>:
k(float*)():
{MINE}:3
    1000:\tpush   %rbp
    1001:\tcall   3000 <__sanitizer_cov_trace_pc>
{MINE}:4 (discriminator 2)
    1006:\tmulss  %xmm0,%xmm1
emu::add(float*):
{HEADER}:20
 (inlined by) {MINE}:5
    100a:\taddss  %xmm0,%xmm1
    100e:\tjne    1020 <k(float*)+0x20>
    1010:\tcall   3000 <__sanitizer_cov_trace_pc>
{MINE}:6
    1015:\tret

0000000000001016 <std::max(int, int)>:
/usr/include/c++/12/algorithm:100
    1016:\tpush   %rbp

0000000000001018 <make_float2(float, float)>:
{TRANSLATED}:61
    1018:\tpush   %rbp
""".splitlines()


def place(line: int) -> Place:
    return Place(MINE, line)


@pytest.fixture
def code() -> MachineCode:
    return MachineCode(list(machine_code.parsed(LISTING)))


def test_lines_are_the_users(code: MachineCode) -> None:
    chains = {each.address: each.chain for each in code.instructions}
    assert chains[0x1006] == (place(4),)
    assert chains[0x100A] == (place(5),)  # put there in line, from a header of the emulator
    assert chains[0x1016] == ()
    assert chains[0x1018] == ()


def test_a_call_is_before_its_return_address(code: MachineCode) -> None:
    before = code.before(0x1006)
    assert before is not None and before.address == 0x1001
    assert code.before(0x1000) is None


def test_a_basic_block_ends_at_the_next_hook_or_function(code: MachineCode) -> None:
    assert [each.address for each in code.basic_block(0x1006)] == [0x1006, 0x100A, 0x100E]
    assert [each.address for each in code.basic_block(0x1015)] == [0x1015]


def kinds(*texts: str) -> list[tuple[str, int]]:
    """Of instructions one after the other, "NAME OPERANDS" each."""
    code = []
    for address, text in enumerate(texts):
        name, _, operands = text.partition(" ")
        code.append(Instruction(address, (place(1),), name, operands))
    return [(kind, count) for _, kind, count in machine_code.operations(code)]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("mulss %xmm0,%xmm1", ("fp32", 1)),
        ("vdivss %xmm0,%xmm1,%xmm2", ("fp32", 1)),
        ("addsd %xmm0,%xmm1", ("fp64", 1)),
        ("cvtss2sd %xmm0,%xmm0", ("to_double", 1)),
        ("sqrtss %xmm0,%xmm0", ("special", 1)),
        ("idivl -0x14(%rbp)", ("division", 1)),
        ("call 1234 <fmaf@plt>", ("fp32", 2)),
        ("call 1234 <std::fma(float, float, float)>", ("fp32", 2)),
        ("call 1234 <fma@plt>", ("fp64", 2)),
        ("call 1234 <__fmaf_rn(float, float, float)>", ("fp32", 2)),
        ("call 1234 <sinf@plt>", ("special", 1)),
        ("call 1234 <std::sin(float)>", ("special", 1)),
        ("call 1234 <sin@plt>", ("fp64", 1)),
        ("call 1234 <std::pow(double, int)>", ("fp64", 1)),
        ("call 1234 <__fdividef(float, float)>", ("fp32", 1)),
        ("call 1234 <__dadd_rn(double, double)>", ("fp64", 1)),
        (
            "call 1234 <float atomicAdd<float, 0>(float*, emu::NotDeduced<float>::Type)>",
            ("float_atomic", 1),
        ),
        ("fmadd s0, s1, s2, s3", ("fp32", 2)),
        ("fmul d0, d1, d2", ("fp64", 1)),
        ("fcvt d0, s0", ("to_double", 1)),
        ("sdiv w0, w0, w1", ("division", 1)),
    ],
)
def test_operations(text: str, expected: tuple[str, int]) -> None:
    assert kinds(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "mov %eax,%ebx",
        "call 1234 <tan_of_all(float)>",
        "call 1234 <int atomicAdd<int, 0>(int*, emu::NotDeduced<int>::Type)>",
        "fcvt s0, d0",
        "cvtsd2ss %xmm0,%xmm0",
        "ret",
    ],
)
def test_what_is_no_operation(text: str) -> None:
    assert kinds(text) == []


QUOTIENT = "call 1a0 <decltype(auto) emu::operator{}<{}>(emu::Dividend<{}>, int)>"


@pytest.mark.parametrize(
    "operator, types, expected",
    [
        ("/", "float, int", ("fp32", 1)),
        ("/", "float, double", ("fp64", 1)),
        ("/", "int, int", ("division", 1)),
        ("%", "unsigned long, int", ("division", 1)),
    ],
)
def test_divisions_by_the_translator(operator: str, types: str, expected: tuple[str, int]) -> None:
    call = QUOTIENT.format(operator, types, types.split(",")[0])
    made = "call 1a1 <emu::Dividend<int> emu::operator/<int>(int, emu::Sign)>"
    assert kinds(made, "mov %ebx,%esi", call) == [expected]


@pytest.mark.parametrize(
    "constant", ["mov $0x20,%esi", "movabs $0x123456789,%rsi", "mov w1, #0x20"]
)
def test_a_division_by_a_constant_is_none(constant: str) -> None:
    call = QUOTIENT.format("/", "int, int", "int")
    assert kinds(constant, "mov %eax,%edi", call) == []
    assert kinds(constant, "call 1a1 <f()>", call) == [("division", 1)]


def test_without_objdump(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(machine_code.LabError, match="install binutils"):
        machine_code.read(tmp_path / "program", 0, 100)
