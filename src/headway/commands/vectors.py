"""The verbs of word vectors, `headway neighbours`, `analogy` and `similarity`: of a run of any task
that has some, or of a file."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from unicodedata import normalize

from cyclopts import Parameter

from headway.commands.arguments import print_json, say
from headway.commands.lines import chunks_of
from headway.commands.uses import UsesOptions, neighbouring_uses
from headway.core.errors import CONTROLS, ConfigError, DataError

if TYPE_CHECKING:
    from headway.vectors.word_vectors import Neighbour, WordVectors

NOTHING_TOLD = UsesOptions()


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
    /,
    *word: str,
    top: int = 10,
    json: bool = False,
    told: Annotated[UsesOptions, Parameter(name="*")] = NOTHING_TOLD,
) -> int:
    """The words nearest to a word by the cosine of their vectors, the nearest first.

    Beside them stands what is chance: the cosines of vectors that point anywhere. With --in the
    nearest uses of a word in a corpus, as a model sees the word in each sentence.

    Parameters
    ----------
    place
        A run of word vectors or of a model that has some, or a file of them.
    word
        One or several words; without them, each line of standard input is one.
    top
        How many.
    json
        Print one JSON object: {"neighbours": [{"word", "cosine"}], "chance": {..}}; of several
        words {"answers": [{"asked": [..], "neighbours"}], "chance": {..}}. With --in {"uses":
        [{"line", "text", "span", "cosine"}], "n_uses", "mean", "same", ..}.
    """
    _refuse_below_one(top)
    if told:
        if word:
            raise ConfigError(
                f"a word in a sentence is named with --word; got {word[0]!r} as well. Leave it out."
            )
        neighbouring_uses(place, told, top, json)
        return 0
    vectors = opened(place)
    asked = ((one,) for one in word) if word else _from_standard_input(1)
    return _answered(
        vectors,
        asked,
        len(word) == 1,
        json,
        "neighbours",
        partial(vectors.neighbours, top=top),
    )


def analogy(place: Path, /, *three: str, top: int = 10, json: bool = False) -> int:
    """What is to the third word as the second is to the first: man king woman, and it is queen.

    These are the words nearest to the second less the first and with the third, each of length 1;
    the three themselves are no answers.

    Parameters
    ----------
    place
        A run of word vectors or of a model that has some, or a file of them.
    three
        Three words; without them, each line of standard input has three, with tabs or spaces
        between.
    top
        How many answers.
    json
        Print one JSON object, as neighbours does.
    """
    _refuse_below_one(top)
    asked = _one_question(three, 3, "analogy RUN man king woman")
    vectors = opened(place)
    return _answered(
        vectors, asked, bool(three), json, "neighbours", partial(vectors.analogy, top=top)
    )


def similarity(place: Path, /, *two: str, json: bool = False) -> int:
    """How near two words are: the cosine of their vectors.

    Parameters
    ----------
    place
        A run of word vectors or of a model that has some, or a file of them.
    two
        Two words; without them, each line of standard input has two, with tabs or spaces between.
    json
        Print one JSON object: {"similarity": 0.71, "chance": {..}}; of several pairs {"answers":
        [{"asked": [..], "similarity"}], "chance": {..}}.
    """
    asked = _one_question(two, 2, "similarity RUN king queen")
    vectors = opened(place)
    return _answered(vectors, asked, bool(two), json, "similarity", vectors.similarity)


def _answered(
    vectors: "WordVectors",
    asked: Iterator[tuple[str, ...]],
    one: bool,
    json: bool,
    name: str,
    answer: "Callable[..., list[Neighbour] | float]",
) -> int:
    """Print what is asked, each as soon as it is known; the exit status. Raises DataError where
    `one` question is asked, of a word that is not there; of several, those are said and left out,
    and the status is 2."""
    from headway.vectors.chance import chance

    by_chance = chance(vectors.size, max(1, len(vectors) - 1))
    status, chance_said, ready = 0, False, []
    for question in asked:
        found: list[Neighbour] | float | None
        try:
            found = answer(*(_as_in(vectors, word) for word in question))
        except DataError as error:
            if one:
                raise
            say(f"headway: {error}")
            status, found = 2, None
        if json:
            ready.append({"asked": question, name: _for_json(found)})
        elif found is not None:
            if not chance_said:
                say(f"headway: {by_chance}")
                chance_said = True
            _print_answer(question, found, one)
    if json:
        told = {name: ready[0][name]} if one else {"answers": ready}
        print_json({**told, "chance": by_chance._asdict()})
    return status


def _as_in(vectors: "WordVectors", word: str) -> str:
    """As it was typed or, where there is no such word, in NFC, as the words of runs are."""
    return word if word in vectors else normalize("NFC", word)


def _print_answer(asked: tuple[str, ...], found: "list[Neighbour] | float", one: bool) -> None:
    question = "\t".join(asked).translate(CONTROLS)
    if isinstance(found, float):
        print(f"{found:.4f}" + f"\t{question}" * (not one), flush=True)
        return
    lines = [f"{cosine:.4f}\t{word.translate(CONTROLS)}" for word, cosine in found]
    print("\n".join(lines if one else [question, *lines, ""]), flush=True)


def _for_json(found: "list[Neighbour] | float | None") -> Any:
    return [it._asdict() for it in found] if isinstance(found, list) else found


def _refuse_below_one(top: int) -> None:
    if top < 1:
        raise ConfigError(f"--top is how many words are shown; got {top}. Try --top 10.")


def _one_question(words: Sequence[str], n: int, example: str) -> Iterator[tuple[str, ...]]:
    """These words as one question; without any, those of standard input."""
    if not words:
        return _from_standard_input(n)
    if len(words) != n:
        raise ConfigError(
            f"this is asked of {n} words; got {len(words)}. Try: headway {example}. Many are "
            "asked on standard input, one question a line."
        )
    return iter([tuple(words)])


def _from_standard_input(n: int) -> Iterator[tuple[str, ...]]:
    """One question a line, of `n` words; blank lines are none. One word is the whole line."""
    number = 0
    for lines in chunks_of(None):
        for line in lines:
            number += 1
            between = "\t" if "\t" in line or n == 1 else None
            words = tuple(word.strip() for word in line.strip().split(between))
            if line.strip() and len(words) != n:
                raise DataError(
                    f"a line of standard input has {n} word{'s' * (n > 1)}, or is blank; line "
                    f"{number:,} has {len(words)}: {line[:80]!r}. Words with spaces in them are "
                    "parted by tabs."
                )
            if line.strip():
                yield words
