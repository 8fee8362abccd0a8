"""A trained translator in Python: `Translator.load("runs/x").translate(["..."], beam=5)`."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import numpy as np
import torch
from jaxtyping import Float
from safetensors.torch import load_file

from headway import runtime as machine_runtime
from headway.decoding.hypothesis import Hypothesis
from headway.errors import RunError
from headway.models.transformer import Transformer
from headway.tasks.building import build_model
from headway.tasks.settings import Settings
from headway.tasks.translation import decode_all
from headway.text.cleaning import clean
from headway.text.subwords import Subwords
from headway.training.parameters import load_weights
from headway.training.run_folder import RunFolder

Device = Literal["auto", "cpu", "cuda"]


class Alternative(NamedTuple):
    """One translation of a sentence."""

    target: str
    score: float
    """Log-probability divided by the length penalty."""
    tokens: list[str]
    """Its sub-words, as a reader would write them."""
    token_log_probs: list[float]
    """Of each sub-word, then of the end marker, in nats."""
    alignment: list[tuple[int, int]]
    """For each target sub-word: (source sub-word it looks at most, its own index), from 0."""


class Translation(NamedTuple):
    """A sentence and what became of it."""

    source: str
    source_tokens: list[str]
    n_best: list[Alternative]
    """Best first; empty for a blank line."""
    n_cut: int
    """Sub-words at the end of the source that were too many and were left out."""

    @property
    def target(self) -> str:
        """The best translation; blank for a blank line."""
        return self.n_best[0].target if self.n_best else ""


class Attention(NamedTuple):
    """The weights of every layer and head for one sentence pair, as arrays."""

    source_tokens: list[str]
    """The end marker included."""
    target_tokens: list[str]
    """What was fed: the begin marker, then the target."""
    encoder: Float[np.ndarray, "layers heads source source"]
    decoder: Float[np.ndarray, "layers heads target target"]
    cross: Float[np.ndarray, "layers heads target source"]


class Translator:
    """A run folder's model, ready to translate."""

    def __init__(
        self, model: Transformer, subwords: Subwords, settings: Settings, device: torch.device
    ) -> None:
        self.model, self.subwords, self.settings, self.device = model, subwords, settings, device

    @classmethod
    def load(cls, run: str | Path, *, device: Device = "auto", threads: int = 0) -> "Translator":
        """Open a run folder; raises RunError when there is no trained model in it.

        `device` is `auto`, `cpu` or `cuda`, wherever the model was trained.
        """
        folder = RunFolder.open(Path(run))
        settings = Settings.of(folder.settings())
        wanted = replace(settings.runtime, device=device, precision="fp32", threads=threads)
        runtime = machine_runtime.start(wanted)
        if not folder.model.exists():
            raise RunError(
                f"{folder.path} has no model yet: training has not reached its first validation. "
                f"Go on with: headway train --out {folder.path} --resume"
            )
        subwords = Subwords.load(folder.tokenizer)
        model = build_model(settings, subwords)
        load_weights(model, load_file(folder.model))
        model = cast(Transformer, model.to(runtime.device).eval())
        return cls(model, subwords, settings, runtime.device)

    @property
    def target_language(self) -> str | None:
        """Code of the language that is translated into, if it is known."""
        return self.settings.data.target_language

    def translate(self, texts: Sequence[str], **decoding: Any) -> list[str]:
        """The best translation of each text, in order; a blank one stays blank.

        `decoding` are settings of `DecodingSettings`, such as `beam=5` or `method="greedy"`.
        """
        return [translation.target for translation in self.translate_fully(texts, **decoding)]

    @torch.inference_mode()
    def translate_fully(
        self,
        texts: Sequence[str],
        *,
        want_alignment: bool = False,
        done: Callable[[int], None] = lambda n: None,
        generator: torch.Generator | None = None,
        **decoding: Any,
    ) -> list[Translation]:
        """Translations with scores, sub-words and, on request, alignments.

        A text longer than the sentences of training (`data.max_length`) is cut at its end, which
        `Translation.n_cut` tells. `done` hears how many sentences each batch finished.
        """
        settings = replace(self.settings.decoding, **decoding)
        encoded = self.subwords.encode_batch([clean(text) for text in texts])
        limit = self.settings.data.max_length or max(map(len, encoded), default=0)
        sources = [np.array(ids[:limit], dtype=np.int64) for ids in encoded]
        filled = [i for i, ids in enumerate(sources) if len(ids)]
        done(len(texts) - len(filled))
        found: list[list[Hypothesis]] = [[] for _ in texts]
        hypotheses = decode_all(
            self.model,
            [sources[i] for i in filled],
            self.subwords,
            settings,
            device=self.device,
            want_attention=want_alignment,
            done=done,
            generator=generator,
        )
        for i, best in zip(filled, hypotheses, strict=True):
            found[i] = best
        return [
            Translation(
                text,
                self.subwords.pieces(source.tolist()),
                [self.alternative(hypothesis, len(source)) for hypothesis in best],
                max(0, len(ids) - limit),
            )
            for text, source, ids, best in zip(texts, sources, encoded, found, strict=True)
        ]

    def alternative(self, hypothesis: Hypothesis, source_length: int) -> Alternative:
        """A hypothesis in the user's terms."""
        alignment = []
        if hypothesis.attention is not None:
            weights = hypothesis.attention[: len(hypothesis.ids), :source_length]
            looked_at = weights.argmax(-1).tolist()
            alignment = [(source, target) for target, source in enumerate(looked_at)]
        return Alternative(
            self.subwords.decode(hypothesis.ids),
            hypothesis.score,
            self.subwords.pieces(hypothesis.ids),
            hypothesis.token_log_probs,
            alignment,
        )

    @torch.inference_mode()
    def attention(self, text: str, target: str | None = None) -> Attention:
        """Where every layer and head looks while `target` is written.

        Without `target`, the model's own translation is taken.
        """
        special = self.subwords.special
        if target is None:
            target = self.translate([text])[0]
        source_ids = [*self.subwords.encode(clean(text)), special.end]
        target_ids = [special.begin, *self.subwords.encode(clean(target))]
        weights = self.model.look(
            torch.tensor([source_ids], device=self.device),
            torch.tensor([target_ids], device=self.device),
        )
        arrays = [layer[:, 0].float().cpu().numpy() for layer in weights]
        return Attention(
            self.subwords.pieces(source_ids), self.subwords.pieces(target_ids), *arrays
        )
