"""The doctor's report as one HTML file: no script, nothing from elsewhere, every text escaped."""

from collections.abc import Iterator
from html import escape
from typing import Any

from headway.doctor.report import verdict
from headway.pages import document
from headway.plots import Series, VerticalMark, curve, histogram, named_bars

_EXAMPLES = 5
_HEADINGS = {
    "look": ("Look at this", "Nothing to look at."),
    "dropped": ("Will be dropped", "Nothing is dropped."),
    "information": ("For information", "Nothing else was found."),
}


def page(found: dict[str, Any]) -> str:
    parts = (
        *_summary(found),
        *_findings(found, "look"),
        *_plots(found),
        *_findings(found, "dropped"),
        *_findings(found, "information"),
        *_measures(found),
    )
    return document(_title(found), parts)


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
    heading, none = _HEADINGS[severity]
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


def _plots(found: dict[str, Any]) -> Iterator[str]:
    plots = [*_size_plots(found), *_share_plots(found)]
    if any(plots):
        yield "<h2>Plots</h2>"
        yield f'<div class="plots">{"".join(plots)}</div>'


def _size_plots(found: dict[str, Any]) -> Iterator[str]:
    drawn = found["figures"]
    yield histogram(
        "Lengths of the texts",
        "characters",
        [
            _series("source", "one", drawn["source_characters"]),
            _series("target", "two", drawn["target_characters"]),
        ],
    )
    yield histogram(
        "Target over source",
        "characters over characters",
        [_series("ratio", "one", drawn["target_over_source"])],
    )
    points = drawn["alignment"]
    yield curve(
        "How the lengths of both sides agree along the files",
        "correlation in blocks of pairs, first to last",
        [point["correlation"] for point in points],
        [
            VerticalMark(
                _place(points, finding["examples"][0]), f"line {finding['examples'][0]['line']:,}"
            )
            for finding in found["findings"]
            if finding["name"] == "misaligned"
        ],
    )


def _share_plots(found: dict[str, Any]) -> Iterator[str]:
    counts = sorted(found["dropped"].items(), key=lambda item: -item[1])
    rows = [(name.replace("_", " "), float(n), f"{n:,}") for name, n in counts]
    yield named_bars("Dropped, by reason", rows, "look")
    for name, title in (("scripts", "Scripts of the letters"), ("languages", "Languages heard")):
        for side, style in (("source", "one"), ("target", "two")):
            shares = [(k, share) for k, share in found[name].get(side, {}).items() if share > 5e-4]
            bars = [(key.lower(), share, f"{share:.1%}") for key, share in shares[:6]]
            yield named_bars(f"{title}, {side}", bars, style)


def _measures(found: dict[str, Any]) -> Iterator[str]:
    if not found["lengths"]:
        return
    yield "<h2>Sizes</h2>"
    names = ("mean", "low 1%", "median", "high 99%", "longest")
    head = "".join(f"<th>{name}</th>" for name in ("", *names))
    rows = "".join(
        f"<tr><td>{name.replace('_', ' ')}</td>"
        + "".join(f"<td>{value:,.6g}</td>" for value in row.values())
        + "</tr>"
        for name, row in found["lengths"].items()
    )
    yield f'<div class="wide"><table><tr>{head}</tr>{rows}</table></div>'


def _series(name: str, style: str, bars: dict[str, Any]) -> Series:
    return Series(name, style, bars["counts"], bars["width"])


def _place(points: list[dict[str, Any]], case: dict[str, Any]) -> float:
    """The last point that begins no later in the file than the case does."""
    before = [
        i
        for i, point in enumerate(points)
        if point["file"] == case["file"] and point["line"] <= case["line"]
    ]
    return float(max(before, default=0))


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>" if text else ""
