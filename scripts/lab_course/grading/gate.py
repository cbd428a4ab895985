"""What of a student's function is taken, and what it may use.

On the cpu back end a kernel is compiled as a function of the host: one that calls exit(), fork() or
open() would be compiled, though no GPU's compiler takes it. So of the kernel, its tokens are taken,
without comments and directives, and each name that device code cannot have gets a prefix. A name that
the kernel itself declares has it everywhere, and means the same as before; any other is declared
nowhere then, and the compiler says so. What is known is listed here, or stands in device code of the
exercise as it was shipped. What is not known is refused, not the other way round.

A function of the host may use what a kernel may, the calls of CUDA that are about streams, and what its
shipped version uses: no others, and so no process, no file and no memory but by CUDA's copies and fills.

Who looks for functions of the host in memory, by their addresses, is not kept from it here: the
sandbox keeps that from harming anybody.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable

from lab_cli.errors import LabError

from .kernel_source import Function, KernelSource

from translator.lexer import TOKEN  # isort: skip  # kernel_source.py says where it is

PREFIX = "yours_"
MOST_BYTES = 1 << 20  # of a source file
PRAGMA = re.compile(
    r"#[ \t]*pragma[ \t]+unroll(?:[ \t]*\(?[ \t]*(\w+)[ \t]*\)?)?[ \t]*(?://[^\n]*)?"
)

KEYWORDS = set(
    "alignas alignof and auto bitand bitor bool break case char char16_t char32_t class compl const "
    "const_cast constexpr continue decltype default delete do double else enum explicit extern false "
    "final float for if inline int long mutable new noexcept not nullptr operator or override private "
    "public reinterpret_cast return short signed sizeof static static_assert static_cast struct switch "
    "template this true typedef typename union unsigned using void volatile wchar_t while xor".split()
)
# Of the device code of CUDA's C++, what the cpu back end has.
WORDS = set(
    "threadIdx blockIdx blockDim gridDim warpSize dim3 NULL size_t ptrdiff_t std cooperative_groups cg "
    "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t "
    "x y z w INT_MAX INT_MIN UINT_MAX LLONG_MAX LLONG_MIN FLT_MAX FLT_MIN FLT_EPSILON DBL_MAX DBL_MIN "
    "DBL_EPSILON INFINITY NAN CUDART_INF_F CUDART_NAN_F CUDART_PI_F "
    "__shared__ __restrict__ __restrict __align__ __forceinline__ __device__ "
    "min max abs fabs fabsf fma fmaf sqrt sqrtf rsqrt rsqrtf cbrt cbrtf exp expf exp2 exp2f exp10 exp10f "
    "expm1 expm1f log logf log2 log2f log10 log10f log1p log1pf pow powf sin sinf cos cosf tan tanf sincos "
    "sincosf sinpi sinpif cospi cospif asin asinf acos acosf atan atanf atan2 atan2f sinh sinhf cosh coshf "
    "tanh tanhf erf erff erfc erfcf floor floorf ceil ceilf trunc truncf round roundf rint rintf nearbyint "
    "fmin fminf fmax fmaxf fmod fmodf hypot hypotf copysign copysignf ldexp ldexpf isnan isinf isfinite "
    "signbit umin umax llmin llmax ullmin ullmax clock clock64 memcpy memset "
    "thread_rank num_threads size meta_group_rank meta_group_size any all ballot match_any match_all shfl "
    "shfl_up shfl_down shfl_xor this_thread_block this_grid tiled_partition thread_block "
    "thread_block_tile coalesced_threads coalesced_group grid_group thread_group thread_index group_index "
    "group_dim dim_threads block_rank num_blocks dim_blocks plus less greater reduce inclusive_scan "
    "exclusive_scan bit_and bit_or bit_xor memcpy_async".split()
)
PATTERNS = re.compile(
    r"(u?(char|short|int)|u?long(long)?|float|double)[1234]|make_(u?(char|short|int|longlong)|float|double)[1234]"
    r"|atomic(Add|Sub|Exch|Min|Max|Inc|Dec|CAS|And|Or|Xor)(_block|_system)?"
    r"|__(shfl(_up|_down|_xor)?|any|all|ballot|match_any|match_all|reduce_(add|min|max|and|or|xor))_sync"
    r"|__syncthreads(_count|_and|_or)?|__syncwarp|__activemask|__threadfence(_block|_system)?|__nanosleep|__trap"
    r"|__(popc|clz|ffs|brev)(ll)?|__byte_perm|__funnelshift_[lr]c?|__u?(mul24|mulhi|mul64hi|sad|hadd|rhadd)"
    r"|__dp4a|__ld(g|ca|cg|cs|lu|cv)|__st(wb|cg|cs|wt)|__builtin_assume"
    r"|__(fmaf?|[fd](add|sub|mul|div|sqrt|rcp)|frsqrt)_r[nzud]|__(exp|exp10|log|log2|log10|sin|cos|tan|tanh|pow)f"
    r"|__sincosf|__fdividef|__saturatef|__(int|uint|float|double|ll|ull)2(int|uint|float|double|ll|ull)(_r[nzud])?"
    r"|__(int|uint|float)_as_(int|uint|float)|__double_as_longlong|__longlong_as_double"
    r"|__pipeline_(memcpy_async|commit|wait_prior)"
)
# What a function of the host may use beside that.
OF_HOST = set(
    "CUDA_CHECK CUDA_CHECK_LAUNCH vector array push_back back cudaError_t cudaSuccess "
    "cudaStream_t cudaStreamCreate cudaStreamCreateWithFlags cudaStreamCreateWithPriority "
    "cudaStreamDestroy cudaStreamDefault cudaStreamNonBlocking cudaStreamLegacy cudaStreamPerThread "
    "cudaStreamWaitEvent cudaStreamSynchronize cudaStreamQuery "
    "cudaEvent_t cudaEventCreate cudaEventCreateWithFlags cudaEventDestroy cudaEventDefault "
    "cudaEventDisableTiming cudaEventRecord cudaEventSynchronize cudaEventQuery "
    "cudaLaunchKernel cudaLaunchKernelEx cudaLaunchConfig_t cudaGetLastError cudaDeviceSynchronize "
    "cudaMemcpyAsync cudaMemcpyHostToDevice cudaMemcpyDeviceToHost cudaMemcpyDeviceToDevice "
    "cudaMemcpyDefault cudaMemsetAsync".split()
)
DIGRAPHS = {"<:", ":>", "<%", "%>", "%:"}
PAIRS = {")": "(", "]": "[", "}": "{"}
# Said of words that a student may well write.
WHY_NOT = {
    "goto": "goto is not taken",
    "asm": "inline PTX is not taken: the cpu back end has none",
    "printf": "printf: a kernel that is graded prints nothing",
    "assert": "assert: a kernel that is graded needs none",
}
# Of groups; the C library has functions of these names.
OF_GROUPS = {"sync", "wait"}
GROUPS = ("cg", "cooperative_groups")


# At the beginning of a line: a constant, a variable of device code, a type.
DECLARED = re.compile(
    r"^(?:template *<[^>]*>\s*)?(?:inline |static )*(?:constexpr|__device__|__constant__|struct|using)\b"
    r"[^;={}(]*?(\w+)(?:\[[^\]]*\])*\s*[;={]",
    re.MULTILINE,
)


def names_of_device_code(sources: Iterable[KernelSource]) -> set[str]:
    """Those that device code of the exercise has, and of its constants and types; but for what the C
    library declares as well: of a name like read, one cannot see which is meant."""
    names: set[str] = set()
    for source in sources:
        names.update(DECLARED.findall(source.text))
        names.update(*(function.names for function in source.functions))
    return _taken_of(names)


def names_of_host_code(shipped: Function) -> set[str]:
    """What a student's version of this function of the host may use, beside the names of device code. Of its
    members, those that the C library declares as well have a dot before the name."""
    return OF_HOST | _taken_of(shipped.names) | {f".{name}" for name in shipped.members}


def _taken_of(names: Iterable[str]) -> set[str]:
    library = ctypes.CDLL(None)
    return {name for name in names if not hasattr(library, name)} - set(WHY_NOT)


def taken(body: str, known: set[str], line: int = 1, where: str = "") -> str:
    """The body of a kernel as it is compiled: of as many lines, without comments, and names that are not
    `known` with a prefix. LabError says what is not taken, `where`, and in which line, of which the first
    has the number `line`."""
    try:
        return _taken(body, known, line)
    except LabError as error:
        raise LabError(f"{where}, {error}" if where else str(error)) from None


def _taken(body: str, known: set[str], line: int) -> str:
    text = ""
    open_brackets: list[str] = []
    line_start = True
    place = 0
    before: list[str] = ["", ""]  # the last two tokens
    while place < len(body):
        match = TOKEN.match(body, place)
        assert match is not None and match.lastgroup is not None
        kind, token = match.lastgroup, match.group()
        if line_start and token == "#":
            directive = body[place:].split("\n", 1)[0]
            text += _pragma(directive, known, line)
            place += len(directive)
            continue
        place = match.end()
        if kind in ("space", "newline", "comment"):
            text += "\n" * token.count("\n") or " "
            line_start = line_start or "\n" in token
        else:
            _refuse(kind, token, line)
            _refuse_digraph(text, token, line)
            _follow(open_brackets, token, line)
            new = token
            if kind == "name" and not _is_known(token, before, known):
                new = PREFIX + token
            text += new
            line_start = False
            before = [before[1], token]
        line += token.count("\n")
    if open_brackets:
        raise LabError(f"line {line}: {open_brackets[-1]} has no end")
    return text


def _pragma(directive: str, known: set[str], line: int) -> str:
    match = PRAGMA.fullmatch(directive.rstrip())
    if not match:
        raise LabError(
            f"line {line}: {directive.split()[0]}: of directives, only #pragma unroll is taken"
        )
    times = match[1] or ""
    if times and not times.isdigit() and times not in known:
        times = PREFIX + times
    return f"#pragma unroll {times}".rstrip()


def _refuse(kind: str, token: str, line: int) -> None:
    """LabError for a token that is never taken."""
    problem = WHY_NOT.get(token, "")
    if kind == "string":
        problem = "a text in quotes is not taken: a kernel that is graded prints nothing"
    elif kind.startswith("open") or kind == "char" and "\n" in token:
        problem = f"{token.strip()} has no end"
    elif kind == "punct" and token in ("#", "\\", "##", "$", "@", "`"):
        problem = f"{token} is not taken"
    elif not token.isascii() and kind != "char":
        problem = f"{ascii(token)[1:-1]} is not taken: letters beyond ASCII"
    if problem:
        raise LabError(f"line {line}: {problem}")


def _refuse_digraph(text: str, token: str, line: int) -> None:
    """Of two characters that stand for { and the like, or for the # of a directive."""
    pair = text[-1:] + token
    if pair[:2] in DIGRAPHS:
        raise LabError(f"line {line}: {pair[:2]} is not taken: put a space between")


def _follow(open_brackets: list[str], token: str, line: int) -> None:
    """LabError where a bracket would end what it did not begin, such as the kernel."""
    if token in ("(", "[", "{"):
        open_brackets.append(token)
    elif token in PAIRS:
        if not open_brackets or open_brackets.pop() != PAIRS[token]:
            raise LabError(f"line {line}: {token} has no {PAIRS[token]} before it")


def _is_known(name: str, before: list[str], known: set[str]) -> bool:
    if name in OF_GROUPS:
        return before[1] in (".", "->") or (before[1] == "::" and before[0] in GROUPS)
    if before[1] in (".", "->") and f".{name}" in known:
        return True
    return name in KEYWORDS or name in WORDS or name in known or bool(PATTERNS.fullmatch(name))


def as_written(message: str) -> str:
    """What a compiler says, the names as the student has them."""
    return message.replace(PREFIX, "")
