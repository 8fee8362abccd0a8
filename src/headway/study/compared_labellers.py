"""Runs that label, in a comparison: they label the same examples."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from headway.classification.predicting import TextClassifier
from headway.classification.reading import SEVERAL, read_labelled, refuse_several
from headway.core.disk import checksum, digest
from headway.core.errors import ConfigError, DataError
from headway.labelling.data import held_out, kinds_of
from headway.labelling.scores import LabelScores, one_label_scores, several_labels_scores
from headway.study.compared_runs import (
    ComparisonRequest,
    Entrant,
    Figure,
    Rows,
    RunResults,
    Work,
    refuse_changed,
)
from headway.tagging.conll import TaggedSentence, read_tagged
from headway.tagging.predicting import WordTagger
from headway.tagging.reading import known_sentences
from headway.tagging.scores import tag_scores


def classifier(request: ComparisonRequest) -> Entrant:
    """A run of text classification; a label that it does not know is one that it gets wrong."""
    used = TextClassifier.load(request.run)
    settings, vocabulary, model, _ = used.opened

    def read(files: Sequence[Path]) -> Rows:
        found = read_labelled(files, settings.data)
        if not vocabulary.facts.get("several"):
            refuse_several(found)
        return [(row.text, SEVERAL.join(row.labels)) for row in found]

    def begin(rows: Rows) -> Work:
        texts = [text for text, _ in rows]
        known, several = vocabulary.labels, vocabulary.facts.get("several")
        right = [label.split(SEVERAL) for _, label in rows]
        names = (*known, *sorted({name for some in right for name in some} - {*known, ""}))

        def examined(probs: Any) -> RunResults:
            marked = np.array([[name in some for name in names] for some in right])
            wide = np.pad(probs, ((0, 0), (0, len(names) - len(known))))
            if several:
                scores = several_labels_scores(marked, wide, names)
            else:
                scores = one_label_scores(marked.argmax(1), wide, names)
            said = [used.answer(text, one, 1) for text, one in zip(texts, probs, strict=True)]
            return results(scores, rows, known, lambda i: said[i].shown.partition("\t")[0])

        return Work(
            lambda: used.probabilities(texts), lambda i: used.probabilities([texts[i]]), examined
        )

    return _entrant(
        request, settings, model, read, begin, lambda row: [*filter(None, row[1].split(SEVERAL))]
    )


def tagger(request: ComparisonRequest) -> Entrant:
    """A run of tagging."""
    used = WordTagger.load(request.run)
    settings, vocabulary, model, _ = used.opened
    sentences = dict[tuple[str, ...], TaggedSentence]()

    def read(files: Sequence[Path]) -> Rows:
        whole = known_sentences(read_tagged(files), vocabulary, request.say)
        rows = [(" ".join(one.tokens), " ".join(one.tags)) for one in whole]
        sentences.update(zip(rows, whole, strict=True))
        return rows

    def begin(rows: Rows) -> Work:
        there = [sentences[row] for row in rows]
        tokens = [one.tokens for one in there]

        def examined(tags: Sequence[Sequence[str]]) -> RunResults:
            scores = tag_scores([one.tags for one in there], tags, used.scheme)
            kinds = vocabulary.facts["kinds"]
            return results(scores, rows, kinds, lambda i: " ".join(tags[i]))

        return Work(
            lambda: used.learned_tags(tokens), lambda i: used.learned_tags([tokens[i]]), examined
        )

    return _entrant(request, settings, model, read, begin)


def _entrant(
    request: ComparisonRequest,
    settings: Any,
    model: Any,
    read: Callable[[Sequence[Path]], Rows],
    begin: Callable[[Rows], Work],
    labels: Callable[[Any], Sequence[str]] | None = None,
) -> Entrant:
    """A run, and the examples that it may be measured on: those of --corpus, or what it was
    validated on: without other files, those held out of its corpus by the `labels` of each row.

    Raises:
        ConfigError: other files are given, or a tag.
        DataError: files cannot be read, or those that it was validated on have changed.
    """
    given = {f"--{name}": files for name, files in request.files.items() if name != "corpus"}
    if given or request.tag is not None:
        raise ConfigError(
            f"runs that label are compared on --corpus F; got {next(iter(given), '--tag')}. Leave "
            "it out."
        )
    files = request.files.get("corpus", ())
    data = settings.data
    own = [] if files else [*(data.valid_corpus or data.corpus)]
    try:
        refuse_changed(request.run, {str(path): checksum(path) for path in own})
        rows = read(files or own)
    except (OSError, DataError) as error:
        raise DataError(f"{error} Or give a test set: --corpus F.") from None
    if not files and not data.valid_corpus:
        inputs, kinds = [row[0] for row in rows], labels and kinds_of(map(labels, rows))
        _, rows = held_out(rows, settings.runtime.seed, "examples", inputs, kinds)
    return Entrant(
        model=model,
        rows=rows,
        row="example",
        rows_are="examples of the test files" if files else "validation examples",
        begin=begin,
        stand_alone=True,
        shown=lambda row: (row[0], row[1]),
    )


def results(
    scores: LabelScores, rows: Rows, labels: Sequence[str], output: Callable[[int], str]
) -> RunResults:
    """What came of some examples; figures are ranked where examples and labels are the same."""
    fingerprint = digest([list(row) for row in rows])[:12]
    held = {
        "the test set": f"{len(rows):,} examples, {fingerprint}",
        "the set of labels": ", ".join(labels),
    }
    figures = [
        Figure(f"{name.replace('_', '-')}, %", one, True, held, tested=one.formula)
        for name, one in scores.statistics.items()
    ]
    return RunResults(figures, output)
