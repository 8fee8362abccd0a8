"""Runs that label texts, opened to be looked into."""

import unicodedata
from pathlib import Path

from headway.classification.predicting import TextClassifier
from headway.classification.reading import read_labelled
from headway.core.errors import ConfigError, DataError
from headway.core.run_folder import RunFolder
from headway.inspection.label_page import InspectedLabeller, page_of
from headway.labelling.evidence import LabelReader, TextInWords, in_words
from headway.labelling.predictions import InspectionPage, InspectionRequest
from headway.operations.argument_types import refuse_no_unicode
from headway.runs.resuming import why_not_read


def classifier(run: Path) -> InspectedLabeller:
    """A run of text classification."""
    settings, vocabulary, model, _ = TextClassifier.load(run).opened
    data = settings.data

    def read(text: str) -> list[TextInWords]:
        refuse_no_unicode(text)
        text = unicodedata.normalize("NFC", text)
        ids = vocabulary.encode_batch([text], data.max_length)[0]
        n_first = 0 if vocabulary.special.begin is None else 1
        spans = vocabulary.tokens.source_spans(text)[: len(ids) - n_first - 1]
        words, places = in_words(text, spans)
        return [TextInWords(ids, words, [[n_first + i for i in word] for word in places])]

    def own_texts() -> tuple[str, list[str]]:
        files = data.valid_corpus or data.corpus
        try:
            reason = why_not_read(RunFolder(run), files)
            rows = [] if reason else read_labelled(files)
        except (ConfigError, DataError) as error:
            return str(error), []
        place = ", ".join(path.name for path in files)
        return reason or place, [row.text for row in rows]

    reader = LabelReader(
        model, vocabulary.special.padding, several=bool(vocabulary.facts.get("several"))
    )
    return InspectedLabeller(run, reader, vocabulary.labels, read, own_texts)


def page_of_classifier(request: InspectionRequest) -> InspectionPage:
    """What `headway inspect` shows of a run of text classification."""
    return page_of(classifier(request.run), request.given, request.off)
