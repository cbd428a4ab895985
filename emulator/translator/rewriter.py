"""Rewrites what C++ cannot parse. Every edit stays in its place and keeps its line breaks."""

import re
from typing import NamedTuple, NoReturn, Optional

from .decisions import Decisions, edits
from .lexer import Stream, TranslateError
from .statements import statement_edits
from .unit import ALIGNMENTS, Source, Unit
from .volatile import find_use

# Names that are no part of a callee: `return k<<<...>>>`, `if (x) k<<<...>>>`.
CONTROL = {"if", "while", "for", "switch", "catch", "constexpr"}  # a condition follows
KEYWORDS = CONTROL | set(
    "return else do case default goto throw co_return co_await co_yield new delete sizeof alignof "
    "and or not xor operator".split()
)
VOID_POINTER = re.compile(r"(const )?void( const)? \*( const)?")
LAUNCH_FUNCTIONS = ("cudaLaunchKernel", "cudaLaunchCooperativeKernel")
SHARED_SPECIFIERS = ("extern", "static", "__shared__", "__device__")
NO_PTX = '_Pragma("GCC error \\"inline PTX is not supported on the cpu back end\\"")'


class Scope(NamedTuple):
    """An open brace: what is inside, and where the current declaration in it started."""

    in_function: bool  # or in a class; not at namespace scope
    device: bool
    start: int = 0
    parens: int = 0  # open ones


class Declarator(NamedTuple):
    """`base pointer name[]rest`, an array without size"""

    base: str
    pointer: str
    name: str
    rest: str


