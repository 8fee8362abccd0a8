"""`headway embed`: a vector for every word of a text."""

import json as json_text
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from headway.commands.arguments import Unread, say
from headway.commands.lines import chunks_of
from headway.commands.one_text import runtime_and_name
from headway.core.errors import ConfigError
from headway.core.lines import check_file

if TYPE_CHECKING:
    from headway.vectors.contextual import Embedder, Layers
    from headway.vectors.embedded_files import EmbeddedLine


def embed(
    run: Path,
    /,
    *file: Unread,
    layer: str | None = None,
    out: Path | None = None,
    json: bool = False,
) -> None:
    """A vector for every word of a text, as a model sees it there; lines are read one by one.

    Words are what white space separates (of scripts without spaces, the pieces that the model
    reads); of a word that the model reads in pieces the vector is the mean of theirs. A blank line
    has no words, and keeps its place.

    Parameters
    ----------
    run
        Folder of a trained translator, whose encoder reads, of a language model, masked or not, or
        of word vectors.
    file
        Text; without it, standard input. Beside it, settings of [runtime]: --runtime.threads 1.
    layer
        Its number or name: 0 is what goes into the first one, the embedding. mean is the mean of
        all. Without it, all layers are written.
    out
        A file of the safetensors format: vectors [words, size], or [words, layers, size] of all
        layers; offsets [lines + 1], where in it a line begins; tokens, the words with a line feed
        behind each.
    json
        Print one JSON object: {"layers": [..], "lines": [{"tokens": [..], "vectors": [..]}]}.
    """
    from headway.tasks import brought_by_run
    from headway.vectors.contextual import Layers

    if (out is None) is not json:
        raise ConfigError(
            "vectors go to a file (--out F.safetensors) or are printed (--json): got "
            f"{'both' if json else 'neither'}. Give one of them."
        )
    if out is not None and out.exists() and not out.is_file():
        raise ConfigError(
            f"--out is a file, in front of which its sizes are written at the end; {out} is none. "
            "Give another name, or print with --json."
        )
    runtime, named = runtime_and_name(embed, file)
    text = None if named is None else Path(named)
    if text is not None:
        check_file(text)
        if out is not None and out.exists() and out.samefile(text):
            from headway.filling.inputs import replaced

            raise replaced(text)
    embedder: Embedder = brought_by_run(run, "embed")(run, runtime.device)
    layers = Layers(layer, embedder.layers)
    names = [*layers.names]
    texts = chain.from_iterable(chunks_of(text))
    if json:
        print_lines(embedded_lines(embedder, texts, layers), names)
        return
    from headway.vectors.embedded_files import write_embedded

    assert out is not None
    n_words = write_embedded(out, embedded_lines(embedder, texts, layers), names)
    say(f"vectors of {n_words:,} words, of layer {', '.join(names)}, written to {out}")


def embedded_lines(
    embedder: "Embedder", texts: Iterable[str], layers: "Layers"
) -> "Iterator[EmbeddedLine]":
    """The words of each text, and their vectors; how many words are unknown is said."""
    from headway.vectors.embedded_files import EmbeddedLine

    n_unknown = 0
    for one in embedder.embed(texts):
        words = one.words()
        n_unknown += sum(not one.knows(span) for span in words)
        vectors = layers.of(one.of(words))
        yield EmbeddedLine([one.text[begin:end] for begin, end in words], vectors)
    if n_unknown:
        say(f"{n_unknown:,} words are unknown to the model: it reads the same in place of each")


def print_lines(lines: "Iterable[EmbeddedLine]", names: list[str]) -> None:
    """One JSON object, a line of it for each line; numbers are float32, exactly."""
    print(f'{{"layers": {json_text.dumps(names, ensure_ascii=False)}, "lines": [', flush=True)
    for number, one in enumerate(lines):
        flat = [float(f"{x:.9g}") for x in one.vectors.ravel().tolist()]
        vectors = np.array(flat, object).reshape(one.vectors.shape).tolist()
        found = {"tokens": one.words, "vectors": vectors}
        print("," * bool(number) + json_text.dumps(found, ensure_ascii=False), flush=True)
    print("]}", flush=True)
