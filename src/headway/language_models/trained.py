"""A trained language model in use: score text, say what comes next, write on."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, cast, overload

import torch
from jaxtyping import Float
from torch import Tensor

from headway.core.interfaces import StepDecoder
from headway.core.runtime import Device, Precision
from headway.decoding.sampling import draw
from headway.language_models.evaluation import Evaluation, evaluated
from headway.language_models.scoring import Scorer
from headway.language_models.spec import SPEC, WINDOW
from headway.language_models.units import BY_LETTERS, TokenUnit, Vocabulary
from headway.operations.argument_types import in_shape, paths, refuse_no_unicode, string
from headway.operations.option_errors import other_than_fp32
from headway.runs.loading import LoadedRun, open_run


class TokenScore(NamedTuple):
    """One token of a text."""

    token: str
    log_prob: float
    """Natural logarithm of its probability, given the tokens before it."""


class LineScore(NamedTuple):
    """How likely a line is."""

    text: str
    log_prob: float
    """The sum over `tokens`."""
    tokens: list[TokenScore]
    """The last one is the end of the line, `</s>`."""
    n_unknown: int
    """How many of them are the unknown word."""


class NextToken(NamedTuple):
    """What may come next."""

    token: str
    prob: float


class WrittenToken(NamedTuple):
    """One token that was drawn."""

    id: int
    text: str
    """What it adds to the text: nothing for half of a character, and for the end."""
    logits: Float[Tensor, "1 vocabulary"]
    """The model's own, before what may not be written was left out."""


