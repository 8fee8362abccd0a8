"""docs/why.md and docs/why.zh-CN.md, written from the figures that are in the cache.

Both pages have the same numbers: they come from the same claims and tables.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from whys.cells import Cell, found, seconds_of
from whys.plots import drawn
from whys.question import Claim, Found, Question, Table, Text, verdict

from headway.disk import write_text
from headway.runtime import machine

PAGES = ("why.md", "why.zh-CN.md")
OUTCOMES = {
    "holds": Text("holds", "成立"),
    "fails": Text("does not hold", "不成立"),
    "open": Text("open", "未定"),
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
        text = page(answers, language, facts(every, root))
        write_text(docs / name, text)
        written.append(docs / name)
    return written


def facts(cells: Sequence[Cell], root: Path) -> Mapping[str, str]:
    """How much was measured, and where."""
    done = {cell.key: cell for cell in cells if found(cell, root) is not None}
    n_trained = sum(cell.work in ("train", "norm") for cell in done.values())
    return {
        "cells": f"{len(done)}",
        "of": f"{len({cell.key for cell in cells})}",
        "trainings": f"{n_trained}",
        "minutes": f"{seconds_of(done.values(), root) / 60:.0f}",
        "machine": ", ".join(str(value) for value in machine().values()),
    }


def page(answers: Sequence[Answer], language: int, known: Mapping[str, str]) -> str:
    """One page, in English (0) or Chinese (1)."""
    parts = [HEAD[language].format(**known), summary(answers, language)]
    parts += [section(answer, language) for answer in answers]
    return "\n".join(parts)


HEAD = Text(
    """# Why the Transformer is as it is: every reason measured

[中文](why.zh-CN.md)

The five notes behind headway give reasons: a fixed vector forgets, so there is attention; recurrence is slow, so there is none; dot products grow, so they are scaled. Here each reason is put to the test, on
data that the repository writes itself. `make why` measures it all anew, `python benchmarks/why.py --only NAME` one question, and `python benchmarks/why.py --data DIR` repeats the main ones on Multi30k.

**This page is written by that script**, verdicts included: each claim holds, does not hold or stays open as its figures say, by the margin that stands beside it. A claim *holds* where the difference is
larger than the margin and than twice its standard error over the seeds; it *does not hold* where a difference as large as the margin is excluded by the same error; else it is *open*. Small models, short
trainings, generated text: what is true here need not be true of a large model, and a reason that fails here may hold there.

Measured: {cells} of {of} cells, {trainings} of them trainings, {minutes} processor minutes (one thread each), on {machine}.
Unless a row says otherwise a model is a Transformer of width 64 with 2 + 2 layers, 4 heads and Pre-LN, trained by headway's own trainer; ± is the standard deviation over the seeds.
""",
    """# 为什么是这样：逐条实测

[English](why.md)

headway 背后的五份笔记给出了许多理由：定长向量记不住，所以要注意力；循环太慢，所以去掉循环；点积会变大，所以要缩放。这里对每条理由做实验，数据全由仓库自己生成。
`make why` 全部重测，`python benchmarks/why.py --only NAME` 只测一个问题，`python benchmarks/why.py --data DIR` 在 Multi30k 上重复其中主要的几个。

**本页由该脚本写成**，结论也是算出来的：每条论断旁边都写明了界限，成立与否只看数字。差距大于界限、又大于标准误的两倍，记为*成立*；按同样的误差可以排除这么大的差距，记为*不成立*；其余记为*未定*。
模型小，训练短，文本是生成的：这里成立的，大模型上未必成立；这里不成立的，别处也可能成立。

已测：{of} 项中的 {cells} 项，其中训练 {trainings} 次，处理器时间 {minutes} 分钟（每次单线程），机器：{machine}。
除非另有说明，模型是宽 64、2 + 2 层、4 个头、Pre-LN 的 Transformer，由 headway 自己的训练器训练；± 是各随机种子之间的标准差。
""",
)


def summary(answers: Sequence[Answer], language: int) -> str:
    """Every question with its verdict."""
    head = Text("| question | verdict |", "| 问题 | 结论 |")[language]
    rows = [
        f"| [{one.question.title[language]}](#{one.question.name}) "
        f"| {verdict(one.claims)[language]} |"
        for one in answers
    ]
    return "\n".join([head, "|---|---|", *rows, ""])


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
        f"## {question.name}",
        "",
        f"**{question.title[language]}**",
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
