"""Reads the code in the answers of the pages, and puts it into the exercises. Comments, which a reader of the
page does not see, say where the code goes and what must come of it.

Above each block of C++ code stands one of

    <!-- code: PLACE -->        the code goes to this place of the exercise
    <!-- code: program -->      the code is a program of its own

and at the end of the answer

    <!-- change: PLACE          These lines go to the place as well: what the answer leaves to words, such as
    LINES                       the call of a new kernel.
    -->
    <!-- change: replaces `TEXT` by `TEXT` -->
    <!-- run: OPTIONS -->       The program runs with these options. Its results must be right, and it has no
                                hazards, unless lines below the options say otherwise:
        prints: TEXT            It prints this; a program of its own prints nothing else. A block without a
                                language right behind the comment says the same.
        finds: TEXT             The report of the hazard check has this text.
        status: NUMBER          It ends with this status.
        counts: METRIC NUMBER   The profiler counts this: a number for each launch, with ", " between them,
                                or one for all launches together.
        multiprocessors: NUMBER The cpu back end has so many of them.
    <!-- measure: OPTIONS -->   results/<gpu>/answers.csv has rows of this run (measure_answers.py).
    <!-- experiment: REASON --> The code is to be looked at, not to be kept: other rows or other sizes are
                                wrong with it. The tests of the exercise need not pass.
    <!-- nvcc: 90a -->          The code needs a GPU; nvcc compiles it for this architecture.
    <!-- variant: NAME -->      The comments below belong to this variant of the answer, those above the
                                first variant to all of them.

PLACE is "before", "behind" or "replaces" with a text of NAME.cu that stands there once: `TEXT`, or
`FIRST` ... `LAST` with all that is between them, or "function NAME" for its definition. "in function NAME,"
may stand before it, and before that "in FILE," with the name of a header. "before" and "behind" put whole
lines before and behind whole lines.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field
from pathlib import Path

from changed_files import file_of, write_copy
from lab_cli.errors import LabError
from lab_cli.results import listings, tables
from page_files import source_of

ANSWER = re.compile(r"<summary>Answer (?:to )?(\w+)</summary>(.*?)</details>", re.DOTALL)
COMMENT = re.compile(
    r"^<!-- (code|change|variant|run|measure|experiment|nvcc):(?: (.*?))??(?:\n(.*?))?(?: |(?<=\n))-->\n"
    r"(?:```(cpp)?\n(.*?)^```)?",
    re.MULTILINE | re.DOTALL,
)
MARK = re.compile(r"^<!-- \w+:|^```cpp$", re.MULTILINE)
PLACE = re.compile(
    r"(?:in (?P<file>\S+), )?(?:in function (?P<scope>\w+), )?(?P<where>before|behind|replaces) "
    r"(?:function (?P<function>\w+)|`(?P<text>.*?)`)(?: by `(?P<by>.*)`)?"
)


@dataclass(frozen=True)
class Change:
    """What happens to a file; `place` is a PLACE."""

    place: str
    lines: str = ""

    @functools.cached_property
    def parts(self) -> re.Match[str]:
        found = PLACE.fullmatch(self.place)
        if not found:
            raise LabError(f"{self.place}: no place for code")
        return found

    @property
    def file(self) -> str:
        """Empty for NAME.cu."""
        return self.parts["file"] or ""

    def applied(self, text: str) -> str:
        """LabError where the place is not there, or there twice."""
        begin, end = self._found(text)
        where, by = self.parts["where"], self.parts["by"]
        if where == "replaces":
            return text[:begin] + (self.lines if by is None else by) + text[end:]
        at = text.rfind("\n", 0, begin) + 1 if where == "before" else text.index("\n", end - 1) + 1
        return text[:at] + self.lines + text[at:]

    def _found(self, text: str) -> tuple[int, int]:
        begin, end = 0, len(text)
        if self.parts["scope"]:
            begin, end = self._only(listings.definition_of(self.parts["scope"]), text)
        if self.parts["function"]:
            return self._only(listings.definition_of(self.parts["function"]), text)
        first, *others = [re.escape(part) for part in self.parts["text"].split("` ... `")]
        between = rf"(?:(?!{first}).)*?"
        return self._only(between.join([first, *others]), text, begin, end)

    def _only(
        self, pattern: str, text: str, begin: int = 0, end: int | None = None
    ) -> tuple[int, int]:
        compiled = re.compile(pattern, re.MULTILINE | re.DOTALL)
        found = [*compiled.finditer(text, begin, len(text) if end is None else end)]
        if len(found) != 1:
            raise LabError(
                f"stands {len(found)} times in the exercise, expected once: {self.place}"
            )
        return found[0].span()


@dataclass
class Run:
    options: str
    prints: list[str] = field(default_factory=list)
    finds: str = ""
    status: int = 0
    counts: dict[str, list[float]] = field(default_factory=dict)
    multiprocessors: str = ""

    @property
    def has_hazards(self) -> bool:
        return self.finds not in ("", "no kernel was launched")


@dataclass
class Variant:
    """An answer, or one of several ways to give it."""

    answer: str = "0"  # the number of its task, or the name of its assignment
    name: str = ""
    program: str = ""
    changes: list[Change] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    measured: list[str] = field(default_factory=list)
    experiment: str = ""
    architecture: str = ""

    @property
    def is_meant_to_be_right(self) -> bool:
        """Whether the code is for the exercise, and no experiment, race or failure."""
        wrong = (run.has_hazards or run.status for run in self.runs)
        return bool(self.changes) and not self.experiment and not any(wrong)

    @property
    def title(self) -> str:
        return f"answer {self.answer}" + (f", {self.name}" if self.name else "")


def words(text: str) -> str:
    """The words of `text`, with one space between them."""
    return " ".join(text.split())


def _run(options: str, lines: str, shown: str) -> Run:
    run = Run(options, [words(shown)] if shown else [])
    for line in lines.splitlines():
        key, _, value = (part.strip() for part in line.partition(":"))
        if key == "prints":
            run.prints.append(words(value))
        elif key == "counts":
            metric, _, numbers = value.partition(" ")
            run.counts[metric] = [float(number) for number in numbers.split(", ")]
        elif key == "status":
            run.status = int(value)
        elif key in ("finds", "multiprocessors"):
            setattr(run, key, value)
        else:
            raise LabError(f"{line}: no line of a run")
    return run


def variants_of(answer: str, text: str) -> list[Variant]:
    """LabError where the text of an answer has code without a place."""
    every = Variant(answer)
    found = [every]
    marks = 0
    for comment in COMMENT.finditer(text):
        kind, head, lines, language, block = (part or "" for part in comment.groups())
        now = found[-1]
        marks += 1 + (language == "cpp")
        if kind == "code":
            if head == "program":
                now.program = block
            else:
                every.changes.append(Change(head, block))
        elif kind == "change":
            now.changes.append(Change(head, lines))
        elif kind == "run":
            now.runs.append(_run(head, lines, "" if language else block))
        elif kind == "measure":
            now.measured.append(head)
        elif kind == "experiment":
            now.experiment = head
        elif kind == "nvcc":
            now.architecture = head
        else:
            found.append(
                Variant(
                    answer,
                    head,
                    changes=[*every.changes],
                    experiment=every.experiment,
                    architecture=every.architecture,
                )
            )
    if marks != len(MARK.findall(text)):
        raise LabError(
            f"answer {answer}: code without a place above it, or a comment of another form"
        )
    if every.program and every.changes:
        raise LabError(f"answer {answer}: a program of its own, and code for the exercise")
    if len(found) > 1:
        if every.runs or every.measured:
            raise LabError(f"answer {answer}: a run before the first variant")
        return found[1:]
    return found if every.changes or every.runs or every.measured else []


@functools.cache
def answers() -> dict[Path, list[Variant]]:
    """The variants of all answers with code or runs, by page."""
    found = {}
    for page in tables.pages():
        text = listings.BLOCK.sub("", page.read_text(encoding="utf-8"))
        variants = [
            variant
            for name, answer in ANSWER.findall(text)
            for variant in variants_of(name, answer)
        ]
        if variants:
            found[page] = variants
    return found


def with_answer(source: Path, variant: Variant) -> dict[Path, str]:
    """The texts of the files that the answer changes; of NAME.cu in any case."""
    texts = {source: source.read_text(encoding="utf-8")}
    for change in variant.changes:
        path = file_of(source, change.file or source.name)
        text = texts.get(path) or path.read_text(encoding="utf-8")
        try:
            texts[path] = change.applied(text)
        except LabError as error:
            raise LabError(f"{source.stem}, {variant.title}: {error}") from error
    return texts


def written(page: Path, variant: Variant, folder: Path) -> Path:
    """Puts the exercise with the answer, and the headers beside it, into `folder`; or the program that the
    answer is. The path of the source."""
    if variant.program:
        source = folder / "answer.cu"
        source.write_text(variant.program, encoding="utf-8")
        return source
    changed = with_answer(source_of(page), variant)
    texts = {path.name: text for path, text in changed.items()}
    return write_copy(source_of(page), texts, folder)
