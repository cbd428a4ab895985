"""What of CUDA the cpu back end does not have, and what to do instead."""

import os
import re
from typing import Optional

from .lexer import Stream
from .scopes import kind
from .unit import ANY_INCLUDE, Source, Unit

OWN_HEADERS = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "include")
WITHOUT = "compile without it, or with nvcc"
# (start of a header's name, what it belongs to, what to do)
HEADERS = [
    (re.compile(start), what, remedy)
    for start, what, remedy in (
        ("thrust/", "Thrust", "write a kernel, or use <algorithm> on the host"),
        ("cub/", "CUB", "write a kernel; <cooperative_groups/reduce.h> is there"),
        ("cuda/|nv/", "such part of libcu++", "emulator/README.md says what there is"),
        (r"cuda_(fp|bf)\d+\.h", "arithmetic of 16 bits and less", "compute in float"),
        (r"mma\.h", "tensor cores", "multiply in float without them"),
        (r"cuda_awbarrier\.h", "nvcuda::experimental::awbarrier", "use cuda::barrier"),
        (r"cuda_\w+_interop|cuda(GL|EGL|VDPAU)", "graphics", WITHOUT),
        ("cublas", "cuBLAS", WITHOUT),
        ("cudnn", "cuDNN", WITHOUT),
        ("cufft", "cuFFT", WITHOUT),
        ("cupti", "CUPTI", WITHOUT),
        ("curand", "cuRAND", "make random numbers with <random> on the host"),
        ("cusolver", "cuSOLVER", WITHOUT),
        ("cusparse", "cuSPARSE", WITHOUT),
        ("nccl", "NCCL", WITHOUT),
        ("npp", "NPP", WITHOUT),
        ("nvml", "NVML", WITHOUT),
        (r"nvrtc\.h|nvJitLink|nvvm", "compiler at run time", WITHOUT),
    )
]
NO_SYNC = set("__shfl __shfl_up __shfl_down __shfl_xor __any __all __ballot".split())
# Gone since CUDA 12.
REFERENCE_TYPES = {"texture", "surface"}
REFERENCE_CALLS = set(
    "cudaBindTexture cudaBindTexture2D cudaBindTextureToArray cudaUnbindTexture "
    "cudaBindSurfaceToArray cudaGetTextureReference cudaGetSurfaceReference".split()
)
NO_REFERENCES = (
    "texture and surface references are gone since CUDA 12: make an object with "
    "cudaCreateTextureObject() or cudaCreateSurfaceObject(), and pass it to the kernel"
)
LEVELS = set(
    "tex1DLod tex2DLod tex3DLod tex1DLayeredLod tex2DLayeredLod texCubemapLod tex1DGrad tex2DGrad "
    "tex3DGrad tex1DLayeredGrad tex2DLayeredGrad texCubemapGrad".split()
)
CUBES = set(
    "texCubemap texCubemapLayered surfCubemapread surfCubemapwrite "
    "surfCubemapLayeredread surfCubemapLayeredwrite".split()
)
MIPMAP_CALLS = set(
    "cudaMallocMipmappedArray cudaFreeMipmappedArray cudaGetMipmappedArrayLevel".split()
)
REFERENCES = REFERENCE_TYPES | REFERENCE_CALLS
IMAGES = LEVELS | CUBES | MIPMAP_CALLS
NAMES = NO_SYNC | REFERENCES | IMAGES


def missing_includes(source: Source) -> list[tuple[int, int, str]]:
    """Edits (start, end, new text) that make a sentence of the name of a header that is not there,
    for the compiler to show, if it comes there. The real one would not fit the headers here."""
    names = [quoted or angled for quoted, angled in ANY_INCLUDE.findall(source.text)]
    if not any(start.match(name) for name in names for start, _, _ in HEADERS):
        return []  # not worth lexing
    result = []
    for include in source.includes:
        if (include.name, include.quoted) in source.included:
            continue  # the user's own
        if os.path.exists(os.path.join(OWN_HEADERS, include.name)):
            continue  # of libcu++, what is here
        for start, what, remedy in HEADERS:
            if start.match(include.name):
                sentence = f"{include.name}: the cpu back end has no {what}; {remedy}"
                result.append((include.start, include.end, f'"{sentence}"'))
                break
    return result


def missing_name(unit: Unit, stream: Stream, index: int) -> Optional[str]:
    """A message for the user if token `index` names a function or type that is not there. None if
    the program has its own, or may leave the place out by an #if."""
    name, behind = stream.text(index), stream.text(index + 1)
    depth = 0
    for token, what in stream.conditionals:
        if token <= index:
            depth += (what == "if") - (what == "endif")
    if depth > 0 or name in unit.macros or unit.declares(name):
        return None
    if stream.text(index - 1) in (".", "->", "::"):
        return None
    where = kind(unit.scopes(stream)[index])
    if name in NO_SYNC and behind == "(" and where in ("device", "both"):
        return f"'{name}' is gone since Volta: use {name}_sync(), whose first argument is a mask of lanes"
    if name in REFERENCE_TYPES and behind == "<" and where == "open":
        return f"'{name}': {NO_REFERENCES}"
    if name in REFERENCE_CALLS and behind in ("(", "<"):
        return f"'{name}': {NO_REFERENCES}"
    if name in MIPMAP_CALLS or (name in LEVELS | CUBES and where in ("device", "both")):
        return f"'{name}': the cpu back end has no mipmaps and cubemaps; use an array for each"
    return None
