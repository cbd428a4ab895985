"""Tests of Emulator.cmake, with a few lines in place of the emulator library."""

import os
import shutil
import subprocess
import time

import pytest
from translate import OWN_INCLUDE

EMULATOR_CMAKE = os.path.join(os.path.dirname(OWN_INCLUDE), "Emulator.cmake")

FILES = {
    "CMakeLists.txt": """
        cmake_minimum_required(VERSION 3.25)
        project(program LANGUAGES CXX)
        add_library(cuda_emulator INTERFACE)
        target_include_directories(cuda_emulator INTERFACE runtime)
        include(EMULATOR_CMAKE)
        emulator_add_executable(program main.cu sub/main.cu plain.cpp)
        target_include_directories(program PRIVATE $<1:${CMAKE_SOURCE_DIR}/headers> "more headers")
        target_compile_options(program PRIVATE -Wall -Wextra -Werror)
    """,
    "runtime/cuda_runtime.h": """
        #pragma once
        #include <cstdio>
        #define __global__
        namespace emu {
        template <class F> const void* emuId(F* f) { return reinterpret_cast<const void*>(f); }
        template <class Call> struct Kernel {
            Call call;
            Call emuConfig(int, int) { return call; }
        };
        template <class Call> Kernel<Call> emuKernel(const char*, const void*, Call call) {
            return {call};
        }
        }
    """,
    "main.cu": """
        #include "k.cuh"
        #include "near.h"
        void other();
        void plain();
        int main() {
        #pragma unroll
            for (int i = 0; i < 2; ++i) launch(i);
            other();
            plain();
        }
    """,
    "near.h": '#define NEAR "near.h"',
    "sub/main.cu": '#include "../near.h"\n#include <k.cuh>\nvoid other() { launch(7); }',
    "plain.cpp": "void plain() {}",
    "headers/unused.h": "",
    "more headers/k.cuh": """
        #pragma once
        static __global__ void k(int n) { std::printf("%d\\n", n); }
        inline void launch(int n) { k<<<1, 1>>>(n); }
    """,
}

GENERATORS = {"Ninja": "ninja", "Unix Makefiles": "make"}


def run(*command, cwd):
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True)


@pytest.fixture(params=GENERATORS, scope="module")
def project(request, tmp_path_factory):
    """A configured project, which each test changes further, and a function that builds it and returns the
    result."""
    tmp_path = tmp_path_factory.mktemp("project")
    if not all(map(shutil.which, ["cmake", "g++", GENERATORS[request.param]])):
        pytest.skip(f"needs cmake, g++ and {GENERATORS[request.param]}")
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text.replace("EMULATOR_CMAKE", EMULATOR_CMAKE))
    result = run("cmake", "-G", request.param, "-S", ".", "-B", "build", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    return tmp_path, lambda: run("cmake", "--build", "build", cwd=tmp_path)


def change(path, old, new):
    """Edits a file, and makes sure that its time stamp says so."""
    path.write_text(path.read_text().replace(old, new))
    later = time.time() + 2
    os.utime(path, (later, later))


def test_builds_what_changed(project):
    folder, build = project
    result = build()
    assert result.returncode == 0, result.stdout + result.stderr
    assert run("build/program", cwd=folder).stdout == "0\n1\n7\n"
    translations = [
        folder / "build/program.emu/main.cpp",
        folder / "build/program.emu/sub/main.cpp",
    ]
    before = [path.stat().st_mtime_ns for path in translations]

    result = build()
    assert "Translating" not in result.stdout
    assert [path.stat().st_mtime_ns for path in translations] == before

    change(folder / "more headers/k.cuh", '"%d', '"n=%d')
    assert build().returncode == 0
    assert run("build/program", cwd=folder).stdout == "n=0\nn=1\nn=7\n"


def test_messages_name_the_students_file(project):
    folder, build = project
    change(folder / "main.cu", "plain();\n        }", "oops();\n        }")
    result = build()
    assert result.returncode != 0
    line = (folder / "main.cu").read_text()[: (folder / "main.cu").read_text().index("oops")]
    assert f"{folder}/main.cu:{line.count(chr(10)) + 1}:13: error:" in result.stdout + result.stderr

    change(folder / "main.cu", "oops();", "k<<<1, 1>>>;")
    result = build()
    assert result.returncode != 0
    assert f"{folder}/main.cu:{line.count(chr(10)) + 1}: error: this launch never ends" in (
        result.stdout + result.stderr
    )
