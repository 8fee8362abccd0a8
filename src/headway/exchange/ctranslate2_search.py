"""CTranslate2 in the place of our own search: the same model, by the program that others use.

Greedy search writes what ours writes, but for ties. Its beam search is another: as many hypotheses
live on after each step as the beam is wide, whatever ended, and it stops once `PATIENCE` times as
many have ended. What it finds is scored as ever, and ranked by our length penalty.
"""

from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import torch

from headway.core.errors import ConfigError
from headway.core.hypothesis import (
    DecodingSettings,
    Hypothesis,
    Ids,
    Rules,
    SearchRequest,
    length_limits,
    ranked,
    scored,
)
from headway.core.interfaces import StepDecoder
from headway.core.search import METHODS
from headway.core.subwords import SpecialIds
from headway.core.transformer import Transformer
from headway.decoding.forced import PrefixedDecoder, attention_over
from headway.engine.shortlist import opened
from headway.exchange.ctranslate2 import BATCH

PATIENCE = 2
"""With 1, as it has by itself, 4 of 400 texts are worse than ours; with 2 none, a tenth slower."""


class CTranslate2Search:
    """Searches with a model's exported weights; a `headway.translation.decoding.Engine`."""

    def __init__(
        self,
        model: Transformer,
        special: SpecialIds,
        folder: Path,
        tokens: Sequence[str],
        n_positions: int,
    ) -> None:
        """`folder` has the model as it is now; its tables of positions reach `n_positions`."""
        import ctranslate2

        self.model, self.special, self.n_positions = model, special, n_positions
        self._tokens, self._ids = tokens, {token: i for i, token in enumerate(tokens)}
        self._translator: Any = ctranslate2.Translator(
            str(folder),
            device="cpu",
            compute_type="float32",
            inter_threads=torch.get_num_threads(),
            intra_threads=1,
        )

    def search(
        self, decoder: StepDecoder, sources: Sequence[Ids], request: SearchRequest
    ) -> list[list[Hypothesis]]:
        """See `Engine`. All is left where one text is beyond the tables of positions, or empty,
        which CTranslate2 does not read.

        Raises ConfigError for a model or a search that is not for CTranslate2.
        """
        settings = request.settings
        if reason := self._unfit(decoder, settings):
            raise ConfigError(
                f"runtime.engine ctranslate2 is for what it can do; {reason}. "
                "Use --runtime.engine auto."
            )
        rows = [list(map(int, ids)) for ids in sources]
        n_read = torch.tensor([len(ids) + 1 for ids in rows], dtype=torch.long)
        limits = length_limits(n_read, settings.max_extra_length, decoder.longest)
        longest = max([0, *n_read.tolist(), *(limits + 1).tolist()])
        if not all(rows) or longest > self.n_positions:
            return [[] for _ in rows]
        rules = Rules(settings, self.special.end, limits, self.special.unwritten)
        found = self._written(rows, rules, request.done)
        if request.want_scores or settings.method == "beam":
            found = self._scored(rows, found, rules)
        if request.want_attention:
            found = self._looked(decoder, rows, found)
        return found

    def _unfit(self, decoder: StepDecoder, settings: DecodingSettings) -> str:
        """Why this cannot be searched for here; nothing if it can."""
        widest = (len(self._tokens) - len(self.special.unwritten)) // 2
        if opened(decoder)[1] is not None:
            return "it is given no shortlists"
        if type(decoder) is PrefixedDecoder:
            return "it goes on from no given beginning"
        if decoder is not self.model or self.model._forward_hooks:
            return "the model is not the one that was exported, or something looks into it"
        if settings.method not in METHODS:
            return "it draws no samples"
        return f"its widest beam is {widest} here" if settings.rows > widest else ""

    def _written(
        self, rows: Sequence[list[int]], rules: Rules, done: Callable[[int], None]
    ) -> list[list[Hypothesis]]:
        """For each source what it wrote. Those of one length have one limit, and no padding."""
        order = sorted(range(len(rows)), key=lambda i: -len(rows[i]))
        groups = [list(some) for _, some in groupby(order, key=lambda i: len(rows[i]))]
        begun = [
            self._translator.translate_batch(
                [self._spelled(rows[i]) for i in some],
                beam_size=rules.settings.rows,
                num_hypotheses=rules.settings.rows,
                patience=PATIENCE,
                length_penalty=rules.settings.length_penalty,
                max_decoding_length=int(rules.max_lengths[some[0]]),
                min_decoding_length=0,
                suppress_sequences=[[self._tokens[i]] for i in rules.forbidden],
                asynchronous=True,
                **BATCH,
            )
            for some in groups
        ]
        unscored = rules._replace(want_scores=False)
        found: list[list[Hypothesis]] = [[] for _ in rows]
        for some, results in zip(groups, begun, strict=True):
            for i, waiting in zip(some, results, strict=True):
                written = [
                    [self._ids[token] for token in one] for one in waiting.result().hypotheses
                ]
                found[i] = [scored(ids, [], unscored) for ids in written]
            done(len(some))
        return found

    def _scored(
        self, rows: Sequence[list[int]], found: Sequence[Sequence[Hypothesis]], rules: Rules
    ) -> list[list[Hypothesis]]:
        """The best of them, by the probabilities of each token among the whole vocabulary: its
        search leaves out of them what may not be written, and an end marker at the limit."""
        results = iter(
            self._translator.score_batch(
                [self._spelled(row) for row, some in zip(rows, found, strict=True) for _ in some],
                [self._spelled(one.ids) for some in found for one in some],
                **BATCH,
            )
        )
        all_scored = [
            [scored(one.ids, next(results).log_probs, rules) for one in some] for some in found
        ]
        return [ranked(some)[: rules.settings.n_best] for some in all_scored]

    def _looked(
        self, decoder: StepDecoder, rows: Sequence[list[int]], found: Sequence[Sequence[Hypothesis]]
    ) -> list[list[Hypothesis]]:
        """With what each looked at, by our own decoder: in batches CTranslate2's beam search gives
        first tokens what another sentence's looked at."""
        read = [row for row, some in zip(rows, found, strict=True) for _ in some]
        fed = [[*one.ids, self.special.end] for some in found for one in some]
        looks = iter(attention_over(decoder, read, fed, self.special, torch.device("cpu")))
        return [[one._replace(attention=next(looks)) for one in some] for some in found]

    def _spelled(self, ids: Sequence[int]) -> list[str]:
        return [self._tokens[i] for i in ids]
