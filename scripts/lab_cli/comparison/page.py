"""A comparison as one page of HTML, which takes nothing from elsewhere. It looks like the page of a profile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

from .. import lines
from . import sentences, timing
from .compared import Compared, Report
from .culprits import Culprit, Culprits
from .differences import BETTER, DIFFERS, WORSE, Change, Difference
from .timing import Timed
from .versions import Version

OF_A_PROFILE = Path(lines.__file__).parent / "page" / "page.css"
OWN = Path(__file__).with_name("page.css")
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>
{style}</style>
</head>
<body>
<header>
<h1>{title}</h1>
</header>
<main>
{main}
</main>
<footer>
<h2>What was counted</h2>
{footer}
</footer>
</body>
</html>
"""


def render(report: Report) -> str:
    style = OF_A_PROFILE.read_text(encoding="utf-8") + OWN.read_text(encoding="utf-8")
    return PAGE.format(
        title=escape(title(report)),
        style=style,
        main="\n".join(_main(report)),
        footer=paragraphs(
            [
                *sentences.notes([each.comparison for each in report.compared]),
                report.source,
                *report.notes,
            ]
        ),
    )


def title(report: Report) -> str:
    if len(report.compared) != 1:
        return f"{len(report.compared)} kernels compared"
    before, after = sentences.names(*report.compared[0].versions)
    return f"{before} and {after} compared"


def _main(report: Report) -> Iterator[str]:
    for number, compared in enumerate(report.compared, 1):
        yield section(compared, str(number))
    if report.equal:
        yield paragraphs([f"Equal in all counts: {', '.join(report.equal)}."])


def section(compared: Compared, number: str) -> str:
    """One pair of versions, with an identifier that no other has on the page."""
    comparison = compared.comparison
    before, after = sentences.names(*compared.versions)
    told = zip(comparison.differences, compared.culprits)
    items = "\n".join(f"<li>{_difference(*each)}</li>" for each in told)
    parts = [
        f'<section aria-labelledby="pair-{number}">',
        f'<h2 id="pair-{number}">{escape(before)} → {escape(after)}</h2>',
        _versions(*compared.versions),
        _time(compared.timed) if compared.timed else "",
        f'<ol class="differences">{items}</ol>' if items else "",
        paragraphs(sentences.summary(comparison)),
        _table(comparison.changed) if comparison.changed else "",
        "</section>",
    ]
    return "\n".join(filter(None, parts))


def paragraphs(texts: Iterable[str]) -> str:
    return "\n".join(f"<p>{_words(text)}</p>" for text in texts)


def _words(text: str) -> str:
    """A number stays with its %."""
    return escape(text.replace(" %", "\u00a0%").replace(" -> ", " → "))


def _versions(before: Version, after: Version) -> str:
    names = sentences.names(before, after)
    rows = [
        f'<tr><th scope="row">{label}</th><td><code>{escape(name)}</code></td>'
        f"<td>{escape(version.shape)}</td></tr>"
        for label, name, version in zip(("before", "after"), names, (before, after))
    ]
    return f'<table class="versions">{"".join(rows)}</table>'


def _time(timed: Timed) -> str:
    before, after = timed.medians
    verdict = (BETTER if timed.ratio < 1 else WORSE) if timed.differ else DIFFERS
    shown = [f"{value:.4g} ms" for value in timed.medians]
    sizes = _sizes(Change("time", before, after), shown, verdict)
    return paragraphs([f"{sentences.capital(timing.in_words(timed))}."]) + sizes


def _difference(difference: Difference, culprits: Culprits) -> str:
    change = difference.change
    factor = sentences.times(change)
    heading = escape(change.what) + (f" <span>({escape(factor)})</span>" if factor else "")
    unit = f" {change.unit}" if change.unit else ""
    shown = [each + unit for each in sentences.numbers(change)]
    explained = sentences.explanation(difference)
    return (
        f'<h3><span class="verdict {difference.verdict}">{difference.verdict}</span> {heading}</h3>'
        f"{_sizes(change, shown, difference.verdict)}"
        f"{paragraphs([explained] if explained else [])}"
        f"{_places(culprits)}"
    )


def _sizes(change: Change, shown: Sequence[str], verdict: str) -> str:
    """Both numbers as bars, the longer one full, and the worse one in another colour."""
    most = max(abs(change.before), abs(change.after)) or 1.0
    worse = {BETTER: "before", WORSE: "after"}.get(verdict)
    rows = []
    for label, value, text in zip(("before", "after"), (change.before, change.after), shown):
        share = 100 * abs(value) / most
        kind = "bar worse" if label == worse else "bar"
        rows.append(
            f'<dt>{label}</dt><dd class="{kind}" aria-hidden="true"><i style="width:{share:.2f}%"></i></dd>'
            f'<dd class="value">{escape(text)}</dd>'
        )
    return f'<dl class="sizes">{"".join(rows)}</dl>'


def _places(culprits: Culprits) -> str:
    rows = [
        f'<span class="label">{label}</span><span>{_place(each)}</span>'
        f"<code>{escape(each.text)}</code>"
        for label, each in sentences.lines(culprits)
    ]
    return f'<div class="places">{"".join(rows)}</div>' if rows else ""


def _place(culprit: Culprit) -> str:
    return f"{escape(culprit.place.file.name)}:{culprit.place.line}"


def _table(changes: Sequence[Change]) -> str:
    rows = [_row(each) for each in changes]
    return (
        '<div class="wider"><table class="counts"><caption>Every count that differs</caption>'
        '<thead><tr><th scope="col">metric</th><th scope="col" class="number">before</th>'
        '<th scope="col" class="number">after</th><th scope="col"></th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _breakable(name: str) -> str:
    """A long name may go on on the next line behind an underscore."""
    return escape(name).replace("_", "_<wbr>")


def _row(change: Change) -> str:
    unit = f" {change.unit}" if change.unit else ""
    before, after = (escape(each + unit) for each in sentences.numbers(change))
    return (
        f'<tr><th scope="row"><code>{_breakable(change.metric)}</code></th><td class="number">{before}</td>'
        f'<td class="number">{after}</td><td>{escape(sentences.times(change))}</td></tr>'
    )
