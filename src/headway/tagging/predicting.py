"""What a run of tagging says of tokens, and how often it is right."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, cast

import torch

from headway.core.lines import read_lines
from headway.labelling.predictions import Answer, Asked, OpenedLabeller
from headway.labelling.scores import LabelScores
from headway.labelling.task import Example, padded
from headway.languages.segmenting import segmenter
from headway.tagging.conll import columns, read_tagged
from headway.tagging.model import Tagger
from headway.tagging.pieces import TokenPieces, padded_targets
from headway.tagging.reading import known_sentences
from headway.tagging.schemes import LEARNED, spans_of, tags_of
from headway.tagging.scores import tag_scores
from headway.tagging.spec import SPEC

AT_ONCE, SENTENCES = 64, 512
"""Portions in a batch; sentences that are read before any is answered."""
COLORS = (36, 33, 35, 32, 34, 31)
"""Of a terminal, for types in turn."""


class WordTagger(OpenedLabeller):
    """A `headway.labelling.predictions.Predictor`."""

    spec = SPEC

    @property
    def scheme(self) -> str | None:
        """Of the tags that it was given, and writes; None for plain ones."""
        scheme: str | None = self.opened.vocabulary.facts["scheme"]
        return scheme

    @torch.inference_mode()
    def learned_tags(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """Of each token, as the model says them (in `schemes.LEARNED`, or plain)."""
        settings, vocabulary, opened, device = self.opened
        model = cast("Tagger", opened)
        pieces = TokenPieces(vocabulary, settings.data.max_length)
        portions: list[tuple[int, Example]] = [
            (number, one)
            for number, tokens in enumerate(sentences)
            for one in pieces.examples(tokens)
        ]
        order = sorted(range(len(portions)), key=lambda i: len(portions[i][1].input))
        found: dict[int, list[str]] = {}
        for first in range(0, len(order), AT_ONCE):
            chosen = order[first : first + AT_ONCE]
            some = [portions[i][1] for i in chosen]
            ids = padded(some, vocabulary.special.padding).to(device)
            starts, _, there, features = (one.to(device) for one in padded_targets(some))
            best = model.chain.best(model.emissions(ids, starts, features), there)
            for i, row, visible in zip(chosen, best, there, strict=True):
                found[i] = [vocabulary.labels[tag] for tag in row[visible].tolist()]
        tags: list[list[str]] = [[] for _ in sentences]
        for i, (number, _) in enumerate(portions):
            tags[number] += found[i]
        return tags

    def answers(self, asked: Asked, lines: Iterator[str]) -> Iterator[Answer]:
        """Of each sentence of a file of tokens, with its columns and blank lines; else of each line
        of text."""
        width = self._width(asked.file) if asked.file else 0
        parts = _blocks(lines) if width else ([line] for line in lines)
        while some := [*islice(parts, SENTENCES)]:
            tokens = [self._tokens(block, width) for block in some]
            for block, words, tags in zip(some, tokens, self.learned_tags(tokens), strict=True):
                between = " " if self.opened.vocabulary.facts["spaced"] else ""
                told = self._told(between.join(words) if width else block[0], words, tags)
                if width:
                    written = iter(told["tags"])
                    rows = (_tagged(one, width, written) if columns(one) else one for one in block)
                    yield Answer("\n".join(rows), told)
                else:
                    yield Answer(self._marked(told, asked.colored), told)

    def _tokens(self, block: Sequence[str], width: int) -> list[str]:
        if width:
            return [row[0] for row in map(columns, block) if row]
        if self.opened.vocabulary.facts["spaced"]:
            return segmenter("punctuation")(block[0]).split()
        return [one for one in block[0] if not one.isspace()]

    def _width(self, file: Path) -> int:
        """How many columns stand before the tag in a file of tokens; 0 where it is text.

        All lines of such a file have as many columns: tokens alone, or several, of which the last
        has tags, most of which this run knows, that are written anew; else a column is added.
        """
        lines = [line or "" for line in read_lines(file)]
        rows = [*filter(None, map(columns, lines))]
        width = len(rows[0]) if rows else 0
        if any(len(row) != width for row in rows):
            return 0
        facts = self.opened.vocabulary.facts
        known = {*facts["kinds"], *(["O"] if self.scheme else [])}
        tags = [row[-1].partition("-")[2] * bool(self.scheme) or row[-1] for row in rows]
        if width > 1 and 2 * sum(tag in known for tag in tags) > len(tags):
            return width - 1
        whole = facts["spaced"] or all(len(row[0]) == 1 for row in rows)
        return width if "\t" in "".join(lines) or (width == 1 and whole) else 0

    def _told(self, text: str, tokens: list[str], learned: Sequence[str]) -> dict[str, Any]:
        """Tags as the files had them; spans with their characters, of plain tags each token."""
        places, at = list[tuple[int, int]](), 0
        for token in tokens:
            at = text.index(token, at) + len(token)
            places.append((at - len(token), at))
        spans = spans_of(learned, self.scheme and LEARNED)
        told = []
        for span in spans:
            start, end = places[span.start][0], places[span.end - 1][1]
            told.append({"start": start, "end": end, "label": span.kind, "text": text[start:end]})
        tags = tags_of(spans, len(tokens), self.scheme)
        return {"text": text, "tokens": tokens, "tags": tags, "spans": told}

    def _marked(self, told: dict[str, Any], colored: bool) -> str:
        """A text in which spans are marked: `[Ada Lovelace PER]`."""
        text, at, shown = told["text"], 0, ""
        kinds = self.opened.vocabulary.facts["kinds"]
        for start, end, label, words in map(dict.values, told["spans"]):
            color = COLORS[kinds.index(label) % len(COLORS)]
            mark = (
                f"\x1b[{color}m{words}\x1b[2m {label}\x1b[0m" if colored else f"[{words} {label}]"
            )
            shown, at = shown + text[at:start] + mark, end
        return shown + text[at:]


def _blocks(lines: Iterable[str]) -> Iterator[list[str]]:
    """Sentences with the lines that part them from the next."""
    block, ended = list[str](), False
    for line in lines:
        if columns(line) and ended:
            yield block
            block = []
        ended = not columns(line)
        block.append(line)
    if block:
        yield block


def _tagged(line: str, width: int, tags: Iterator[str]) -> str:
    """A line whose column behind the first `width` is the next tag."""
    row, line = columns(line), line.rstrip(" \t")
    if len(row) > width:
        return line.removesuffix(row[-1]) + next(tags)
    return line + ("\t" if "\t" in line or width == 1 else " ") + next(tags)


def evaluated(run: Path, files: Sequence[Path]) -> LabelScores:
    """How often a run is right on tagged sentences."""
    tagger, said = WordTagger.load(run), list[str]()
    there = known_sentences(read_tagged(files), tagger.opened.vocabulary, said.append)
    found = tagger.learned_tags([one.tokens for one in there])
    return tag_scores([one.tags for one in there], found, tagger.scheme, said)
