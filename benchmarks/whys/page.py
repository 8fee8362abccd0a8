"""docs/why.md and docs/why.zh-CN.md, written from the figures that are in the cache.

Both pages have the same numbers: they come from the same claims and tables.
"""

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from headway.core.disk import write_text
from whys.cells import Cell, found, stored
from whys.opening import OPENING
from whys.plots import drawn
from whys.question import Claim, Found, Question, Table, Text, verdict

PAGES = ("why.md", "why.zh-CN.md")
OUTCOMES = {
    "holds": Text("holds", "成立"),
    "fails": Text("does not hold", "不成立"),
    "open": Text("open", "尚无定论"),
    "missing": Text("not measured", "未测"),
}
COMMAND = "python benchmarks/why.py --only"


class Answer(NamedTuple):
    """A question with its figures and what follows from them."""

    question: Question
    found: Found
    claims: list[Claim]
    tables: list[Table]
    n_cells: int
    n_done: int


def answered(question: Question, root: Path) -> Answer:
    """What the cells that are done say."""
    figures = {
        label: [one for cell in cells if (one := found(cell, root)) is not None]
        for label, cells in question.cells.items()
    }
    n_cells = sum(map(len, question.cells.values()))
    n_done = sum(map(len, figures.values()))
    return Answer(
        question, figures, question.claims(figures), question.tables(figures), n_cells, n_done
    )


def write_pages(questions: Sequence[Question], root: Path, docs: Path) -> list[Path]:
    """Both pages and every picture; returns what was written."""
    answers = [answered(question, root) for question in questions]
    written = []
    for answer in answers:
        if answer.n_done:
            drawn(answer.question, answer.found, docs / "why" / f"{answer.question.name}.png")
    every = [cell for question in questions for some in question.cells.values() for cell in some]
    for language, name in enumerate(PAGES):
        text = page(answers, language, facts(every, root, language))
        write_text(docs / name, text)
        written.append(docs / name)
    return written


def facts(cells: Sequence[Cell], root: Path, language: int) -> Mapping[str, str]:
    """How much was measured, and where and by what."""
    every = {cell.key: (cell, stored(cell, root)) for cell in cells}
    done = [(cell, kept) for cell, kept in every.values() if kept is not None]
    places = Counter(place(kept, language) for _, kept in done)
    return {
        "cells": f"{len(done)}",
        "of": f"{len(every)}",
        "trainings": f"{sum(cell.work in ('train', 'norm') for cell, _ in done)}",
        "minutes": f"{sum(kept['seconds'] for _, kept in done) / 60:.0f}",
        "places": "; ".join(f"{name} ({n})" for name, n in places.items()) or "-",
    }


def place(kept: Mapping[str, Any], language: int) -> str:
    """The machine and the versions that measured a cell; earlier ones do not say."""
    if "machine" not in kept:
        return Text("not recorded", "没有记录")[language]
    of, versions = kept["machine"], kept["versions"]
    processor = f"{of['cpu']}, cores: {of['cores']}, threads: {kept['threads']}"
    package = f"headway {versions['headway']} {versions['revision']}".rstrip()
    return f"{processor}, torch {versions['torch']}, {package}"


def page(answers: Sequence[Answer], language: int, known: Mapping[str, str]) -> str:
    """One page, in English (0) or Chinese (1)."""
    parts = [OPENING[language].format(**known), summary(answers, language)]
    parts += [section(answer, language) for answer in answers]
    return "\n".join(parts)


def summary(answers: Sequence[Answer], language: int) -> str:
    """Every question with its verdict."""
    head = Text("| question | verdict |", "| 问题 | 结论 |")[language]
    rows = [
        f"| [{one.question.title[language]}](#{anchor(one.question.title[language])}) "
        f"| {verdict(one.claims)[language]} |"
        for one in answers
    ]
    return "\n".join([head, "|---|---|", *rows, ""])


def anchor(heading: str) -> str:
    """What a link to a heading is called: lower case, dashes for spaces, no punctuation."""
    kept = (c for c in heading.lower() if c in " -_" or unicodedata.category(c)[0] in "LNM")
    return "".join("-" if c == " " else c for c in kept)


def section(answer: Answer, language: int) -> str:
    """One question: what is said, what was done, what came out."""
    question = answer.question
    said, tried, found_words, done = (
        Text("**The notes say.**", "**笔记说：**"),
        Text("**The experiment.**", "**实验：**"),
        Text("**Verdict:", "**结论："),
        Text("cells are measured", "项已测"),
    )
    lines = [
        f"## {question.title[language]}",
        "",
        f"{said[language]} {question.notes[language]}",
        "",
        f"{tried[language]} {question.experiment[language]}",
        "",
        f"```\n{COMMAND} {question.name}\n```",
        "",
    ]
    if answer.n_done < answer.n_cells:
        lines += [f"({answer.n_done} / {answer.n_cells} {done[language]})", ""]
    for table in answer.tables:
        lines += [as_markdown(table, language), ""]
    if answer.n_done:
        alt = question.title[language]
        lines += [f"![{alt}](why/{question.name}.png)", "", question.caption[language], ""]
    lines += [f"{found_words[language]} {verdict(answer.claims)[language]}**", ""]
    lines += [
        f"- *{OUTCOMES[claim.outcome][language]}*: {claim.says[language]} "
        f"({claim.figures[language]})"
        for claim in answer.claims
    ]
    return "\n".join([*lines, ""])


def as_markdown(table: Table, language: int) -> str:
    """A table of a page."""
    rows = [[cell[language] for cell in row] for row in (table.header, *table.rows)]
    rows.insert(1, ["---"] * len(table.header))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
