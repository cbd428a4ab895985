"""Reads pages written in Markdown: their headings, links and lines, as GitHub understands them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

FENCE = re.compile(r"\s*(`{3,}|~{3,})")
HEADING = re.compile(r"#{1,6}\s+(.*?)(?:\s+#+)?\s*$")
CODE_SPAN = re.compile(r"(`+)(.+?)\1")
TARGET = re.compile(
    r"""\]\(\s*<?([^\s)>]+)>?(?:\s+"[^"]*")?\s*\)   # [text](target "title")
      | ^\s{0,3}\[[^\]]+\]:\s+<?([^\s>]+)           # [text]: target
      | \b(?:href|src)="([^"]+)"                    # <a href="target">
    """,
    re.VERBOSE | re.MULTILINE,
)
COMMENT = re.compile(r" ?<!--.*?-->")
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)  # https:, mailto:


def prose(text: str) -> Iterator[tuple[int, str]]:
    """The lines that are no code and of no comment with several lines, with their numbers."""
    fence = ""
    comment = False
    indented = False  # in a block of code that is indented by four
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        mark = FENCE.match(line)
        if comment or (line.startswith("<!--") and "-->" not in line and not fence):
            comment = "-->" not in line
        elif fence:
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
                fence = ""
        elif mark:
            fence = mark[1]
        else:
            indented = line.startswith("    ") and (indented or not before.strip())
            if not indented:
                yield number, line
        before = line


def repeated(text: str, words: int) -> list[str]:
    """The sentences of so many words or more that stand on the page more than once, outside of tables."""
    lines = "\n".join(COMMENT.sub("", line) for _, line in prose(text) if line[:1] != "|")
    seen = Counter(
        sentence
        for paragraph in re.split(r"\n\s*\n", lines)
        for sentence in re.split(r"(?<=[.!?:])\s+", " ".join(paragraph.split()))
        if len(sentence.split()) >= words
    )
    return [sentence for sentence, times in seen.items() if times > 1]


def anchors(text: str) -> set[str]:
    """What a link to this page may have behind #."""
    found: set[str] = set()
    seen: Counter[str] = Counter()
    for _, line in prose(text):
        found |= set(re.findall(r'<\w+\s[^>]*\b(?:id|name)="([^"]+)"', line))
        heading = HEADING.match(line)
        if heading:
            slug = slug_of(heading[1])
            found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
            seen[slug] += 1
    return found


def slug_of(heading: str) -> str:
    """'A `warp`, and _why_' -> 'a-warp-and-why'"""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    parts = [  # code, and what is between; an underscore in code is one
        re.sub(r"\b_(\S.*?)_\b", r"\1", part) if place % 3 == 0 else part
        for place, part in enumerate(CODE_SPAN.split(text))
        if place % 3 != 1
    ]
    text = re.sub(r"<[^>]+>", "", "".join(parts)).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def targets(text: str) -> list[str]:
    """What the links and images of a page lead to, outside of code."""
    words = "\n".join(CODE_SPAN.sub("", line) for _, line in prose(text))
    return [next(filter(None, found)) for found in TARGET.findall(words)]


def broken_links(page: Path, root: Path) -> list[str]:
    """The targets in the checkout `root` that are not there, or have no such heading."""
    broken = []
    for target in targets(page.read_text(encoding="utf-8")):
        if ELSEWHERE.match(target):
            continue
        path_text, _, anchor = unquote(target).partition("#")
        base = root if path_text.startswith("/") else page.parent
        path = (base / path_text.lstrip("/")).resolve() if path_text else page.resolve()
        if not path.exists() or not path.is_relative_to(root.resolve()):
            broken.append(f"{target}: there is no {path_text}")
        elif anchor and path.suffix == ".md" and anchor not in anchors(path.read_text("utf-8")):
            broken.append(f"{target}: {path.name} has no heading #{anchor}")
    return broken


def long_lines(text: str, most: int) -> list[int]:
    """The numbers of the lines with more than `most` characters: code, tables, comments and what
    links lead to do not count."""
    found = []
    for number, line in prose(text):
        shown = TARGET.sub("]()", COMMENT.sub("", line))
        if len(shown) > most and not line.lstrip().startswith(("|", "<!--")):
            found.append(number)
    return found
