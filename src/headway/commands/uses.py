"""`headway neighbours RUN --in "a sentence" --word W --corpus F`: where else a word is used so."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from headway.commands.arguments import group, print_json, say
from headway.core.errors import CONTROLS, ConfigError, DataError
from headway.core.lines import check_file, read_lines
from headway.operations.argument_types import refuse_no_unicode

if TYPE_CHECKING:
    from headway.vectors.contextual import EmbeddedText, Span

IN_A_SENTENCE = group("A word in a sentence", 1)
_AROUND = 60
"""Characters of a line that are shown on either side of the word."""


@dataclass(frozen=True, kw_only=True)
class UsesOptions:
    """What `headway neighbours` is told of a word in a sentence.

    Parameters
    ----------
    sentence
        A sentence: the uses of one of its words in a corpus that are nearest to it, as RUN sees the
        word there, whatever its capitals.
    word
        The word.
    corpus
        A text, one sentence a line.
    layer
        As in embed; else the last one.
    """

    sentence: Annotated[str | None, Parameter(name="--in"), IN_A_SENTENCE] = None
    word: Annotated[str | None, IN_A_SENTENCE] = None
    corpus: Annotated[Path | None, IN_A_SENTENCE] = None
    layer: Annotated[str | None, IN_A_SENTENCE] = None

    def __bool__(self) -> bool:
        """Whether any of them is given."""
        return any(one is not None for one in vars(self).values())


def neighbouring_uses(run: Path, told: UsesOptions, top: int, json: bool) -> None:
    """Print the uses of a word that are nearest to the one in a sentence.

    Raises:
        ConfigError: something is missing, or the word does not stand in the sentence.
        DataError: no other line of the corpus has it, or the model does not know it.
        RunError: there is no such run, or it has no vectors.
    """
    from headway.tasks import brought_by_run
    from headway.vectors.contextual import Embedder, Layers, nearest_uses, uses

    sentence, word, corpus = told.sentence, told.word, told.corpus
    if sentence is None or word is None or corpus is None:
        missing = "in" if sentence is None else "word" if word is None else "corpus"
        raise ConfigError(
            f"uses of a word are looked for with --in, --word and --corpus; --{missing} is "
            'missing. Try: headway neighbours RUN --in "He ate an apple." --word apple --corpus F'
        )
    refuse_no_unicode(sentence, word)
    check_file(corpus)
    embedder: Embedder = brought_by_run(run, "embed")(run, "auto")
    layers = Layers(told.layer or embedder.layers[-1], embedder.layers)
    [read] = embedder.embed([sentence])
    span = _meant(read, word)
    if not read.knows(span):
        raise DataError(
            f"only words that a model knows have a vector of their own; in the place of {word!r} "
            f"{run} reads its one unknown word. Ask for another word, or a run with sub-words."
        )
    lines = ((n, line) for n, line in enumerate(read_lines(corpus), start=1) if line)
    others = (one for one in uses(embedder, lines, word) if one[0].text != read.text)
    found = nearest_uses(others, layers.of(read.of([span]))[0], layers, top)
    if not found.n_uses:
        raise DataError(
            f"no other line of {corpus} has the word {word!r} as a word that the model knows. Take "
            "a larger text, or another word."
        )
    layer = layers.names[0]
    if found.same:
        say(
            f"headway: {found.n_uses:,} uses of {word!r}, and all that are spelled alike are "
            f"equally near: layer {layer} of {run} has one vector for a word, whatever stands "
            "around it"
        )
    else:
        say(
            f"headway: by layer {layer}, which sees {embedder.sees}; {found.n_uses:,} uses, of a "
            f"mean cosine of {found.mean:.4f}"
        )
    if json:
        listed = [one._asdict() for one in found.nearest if not found.same]
        meant = {"word": word, "in": read.text, "span": span, "layer": layer}
        rest = {"n_uses": found.n_uses, "mean": found.mean, "same": found.same}
        print_json({**meant, "sees": embedder.sees, **rest, "uses": listed})
    elif not found.same:
        for one in found.nearest:
            print(f"{one.cosine:.4f}\t{one.line}\t{one.marked(_AROUND).translate(CONTROLS)}")


def _meant(read: "EmbeddedText", word: str) -> "Span":
    """The place of the word in the sentence: the first, which is said where there are several."""
    from headway.vectors.contextual import occurrences

    places = occurrences(read.text, word) if word.strip() else []
    if not places:
        raise ConfigError(
            f"--word is a word of the sentence; {word!r} does not stand in {read.text!r}. Take one "
            "that does."
        )
    if len(places) > 1:
        say(
            f"headway: {word!r} stands {len(places)} times in the sentence; the first is meant. "
            "For another one, take a sentence that begins behind it."
        )
    return places[0]
