"""The language models that a service has, and what it asks of one: scores token by token, writing.

A text is ids without a begin marker; an end marker stands for each of its line ends.
"""

import threading
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from headway.core.errors import ConfigError
from headway.serving.requests import RefusedError

if TYPE_CHECKING:
    from torch import Tensor

    from headway.core.subwords import SpecialIds
    from headway.language_models.trained import TrainedLanguageModel

LOWEST = -9999.0
"""In place of minus infinity, which JSON cannot say."""
ROWS = 64
"""Places whose whole distribution is in memory at a time."""


class TokenPlace(NamedTuple):
    """A token where it stands, given all before it."""

    id: int
    log_prob: float
    top: Sequence[tuple[int, float]] = ()
    """The likeliest tokens of this place, likeliest first."""


class PromptText(NamedTuple):
    """What is to be scored, or gone on from."""

    ids: list[int]
    """Without a begin marker in front."""
    begins: bool
    """Whether one was given."""
    text: str
    offsets: list[int]
    """Where in the text each of the ids begins."""


class ServedLanguageModel:
    """A run folder, and its model once somebody needed it."""

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, path.resolve().name
        self.created = int(path.stat().st_mtime)
        self._loading = threading.Lock()
        self._loaded: TrainedLanguageModel | None = None

    @property
    def model(self) -> "TrainedLanguageModel":
        """Loaded by the first who asks; the others wait."""
        from headway.language_models.trained import TrainedLanguageModel

        with self._loading:
            if self._loaded is None:
                self._loaded = TrainedLanguageModel.load(self.path)
            return self._loaded

    @property
    def special(self) -> "SpecialIds":
        """Ids of the markers."""
        return self.model.vocabulary.special

    # -- texts and ids ------------------------------------------------------------------------

    def prompt(self, given: str | Sequence[int]) -> PromptText:
        """Raises RefusedError for ids that no text has."""
        if isinstance(given, str):
            return self._of_text(given)
        special, n_ids = self.special, len(self.model.vocabulary)
        begins = bool(given) and given[0] == special.decoder_begin
        ids = [*given[begins:]]
        for one in ids:
            if not 0 <= one < n_ids or one in (special.padding, special.decoder_begin):
                raise RefusedError(
                    "bad",
                    f"ids of a prompt are from 0 to {n_ids - 1}, without padding, and "
                    f"{special.decoder_begin} (the begin of a text) only in front; got {one}",
                )
        told = [*self.texts_of(ids)]
        ends = [0]
        for text in told:
            ends.append(ends[-1] + len(text))
        return PromptText(ids, begins, "".join(told), ends[:-1])

    def marked_ids(self, text: str) -> list[int]:
        """The ids of a text; of a marker's name and nothing else, its id."""
        begin, end = markers = self.special.decoder_begin, self.special.end
        names = dict(zip(self.model.vocabulary.pieces([begin, end]), markers, strict=True))
        return [names[text]] if text in names else self.model.ids(text)

    def _of_text(self, given: str) -> PromptText:
        text = unicodedata.normalize("NFC", given)
        ids, offsets, start = self.model.ids(text), list[int](), 0
        for line in text.split("\n"):
            if line.strip():
                offsets += [start + place for place in self._places(line)]
            start += len(line) + 1
            offsets.append(start - 1)
        return PromptText(ids, False, text, offsets[:-1])

    def _places(self, line: str) -> list[int]:
        """Where each token of a line begins."""
        from headway.core.subwords import Subwords

        vocabulary, place, found = self.model.vocabulary, 0, []
        if isinstance(vocabulary, Subwords):
            return [start for start, _ in vocabulary.source_spans(line)]
        for piece in vocabulary.split(self.model.cut(line)):
            place = max(place, line.find(piece, place))
            found.append(place)
            place += len(piece)
        return found

    def texts_of(self, ids: Sequence[int]) -> Iterator[str]:
        """What each of the ids adds to the text; one that is half of a character adds nothing."""
        vocabulary, end = self.model.vocabulary, self.special.end
        line, before = list[int](), 0  # the last token that was whole, and what is behind it
        for one, following in zip(ids, [*ids, end][1:], strict=True):
            if one == end:
                line, before = [], 0
                yield "\n"
                continue
            line.append(one)
            text = vocabulary.decode(line)
            if text.endswith("\ufffd") and following != end:
                yield ""
                continue
            yield text[before:]
            line, before = [one], len(vocabulary.decode([one]))

    @cached_property
    def labels(self) -> tuple[list[str], list[str]]:
        """What each id is called first in a line, and behind another token."""
        vocabulary, n_ids = self.model.vocabulary, len(self.model.vocabulary)
        pieces = vocabulary.pieces(range(n_ids))
        special = self.special
        markers = {special.padding, special.decoder_begin, special.end}
        anchor = next((i for i, piece in enumerate(pieces) if piece.isalpha()), special.unknown)
        before = len(vocabulary.decode([anchor]))
        first = vocabulary.decode_batch([[i] for i in range(n_ids)])
        pairs = vocabulary.decode_batch([[anchor, i] for i in range(n_ids)])

        def called(texts: list[str]) -> list[str]:
            return [
                pieces[i] if i in markers or "\ufffd" in text else text
                for i, text in enumerate(texts)
            ]

        return called(first), called([text[before:] for text in pairs])

    # -- scores and writing -------------------------------------------------------------------

    def places(self, ids: Sequence[int], n_top: int) -> list[TokenPlace]:
        """Each token of a text, given those before it, as `headway score` has them."""
        whole = [*ids, self.special.end]  # a score's windows reach to the end of the line
        found: list[TokenPlace | None] = [None] * len(whole)
        for start, logits in self._logits(self.model.fed(ids)):
            some = self.model.scorer.foretold(whole[start : start + len(logits)]).tolist()
            for i, place in enumerate(self.known(logits, some, n_top), start):
                found[i] = place
        return [place for place in found[:-1] if place]

    def known(self, logits: "Tensor", ids: Sequence[int], n_top: int) -> list[TokenPlace]:
        """What is told of one token for each row of logits."""
        import torch

        log_probs = logits.double().log_softmax(1).nan_to_num(nan=LOWEST).clamp(min=LOWEST)
        chosen = log_probs.gather(1, torch.tensor(ids, device=logits.device)[:, None])
        best = log_probs.topk(min(n_top, logits.shape[1]))
        rows = zip(ids, chosen[:, 0].tolist(), best.indices.tolist(), best.values.tolist(),
                   strict=True)  # fmt: skip
        return [
            TokenPlace(one, log_prob, [*zip(top, values, strict=True)])
            for one, log_prob, top, values in rows
        ]

    def _logits(self, fed: list[int]) -> "Iterator[tuple[int, Tensor]]":
        """Stretches of [places, vocabulary] and where they begin; a later one replaces an earlier.

        A model that carries nothing sees at least half a window, as in `Scorer.stream`.
        """
        import torch

        from headway.core.embedding import project
        from headway.language_models.interfaces import TextModel

        trained, window, n = self.model, self.model.window, len(fed)
        model, ids = trained.scorer.model, torch.tensor([fed], device=trained.device)
        if not isinstance(model, TextModel):
            state = trained.decoder.start(None, ids[:, :0])
            for place in range(n):
                step = trained.decoder.step(state, ids[:, place])
                state = step.state
                yield place, step.logits
            return
        stride = window if trained.carries else max(1, window // 2)
        last = n if trained.carries else max(n - window, 0)
        reached = range(0, max(n - window, 0) + stride, stride)
        carried = None
        for start in sorted({min(start, last) for start in reached}):
            with torch.inference_mode():
                features, after = model.read(ids[:, start : start + window], carried)
                carried = after if trained.carries else None
                new = 0 if trained.carries or not start else window - stride
                for first in range(new, features.shape[1], ROWS):
                    some = features[0, first : first + ROWS]
                    logits = project(some, model.output_weight, model.output_bias)
                    yield start + first, logits.float()


class LanguageModels:
    """All language models of a service, by name."""

    def __init__(self, paths: Sequence[Path] = ()) -> None:
        """Raises ConfigError for two of one name, of which the second could not be asked."""
        self.all = [ServedLanguageModel(path) for path in paths]
        for one in self.all:
            if (first := self.named(one.name)) is not one:
                raise ConfigError(
                    f"language models are told apart by the names of their folders; {first.path} "
                    f"and {one.path} are both {one.name}. Name one otherwise, or leave it out."
                )

    def load_all(self) -> None:
        """Before anybody asks."""
        for one in self.all:
            _ = one.labels

    def named(self, name: str) -> ServedLanguageModel:
        """The one of that name; the first one where none is asked for.

        Raises RefusedError where there is none.
        """
        for one in self.all:
            if name in ("", one.name):
                return one
        known = ", ".join(one.name for one in self.all) or "none"
        raise RefusedError("absent", f"there is no model {name!r} here; there are: {known}")
