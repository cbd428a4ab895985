"""Rewrites declarations with __shared__ that C++ would not understand, and tells the engine where
threads reach one."""

from typing import Callable, NamedTuple, NoReturn, Optional

from .lexer import Edit, Stream
from .unit import ALIGNMENTS, BUILTIN_TYPES
from .volatile import find_use

TOO_MUCH = (
    "this function uses too much shared data: a block has 48 KiB (0xc000 bytes) for __shared__ "
    "variables; more is there as dynamic shared memory, after cudaFuncSetAttribute()"
)
NO_INITIALISER = (
    "the __shared__ variable '{name}' has an initialiser, which CUDA does not allow: let one "
    "thread of the block store the value, then call __syncthreads()"
)
# Names the error of two `extern __shared__` arrays, which the compiler finds.
TWO_TYPES = "is_extern_shared_with_two_types"
SHARED_SPECIFIERS = ("extern", "static", "__shared__", "__device__")
KEYS = {"struct", "class", "union", "enum"}
# Brackets behind these, or behind a name behind those, are no initialiser.
NO_VARIABLE = ALIGNMENTS | BUILTIN_TYPES | KEYS | {"decltype"}
NO_TYPE = KEYS | {*SHARED_SPECIFIERS, "const", "volatile", "typename"}


class Declarator(NamedTuple):
    """`base pointer name[]rest`, an array without size"""

    base: str
    pointer: str
    name: str
    rest: str


def shared_edits(
    stream: Stream, index: int, in_function: bool, fail: Callable[[int, str], NoReturn]
) -> list[Edit]:
    """What to change of the declaration around `__shared__` at token `index`, if it is extern, of
    arrays, or has an alignas that C++ wants elsewhere. `fail` is called with a token and a message
    for the user where the declaration cannot be understood."""
    start, end = declaration(stream, index)
    words = [stream.text(i) for i in range(start, end)]
    if "extern" not in words:
        return [*_alignas_first(stream, start, end), *_array_alignment(stream, index)]
    if end == len(stream.tokens) and not stream.macro:
        fail(index, "this declaration never ends: expected ';'")
    parts = [_declarator(stream, part) for part in stream.split(start, end)]
    declarators = [part for part in parts if part is not None]
    if not declarators:  # like nvcc, take it for a definition
        extern = start + words.index("extern")
        return [Edit(extern, extern + 1, "")]
    if len(declarators) < len(parts):
        fail(index, "declare shared arrays with and without a size separately")
    return [Edit(start, end, _dynamic_shared(declarators, in_function))]


def shared_variables(stream: Stream, index: int, device_words: set[str]) -> tuple[int, list[str]]:
    """The `;` of the declaration around `__shared__` at token `index`, and the names of what it
    declares with a size. None where the declaration is not understood."""
    start, end = declaration(stream, index)
    if stream.text(end) != ";":  # a macro without its end
        return end, []
    names = [declared_name(stream, part) for part in stream.split(start, end)]
    volatile = [i for i in range(start, end) if stream.text(i) == "volatile"]
    if volatile and find_use(stream, volatile[0], True, device_words):  # a class has the name
        names = [f"emu_{name}" if name else "" for name in names]
    return end, [name for name in names if name]


def dynamic_arrays(stream: Stream, index: int) -> list[str]:
    """The names that the declaration around `__shared__` at token `index` gives to dynamic shared
    memory."""
    start, end = declaration(stream, index)
    if "extern" not in (stream.text(i) for i in range(start, end)):
        return []
    parts = [_declarator(stream, part) for part in stream.split(start, end)]
    return [part.name for part in parts if part is not None]


def initialiser_error(stream: Stream, index: int, macros: set[str]) -> Optional[tuple[int, str]]:
    """A message for the user, and the token to put it before, if a variable in the declaration
    around `__shared__` at token `index` has an initialiser. Brackets behind one of `macros` belong
    to that."""
    start, end = declaration(stream, index)
    for part in stream.split(start, end):
        name = _initialised(stream, part)
        if name is not None and stream.text(name) not in macros:
            return start, NO_INITIALISER.format(name=stream.text(name))
    return None


def _initialised(stream: Stream, part: list[int]) -> Optional[int]:
    """The x of `T x = 1`, `T x[2]{}`, `T x(1)`; None without initialiser."""
    last = part[0]
    while last <= part[-1] and stream.text(last) != "=":
        last = max(last, stream.pair(last) or last) + 1
    opener = stream.pair(last - 1) if stream.text(last - 1) in (")", "}") else None
    if last > part[-1] and opener is None:
        return None
    name = (last if opener is None or last <= part[-1] else opener) - 1
    while stream.text(name) == "]":
        name = (stream.pair(name) or name) - 1
    before = stream.text(name - 1)
    typed = stream.kind(name - 1) == "name" or before in ("*", "&", ">", ",", "}")
    if stream.kind(name) != "name" or not typed or stream.text(name) in NO_VARIABLE:
        return None
    return None if before in NO_TYPE and last > part[-1] else name


def behind_shared(names: list[str], before: list[str]) -> str:
    """What to put behind a declaration of `names` in a function that has declared `before`."""
    calls = [
        f" ::emu::sharedReached((void*)__builtin_addressof({name}), sizeof({name}));"
        for name in names
    ]
    size = " + ".join(f"sizeof({name})" for name in dict.fromkeys(before + names))
    return f'{"".join(calls)} static_assert({size} <= ::emu::kSharedPerBlock, "{TOO_MUCH}");'


