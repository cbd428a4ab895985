"""Runs a program under the hazard check, and reads its report; for the tests of the check."""

import os
import re
import subprocess
from dataclasses import dataclass, field


@dataclass
class Finding:
    """One hazard of a report."""

    title: str
    kernel: str = ""
    block: str = ""
    where: str = ""
    acts: list = field(default_factory=list)  # (line, who, what they did, source text)
    more: str = ""
    why: str = ""
    remedy: str = ""

    def lines(self):
        return [line for line, _, _, _ in self.acts]


@dataclass
class Report:
    findings: list
    last: str
    output: str  # of the program


ACTOR = r"(thread \S+|a thread of block \S+|the host|the parent|(?:the|another stream's) (?:kernel|copy|fill))"


def parse(text, output):
    *parts, last = text.split("\n\n") if text.count("\n\n") else [text]
    findings = []
    for i, part in enumerate(parts, 1):
        title, place, *rest = part.splitlines()
        finding = Finding(re.fullmatch(rf"{i}\. (.*)", title).group(1))
        while not place.startswith(("   kernel ", "   host code")):  # a title of several lines
            finding.title += "\n" + place.strip()
            place, *rest = rest
        finding.kernel, finding.block, finding.where = re.fullmatch(
            r"   (?:kernel (\S+), block (\(\S+\))|host code)(?:, (.*))?", place
        ).groups("")
        for line in rest:
            act = re.fullmatch(rf"     (\S+):(\d+): {ACTOR} (.*)", line)
            if act:
                file, number, who, what = act.groups()
                assert file.endswith((".cu", ".cuh"))
                finding.acts.append((int(number), who, what, ""))
            elif line.startswith(" " * 9):
                finding.acts[-1] = (*finding.acts[-1][:3], line.strip())
            elif line.startswith("   and "):
                finding.more = line.strip()
            else:
                finding.why, finding.remedy = finding.remedy, line.strip()
        findings.append(finding)
    return Report(findings, last.strip(), output)


def run(program, report, *arguments):
    done = subprocess.run(
        [str(program), *arguments],
        env={**os.environ, "CUDA_EMULATOR_CHECK": str(report)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
    )
    return parse(report.read_text(), done.stdout.decode())


def line_of(file, mark):
    """The number of the line of the file that ends with the comment `// mark`."""
    lines = file.read_text().splitlines()
    found = [i for i, line in enumerate(lines, 1) if re.search(rf"// {mark}$", line)]
    assert len(found) == 1, mark
    return found[0]


def only(report):
    assert len(report.findings) == 1, report
    assert report.last.startswith("1 hazard found in ")
    return report.findings[0]
