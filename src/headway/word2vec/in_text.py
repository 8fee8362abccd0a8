"""One place in a text, as a run of word vectors learns from it: what `headway map` draws."""

from pathlib import Path

import numpy as np

from headway.core.errors import DataError, RunError
from headway.vectors.in_play import PlaceInText, places
from headway.word2vec.predicting import POWER, WordPredictor

AROUND, NOISE, SEEN = 2, 5, 10
"""Of the context and of the noise so many words are drawn at most; of the text those so far from
the middle are shown."""


def place_in_text(run: Path, sentence: str) -> PlaceInText:
    """A word of a sentence that has words around it.

    Raises:
        RunError: the run has no outputs of words.
        DataError: too few words of the sentence have vectors.
    """
    asked = WordPredictor(run)
    if asked.config.objective != "negative-sampling":
        raise RunError(
            "rows in play are drawn of negative sampling; in hierarchical softmax rows of the "
            "outputs are no words but nodes of a tree. Train one: --model.objective "
            "negative-sampling"
        )
    window = min(AROUND, asked.config.window)
    words = [w for w in asked.vocabulary.split(asked.unit.cut(sentence)) if not w.isspace()]
    known = [asked.vocabulary.has(word) for word in words]
    if sum(known) < 2:
        raise DataError(
            "a place in a text has a word and one beside it that have vectors; there is none. Give "
            "another --sentence."
        )
    centre, around = places(words, known, window)
    begin, end = max(0, centre - SEEN), centre + SEEN
    taken = [words[i] for i in (centre, *around)]
    ids = [asked.vocabulary.encode(word)[0] for word in taken]
    chances = asked.counts.astype(np.float64) ** POWER
    chances[ids] = 0.0
    n_noise = min(NOISE, asked.config.negatives, int((chances > 0).sum()))
    draws = np.random.default_rng(1)
    noise = draws.choice(len(chances), n_noise, replace=False, p=chances / chances.sum()).tolist()
    named = asked.vocabulary.pieces(noise)
    rows = dict(zip([*taken, *named], [*ids, *noise], strict=True))
    shown = [i - begin for i in around if begin <= i < end]
    return PlaceInText(
        asked.direction, words[begin:end], centre - begin, shown, named, rows, asked.vectors,
        asked.outputs,
    )  # fmt: skip
