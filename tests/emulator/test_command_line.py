"""Tests of how the compiler driver reads nvcc's command line."""

import re
import shlex
from pathlib import Path

import pytest
from command_line import LANGUAGES, WERROR, UsageError, parse
from nvcc_options import OPTIONS, find, names

# The options of CUDA 13.0 as `nvcc --help` has them: short, long, value. (Of -MF and -qpp-config it does
# not say that they take one, but nvcc asks for it.)
NVCC = [
    (short, *(long + "=").split("=")[:2])
    for short, long in (
        word.split("|", 1)
        for word in Path(__file__).with_name("nvcc_options.txt").read_text().split()
    )
]
SOURCES = ["b.cpp", "d.o"]
VALUES = {
    "arch": "sm_90", "code": "sm_90", "level": "3", "language": "cu", "std": "c++20",
    "stream": "legacy", "bool": "true", "number": "1", "cudart": "none", "cudadevrt": "none",
    "64": "64", "on": "on", "fast": "max", "compress": "size",
}  # fmt: skip


def value_of(option):
    return VALUES.get(option.kind, "x")


def described(option, as_argument):
    """What the command line with the option means, or why there is none."""
    try:
        return parse([*as_argument, *SOURCES, "-MMD"])
    except UsageError as error:
        return str(error).replace(as_argument[0], "OPTION")


