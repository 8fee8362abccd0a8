"""Runs that label texts, opened to be looked into."""

import unicodedata
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from headway.classification.predicting import TextClassifier
from headway.classification.reading import read_labelled
from headway.core.errors import ConfigError, DataError
from headway.core.lines import read_lines
from headway.core.run_folder import RunFolder
from headway.inspection.label_page import InspectedLabeller, page_of
from headway.labelling.data import held_out, kinds_of
from headway.labelling.evidence import LabelReader, TextInWords, in_words
from headway.labelling.predictions import InspectionPage, InspectionRequest
from headway.labelling.vocabulary import around
from headway.language_models.units import TokenUnit
from headway.languages.segmenting import segmenter
from headway.masked_language_models.filling import MaskedText, MaskFiller
from headway.masked_language_models.masking import MASKS
from headway.masked_language_models.model import AskedPlace, MaskedLanguageModel
from headway.operations.argument_types import refuse_no_unicode
from headway.runs.resuming import why_not_read
from headway.runs.settings import Settings
from headway.tagging.conll import read_tagged
from headway.tagging.model import Tagger
from headway.tagging.pieces import TokenPieces
from headway.tagging.predicting import WordTagger
from headway.tagging.schemes import LEARNED, spans_of
from headway.tagging.spelling import hashed

Own = tuple[list[str], Sequence[Any] | None]
"""Texts, and of what kind each is: of each kind the same share is held out."""
MOST_ASKED = 8
"""Spans of a text that are looked at."""
MOST_LINES, SHORT = 500, 160
"""Lines of a corpus that are read, and characters of each."""


def classifier(run: Path) -> InspectedLabeller:
    """A run of text classification."""
    settings, vocabulary, model, _ = TextClassifier.load(run).opened
    data = settings.data

    def read(text: str) -> list[TextInWords]:
        refuse_no_unicode(text)
        text = vocabulary.cut(unicodedata.normalize("NFC", text))
        ids = vocabulary.marked(vocabulary.tokens.encode(text), data.max_length)
        n_first = len(around(vocabulary.special)[0])
        spans = vocabulary.tokens.source_spans(text)[: len(ids) - n_first - 1]
        words, places = in_words(text, spans)
        return [TextInWords(ids, words, [[n_first + i for i in word] for word in places])]

    def read_own(files: Sequence[Path]) -> Own:
        found = read_labelled(files, data)
        return [one.text for one in found], kinds_of(one.labels for one in found)

    own_texts = partial(_own, run, settings, read_own)
    reader = LabelReader(
        model, vocabulary.special.padding, several=bool(vocabulary.facts.get("several"))
    )
    return InspectedLabeller(run, reader, vocabulary.labels, read, own_texts)


def tagger(run: Path) -> InspectedLabeller:
    """A run of tagging: of each span the first word."""
    used = WordTagger.load(run)
    settings, vocabulary, opened, _ = used.opened
    model, pieces = cast("Tagger", opened), TokenPieces(vocabulary, settings.data.max_length)
    spaced = vocabulary.facts["spaced"]

    def read(text: str) -> list[TextInWords]:
        refuse_no_unicode(text)
        words = segmenter("punctuation")(text).split() if spaced else [*"".join(text.split())]
        if not words:
            return []
        (tags,), one = used.learned_tags([words]), next(pieces.examples(words))
        begins = [*one.target.starts.tolist(), len(one.input) - 1]
        places = [[*range(*pair)] for pair in pairwise(begins)]
        whole = TextInWords(one.input.tolist(), words[: len(places)], places)
        spans = spans_of(tags[: len(places)], used.scheme and LEARNED)
        return [whole._replace(asked=span.start) for span in spans[:MOST_ASKED]]

    def features(text: TextInWords) -> NDArray[np.int64]:
        seen = hashed(text.words, pieces.kind)
        found = np.zeros((len(text.ids), len(seen[0])), np.int64)
        found[[places[0] for places in text.places]] = seen
        return found

    def of_word(emissions: Tensor, texts: Sequence[TextInWords]) -> Tensor:
        """Logarithms of the chain's marginals: the gradient of log Z by each emission."""
        firsts = [torch.tensor([places[0] for places in text.places]) for text in texts]
        starts = nn.utils.rnn.pad_sequence(firsts, batch_first=True).to(emissions.device)
        there = torch.arange(starts.shape[1]) < torch.tensor([[len(one)] for one in firsts])
        with torch.enable_grad():
            own = emissions.gather(1, starts[:, :, None].expand(-1, -1, emissions.shape[2]))
            own = own if own.requires_grad else own.requires_grad_()
            total = model.chain.log_partition(own, there.to(emissions.device)).sum()
            (marginals,) = torch.autograd.grad(total, own, create_graph=True)
        return marginals[range(len(texts)), [text.asked for text in texts]].clamp(min=1e-12).log()

    own_texts = partial(_own, run, settings, lambda files: (
        [(" " if spaced else "").join(one.tokens) for one in read_tagged(files)], None
    ))  # fmt: skip
    reader = LabelReader(model, vocabulary.special.padding, features=features, of_word=of_word)
    return InspectedLabeller(run, reader, vocabulary.labels, read, own_texts)


