"""Tests of what the translator says of headers and names that the cpu back end does not have."""

import pytest


@pytest.mark.parametrize(
    "header, what",
    [
        ("thrust/device_vector.h", "Thrust"),
        ("cub/cub.cuh", "CUB"),
        ("cuda/stream_ref", "such part of libcu++"),
        ("cuda_fp16.h", "arithmetic of 16 bits and less"),
        ("cuda_awbarrier.h", "nvcuda::experimental::awbarrier"),
    ],
)
def test_headers(translated_or_error, header, what):
    for spelling in (f"<{header}>", f'"{header}"'):
        out = translated_or_error(f"#if A\n#include {spelling} // x\n#endif\n")
        assert out.startswith(f'#if A\n#include "{header}: the cpu back end has no {what}; ')
        assert out.endswith('" // x\n#endif\n')


def test_what_there_is_of_libcuxx(translated_or_error):
    source = "#include <cuda/atomic>\n#include <cuda/ptx>\n#include <cuda/std/array>\n"
    assert translated_or_error(source) == source


def test_headers_of_the_users_own(translated_or_error, tmp_path):
    (tmp_path / "own" / "cub").mkdir(parents=True)
    (tmp_path / "own" / "cub" / "cub.cuh").write_text("int x;\n")
    source = "#include <cub/cub.cuh>\n"
    assert translated_or_error(source, "-I", str(tmp_path / "own")) == source
    (tmp_path / "h.h").write_text("#include <cub/cub.cuh>\n")
    assert ".headers/" in translated_or_error('#include "h.h"\n')
    (made,) = (tmp_path / "out.cpp.headers").iterdir()
    assert "no CUB" in made.read_text()


KERNEL = "__global__ void k() {\n%s\n}\n"


@pytest.mark.parametrize(
    "source, line, message",
    [
        (KERNEL % "x = __shfl_down(x, 1);", 2, "'__shfl_down' is gone since Volta: use __shfl_down_sync()"),
        (KERNEL % "x = texCubemap<float>(t, 1, 2, 3);", 2, "'texCubemap': the cpu back end has no mipmaps"),
        (KERNEL % "x = tex2DLod<float>(t, 1, 2, 0);", 2, "'tex2DLod': the cpu back end has no mipmaps"),
        ("void f() { cudaMallocMipmappedArray(&a, &c, e, 3); }\n", 1, "'cudaMallocMipmappedArray': the cpu"),
        ("texture<float, 2> image;\n", 1, "'texture': texture and surface references are gone since CUDA 12"),
        ("void f() { cudaBindTextureToArray(t, a); }\n", 1, "'cudaBindTextureToArray': texture and"),
    ],
)  # fmt: skip
def test_names(translated_or_error, source, line, message):
    assert translated_or_error(source).startswith(f"in.cu:{line}: error: {message}")


@pytest.mark.parametrize(
    "source",
    [
        "#if A\n" + KERNEL % "x = __shfl(x, 1);" + "#endif\n",
        "#define __any(x) __any_sync(~0u, x)\n" + KERNEL % "__any(x);",
        "__device__ int __shfl(int x, int lane) { return x; }\n" + KERNEL % "x = __shfl(x, 1);",
        "template <class T> struct texture {};\ntexture<int> t;\n",
        "int main() { int texture = 1; return texture < 2; }\n",
        KERNEL % "x = s.__any(1);",
        "void f() { texCubemap(1); }\n",
        "struct surface {};\nsurface s;\n",
        KERNEL % "x = tex2D<float>(t, 1, 2);",
        "void f(cudaTextureObject_t t);\n",
    ],
)
def test_names_of_the_users_own(translated_or_error, source):
    assert translated_or_error(source) == source