class Rewriter:
    """Finds what has to be rewritten in one stream of a source and adds it to source.edits."""

    def __init__(self, unit: Unit, source: Source, stream: Stream, instrument: bool) -> None:
        self._unit = unit
        self._instrument = instrument  # for the profiler; see translate.py
        self._source = source
        self._stream = stream
        self._scopes: Optional[list[Scope]] = None
        self._at_body: dict[int, str] = {}  # declarations to put behind a function's `{`

    def run(self) -> None:
        text = self._stream.text
        for i, token in enumerate(self._stream.tokens):
            if token.text == "<":
                # `operator<< <T>` is the one other place where three `<` may meet.
                if text(i + 1) == "<" and text(i + 2) == "<" and text(i - 1) != "operator":
                    self._launch(i)
            elif token.kind != "name":
                continue
            elif token.text == "__shared__":
                self._shared(i)
            elif token.text in ("asm", "__asm__", "__asm"):
                self._asm(i)
            elif token.text == "volatile" and not self._stream.macro:
                self._volatile(i)
            elif self._instrument and token.text in self._unit.constant_words:
                self._constant(i)
            elif token.text in LAUNCH_FUNCTIONS and text(i + 1) == "(":
                self._drop_cast(i + 2)
            elif token.text in self._unit.launch_macros:
                self._launcher(i, i, "")
        for i, declarations in self._at_body.items():
            self._edit(i, i + 1, "{" + declarations)
        if self._instrument and not self._stream.macro:
            edits = statement_edits(self._stream, lambda i: self._scope(i).device)
            self._source.edits += edits
            self._decisions()

    def _fail(self, index: int, message: str) -> NoReturn:
        offset = self._stream.tokens[index].start
        line = self._source.text.count("\n", 0, offset) + 1
        raise TranslateError(f"{self._source.path}:{line}: error: {message}")

    def _edit(self, first: int, end: int, text: str, tail: str = "") -> None:
        """Replaces tokens [first, end) and what is between them by `text`, their line breaks, and
        `tail`."""
        start, stop = self._stream.tokens[first].start, self._stream.tokens[end - 1].end
        # `case 1:k<<<...` must not become `case 1:::emu`.
        space = " " if text and self._source.text[start - 1 : start] == ":" else ""
        newline = "\\\n" if self._stream.macro else "\n"
        breaks = newline * self._source.text.count("\n", start, stop)
        self._source.edits.append((start, stop, space + text + breaks + tail))

    def _plain(self, indices: list[int]) -> str:
        """Source text of tokens, without comments and with single spaces."""
        text = ""
        previous = None
        for i in indices:
            token = self._stream.tokens[i]
            text += token.text if previous in (None, token.start) else " " + token.text
            previous = token.end
        return text

    # ---- Launches ----

    def _launch(self, opening: int) -> None:
        """Rewrites the launch whose `<<<` starts at token `opening`."""
        stream = self._stream
        closing = self._config_end(opening)
        if closing == opening + 3:
            self._fail(opening, "this launch needs a grid and a block: <<<grid, block>>>")
        if opening == 0 and stream.macro in self._unit.launch_macros:
            self._edit(opening, opening + 3, ".emuConfig(")
        else:
            self._launcher(opening, opening + 3, ".emuConfig(")
        self._edit(closing, closing + 3, ")")
        if stream.text(closing + 3) != "(":
            return  # a macro for all but the arguments
        end = stream.pair(closing + 3)
        if end is None:
            self._fail(closing + 3, "the arguments of this launch never end")
        i = closing + 4
        while i < end:
            if stream.text(i) == "NULL" and stream.text(i - 1) in ("(", ","):
                if stream.text(i + 1) in (")", ","):
                    self._edit(i, i + 1, "nullptr")
            i = (stream.pair(i) or i) + 1

    def _config_end(self, opening: int) -> int:
        """Index of the first `>` of the `>>>` that ends the configuration."""
        stream = self._stream
        fallback = None  # a `>>>` that may as well end template arguments
        angles = 0
        i = opening + 3
        while i < len(stream.tokens):
            text = stream.text(i)
            if text in ("(", "[", "{"):
                close = stream.pair(i)
                if close is None:
                    self._fail(i, f"this '{text}' is never closed")
                i = close
            elif text in (")", "]", "}", ";"):
                break
            elif text == "<":
                if stream.text(i + 1) == "<" and stream.text(i + 2) == "<":
                    break
                angles += stream.kind(i - 1) == "name" and stream.text(i + 1) != "<"
            elif text == ">":
                end = i
                while stream.text(end) == ">":
                    end += 1
                after = stream.text(end)
                complete = after == "(" or (stream.macro and after in ("", *stream.parameters))
                if end - i >= 3 and complete:
                    if angles <= end - i - 3:
                        return end - 3
                    fallback = fallback or end - 3
                angles = max(0, angles - (end - i))
                i = end - 1
            i += 1
        if fallback is None:
            message = "this launch never ends: expected '>>>' and the arguments in parentheses"
            self._fail(opening, message)
        return fallback

    def _launcher(self, callee_end: int, end: int, tail: str) -> None:
        """Replaces the callee, which ends before token `callee_end`, and the tokens up to `end` by
        a launcher and `tail`."""
        stream = self._stream
        start = self._callee_start(callee_end)
        callee = list(range(start, callee_end))
        if stream.text(start) == "(" and stream.pair(start) == callee[-1]:
            if self._is_name(callee[1:-1]):
                callee = callee[1:-1]
        code = self._plain(callee)
        name = self._name_literal(callee)
        if self._is_name(callee):
            known = self._unit.address_known(stream, callee)
            bare = len(callee) == 1 or stream.text(callee[1]) == "<"
            prefix = self._unit.global_prefix(stream.text(callee[0])) if bare else ""
            address = f"::emu::emuId({prefix}{code})" if known else "nullptr"
            call = self._caller(code)
            launcher = f"::emu::emuKernel({name}, {address}, {call})"
        else:  # an expression: it is evaluated once, not by every CUDA thread
            launcher = (
                f"[&](auto emuKernel) {{ return ::emu::emuKernel({name}, ::emu::emuId(emuKernel), "
                f"{self._caller('emuKernel')}); }}({code})"
            )
        self._edit(start, end, launcher, tail)

    def _caller(self, callee: str) -> str:
        """What every CUDA thread runs."""
        if self._instrument:
            head = "[=](auto... emuArgs) EMU_NOT_RECORDED { ::emu::KernelFrame emuFrame;"
        else:
            head = "[=](auto... emuArgs) {"
        return f"{head} {callee}(emuArgs...); }}"

    def _is_name(self, indices: list[int]) -> bool:
        """Whether the tokens are a (qualified) name with template arguments, or a macro's call."""
        stream = self._stream
        i = indices[-1] if indices else -1
        while indices and i >= indices[0]:
            text = stream.text(i)
            opener: Optional[int] = i
            if text == ">":
                opener = stream.angle_start(i)
            elif text == ")":
                opener = stream.pair(i)
                if opener is not None and stream.text(opener - 1) not in self._unit.macros:
                    return False
            elif text not in ("::", "##") and stream.kind(i) != "name":
                return False
            if opener is None:
                return False
            i = opener - 1
        return bool(indices)

    def _name_literal(self, indices: list[int]) -> str:
        """The callee as a string literal. In a macro its parameters become what they stand for."""
        parameters = ["__VA_ARGS__" if p == "..." else p for p in self._stream.parameters]
        pieces: list[list[int]] = [[]]
        for i in indices:
            if self._stream.text(i) in parameters:
                pieces += [[i], []]
            elif self._stream.text(i) != "##":
                pieces[-1].append(i)
        literals = []
        for piece in pieces:
            text = self._plain(piece)
            if text in parameters:
                literals.append("#" + text)
            elif text:
                escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
                literals.append(f'"{escaped}"')
        return " ".join(literals)

    def _callee_start(self, end: int) -> int:
        """First token of the callee that ends before token `end`."""
        start = self._postfix_start(end - 1)
        if start is not None and self._stream.text(start - 1) != "<":
            return start
        hint = ""
        if start is not None or self._stream.text(end - 1) == ">":
            hint = ": put comparisons in template arguments into parentheses, k<(a > b)>"
        self._fail(end, "no kernel's name before this launch" + hint)

    def _postfix_start(self, last: int) -> Optional[int]:
        """First token of the postfix expression that ends with token `last`; None if none does."""
        stream = self._stream
        text = stream.text(last)
        if text in (")", "]"):
            opener = stream.pair(last)
            if opener is not None and self._ends_postfix(opener - 1):
                return self._postfix_start(opener - 1)  # a call or a subscript
            parenthesised = text == ")" and stream.text((opener or 0) - 1) not in CONTROL
            return opener if parenthesised else None
        if text == ">":
            angle = stream.angle_start(last)
            return None if angle is None else self._name_start(angle - 1)
        return self._name_start(last)

    def _ends_postfix(self, index: int) -> bool:
        """Whether a '(' or '[' after this token would be a call or a subscript."""
        stream = self._stream
        text = stream.text(index)
        if text == ")":
            opener = stream.pair(index)
            is_cast = opener == index - 2 and stream.text(index - 1) == "void"
            return opener is not None and not is_cast and stream.text(opener - 1) not in KEYWORDS
        if text == ">":
            angle = stream.angle_start(index)
            return angle is not None and stream.kind(angle - 1) == "name"
        return text == "]" or (stream.kind(index) == "name" and text not in KEYWORDS)

    def _name_start(self, index: int) -> Optional[int]:
        """First token of the qualified name or member access that ends with token `index`."""
        stream = self._stream
        if stream.kind(index) != "name" or stream.text(index) in KEYWORDS:
            return None
        before = index - 1
        if stream.text(before) == "template":
            before -= 1
        if stream.text(before) == "##":
            return self._name_start(before - 1)
        if stream.text(before) == "::":
            return self._postfix_start(before - 1) if self._ends_postfix(before - 1) else before
        if stream.text(before) in (".", "->"):
            return self._postfix_start(before - 1)
        return index

    # ---- Dynamic shared memory ----

    def _shared(self, index: int) -> None:
        """Rewrites the declaration around `__shared__` at token `index` if it is extern or has an
        alignas that C++ wants elsewhere."""
        stream = self._stream
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
        words = [stream.text(i) for i in range(start, end)]
        if "extern" not in words:
            self._alignas_first(start, end)
            return
        if end == len(stream.tokens) and not stream.macro:
            self._fail(index, "this declaration never ends: expected ';'")
        parts = [self._declarator(part) for part in stream.split(start, end)]
        declarators = [part for part in parts if part is not None]
        if not declarators:  # like nvcc, take it for a definition
            extern = start + words.index("extern")
            self._edit(extern, extern + 1, "")
            return
        if len(declarators) < len(parts):
            self._fail(index, "declare shared arrays with and without a size separately")
        self._edit(start, end, _dynamic_shared(declarators, self._scope(index).in_function))

    def _alignas_first(self, start: int, end: int) -> None:
        """`__shared__ alignas(16) char c[64]`: an attribute cannot follow `thread_local`."""
        stream = self._stream
        i = start + 1
        while i < end and stream.text(i) not in ("=", "["):
            close = stream.pair(i + 1)
            if stream.text(i) == "alignas" and close is not None:
                alignment = self._plain(list(range(i, close + 1)))
                self._edit(start, start + 1, f"{alignment} {stream.text(start)}")
                self._edit(i, close + 1, "")
                return
            i = (stream.pair(i) or i) + 1

    def _declarator(self, part: list[int]) -> Optional[Declarator]:
        """Parses `T* name[][N]`, perhaps with specifiers; None if it is no array without size."""
        stream = self._stream
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
                name, rest = stream.text(kept[at - 1]), self._plain(kept[at + 2 :])
                return Declarator(self._plain(kept[:pointer]), marks, name, rest)
        return None

    def _scope(self, index: int) -> Scope:
        if self._stream.macro:
            return Scope(True, True)  # the more likely
        if self._scopes is None:
            self._scopes = self._all_scopes()
        return self._scopes[index]

    def _all_scopes(self) -> list[Scope]:
        """The scope of each token."""
        stream = self._stream
        result = []
        stack = [Scope(False, False)]
        saved: list[list[Scope]] = []
        conditionals = iter([*stream.conditionals, (len(stream.tokens), "")])
        change, what = next(conditionals)
        for i, token in enumerate(stream.tokens):
            while change <= i:  # each branch of an #if starts with the braces that were open there
                if what == "if":
                    saved.append(list(stack))
                elif what == "else" and saved:
                    stack = list(saved[-1])
                elif saved:
                    saved.pop()
                change, what = next(conditionals)
            top = stack[-1]
            if token.text == "{":
                header = [t.text for t in stream.tokens[top.start : i]]
                linkage = len(header) == 2 and header[0] == "extern"
                in_function = top.in_function or not ("namespace" in header or linkage)
                device = top.device or not self._unit.device_words.isdisjoint(header)
                stack.append(Scope(in_function, device, i + 1))
            elif token.text == "}" and len(stack) > 1:
                stack.pop()
                if stack[-1].parens == 0:
                    stack[-1] = stack[-1]._replace(start=i + 1)
            elif token.text in ("(", ")"):
                stack[-1] = top._replace(parens=top.parens + (1 if token.text == "(" else -1))
            elif token.text == ";":
                stack[-1] = top._replace(start=i + 1)
            result.append(stack[-1])
        return result

    # ---- For the profiler ----

    def _decisions(self) -> None:
        stream, unit = self._stream, self._unit
        found = Decisions(
            stream, lambda i: self._scope(i).device, unit.device_words, unit.literal_macros
        ).find()
        if unit.overloads_and_or:
            found = [decision for decision in found if decision.kind == "?"]
        self._source.edits += edits(found, stream, self._source.text, self._source.edits)

    def _constant(self, index: int) -> None:
        """Drops `__constant__` at token `index` from a const variable, which cannot be in a section
        with the others."""
        stream = self._stream
        first = index
        while stream.text(first - 1) not in ("", ";", "{", "}", ")", ":"):
            first -= 1
        is_const = False
        while stream.text(first) not in ("", ";", "=", "[", "(", "{", ",", ")"):
            text = stream.text(first)
            if text == "*":
                is_const = False  # but what it points to may be
            is_const = is_const or text == "const"
            if text in ALIGNMENTS:
                first = stream.pair(first + 1) or first
            elif text == "<":
                first = stream.angle_end(first) or first
            elif text == "constexpr":
                is_const = True
                break
            first += 1
        if is_const:
            self._edit(index, index + 1, "")

    # ---- volatile, inline PTX, casts ----

    def _volatile(self, index: int) -> None:
        device = self._scope(index).device
        use = find_use(self._stream, index, device, self._unit.device_words)
        if use is not None:
            for edit in use.edits:
                self._edit(*edit)
            if use.body is not None:
                self._at_body[use.body] = self._at_body.get(use.body, "") + use.declaration

    def _asm(self, index: int) -> None:
        """Makes an asm statement in device code an error for those who compile it: the preprocessor
        may yet drop it."""
        stream = self._stream
        opener = index + 1
        while stream.text(opener) in ("volatile", "__volatile__", "goto"):
            opener += 1
        end = stream.pair(opener) if stream.text(opener) == "(" else None
        statement = stream.text(index - 1) in ("", ";", "{", "}", ")", ":", "else", "do")
        barrier = stream.text(opener + 1) == '""'  # for the compiler only
        if end is not None and statement and not barrier and self._scope(index).device:
            self._edit(index, end + 1, NO_PTX)

    def _drop_cast(self, index: int) -> None:
        """Removes a cast to void* that starts at token `index`."""
        stream = self._stream
        first, end = index + 1, None
        if stream.text(index) == "(":
            end = stream.pair(index)
        elif stream.text(index) == "reinterpret_cast":
            first, end = index + 2, stream.angle_end(index + 1)
        if end is not None:
            target = " ".join(stream.text(i) for i in range(first, end))
            if VOID_POINTER.fullmatch(target):
                self._edit(index, end + 1, "")


def _dynamic_shared(declarators: list[Declarator], in_function: bool) -> str:
    base = declarators[0].base
    plain = len(declarators) == 1 and not declarators[0].pointer and not declarators[0].rest
    if in_function and plain and "volatile" in base.split():
        kind = " ".join(word for word in base.split() if word != "volatile")
        memory = f"reinterpret_cast<volatile {kind}*>(::emu::dynamicShared())"
        return f"::emu::VolatilePointer<{kind}> {declarators[0].name}({memory})"
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
    return f"{specifiers} {base} {', '.join(texts)}"