class TrainedLanguageModel:
    """A language model that `headway train --task language-model` made."""

    tells: ClassVar[str] = "next"
    """What `next` is called in `headway predict --json`."""

    def __init__(self, opened: LoadedRun) -> None:
        """Take an opened run; `TrainedLanguageModel.load` opens one."""
        self.settings, vocabulary, model, self.device = opened
        if self.settings.model_type in BY_LETTERS:
            vocabulary = cast(Any, model).opened(vocabulary)
        self.vocabulary: Vocabulary = vocabulary
        self.decoder = cast(StepDecoder, model)
        text = self.settings.text
        self.unit = TokenUnit(text.unit, text.segmenter)
        self.cut = self.unit.cut
        self.window: int = self.settings.training.window or WINDOW
        """Tokens that are seen at once, by a model that carries no state."""
        self.scorer = Scorer(model, vocabulary.special, window=self.window, device=self.device)
        self.carries = bool(cast(Any, model).carries)

    @classmethod
    def load(
        cls, run: str | Path, *, device: Device = "auto", precision: Precision = "auto"
    ) -> "TrainedLanguageModel":
        """Open a finished run.

        Raises:
            RunError: there is none, it is another task's, or it is damaged.
            ConfigError: another precision than fp32 is asked for.
        """
        if precision not in ("auto", "fp32"):
            raise other_than_fp32(precision)
        return cls(open_run(SPEC, run, device=device))

    @overload
    def score(self, texts: str) -> LineScore: ...  # type: ignore[overload-overlap]
    @overload
    def score(self, texts: Iterator[str]) -> Iterator[LineScore]: ...  # type: ignore[overload-overlap]
    @overload
    def score(self, texts: Iterable[str]) -> list[LineScore]: ...
    def score(self, texts: Any) -> Any:
        """Each text by itself, as one line: what it costs, its end included.

        Of a string that is one score, of an iterator an iterator, of other rows of strings a list.
        Raises ArgumentTypeError for what is no text.
        """
        return in_shape(texts, self._scored)

    def _scored(self, texts: list[str]) -> list[LineScore]:
        rows = [self.vocabulary.encode(self.cut(text)) for text in texts]
        special, found = self.vocabulary.special, []
        for text, ids, log_probs in zip(texts, rows, self.scorer.lines(rows), strict=True):
            pieces = self.vocabulary.pieces([*ids, special.end])
            tokens = [TokenScore(*pair) for pair in zip(pieces, log_probs.tolist(), strict=True)]
            n_unknown = self.scorer.n_unknown(ids)
            found.append(LineScore(text, float(log_probs.sum()), tokens, n_unknown))
        return found

    def next(self, prompt: str, top: int = 10) -> list[NextToken]:
        """The `top` likeliest next tokens of a text, likeliest first; 0: all, which sum to 1.

        Of a prompt that is longer than the window, the end is read.
        """
        logits = self._read(self.fed(self.ids(prompt))).logits[0].double()
        probabilities = logits.softmax(0)
        n_tokens = len(probabilities)  # the vocabulary, or as much of it as is ever foretold
        chosen = probabilities.topk(min(top or n_tokens, n_tokens))
        pieces = self.vocabulary.pieces(chosen.indices.tolist())
        return [NextToken(*pair) for pair in zip(pieces, chosen.values.tolist(), strict=True)]

    def doubts(self, prompt: str) -> list[str]:
        """What is to be said of a text before it is gone on with; nothing of most."""
        fed, said = self.fed(self.ids(prompt)), []
        if n_unknown := fed.count(self.vocabulary.special.unknown):
            named = "1 token is" if n_unknown == 1 else f"{n_unknown:,} tokens are"
            said.append(f"of {prompt[:60]!r} {named} unknown to the model")
        if len(fed) > self.window and not self.carries:
            said.append(
                f"the model sees {self.window:,} tokens at once; of the {len(fed):,} of "
                f"{prompt[:60]!r} it reads the last ones"
            )
        return said

    def write(
        self,
        prompt: str = "",
        *,
        max_tokens: int = 200,
        temperature: float = 1.0,
        top_k: int = 0,
        top_p: float = 1.0,
        seed: int = 1,
    ) -> Iterator[str]:
        """Write on behind the prompt, piece by piece; joined, the pieces are the text.

        It ends where the text ends: at the end of a line, or, where blank lines part the documents
        that were learned from, at such a one; and at the latest after `max_tokens`. Without a
        prompt something is written before it ends. Where all that may be written is impossible
        (maximum likelihood knows such places), it ends there.
        """
        drawn = self.write_tokens(
            self.ids(prompt), max_tokens=max_tokens, temperature=temperature,
            top_k=top_k, top_p=top_p, seed=seed,
        )  # fmt: skip
        return (token.text for token in drawn if token.text)

    def write_tokens(
        self,
        ids: Sequence[int],
        *,
        max_tokens: int,
        temperature: float = 1.0,
        top_k: int = 0,
        top_p: float = 1.0,
        seed: int = 1,
    ) -> Iterator[WrittenToken]:
        """The same behind a text that is ids, end markers between its lines; token by token, the
        end included."""
        special = self.vocabulary.special
        forbidden = [*{special.padding, special.unknown, special.decoder_begin}]
        generator = torch.Generator(self.device).manual_seed(seed)
        fed = self.fed(ids)
        line = fed[len(fed) - fed[::-1].index(special.decoder_begin) :]
        shown = self.vocabulary.decode(line)
        step = self._read(fed)
        for n_written in range(max_tokens):
            logits = step.logits.clone()
            logits[:, forbidden] = -torch.inf
            if not (n_written or line):
                logits[:, special.end] = -torch.inf
            if not logits.isfinite().any():
                return
            last = draw(
                logits, temperature=temperature, top_k=top_k, top_p=top_p, generator=generator
            )
            token = int(last)
            if token == special.end:
                if not (self.settings.data.documents and line):
                    yield WrittenToken(token, "", step.logits)
                    return
                yield WrittenToken(token, "\n", step.logits)
                line, shown, token = [], "", special.decoder_begin
            else:
                line.append(token)
                text, before = self.vocabulary.decode(line), len(shown)
                if not text.endswith("\ufffd"):  # half of a character
                    shown = text
                yield WrittenToken(token, shown[before:], step.logits)
            fed.append(token)
            if len(fed) >= self.window and not self.carries:
                fed = fed[-max(1, self.window // 2) :]
                step = self._read(fed)
            else:
                with torch.inference_mode():
                    step = self.decoder.step(step.state, torch.tensor([token], device=self.device))

    def ids(self, text: str) -> list[int]:
        """Of a text, an end marker for each of its line ends; a line of white space has none.

        Raises ConfigError for a text of no Unicode.
        """
        refuse_no_unicode(text := string(text, "prompt"))
        found: list[int] = []
        for line in text.split("\n"):
            ids = self.vocabulary.encode(self.cut(line)) if line.strip() else []
            found += [*ids, self.vocabulary.special.end]
        return found[:-1]

    def fed(self, ids: Sequence[int]) -> list[int]:
        """The begin marker in front of each line."""
        special = self.vocabulary.special
        begin, end = special.decoder_begin, special.end
        return [begin, *(begin if one == end else one for one in ids)]

    def _read(self, fed: list[int]) -> Any:
        """The step after some tokens were fed, of which the last ones are seen."""
        seen = fed if self.carries else fed[-self.window :]
        row = torch.tensor([seen], device=self.device)
        with torch.inference_mode():
            state = self.decoder.start(None, row[:, :-1])
            return self.decoder.step(state, row[:, -1])

    def evaluate(self, files: str | Path | Sequence[str | Path]) -> Evaluation:
        """Score all text of a file or several, read one after the other as one long text."""
        return evaluated(self.scorer, paths(files, "files"), self.vocabulary, self.unit)
