"""One output under every convention of BLEU, and which published figures each compares to.

The same output may have 27.5 BLEU in one paper and 29.0 in another: conventions differ in what they
take for a word, and in case. Only figures under one convention compare.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sacrebleu.metrics.chrf import CHRF

from headway.core.bleu import (
    UNSPACED,
    SentenceStatistics,
    bleu_formula,
)
from headway.languages.codes import base
from headway.metrics.corpus_scores import (
    Advance,
    Score,
    chrf_formula,
    counted,
    nobody,
    with_interval,
)
from headway.metrics.evaluation import ter_statistics
from headway.metrics.tokenizers import bleu_metric, has_compounds, lacking, tokenized_share


class Convention(NamedTuple):
    """A way to compute BLEU that papers or tools follow."""

    tokenizer: str
    """One of `TOKENIZERS`."""
    lowercase: bool
    compares_to: str

    @property
    def name(self) -> str:
        return self.tokenizer + " lower-cased" * self.lowercase


CONVENTIONS = tuple(
    Convention(*row)
    for row in (
        ("13a", False, "WMT, most papers since 2018 (sacreBLEU)"),
        ("13a", True, "sacrebleu -lc; mteval-v13a.pl without -c"),
        ("intl", False, "tensor2tensor's t2t-bleu; mteval-v14.pl -c"),
        ("intl", True, "t2t-bleu, uncased; TensorFlow's Transformer"),
        ("zh", False, "WMT and most papers into Chinese"),
        ("ja-mecab", False, "WMT and most papers into Japanese"),
        ("ko-mecab", False, "papers into Korean (sacreBLEU)"),
        ("char", False, "papers that count characters, such as IWSLT's"),
        ("flores101", False, "spBLEU of FLORES-101"),
        ("flores200", False, "spBLEU of FLORES-200 and NLLB"),
        ("none", False, "multi-bleu.perl, fairseq-score of these files"),
        ("none", True, "multi-bleu.perl -lc of these files"),
        ("moses", False, "papers before 2018 (multi-bleu.perl)"),
        ("moses", True, "IWSLT14 and Multi30k papers (fairseq)"),
        ("moses-split", False, "WMT14 en-de papers (get_ende_bleu.sh)"),
    )
)
"""In the order of a score card."""

_BESIDE = (
    ("chrF2", "WMT (sacreBLEU's chrF)"),
    ("chrF2++", "FLORES-200 and NLLB; chrF++.py"),
    ("TER", "tercom; lower is better"),
)

_ONLY_FOR = {
    "zh": {code for code, tokenizer in UNSPACED.items() if tokenizer == "zh"},
    "ja-mecab": {"ja", "jpn"},
    "ko-mecab": {"ko", "kor"},
    "char": {*UNSPACED, "ko", "kor"},
}


@dataclass(frozen=True)
class CardRow(Score):
    name: str
    """BLEU's tokenizer, and whether case is ignored; or another metric."""
    metric: str
    compares_to: str


@dataclass(frozen=True)
class SkippedScore:
    """A convention that says nothing of this output, or cannot be computed here."""

    name: str
    reason: str


@dataclass(frozen=True)
class ScoreCard:
    rows: list[CardRow]
    left_out: list[SkippedScore]


def score_card(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    more_references: Sequence[Sequence[str]] = (),
    target_language: str | None = None,
    ter: SentenceStatistics | bool = True,
    n_bootstrap: int = 1000,
    seed: int = 12345,
    advance: Advance = nobody,
) -> ScoreCard:
    """BLEU under every convention that applies, then chrF2, chrF2++ and TER.

    Every row has its 95 % interval and signature. TER takes longest: `ter` may be what is counted
    already, or False to leave it out. `advance` is told of the sentences of each figure that is
    counted. Raises `DataError` for unequal numbers of sentences, or none.
    """
    sets = [references, *more_references]

    def row(counts: SentenceStatistics, name: str, metric: str, compares_to: str) -> CardRow:
        score = with_interval(counts, n_bootstrap, seed)
        return CardRow(**vars(score), name=name, metric=metric, compares_to=compares_to)

    rows, left_out = [], []
    reason_against = _judge(base(target_language), [hypotheses, *sets])
    for convention in CONVENTIONS:
        if reason := reason_against(convention.tokenizer):
            left_out.append(SkippedScore(convention.name, reason))
            continue
        metric = bleu_metric(
            convention.tokenizer,
            target_language=target_language,
            lowercase=convention.lowercase,
        )
        counts = counted(metric, bleu_formula, hypotheses, sets, advance)
        rows.append(row(counts, convention.name, "BLEU", convention.compares_to))
    beside = [
        counted(CHRF(word_order=words), chrf_formula, hypotheses, sets, advance) for words in (0, 2)
    ]
    if ter is True:
        ter = ter_statistics(hypotheses, sets, target_language, advance)
    if ter:
        beside.append(ter)
    else:
        left_out.append(SkippedScore("TER", "not asked for: --ter"))
    for counts, (name, compares_to) in zip(beside, _BESIDE[: len(beside)], strict=True):
        rows.append(row(counts, name, name, compares_to))
    return ScoreCard(rows, left_out)


def _judge(language: str, texts: Sequence[Sequence[str]]) -> Callable[[str], str | None]:
    """Why a tokenizer is left out of the card for these texts, if it is."""
    tokenized = all((tokenized_share(lines) or 0.0) > 0.5 for lines in texts)
    compounds = any(has_compounds(line) for lines in texts for line in lines)

    def reason_against(tokenizer: str) -> str | None:
        words = tokenizer in ("13a", "intl", "moses", "moses-split")
        reasons = {
            "not for this language": language not in _ONLY_FOR.get(tokenizer, {language}),
            "without spaces a whole clause would be a word": words and language in UNSPACED,
            "not tokenized already: punctuation would stick to words": (
                tokenizer == "none" and not tokenized
            ),
            "differs by language; the target language is not known": (
                tokenizer.startswith("moses") and not language
            ),
            "no hyphen joins words here: it equals moses": (
                tokenizer == "moses-split" and not compounds
            ),
        }
        applying = (reason for reason, applies in reasons.items() if applies)
        return next(applying, None) or lacking(tokenizer)

    return reason_against
