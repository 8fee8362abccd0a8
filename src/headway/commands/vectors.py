"""The verbs of word vectors, `headway neighbours`, `analogy` and `similarity`: of a run of any task
that has some, or of a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from unicodedata import normalize

from cyclopts import Parameter

from headway.commands.arguments import print_json, say
from headway.commands.uses import UsesOptions, neighbouring_uses
from headway.core.errors import CONTROLS, ConfigError

if TYPE_CHECKING:
    from headway.vectors.word_vectors import Neighbour, WordVectors

NOTHING_TOLD = UsesOptions()
ALIKE = 0.9
"""A cosine of words that are hardly told apart, where all that are shown have more."""


def opened(place: Path) -> "WordVectors":
    """Those of a file, or of a run.

    Raises:
        DataError: there is no such file, or it is not one of word vectors.
        RunError: the folder is no run, or one that has none.
    """
    if place.is_file():  # at once: tasks take longer to load than a file of any size
        from headway.vectors.files import open_vectors

        return open_vectors(place, say)
    from headway.tasks.word_vectors import word_vectors

    return word_vectors(place, say)


def neighbours(
    place: Path,
    word: str | None = None,
    /,
    *,
    top: int = 10,
    json: bool = False,
    told: Annotated[UsesOptions, Parameter(name="*")] = NOTHING_TOLD,
) -> None:
    """The words nearest to a word by the cosine of their vectors, the nearest first.

    Beside them stands what is chance: the cosines of vectors that point anywhere. With --in the
    nearest uses of a word in a corpus, as a model sees the word in each sentence.

    Parameters
    ----------
    place
        A run of word vectors or of a model that has some, or a file of them.
    word
        A word.
    top
        How many.
    json
        Print one JSON object: {"neighbours": [{"word", "cosine"}], "chance": {..}}. With --in
        {"uses": [{"line", "text", "span", "cosine"}], "n_uses", "mean", "same", ..}.
    """
    _refuse_below_one(top)
    if told:
        if word is not None:
            raise ConfigError(
                f"a word in a sentence is named with --word; got {word!r} as well. Leave it out."
            )
        neighbouring_uses(place, told, top, json)
        return
    if word is None:
        raise ConfigError("neighbours are those of a word. Try: headway neighbours RUN apple")
    vectors = opened(place)
    _print(vectors, vectors.neighbours(_as_in(vectors, word), top), json)


def analogy(
    place: Path, one: str, other: str, third: str, /, *, top: int = 10, json: bool = False
) -> None:
    """What is to the third word as the second is to the first: man king woman, and it is queen.

    Answers are the words nearest to the second less the first and with the third, each of length 1;
    the three themselves are none.

    Parameters
    ----------
    place
        A run of word vectors or of a model that has some, or a file of them.
    one
        A word.
    other
        What is to it as the answer is to the third.
    third
        Another word.
    top
        How many answers.
    json
        Print one JSON object, as neighbours does.
    """
    _refuse_below_one(top)
    vectors = opened(place)
    one, other, third = (_as_in(vectors, word) for word in (one, other, third))
    _print(vectors, vectors.analogy(one, other, third, top), json)


def similarity(place: Path, one: str, other: str, /, *, json: bool = False) -> None:
    """How near two words are: the cosine of their vectors.

    Parameters
    ----------
    place
        A run of word vectors or of a model that has some, or a file of them.
    one
        A word.
    other
        Another one.
    json
        Print one JSON object: {"similarity": 0.71, "chance": {..}}.
    """
    vectors = opened(place)
    _print(vectors, vectors.similarity(_as_in(vectors, one), _as_in(vectors, other)), json)


def _as_in(vectors: "WordVectors", word: str) -> str:
    """As it was typed or, where there is no such word, in NFC, as the words of runs are."""
    return word if word in vectors else normalize("NFC", word)


def _print(vectors: "WordVectors", found: "list[Neighbour] | float", json: bool) -> None:
    from headway.vectors.chance import chance

    by_chance = chance(vectors.size, max(1, len(vectors) - 1))
    if json:
        name = "neighbours" if isinstance(found, list) else "similarity"
        answer = [it._asdict() for it in found] if isinstance(found, list) else found
        print_json({name: answer, "chance": by_chance._asdict()})
        return
    say(f"headway: {by_chance}")
    if isinstance(found, list):
        if found and found[-1].cosine > ALIKE and found[-1].cosine > by_chance.largest:
            say(
                f"headway: all of these are as near as {found[-1].cosine:.2f}: vectors that have "
                "learned too little are. Train with more --training.epochs, or a longer --budget"
            )
        print("\n".join(f"{cosine:.4f}\t{word.translate(CONTROLS)}" for word, cosine in found))
    else:
        print(f"{found:.4f}")


def _refuse_below_one(top: int) -> None:
    if top < 1:
        raise ConfigError(f"--top is how many words are shown; got {top}. Try --top 10.")
