"""The hazard check, on programs that use an address of the host on the device or the other way
round, and on programs that only look like that."""

import re
from pathlib import Path

import pytest
from check_report import line_of, only, run

SPACES = Path(__file__).parent / "check" / "spaces.cu"


@pytest.fixture
def check(build, tmp_path):
    return lambda program: run(build / "tests" / "spaces", tmp_path / "report", program)


def marked(*marks):
    return [line_of(SPACES, mark) for mark in marks]


SYMBOL = "the host's address of a variable of the device"
FUNCTION = "the host's address of a function"
VIRTUAL = "an object of the host with virtual functions"


@pytest.mark.parametrize(
    "program, title, name, passed, mark",
    [
        (
            "constantArgument",
            SYMBOL,
            "'coefficients'",
            "to copyFrom, in argument 1",
            "constant-arg",
        ),
        ("arrayArgument", SYMBOL, "'weights'", "to copyFrom, in argument 1", "array-arg"),
        ("addressArgument", SYMBOL, "'inner::depth'", "to copyOne, in argument 1", "address-arg"),
        ("addressThroughApi", SYMBOL, "'hidden'", "to copyOne, in argument 1", "api-arg"),
        ("copyByAddress", SYMBOL, "'weights'", "to a copy or a fill", "copy-by-address"),
        ("fillByAddress", SYMBOL, "'weights'", "to a copy or a fill", "fill-by-address"),
        ("symbolInStruct", SYMBOL, "'weights'", "to copyFromSources, in argument 1", "struct-arg"),
        ("functionArgument", FUNCTION, "'twice(float)'", "to apply, in argument 2", "function-arg"),
        ("functionInStruct", FUNCTION, "'twice(float)'", "to applyStep, in argument 2", "step-arg"),
        ("functionInConstant", FUNCTION, "'twice(float)'", "to the device", "constant-copy"),
        ("virtualArgument", VIRTUAL, "'Square'", "to areaOfOwn, in argument 1", "square-arg"),
    ],
)
def test_address_that_the_host_passes(check, program, title, name, passed, mark):
    finding = only(check(program))
    assert finding.title.startswith(title + ": ")
    assert name in finding.title
    ((line, who, what, _),) = finding.acts
    assert ([line], who) == (marked(mark), "the host")
    assert what.endswith(passed)


@pytest.mark.parametrize(
    "program, title, name, kernel, marks",
    [
        ("symbolInMemory", SYMBOL, "'weights'", "copyFromTable", ["on-device", "table-read"]),
        ("symbolInManaged", SYMBOL, "'weights'", "copyFromTable", ["managed-write", "table-read"]),
        ("functionInMemory", FUNCTION, "'twice(float)'", "applyStepAt", ["on-device", "step-read"]),
        (
            "functionInCopiedStruct",
            FUNCTION,
            "'twice(float)'",
            "applyCopyOfStep",
            ["on-device", "step-copy"],
        ),
        (
            "functionInManaged",
            FUNCTION,
            "'twice(float)'",
            "applyStepAt",
            ["managed-copy", "step-read"],
        ),
        ("virtualInMemory", VIRTUAL, "'Square'", "areaOf", ["square-copy", "area-read"]),
        ("virtualInManaged", VIRTUAL, "'Square'", "areaOf", ["square", "area-read"]),
    ],
)
def test_address_that_a_kernel_finds_in_memory(check, program, title, name, kernel, marks):
    finding = only(check(program))
    assert finding.title.startswith(title + ": ")
    assert name in finding.title
    assert finding.kernel == kernel
    assert [who for _, who, _, _ in finding.acts] == ["the host", "thread (0,0,0)"]
    assert finding.lines() == marked(*marks)


@pytest.mark.parametrize(
    "program, where, mark",
    [
        ("hostVariable", "variable table, element 0 (of 4 bytes)", "copy-from"),
        ("hostStatic", "variable steps, element 0 (of 4 bytes)", "copy-one"),
        ("hostStaticInFunction", "variable inFunction, element 0 (of 4 bytes)", "copy-from"),
        ("hostLocal", "stack", "copy-from"),
        ("hostVector", "heap", "copy-from"),
        ("forgottenDeepCopy", "heap", "table-read"),
    ],
)
def test_memory_of_the_host_in_a_kernel(check, program, where, mark):
    finding = only(check(program))
    assert finding.title.startswith("host memory")
    assert where in finding.where
    assert finding.lines() == marked(mark)


@pytest.mark.parametrize(
    "program, where, act, call, mark",
    [
        ("hostReads", "counter", "reads", "cudaMemcpyFromSymbol()", "host-read"),
        ("hostWrites", "inner::depth", "writes", "cudaMemcpyToSymbol()", "host-write"),
        ("hostReadsElement", "weights, element 3 (of 4 bytes)", "reads", "From", "host-element"),
        ("hostReadsConstant", "coefficients, element 2 (of 4", "reads", "From", "host-constant"),
        ("hostPoints", "hidden", "reads", "cudaMemcpyFromSymbol()", "host-points"),
        ("allocatesIntoVariable", "x", "writes", "cudaMemcpyToSymbol()", "into-variable"),
    ],
)
def test_variable_of_the_device_on_the_host(check, program, where, act, call, mark):
    finding = only(check(program))
    assert finding.title == "variable of the device used by the host"
    assert finding.where.startswith("variable " + where)
    assert [what for _, _, what, _ in finding.acts] == [act]
    assert finding.lines() == marked(mark)
    assert call in finding.fix


@pytest.mark.parametrize(
    "program, times, mark",
    [
        ("allocatesRowsOnDevice", 4, "rows-alloc"),
        ("managedRowsOnDevice", 1, "managed-rows"),
    ],
)
def test_call_that_stores_its_result_on_the_device(check, program, times, mark):
    finding = only(check(program))
    assert finding.title == "device memory used by the host"
    assert finding.where.startswith("allocation 2 (32 bytes)")
    assert finding.lines() == marked(mark)
    assert finding.times == times


@pytest.mark.parametrize(
    "program, kernel, what, mark",
    [
        ("childOfLocal", "givesLocal", "argument 1 of child is .* local memory", "local-launch"),
        ("childOfLocalInStruct", "givesLocalInStruct", "argument 1 .* local", "struct-launch"),
        ("childOfShared", "givesShared", "argument 1 .* shared memory", "shared-launch"),
    ],
)
def test_memory_that_a_child_cannot_reach(check, program, kernel, what, mark):
    finding, *_ = check(program).findings  # the child may meet other memory there
    assert re.search(what, finding.title)
    assert finding.kernel == kernel
    assert finding.lines() == marked(mark)


@pytest.mark.parametrize(
    "program",
    re.findall(r'^    \{"(\w+)"', SPACES.read_text().split("// right\n")[1], re.MULTILINE),
)
def test_silent(check, program):
    report = check(program)
    assert report.hazards == 0
    assert f"{program}: cudaSuccess" in report.output