def hidden_words(run: Path) -> InspectedLabeller:
    """A masked language model: its labels are the pieces that may stand at a hidden place. Of a
    text without masks the longest word is hidden."""
    filler = MaskFiller.load(run)
    settings, tokens, model, _ = filler.opened

    def read(text: str) -> list[TextInWords]:
        refuse_no_unicode(text)
        text = unicodedata.normalize("NFC", text)
        if any(mask in text for mask in MASKS):
            return masked(text, MASKS[0])
        text = TokenUnit(settings.text.unit, settings.text.segmenter).cut(text)
        spans = tokens.source_spans(text)
        words, places = in_words(text, spans)
        if not words:
            return []
        longest = max(range(len(words)), key=lambda i: len(words[i]))
        end = spans[places[longest][-1]][1]
        before = text[:end].rstrip().removesuffix(words[longest])
        return masked(f"{before}{MASKS[0]}{text[end:]}", f"[{words[longest]}]")

    def masked(text: str, name: str) -> list[TextInWords]:
        """A text once for each of its masks, which are called by this name."""
        one = filler.masked(text)
        words, places = list[str](), list[list[int]]()
        for n, (part, begin) in enumerate(one.parts):
            if n:
                words.append(name)
                places.append([one.places[n - 1]])
            some, pieces = in_words(part, tokens.source_spans(part))
            words += some
            places += [[begin + i for i in word] for word in pieces]
        return [around_mask(one, place, words, places) for place in one.places]

    def around_mask(
        one: MaskedText, place: int, words: Sequence[str], places: Sequence[list[int]]
    ) -> TextInWords:
        """What is read around a mask, and the words in it."""
        left, ids = one.window(place, filler.longest)
        first, last = left + one.parts[0][1], left + len(ids) - 1
        read = [n for n, word in enumerate(places) if all(first <= i < last for i in word)]
        own = [[i - left for i in places[n]] for n in read]
        return TextInWords(ids, [words[n] for n in read], own, own.index([place - left]))

    def place_of(text: TextInWords) -> NDArray[np.int64]:
        return np.array([text.places[text.asked or 0]])

    def lines(files: Sequence[Path]) -> Own:
        found = (line for path in files for line in read_lines(path) if line and line.strip())
        return [line[:SHORT].rpartition(" ")[0] or line[:SHORT]
                for line in islice(found, MOST_LINES)], None  # fmt: skip

    asked = AskedPlace(cast("MaskedLanguageModel", model))
    reader = LabelReader(asked, tokens.special.padding, features=place_of)
    labels = tokens.pieces(range(len(tokens)))
    own_texts = partial(_own, run, settings, lines, by_text=False)
    return InspectedLabeller(run, reader, labels, read, own_texts)


def _own(
    run: Path,
    settings: Settings,
    read: Callable[[Sequence[Path]], Own],
    *,
    by_text: bool = True,
) -> tuple[str, list[str]]:
    """What a run was validated on, and where that is from; where that is not as it was, why.
    Where texts were not held out `by_text`, those of the corpus."""
    files = settings.data.valid_corpus or settings.data.corpus
    place = ", ".join(path.name for path in files)
    try:
        if reason := why_not_read(RunFolder(run), files):
            return reason, []
        texts, kinds = read(files)
        if settings.data.valid_corpus or not by_text:
            return place, texts
        return f"the texts held out of {place}", held_out(
            texts, settings.runtime.seed, "texts", texts, kinds
        )[1]
    except (ConfigError, DataError) as error:
        return str(error), []


def page_of_classifier(request: InspectionRequest) -> InspectionPage:
    """What `headway inspect` shows of a run of text classification."""
    return page_of(classifier(request.run), request.given, request.off)


def page_of_tagger(request: InspectionRequest) -> InspectionPage:
    """What `headway inspect` shows of a run of tagging: each word that has a tag."""
    return page_of(tagger(request.run), request.given, request.off)


def page_of_hidden_words(request: InspectionRequest) -> InspectionPage:
    """What `headway inspect` shows of a masked language model: each hidden place."""
    return page_of(hidden_words(request.run), request.given, request.off)