def declaration(stream: Stream, index: int) -> tuple[int, int]:
    """Where the declaration around `__shared__` at token `index` begins, and its `;`."""
    start = index
    while True:
        before = stream.text(start - 1)
        if stream.kind(start - 1) == "name" and before not in ("else", "do"):
            start -= 1
            continue
        opener = stream.pair(start - 1) if before == ")" else None
        if opener is None or stream.text(opener - 1) not in ALIGNMENTS:
            break
        start = opener
    end = index
    while end < len(stream.tokens) and stream.text(end) != ";":
        end = max(end, stream.pair(end) or end) + 1
    return start, end


def declared_name(stream: Stream, part: list[int]) -> str:
    """`x` of `T x`, `x[4][5]`, `x[] = {1}`, `struct {...} x`; empty for `T x[]` and what is not
    understood."""
    name = ""
    i = part[0]
    while i <= part[-1] and stream.text(i) != "=":
        behind = stream.text(i + 1) if i < part[-1] else ""
        if stream.kind(i) == "name" and behind in ("", "[", "{", "="):
            unsized = behind == "[" and stream.text(i + 2) == "]"
            given = stream.text(i + 3) in ("=", "{")
            name = "" if unsized and not given else stream.text(i)
        closers = (stream.pair(i), stream.angle_end(i) if stream.text(i) == "<" else None)
        i = max([i, *(closer for closer in closers if closer is not None)]) + 1
    return name


def _alignas_first(stream: Stream, start: int, end: int) -> list[Edit]:
    """`__shared__ alignas(16) char c[64]`: an attribute cannot follow `thread_local`."""
    i = start + 1
    while i < end and stream.text(i) not in ("=", "["):
        close = stream.pair(i + 1)
        if stream.text(i) == "alignas" and close is not None:
            alignment = stream.plain(list(range(i, close + 1)))
            first = Edit(start, start + 1, f"{alignment} {stream.text(start)}")
            return [first, Edit(i, close + 1, "")]
        i = (stream.pair(i) or i) + 1
    return []


def _array_alignment(stream: Stream, index: int) -> list[Edit]:
    """What gives arrays the alignment that they often have on a GPU, where they begin at 0."""
    start, end = declaration(stream, index)
    type_ = []
    for i in range(start, end):
        text = stream.text(i)
        if text == "[" and len(type_) > 1:
            alignment = f"::emu::kSharedAlignment<{' '.join(type_[:-1])}>"
            aligned = f"__shared__ __attribute__((aligned({alignment})))"
            return [Edit(index, index + 1, aligned)]
        if text in SHARED_SPECIFIERS or text in ("const", "volatile"):
            continue
        if stream.kind(i) != "name" and text != "::":
            break
        type_.append(text)
    return []


def _declarator(stream: Stream, part: list[int]) -> Optional[Declarator]:
    """Parses `T* name[][N]`, perhaps with specifiers; None if it is no array without size."""
    kept: list[int] = []
    skipped = -1
    for i in part:
        if stream.text(i) in ALIGNMENTS:
            skipped = stream.pair(i + 1) or i
        elif i > skipped and stream.text(i) not in SHARED_SPECIFIERS:
            kept.append(i)
    angles = 0
    pointer = None  # where the base type ends
    for at, i in enumerate(kept):
        text = stream.text(i)
        angles += (text == "<") - (text == ">")
        if angles == 0 and text == "*" and pointer is None:
            pointer = at
        if angles == 0 and text == "[":
            if at == 0 or stream.text(i + 1) != "]" or stream.kind(kept[at - 1]) != "name":
                return None
            pointer = at - 1 if pointer is None else pointer
            marks = " ".join(stream.text(m) for m in kept[pointer : at - 1])
            name, rest = stream.text(kept[at - 1]), stream.plain(kept[at + 2 :])
            return Declarator(stream.plain(kept[:pointer]), marks, name, rest)
    return None


def _dynamic_shared(declarators: list[Declarator], in_function: bool) -> str:
    base = declarators[0].base
    plain = len(declarators) == 1 and not declarators[0].pointer and not declarators[0].rest
    # As with nvcc, one name has one type in a namespace: the compiler compares these.
    types = "".join(
        f" [[maybe_unused]] extern {base} {pointer}{name}_{TWO_TYPES}[]{rest};"
        for _, pointer, name, rest in declarators
        if in_function
    )
    if in_function and plain and "volatile" in base.split():
        kind = " ".join(word for word in base.split() if word != "volatile")
        memory = f"reinterpret_cast<volatile {kind}*>(::emu::dynamicShared())"
        return f"{types} ::emu::VolatilePointer<{kind}> {declarators[0].name}({memory})".lstrip()
    texts = []
    for _, pointer, name, rest in declarators:
        if in_function:
            texts.append(
                f"{pointer}(&{name})[]{rest} = "
                f"*reinterpret_cast<{base} {pointer}(*)[]{rest}>(::emu::dynamicShared())"
            )
        else:
            space = " " if pointer else ""
            texts.append(f'{pointer}{space}{name}[]{rest} __asm__("emu_dynamic_shared")')
    specifiers = "[[maybe_unused]]" if in_function else "extern __thread"
    return f"{types} {specifiers} {base} {', '.join(texts)}".lstrip()
