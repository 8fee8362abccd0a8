"""`headway predict`: CBOW fills a gap in a text, skip-gram tells what stands around a word."""

import re
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from headway.core.config import build
from headway.core.errors import ConfigError, DataError, RunError, command
from headway.language_models.units import TokenUnit
from headway.operations.argument_types import refuse_no_unicode, string
from headway.operations.shipped import open_folder
from headway.operations.unfinished_runs import warn_unfinished
from headway.tokenizers.words import Words
from headway.vectors.in_play import PlaceInText, places
from headway.vectors.word_vectors import WordVectors
from headway.word2vec.noise import huffman_tree
from headway.word2vec.run_vectors import mapped
from headway.word2vec.settings import Word2VecConfig

GAP = "_"
POWER = 0.75
"""Noise is drawn in proportion to this power of counts: as in `headway.word2vec.noise`."""
AROUND, NOISE, SEEN = 2, 5, 10
"""Of the context and of the noise so many words are drawn at most; of the text those so far from
the middle are shown."""


class LikelyWord(NamedTuple):
    """What may stand in a gap, or around a word."""

    token: str
    prob: float


class WordPredictor:
    """The vectors and outputs of a run, by which words predict each other.

    Trained with negative sampling, outputs tell words from noise: the logit of a word is
    log P(word | context) - log noise(word), give or take a constant (Levy and Goldberg 2014). So
    what is told adds log noise, and the softmax over all words is P.
    """

    tells: ClassVar[str] = "words"

    def __init__(self, run: Path) -> None:
        """Open a run; its matrices stay on the disk until they are looked at."""
        folder = open_folder(run)
        folder.refuse_damaged()
        sections = folder.settings()
        warn_unfinished(run, sections)
        self.run, self.vocabulary = run, Words.load(folder.tokenizer)
        self.direction = str(sections["model"].pop("type"))
        self.config = build(Word2VecConfig, sections["model"], section="model")
        self.vectors, self.outputs, self.counts = (
            mapped(folder, name) for name in ("vectors", "outputs", "counts")
        )
        self.unit = TokenUnit(sections["text"]["unit"], sections["text"]["segmenter"])
        if not self.counts.any():
            raise RunError(
                "words predict each other by inputs and outputs; a file of word vectors, which "
                f"{run} was imported from, has the first alone. Train a run: headway train --task "
                "word-vectors"
            )

    @classmethod
    def load(
        cls, run: str | Path, *, device: Any = "auto", precision: Any = "auto"
    ) -> "WordPredictor":
        """Open a finished run; one product with a matrix needs no other device.

        Raises RunError where there is none, or it is damaged.
        """
        return cls(Path(run))

    def doubts(self, text: str) -> list[str]:
        """What is to be said of a text before anything is predicted; nothing of most."""
        words = [word for part in self.parts(text) for word in self.words(part)]
        unknown = [word for word in words if not self.vocabulary.has(word)]
        said = [f"without a vector, so nothing is predicted from it: {word}" for word in unknown]
        return said if len(said) < len(words) else []

    def next(self, text: str, top: int = 10) -> list[LikelyWord]:
        """The likeliest words of the gap in a text, or around the one word of a text; 0: all.

        Raises ConfigError for what this kind of model does not tell, and for no known word.
        """
        if self.direction == "skip-gram" and GAP not in text:
            return self.around(text, top)
        return self.fill(text, top)

    def fill(self, text: str, top: int = 10) -> list[LikelyWord]:
        """The likeliest words of the gap in a text, by the known ones within the window around it;
        raises as `next`."""
        if self.direction != "cbow":
            rule = "a gap is filled by a model of the type cbow"
            raise self.other("cbow", rule, "predict RUN WORD")
        if len(parts := self.parts(text)) != 2:
            raise ConfigError(
                f"{GAP} stands for the one word that is asked for; got {text[:60]!r}, which has "
                f"{len(parts) - 1}. Try: headway predict RUN 'I ate an {GAP} today'"
            )
        asked = [self.words(part) for part in parts]
        before, behind = ([*filter(self.vocabulary.has, words)] for words in asked)
        if not before and not behind:
            raise self.unknown([word for words in asked for word in words], text)
        window = self.config.window
        return self.likeliest([*before[-window:], *behind[:window]], top)

    def around(self, word: str, top: int = 10) -> list[LikelyWord]:
        """The likeliest words around one word; raises as `next`."""
        if self.direction != "skip-gram":
            rule = "what stands around a word is told by a model of the type skip-gram"
            raise self.other("skip-gram", rule, "predict RUN 'some _ text'")
        whole = word.strip()
        words = [whole] if self.vocabulary.has(whole) else self.words(word)
        if len(words) != 1:
            raise ConfigError(
                f"what stands around one word is told; got {len(words)}: {word[:60]!r}. Ask for "
                "one at a time."
            )
        if not self.vocabulary.has(words[0]):
            raise self.unknown(words, word)
        return self.likeliest(words, top)

    def unknown(self, words: list[str], text: str) -> ConfigError:
        """What refuses a text of which no word has a vector: it names those spelled like the first
        one, and has a remedy where there is none."""
        named = self.vocabulary.pieces(np.flatnonzero(self.counts).tolist())
        alike = (
            WordVectors(named, self.vectors[: len(named)]).spelled_alike(words[0]) if words else []
        )
        listing = command("export", self.run, "words.txt", "--to", "word2vec")
        remedy = f"Spelled alike: {', '.join(alike)}." if alike else f"See which have: {listing}"
        return ConfigError(
            f"words are predicted by words that have vectors; got {text[:60]!r}. {remedy}"
        )

    def other(self, direction: str, rule: str, usage: str) -> ConfigError:
        """What refuses a question that the other type of model answers."""
        train = command("train", "--task", "word-vectors", "--model.type", direction)
        return ConfigError(
            f"{rule}; {self.run} is one of the type {self.direction}. Train one: {train}. This one "
            f"is asked by: headway {usage}"
        )

    def parts(self, text: str) -> list[str]:
        """A text parted at its gaps, which stand between spaces, or else anywhere."""
        refuse_no_unicode(text := string(text, "text"))
        found = re.split(rf"(?<!\S){GAP}(?!\S)", text)
        return found if len(found) > 1 else text.split(GAP)

    def words(self, text: str) -> list[str]:
        """The words of a text, known or not; no white space."""
        return [w for w in self.vocabulary.split(self.unit.cut(text)) if not w.isspace()]

    def likeliest(self, words: list[str], top: int) -> list[LikelyWord]:
        """The words that some others predict together, likeliest first; 0: all, which sum to 1."""
        every = [one for word in words for one in self.vocabulary.encode(word)]
        ids = [one for one in every if self.counts[one]]
        if not ids:
            raise self.unknown([], " ".join(words))
        logits = self.logits(self.vectors[ids].mean(0, dtype=np.float64))
        odds = np.exp(logits - logits.max())
        probs = odds / odds.sum()
        n_words = int((self.counts > 0).sum())
        best = np.argsort(-probs, kind="stable")[: min(top or n_words, n_words)]
        pieces = self.vocabulary.pieces(best.tolist())
        return [LikelyWord(*pair) for pair in zip(pieces, probs[best].tolist(), strict=True)]

    def logits(self, hidden: Float[NDArray, " size"]) -> Float[NDArray, " vocabulary"]:
        """log P of each word, give or take a constant; in a tree the sum of its turns' on the way
        from the root."""
        if self.config.objective == "negative-sampling":
            with np.errstate(divide="ignore"):
                return self.outputs @ hidden + POWER * np.log(self.counts)
        tree = huffman_tree(self.counts)
        turns = -np.logaddexp(0, -tree.turns * (self.outputs @ hidden)[tree.nodes])
        word = np.repeat(np.arange(len(self.counts)), np.diff(tree.starts))
        found = np.bincount(word, turns, minlength=len(self.counts))
        return np.where(self.counts > 0, found, -np.inf)


# -- for `headway map` ------------------------------------------------------------------------


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
    words = asked.words(sentence)
    known = [asked.vocabulary.has(word) for word in words]
    centre, around = places(words, known, window, SEEN)
    if not around:
        raise DataError(
            f"a place in a text has a word and one at most {SEEN} words away that have vectors; "
            "there is none. Give another --sentence."
        )
    begin, end = max(0, centre - SEEN), centre + SEEN + 1
    taken = [words[i] for i in (centre, *around)]
    ids = [asked.vocabulary.encode(word)[0] for word in taken]
    chances = asked.counts.astype(np.float64) ** POWER
    chances[ids] = 0.0
    n_noise = min(NOISE, asked.config.negatives, int((chances > 0).sum()))
    draws = np.random.default_rng(1)
    noise = draws.choice(len(chances), n_noise, replace=False, p=chances / chances.sum()).tolist()
    named = asked.vocabulary.pieces(noise)
    rows = dict(zip([*taken, *named], [*ids, *noise], strict=True))
    shown = [i - begin for i in around]
    return PlaceInText(
        asked.direction, words[begin:end], centre - begin, shown, named, rows, asked.vectors,
        asked.outputs,
    )  # fmt: skip
