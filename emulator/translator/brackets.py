"""Tells what a bracket of C++ stands for: statements, a class, a lambda."""

from typing import Optional

from .lexer import Stream
from .unit import ALIGNMENTS

# Prefix operators, and binary ones in letters.
WORD_OPERATORS = set(
    "sizeof alignof new delete not compl and or xor bitand bitor not_eq typename template throw "
    "co_await return else do case goto __extension__".split()
)
LAMBDA_WORDS = {"mutable", "noexcept", "constexpr"}


class Brackets:
    """Of one stream. A bracket is named by the index of its opening token."""

    def __init__(self, stream: Stream, device_words: set[str]) -> None:
        self._stream = stream
        self._lambda_words = LAMBDA_WORDS | device_words | {"__host__"}
        self.around = self._openers()  # for each token the bracket around it

    def _openers(self) -> list[Optional[int]]:
        stream = self._stream
        result: list[Optional[int]] = []
        stack: list[int] = []
        for i in range(len(stream.tokens)):
            opener = stream.pair(i)
            if opener is not None and opener < i and stack and stack[-1] == opener:
                stack.pop()
            result.append(stack[-1] if stack else None)
            if opener is not None and opener > i:
                stack.append(i)
        return result

    def is_block(self, brace: int) -> bool:
        """Whether `{` starts statements or a class, and no lambda's body or initialiser."""
        stream = self._stream
        before = stream.text(brace - 1)
        if stream.text(brace) != "{" or self.is_lambda_body(brace):
            return False
        if before in ("", ";", "}", ":", "else", "do", "try") or self.is_class(brace):
            return True
        if before == "{":
            return self.is_block(brace - 1) or self.is_lambda_body(brace - 1)
        opener = stream.pair(brace - 1) if before == ")" else None
        # (but a compound literal: `(int2){1, 2}`)
        return opener is not None and stream.kind(opener - 1) == "name"

    def holds_statements(self, opener: Optional[int]) -> bool:
        """Whether statements stand in the bracket; None is the file itself."""
        if opener is None or self.is_block(opener):
            return True
        before = self._stream.text(opener - 1)
        is_body = before in (")", "const", "noexcept", "override") or self.is_lambda_body(opener)
        return self._stream.text(opener) == "{" and is_body

    def is_lambda_body(self, brace: int) -> bool:
        """Whether `{` starts the body of a lambda."""
        stream = self._stream
        last = brace - 1
        arrow = last
        while stream.kind(arrow) == "name" or stream.text(arrow) in ("::", "*", "&", "<", ">", ","):
            arrow -= 1
        if stream.text(arrow) == "->":
            last = arrow - 1
        while stream.text(last) in self._lambda_words:
            last -= 1
        if stream.text(last) == ")":
            opener = stream.pair(last)
            return opener is not None and self.are_lambda_parameters(opener)
        return self.is_capture(stream.pair(last) if stream.text(last) == "]" else None)

    def in_lambda(self, index: int, end: int) -> bool:
        """Whether token `index` is in the body of a lambda that begins behind token `end`."""
        brace = self.around[index]
        while brace is not None and brace > end:
            if self._stream.text(brace) == "{" and self.is_lambda_body(brace):
                return True
            brace = self.around[brace]
        return False

    def are_lambda_parameters(self, paren: int) -> bool:
        """Whether `(` starts the parameters of a lambda."""
        stream = self._stream
        last = paren - 1
        while stream.text(last) in self._lambda_words:
            last -= 1
        angle = stream.angle_start(last) if stream.text(last) == ">" else None
        last = last if angle is None else angle - 1
        return self.is_capture(stream.pair(last) if stream.text(last) == "]" else None)

    def is_capture(self, bracket: Optional[int]) -> bool:
        """Whether `[` starts a lambda."""
        if bracket is None:
            return False
        stream = self._stream
        before = stream.text(bracket - 1)
        is_operand = stream.kind(bracket - 1) in ("name", "string") and before not in WORD_OPERATORS
        return not is_operand and before not in (")", "]", "}", "[")

    def is_class(self, brace: int) -> bool:
        """Whether `{` starts a class, an enumeration or a namespace."""
        stream = self._stream
        i = brace - 1
        angles = 0
        while stream.text(i) not in ("", ";", "(", "[", "{", "}", "="):
            text = stream.text(i)
            angles += (text == ">") - (text == "<")
            if angles <= 0 and text in ("struct", "class", "union", "enum", "namespace"):
                return True
            if text in (")", "]"):
                opener = stream.pair(i)
                if opener is None:
                    return False
                attribute = stream.text(opener - 1) in ALIGNMENTS or stream.text(opener + 1) == "["
                if angles <= 0 and not attribute:
                    return False  # a function, or an array
                i = opener
            i -= 1
        return False
