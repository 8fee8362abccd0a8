"""The doctor's report as lines of text, the most urgent first."""

import textwrap
from collections.abc import Iterator
from typing import Any

_WIDTH = 100
_HEADINGS = {
    "look": ("Look at this", 3),
    "dropped": ("Will be dropped", 3),
    "information": ("For information", 1),
}
"""By severity: the heading, and how many examples are shown."""


def report_lines(found: dict[str, Any]) -> Iterator[str]:
    read, kept = found["read"], found["kept"]
    yield f"read {read:,} pairs, kept {kept:,} ({kept / max(read, 1):.2%})"
    yield f"languages: {found['source_language'] or '?'} -> {found['target_language'] or '?'}"
    for problem in found["problems"]:
        yield from _wrapped(f"train would refuse this: {problem}", "")
    for severity, (heading, n_examples) in _HEADINGS.items():
        chosen = [finding for finding in found["findings"] if finding["severity"] == severity]
        if chosen:
            yield ""
            yield heading
        for finding in chosen:
            yield from _finding(finding, n_examples)
    yield ""
    yield from _measures(found)
    yield ""
    yield from _wrapped(verdict(found), "")
    yield found["next"]


def verdict(found: dict[str, Any]) -> str:
    """Whether this is fit to train on, in a sentence."""
    if serious := found["serious"]:
        return f"Verdict: not fit to train on before this is mended: {'; '.join(serious)}."
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


def _measures(found: dict[str, Any]) -> Iterator[str]:
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
