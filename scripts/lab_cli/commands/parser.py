"""The parser of lab and of its commands: a mistake is one line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from ..errors import BAD_USAGE, LabError, printable
from ..toml_file import did_you_mean
from .arguments import AFTER_DASHES

MISSING = "the following arguments are required: "  # argparse's words


class Parser(argparse.ArgumentParser):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._words: list[str] = []

    def parsed(self, words: Sequence[str]) -> argparse.Namespace:
        """LabError (status 2) where they are not what is expected."""
        self._words = [*words]
        # Options may stand among names, but for what argparse does not take so: before a command.
        parse = self.parse_known_args if self._subparsers else self.parse_known_intermixed_args
        arguments, unknown = parse(words)
        if unknown:
            self._refuse(unknown)
        return arguments

    def error(self, message: str) -> NoReturn:
        """LabError in place of argparse's usage and end of the program."""
        unknown = [word for word in self._words if self._is_unknown_option(word)]
        if unknown:  # it may be why another argument is missing
            self._refuse(unknown)
        if message.startswith(MISSING):
            message = f"{message[len(MISSING) :]} is missing"
        elif message.startswith("argument "):
            message = message[len("argument ") :]
        text = " ".join(message.splitlines())
        self._say(f"{text}; {self.prog} --help says more")

    def _refuse(self, unknown: Sequence[str]) -> NoReturn:
        """The words that nobody asked for: an option among them, if there is one."""
        options = [word for word in unknown if word.startswith("-")]
        if not options:
            text = f"{printable(unknown[0])}: nothing more is expected"
            self._say(f"{text}; {self.prog} --help says more")
        # The dashes make any two options a little alike.
        near = did_you_mean(options[0].partition("=")[0], self._option_string_actions, least=0.7)
        text = f"{printable(options[0])}: no such option{near}"
        follow = self.get_default("takes") == AFTER_DASHES
        hint = "; options of an exercise follow after --" if follow else ""
        self._say(f"{text}; {self.prog} --help lists them{hint}")

    def _say(self, message: str) -> NoReturn:
        raise LabError(message, BAD_USAGE, self.prog.replace("./", ""))

    def _is_unknown_option(self, word: str) -> bool:
        known = {option for action in self._actions for option in action.option_strings}
        is_option = len(word) > 1 and word.startswith("-") and not word[1:2].isdigit()
        return is_option and not {word.partition("=")[0], word[:2]} & known