@pytest.mark.parametrize("short, long, value", [row for row in NVCC if row[0] != "-Werror"])
def test_each_option_of_nvcc(short, long, value, tmp_path, monkeypatch):
    """It takes a value if nvcc's does, behind it or behind `=`, and means the same by both names."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").write_text("-O1")  # an options file
    option, joined = find(short)
    assert joined is None and option is find(long)[0]
    assert option.takes_value == bool(value)
    if not value:
        assert described(option, [short]) == described(option, [long])
        if not option.refused:
            with pytest.raises(UsageError, match="takes no value"):
                parse([f"{short}=1", *SOURCES])
        return
    right = value_of(option)
    if option.refused:
        for way in ([short, right], [f"{short}={right}"], [long, right], [f"{long}={right}"]):
            with pytest.raises(UsageError, match=way[0].replace("+", r"\+")):
                parse([*way, *SOURCES])
        return
    meaning = described(option, [short, right])
    for way in ([f"{short}={right}"], [long, right], [f"{long}={right}"]):
        assert described(option, way) == meaning
    assert [path for path, _ in meaning.sources] == SOURCES
    with pytest.raises(UsageError, match=f"^{long} needs a value$"):
        parse([*SOURCES, long])


def test_the_table_has_no_other_options():
    of_nvcc = {name.lstrip("-") for short, long, _ in NVCC for name in (short, long)}
    assert set(OPTIONS) - of_nvcc == {"Xcudafe"}  # of older versions
    assert of_nvcc - set(OPTIONS) == {"Werror"}  # the host compiler's, too


def test_options_for_a_gpu_are_passed_over():
    plain = parse(SOURCES)
    ignored = [option for option in OPTIONS.values() if option.ignored]
    assert len({option.name for option in ignored}) == len(names(ignored=True)) > 60
    for option in ignored:
        arguments = [f"-{option.name}", *([value_of(option)] if option.takes_value else [])]
        assert parse([*arguments, *SOURCES]) == plain, option


@pytest.mark.parametrize(
    "arguments",
    [
        "-rdc=maybe", "--maxrregcount many", "-m32", "-O9", "-arch=sm90", "-code sm_90,foo",
        "--default-stream thread", "-S", "--", "-sanitize=memcheck", "-I=",
    ],
)  # fmt: skip
def test_usage_errors(arguments):
    with pytest.raises(UsageError) as error:
        parse(arguments.split())
    assert re.match(rf"{re.escape(arguments)}(:| needs a value)", str(error.value))


@pytest.mark.parametrize(
    "argument, named",
    [
        ("-ofoo", "-o foo"),
        ("@x", "--options-file x"),
        ("'-DX=\"a'", 'X="a'),
        ("-Xcompiler '-DX=\"a'", '-DX="a'),
        ('-Xcompiler "-DX=\'a"', "-DX='a"),
        ("-Xcompiler 'a\\'", "a\\"),
    ],
)
def test_usage_errors_that_name_a_part(argument, named):
    with pytest.raises(UsageError) as error:
        parse(shlex.split(argument))
    assert re.search(rf" {re.escape(named)}([?,]|$)", str(error.value))


def test_a_file_that_looks_like_an_option(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert parse(["-a.cu"]).flags == ["-a.cu"]  # the compiler will refuse it
    (tmp_path / "-a.cu").touch()
    with pytest.raises(UsageError, match=r"^-a.cu: a file .* begins with a dash .* \./-a.cu$"):
        parse(["-a.cu"])
    assert parse(["./-a.cu"]).sources == [("./-a.cu", "cu")]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("-c -DA=1\n-o  x.o\r\n", "-c -DA=1 -o x.o"),
        ("-DA='b c' \"-DB=d e\" -DC=f\\ g", "'-DA=b c' '-DB=d e' '-DC=f g'"),
        ("", ""),
        ("-optf more", "-O1"),
    ],
)
def test_options_files(tmp_path, monkeypatch, text, expected):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "options").write_text(text)
    (tmp_path / "more").write_text("-O1")
    meaning = parse([*shlex.split(expected), *SOURCES])
    for way in (["-optf", "options"], ["--options-file=options"]):
        assert parse([*way, *SOURCES]) == meaning
    assert parse(["-optf", "more,more", *SOURCES]) == parse(["-O1", *SOURCES])


@pytest.mark.parametrize(
    "text, message",
    [
        (None, "No such file or directory"),
        ("-optf options", "it includes itself"),
        ('-c\n-DA="b\n-O1\n', "ends with a quotation that is not closed: -O1"),
    ],
)
def test_options_files_that_cannot_be_read(tmp_path, monkeypatch, text, message):
    monkeypatch.chdir(tmp_path)
    if text:
        (tmp_path / "options").write_text(text)
    with pytest.raises(UsageError) as error:
        parse(["-optf", "options"])
    assert str(error.value).startswith("--options-file options") and message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "value, expected",
    [
        ("-Wall,-O3", ["-Wall", "-O3"]),
        ("-Wall -O3", ["-Wall", "-O3"]),
        (r"-DX=a\,b", ["-DX=a,b"]),
        ("'-DX=a,b c'", ["-DX=a,b c"]),
        (r"-DX=\"a\"", ['-DX="a"']),
        (",-a,,-b,", ["-a", "-b"]),
    ],
)
def test_words_of_the_host_compiler(value, expected):
    assert parse(["-Xcompiler", value]).flags == expected
    assert parse([f"--compiler-options={value}", "-Xcompiler", "-c"]).flags == [*expected, "-c"]


def test_commas():
    assert parse(["-DN=1,M=2"]).flags == ["-DN=1", "-DM=2"]
    assert parse([r"-DN=1\,2"]).flags == ["-DN=1,2"]
    assert parse(['-DN="x,y"', "-UA,B"]).flags == ['-DN="x,y"', "-UA", "-UB"]
    assert parse(["-I/o'brien,a"]).include_dirs == ["/o'brien", "a"]
    assert parse(["-isystem", "a,b"]).system_dirs == ["a", "b"]
    assert parse(["-include=a.h,b.h"]).flags == ["-include", "a.h", "-include", "b.h"]
    assert parse(["a,b.cu"]).sources == [("a,b.cu", "cu")]


def test_values_of_the_host_compilers_options_are_no_sources():
    words = "-iquote a --param b=1 -T script -isysroot r -idirafter d -Xclang x -u sym".split()
    assert parse([*words, *SOURCES]).flags == words


def test_optimised_device_code():
    assert parse(["-G"]).optimize == "-O0"
    assert parse(["-G", "-dopt", "on"]).optimize is None
    assert parse(["-G", "--dopt=on", "-O1"]).optimize == "-O1"


def test_the_last_of_several_counts():
    job = parse("-o a -o b -MMD -MT c -MT d -O1 -O2 -std=c++17 -std c++20".split())
    assert (job.output, job.rules_target, job.optimize, job.std) == ("b", "d", "-O2", "c++20")


def test_errors_of_the_compiler_are_its_own():
    for option in ("-Werror", "-Werror=unused"):
        job = parse([option, "a.cu"])
        assert (job.flags, job.sources) == ([option], [("a.cu", "cu")])
    assert parse(["a.cu", "-Werror"]).flags == ["-Werror"]


def test_errors_of_nvcc():
    (kinds,) = [value for short, _, value in NVCC if short == "-Werror"]
    assert kinds == "<kind>,..."
    for kind, flag in WERROR.items():
        for way in (["-Werror", kind], [f"-Werror={kind}"], [f"--Werror={kind}"]):
            assert parse([*way, "a.cu"]) == parse([*([flag] if flag else []), "a.cu"])
    flags = parse(["-Werror", "reorder,all-warnings,default-stream-launch", "a.cu"]).flags
    assert flags == ["-Werror=reorder", "-Werror"]


def test_sources_by_name():
    assert set(LANGUAGES.values()) == {"cu", "c", "c++", "link"}
    with pytest.raises(UsageError, match="'a.txt' is no source, object or library by its name"):
        parse(["a.txt"])
    assert parse(["-x", "cu", "a.txt"]).sources == [("a.txt", "cu")]


# As `nvcc --help` has them.
@pytest.mark.parametrize(
    "long, short",
    [
        ("--device-w", "-c"),
        ("-dc", "-c"),
        ("-lm,z", "-lm -lz"),
        ("-lcudart,cudart_static -lcudadevrt -l cuda -lnvToolsExt -lm", "-lm"),
        ("--compiler-options -fPIC,-pipe", "-fPIC -pipe"),
        ("-Xlinker a,b", "-Xlinker a -Xlinker b"),
        ("--device-debug", "-O0"),
        ("-std=gnu++11", "-std=gnu++17"),
        ("-std=c++98 -std=c++03", "-std=c++17"),
        ("-std=c++0x -std=c++1y", "-std=c++17"),
        ("--default-stream per-thread", "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1"),
        ("-default-stream=per-thread", "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1"),
        ("--optimize 3", "-O=3"),
        ("-m 64 --machine=64 --m64", "-m64"),
        ("-I=a -L=a -D=N -U=M", "-Ia -La -DN -UM"),
    ],
)
def test_long_names_and_short_ones(long, short):
    assert parse([*shlex.split(long), *SOURCES]) == parse([*shlex.split(short), *SOURCES])
    name, space, value = long.partition(" ")
    if space and long.startswith("--"):
        assert parse([f"{name}={value}", *SOURCES]) == parse([*shlex.split(short), *SOURCES])
