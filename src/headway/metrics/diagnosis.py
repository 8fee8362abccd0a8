"""What may be wrong with a scored output: faults that lower a score and can be seen in the text."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from headway.core.bleu import SentenceStatistics, bleu_statistics
from headway.metrics.shifted_lines import CHARACTER, Overlaps, are_unrelated, find_shift, words
from headway.metrics.tokenizers import TOKENIZERS, bleu_metric, tokenized_share

WORTH_SAYING = 0.005
"""Share of the lines below which loops and copies are put down to chance."""

SHORT, LONG = 0.93, 1.10
"""Output over reference length that is still ordinary."""

N_EXAMPLES = 5


@dataclass(frozen=True)
class Note:
    fault: str
    """In a word or two, for programs."""
    finding: str
    """What was found, with its number: a sentence."""
    lines: list[int]
    """Where to look, from 1; some lines, not all."""
    remedy: str


@dataclass(frozen=True)
class ScoredOutput:
    outputs: Sequence[str]
    references: Sequence[Sequence[str]]
    """One set or several."""
    sources: Sequence[str] | None
    bleu: SentenceStatistics

    def rights(self, i: int) -> list[str]:
        return [lines[i] for lines in self.references]

    def score(self, tokenize: str, *, lowercase: bool = False) -> float:
        first, *more = self.references
        metric = bleu_metric(tokenize, lowercase=lowercase)
        return bleu_statistics(self.outputs, first, metric, more_references=more).score()

    def of(self, found: Sequence[int]) -> str:
        return f"{len(found):,} of {len(self.outputs):,} lines"


def diagnose(
    outputs: Sequence[str],
    references: Sequence[str],
    *,
    more_references: Sequence[Sequence[str]] = (),
    sources: Sequence[str] | None = None,
    bleu: SentenceStatistics,
) -> list[Note]:
    """What may be wrong, gravest first; empty where nothing was found.

    `bleu` are the counts of this output, from `measure`. Untranslated lines are looked for only
    where `sources` are given.
    """
    scored = ScoredOutput(outputs, [references, *more_references], sources, bleu)
    return [note for check in _CHECKS for note in check(scored)]


def _order(scored: ScoredOutput) -> Iterator[Note]:
    overlaps = Overlaps(scored.outputs, scored.references[0])
    shift = find_shift(overlaps)
    if shift is not None:
        yield Note(
            "shifted lines",
            f"From line {shift.first + 1:,} to {shift.last + 1:,} outputs go with the references "
            f"{abs(shift.lines)} line(s) further {'down' if shift.lines > 0 else 'up'} (overlap of "
            f"words {shift.shifted:.2f}, as given {shift.straight:.2f}).",
            [shift.first + 1],
            "A line is missing, or split in two, above: compare the files there.",
        )
    elif are_unrelated(overlaps):
        yield Note(
            "unrelated",
            "The output has no more in common with its own references than with those of other "
            "lines.",
            [],
            "Compare the files: are they of one test set, in one order? Else nothing is learned "
            "yet.",
        )


def _blank(scored: ScoredOutput) -> Iterator[Note]:
    empty = [i for i, line in enumerate(scored.outputs) if not line.strip()]
    if unanswered := [i for i in empty if any(right.strip() for right in scored.rights(i))]:
        yield Note(
            "blank output",
            f"{scored.of(unanswered)} of the output are blank.",
            _examples(unanswered),
            "Translate these lines again; a blank line of output scores nothing.",
        )
    missing = [
        i
        for i in range(len(scored.outputs))
        if not all(right.strip() for right in scored.rights(i))
    ]
    if missing:
        yield Note(
            "blank references",
            f"{scored.of(missing)} have a blank reference: every word of their output counts as "
            "wrong.",
            _examples(missing),
            "Leave these lines out of all files alike.",
        )


_MARKS = (
    ("@@", r"@@(?: |$)", "Join the sub-words: sed -E 's/@@( |$)//g'."),
    ("▁", "▁", "Join the sub-words: spm_decode."),
    ("@-@", r"@-@|##AT##", "Join the compounds: sed -E 's/ (@-@|##AT##-##AT##) /-/g'."),
    ("&apos;", r"&(?:apos|quot|amp|lt|gt|#91|#93|#124);", "Put the signs themselves back."),
    ("<unk>", r"<unk>|<pad>|</?s>|⁇", "The model knows no such words; sub-words would spell them."),
)
"""What is left of preparation: an example, the pattern, and how it is undone."""


def _marks(scored: ScoredOutput) -> Iterator[Note]:
    for mark, written, remedy in _MARKS:
        pattern = re.compile(written)
        found = [
            i
            for i, line in enumerate(scored.outputs)
            if pattern.search(line) and not any(map(pattern.search, scored.rights(i)))
        ]
        if found:
            finding = f"{scored.of(found)} of the output hold marks such as {mark}."
            yield Note("marks of preparation", finding, _examples(found), remedy)


def _tokens_apart(scored: ScoredOutput) -> Iterator[Note]:
    sides = {"output": scored.outputs, "references": scored.references[0]}
    shares = {name: tokenized_share(lines) for name, lines in sides.items()}
    known = {name: share for name, share in shares.items() if share is not None}
    tokenized = [name for name, share in known.items() if share > 0.5]
    if len(known) < 2 or len(tokenized) != 1:
        return
    [side] = tokenized
    yield Note(
        "tokenized on one side",
        f"A space stands before {100 * known['output']:.0f} % of the output's commas and full "
        f"stops, and {100 * known['references']:.0f} % of the references'.",
        _examples([i for i, line in enumerate(sides[side]) if tokenized_share([line])]),
        f"Detokenize the {side}, or tokenize the other side alike.",
    )


def _unspaced(scored: ScoredOutput) -> Iterator[Note]:
    if scored.bleu.metric.tokenizer_signature not in ("13a", "intl"):
        return
    written = Counter(bool(CHARACTER.match(word)) for line in scored.references[0]
                      for word in words(line))  # fmt: skip
    if written[True] > written[False]:
        by_word, by_character = (scored.score(name) for name in ("13a", "char"))
        yield Note(
            "words of text without spaces",
            "The references are written without spaces, and BLEU counts what stands between "
            f"spaces as words: {by_word:.1f}; by characters it is {by_character:.1f}.",
            [],
            "Say the language, such as --target-language zh, ja or th.",
        )


def _case(scored: ScoredOutput) -> Iterator[Note]:
    if scored.bleu.metric.lowercase:
        return
    for side, other in (("output", "references"), ("references", "output")):
        pairs = zip(scored.outputs, scored.references[0], strict=True)
        these = [pair if side == "output" else pair[::-1] for pair in pairs]
        cased = [i for i, (_, there) in enumerate(these) if there != there.lower()]
        lowered = [i for i in cased if these[i][0].strip() and these[i][0] == these[i][0].lower()]
        if len(lowered) <= max(0.5 * len(cased), 0.1 * len(these)):
            continue
        tokenizer = scored.bleu.metric.tokenizer_signature
        tokenizer = tokenizer if tokenizer in TOKENIZERS else "13a"
        with_case, without = (scored.score(tokenizer, lowercase=fold) for fold in (False, True))
        if without > 1.02 * with_case:
            yield Note(
                "lower-cased on one side",
                f"{scored.of(lowered)} have capitals in the {other} and none in the {side}: BLEU "
                f"({tokenizer}) is {with_case:.1f}, and {without:.1f} if case is ignored.",
                _examples(lowered),
                "Score with --lowercase, and say so; or restore the case.",
            )


def _copies(scored: ScoredOutput) -> Iterator[Note]:
    if scored.sources is None:
        return
    found = []
    for i, (output, source) in enumerate(zip(scored.outputs, scored.sources, strict=True)):
        said, taken = words(output), set(words(source))
        if len(said) < 3 or _share(said, taken) < 0.8:
            continue
        if all(_share(words(right), taken) < 0.5 for right in scored.rights(i)):
            found.append(i)
    if len(found) > WORTH_SAYING * len(scored.outputs):
        yield Note(
            "untranslated",
            f"{scored.of(found)} of the output repeat the source where the references do not.",
            _examples(found),
            "Untranslated pairs in the training text teach this: headway prepare counts copies.",
        )


def _loops(scored: ScoredOutput) -> Iterator[Note]:
    found = [
        i
        for i, line in enumerate(scored.outputs)
        if _goes_round(words(line))
        and not any(_goes_round(words(right)) for right in scored.rights(i))
    ]
    if len(found) > WORTH_SAYING * len(scored.outputs):
        yield Note(
            "loops",
            f"{scored.of(found)} of the output say the same four times in a row or more.",
            _examples(found),
            "Train longer, or on cleaner pairs; beam search loops less than greedy search.",
        )


def _goes_round(said: Sequence[str]) -> bool:
    """Whether one to eight words come four times in a row."""
    for period in range(1, 9):
        run = 0
        for i in range(period, len(said)):
            run = run + 1 if said[i] == said[i - period] else 0
            if run == 3 * period:
                return True
    return False


def _length(scored: ScoredOutput) -> Iterator[Note]:
    lengths, wanted = scored.bleu.counts[:, 0], scored.bleu.counts[:, 1]
    length, reference_length = float(lengths.sum()), float(wanted.sum())
    if not length or not reference_length:
        return
    ratio = length / reference_length
    said = f"{ratio:.2f} of the references' length"
    if ratio < SHORT:
        as_long = scored.bleu.counts.copy()
        as_long[:, 1] = lengths
        without = replace(scored.bleu, counts=as_long).score()
        yield Note(
            "short output",
            f"The output has {said}, and BLEU {scored.bleu.score():.1f}; without the brevity "
            f"penalty ({math.exp(1 - 1 / ratio):.2f}) it would be {without:.1f}.",
            _examples(np.argsort(lengths - wanted, kind="stable")[:N_EXAMPLES].tolist()),
            "Try a larger decoding.length_penalty; see whether long sentences were cut, here or in "
            "training.",
        )
    elif ratio > LONG:
        yield Note(
            "long output",
            f"The output has {said}: what is too much counts as wrong.",
            _examples(np.argsort(wanted - lengths, kind="stable")[:N_EXAMPLES].tolist()),
            "Try a smaller decoding.length_penalty; see whether phrases repeat.",
        )


_CHECKS: tuple[Callable[[ScoredOutput], Iterator[Note]], ...] = (
    _order,
    _blank,
    _marks,
    _tokens_apart,
    _unspaced,
    _case,
    _copies,
    _loops,
    _length,
)


def _share(said: Sequence[str], among: set[str]) -> float:
    return sum(word in among for word in said) / max(len(said), 1)


def _examples(found: Sequence[int]) -> list[int]:
    """Line numbers, from 1, of some of what was found."""
    return [i + 1 for i in found[:N_EXAMPLES]]
