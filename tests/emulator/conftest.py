"""What several tests of the cpu back end do: translate a file, compile and run instrumented programs."""

import os
from pathlib import Path

import cc
import pytest
import translate

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def build():
    """The folder of the build, which ctest names in CPU_BUILD; without ctest that of ./lab."""
    folder = Path(os.environ.get("CPU_BUILD", ROOT / "out" / "cpu"))
    if not (folder / "tests" / "hazards").exists():
        pytest.skip(f"{folder} has no instrumented programs: ./lab test builds them")
    return folder


@pytest.fixture
def instrumented(build, tmp_path):
    """instrumented(source, *options): compiles a .cu file for the profiler and the hazard check, and
    returns the program."""
    library = build / "emulator" / "libcuda_emulator.a"

    def compile_program(source, *options):
        program = tmp_path / Path(source).stem
        arguments = ["--instrument", "-w", str(source), *options, "-o", str(program)]
        assert cc.main([*arguments, "--library", str(library)]) == 0
        return program

    return compile_program


@pytest.fixture
def translated_or_error(tmp_path, capsys):
    """translated_or_error(source, *options): the text that a .cu file becomes, without its `#line`; or
    the error message, without the file's folder."""

    def translate_text(source, *options):
        (tmp_path / "in.cu").write_text(source)
        output = tmp_path / "out.cpp"
        if translate.main([str(tmp_path / "in.cu"), "-o", str(output), *options]) == 0:
            return output.read_text().split("\n", 1)[1]
        output.unlink(missing_ok=True)
        return capsys.readouterr().err.replace(f"{tmp_path}/", "")

    return translate_text


@pytest.fixture
def translated(translated_or_error, tmp_path):
    """The same where there must be no error."""

    def translate_text(source, *options):
        text = translated_or_error(source, *options)
        assert (tmp_path / "out.cpp").exists(), text
        return text

    return translate_text
