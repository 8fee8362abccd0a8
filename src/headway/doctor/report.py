"""The doctor's report, the most urgent first: as lines of text, and as one HTML file with every
text escaped."""

import textwrap
from collections.abc import Iterator
from html import escape
from typing import Any

from headway.pages import document, table

_WIDTH = 100
_HEADINGS = {
    "look": ("Look at this", 3, "Nothing to look at."),
    "dropped": ("Will be dropped", 3, "Nothing is dropped."),
    "information": ("For information", 1, "Nothing else was found."),
}
"""By severity: the heading, how many examples are shown in lines, and what a page says of none."""


def report_lines(found: dict[str, Any]) -> Iterator[str]:
    read, kept = found["read"], found["kept"]
    yield f"read {read:,} pairs, kept {kept:,} ({kept / max(read, 1):.2%})"
    yield f"languages: {found['source_language'] or '?'} -> {found['target_language'] or '?'}"
    for problem in found["problems"]:
        yield from _wrapped(f"train would refuse this: {problem}", "")
    for severity, (heading, n_examples, _) in _HEADINGS.items():
        chosen = [finding for finding in found["findings"] if finding["severity"] == severity]
        if chosen:
            yield ""
            yield heading
        for finding in chosen:
            yield from _finding(finding, n_examples)
    yield ""
    yield from _measures_lines(found)
    yield ""
    yield from _wrapped(verdict(found), "")
    yield found["next"]


def verdict(found: dict[str, Any]) -> str:
    """Whether this is fit to train on, in a sentence."""
    if serious := found["serious"]:
        return (
            f"Verdict: not fit to train on before this is mended: {'; '.join(serious).rstrip('.')}."
        )
    n_urgent = sum(finding["severity"] == "look" for finding in found["findings"])
    if n_urgent:
        things = "one finding" if n_urgent == 1 else f"{n_urgent} findings"
        return f"Verdict: fit to train on when you have looked at {things}."
    return "Verdict: fit to train on."


def _finding(finding: dict[str, Any], n_examples: int) -> Iterator[str]:
    share = f"{finding['share']:.2%}" if finding["n"] < finding["of"] else "all"
    yield from _wrapped(f"{finding['n']:>9,}  {share:>6}  {finding['title']}", " " * 19)
    yield from _wrapped(finding["meaning"], " " * 11)
    for example in finding["examples"][:n_examples]:
        detail = f"  ({example['detail']})" if example["detail"] else ""
        yield f"           {example['file']}:{example['line']}{detail}"
        for side in ("source", "target"):
            if text := example[side]:
                yield "             " + textwrap.shorten(text, _WIDTH - 14, placeholder=" ..")
    if finding["remedy"] != "Nothing.":
        yield from _wrapped(f"-> {finding['remedy']}", " " * 11)


def _measures_lines(found: dict[str, Any]) -> Iterator[str]:
    if found["lengths"]:
        yield "lengths                   mean   low 1%   median  high 99%   longest"
        for name, row in found["lengths"].items():
            numbers = " ".join(f"{value:>8,.6g}" for value in row.values())
            yield f"  {name.replace('_', ' '):<20} {numbers}"
    for name, heading in (("scripts", "scripts"), ("languages", "languages heard")):
        for side, shares in found[name].items():
            if shares:
                shown = ", ".join(f"{key.lower()} {share:.1%}" for key, share in _most(shares))
                yield f"{heading} ({side}): {shown}"
    if found["n_sampled"] < found["kept"] and found["languages"]:
        yield f"languages: a sample of {found['n_sampled']:,} pairs"
    if valid := found["valid"]:
        yield f"validation: read {valid['read']:,} pairs, kept {valid['kept']:,}"


def _most(shares: dict[str, float]) -> list[tuple[str, float]]:
    return [(name, share) for name, share in shares.items() if share >= 0.001][:5]


def _wrapped(text: str, indent: str) -> list[str]:
    own = "" if text.startswith(" ") or not indent else indent
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=own,
        subsequent_indent=indent or "  ",
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
    )


_EXAMPLES = 5


def page(found: dict[str, Any]) -> str:
    findings = (part for severity in _HEADINGS for part in _findings(found, severity))
    return document(_title(found), (*_summary(found), *findings, *_measures_page(found)))


def _title(found: dict[str, Any]) -> str:
    return f"Data report: {found['source_language'] or '?'} to {found['target_language'] or '?'}"


def _summary(found: dict[str, Any]) -> Iterator[str]:
    yield f"<h1>{escape(_title(found))}</h1>"
    yield f'<p class="soft">{escape(", ".join(found["files"]))}</p>'
    n_urgent = sum(finding["severity"] == "look" for finding in found["findings"])
    tiles = [
        ("pairs read", f"{found['read']:,}"),
        ("kept", f"{found['kept']:,}"),
        ("dropped", f"{found['read'] - found['kept']:,}"),
        ("to look at", f"{n_urgent}"),
    ]
    shown = "".join(f"<div><b>{number}</b>{name}</div>" for name, number in tiles)
    yield f'<div class="tiles">{shown}</div>'
    for problem in found["problems"]:
        refusal = f"<h3>train would refuse this</h3>{_paragraph(problem)}"
        yield f'<article class="look">{refusal}</article>'
    yield f"<p>{escape(verdict(found))}</p>"
    yield f'<p class="do">{escape(found["next"])}</p>'


def _findings(found: dict[str, Any], severity: str) -> Iterator[str]:
    heading, _, none = _HEADINGS[severity]
    chosen = [finding for finding in found["findings"] if finding["severity"] == severity]
    yield f"<h2>{heading}</h2>"
    if not chosen:
        yield f'<p class="soft">{none}</p>'
    for finding in chosen:
        yield _card(finding)


def _card(finding: dict[str, Any]) -> str:
    share = f"{finding['share']:.2%}" if finding["n"] < finding["of"] else "all"
    remedy = finding["remedy"]
    do = f'<p class="do">{escape(remedy)}</p>' if remedy != "Nothing." else ""
    return (
        f'<article class="{finding["severity"]}" id="{escape(finding["name"])}">'
        f"<h3>{escape(finding['title'])} <span>{finding['n']:,} ({share})</span></h3>"
        f"{_paragraph(finding['meaning'])}{do}{_examples(finding)}</article>"
    )


def _examples(finding: dict[str, Any]) -> str:
    if not finding["examples"]:
        return ""
    shown = []
    for example in finding["examples"][:_EXAMPLES]:
        detail = f" ({example['detail']})" if example["detail"] else ""
        place = escape(f"{example['file']}:{example['line']}{detail}")
        texts = (escape(example[side]) for side in ("source", "target") if example[side])
        shown.append(f"<dt>{place}</dt>" + "".join(f'<dd dir="auto">{text}</dd>' for text in texts))
    state = " open" if finding["severity"] == "look" else ""
    return f"<details{state}><summary>Examples</summary><dl>{''.join(shown)}</dl></details>"


def _measures_page(found: dict[str, Any]) -> Iterator[str]:
    if not found["lengths"]:
        return
    yield "<h2>Sizes</h2>"
    rows = [["", "mean", "low 1%", "median", "high 99%", "longest"]]
    for name, row in found["lengths"].items():
        rows.append([name.replace("_", " "), *(f"{value:,.6g}" for value in row.values())])
    yield table(rows)


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>" if text else ""
