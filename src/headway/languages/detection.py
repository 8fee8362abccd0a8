"""Which of 139 languages a text is in, as py3langid hears it: 5,000 lines a second, offline."""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from headway.languages.codes import base
from headway.languages.scripts import script_counts, scripts_of_language

Detector = Callable[[str], tuple[str, float]]
"""From a text to a language and the probability of it."""

LEAST_BYTES = 40
"""Shorter texts say too little."""
SURE = 0.8
"""Of 18,000 lines of German, French and Czech none was heard as another language with as much."""
_ALIKE = (
    {"no", "nb", "nn", "da"},
    {"hr", "bs", "sr", "sh"},
    {"id", "ms"},
    {"zh", "yue", "cmn", "wuu", "lzh"},
)


_LOADING = threading.Lock()


def _identifier() -> Any:
    with _LOADING:  # one loads it, however many threads ask at first
        return _loaded()


@cache
def _loaded() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def detect(text: str) -> tuple[str, float]:
    """The language of a text, and its probability: 0.0 for long numbers and checksums (`zxx`)."""
    heard, probability = _identifier().classify(text)
    return heard, 0.0 if heard == "zxx" else float(probability)


def other_language(text: str, wanted: str | None) -> tuple[str, float] | None:
    """The language of a text that is long enough, and its probability, if it is not `wanted`."""
    if wanted is None or len(text.encode()) < LEAST_BYTES or not is_told(wanted):
        return None
    heard, probability = detect(text)
    return None if probability < SURE or alike(heard, wanted) else (heard, probability)


_SAMPLE, _FEW, _MANY = 500, 5, 1 / 3
"""Texts that are listened to; so many of them, and such a share, are no mistake of the detector."""


def heard_otherwise(what: str, texts: Sequence[str], wanted: str | None) -> str:
    """A sentence where a third of `texts` are in another language than `wanted`, or another script;
    than most are, if None is wanted. Empty text where they are not, or too few tell.

    It begins with `what` the texts are ("the sources of a.en"); some five hundred are looked at.
    """
    texts = texts[:: max(1, len(texts) // _SAMPLE)]
    heard: Counter[str] = Counter()
    if wanted is None or is_told(wanted):
        long = (text for text in texts if len(text.encode()) >= LEAST_BYTES)
        heard.update(code for code, sure in map(detect, long) if sure >= SURE)
    expected = wanted or next(iter(heard.most_common(1)), ("",))[0]
    others = Counter({code: n for code, n in heard.items() if not alike(code, expected)})
    n_texts, own = heard.total(), scripts_of_language(expected)
    if own and others.total() < max(_FEW, _MANY * n_texts):  # as far as short texts tell
        letters = [counts for counts in map(script_counts, texts) if counts.total() > 3]
        main = (counts.most_common(1)[0][0] for counts in letters if not counts.keys() & {*own})
        others, n_texts = Counter(f"{name.title()} letters" for name in main), len(letters)
    if others.total() < max(_FEW, _MANY * n_texts):
        return ""
    [(other, n), *_] = others.most_common(1)
    is_wanted = f"should be in {wanted}" if wanted else f"are in {expected} for the most part"
    return f"{what} {is_wanted}, but {n:,} of {n_texts:,} that tell seem to be in {other}"


@cache
def is_told(language: str) -> bool:
    """Whether the detector knows a language."""
    return any(alike(language, label) for label in _identifier().labels)


def alike(one: str, other: str) -> bool:
    """The same language, or two that no detector tells apart line by line."""
    bases = {two_letters(one), two_letters(other)}
    return len(bases) == 1 or any(bases <= group for group in _ALIKE)


def two_letters(code: str) -> str:
    """The language alone, with two letters where it has them: `en` of `eng` and `EN-US`."""
    return TWO_LETTERS.get(base(code), base(code))


def known_languages() -> list[str]:
    """The codes that the detector gives."""
    return list(_identifier().labels)


def probabilities(text: str) -> list[tuple[str, float]]:
    """Every language that is known with the probability of it, the likeliest first."""
    return [(label, float(p)) for label, p in _identifier().rank(text)]


_CODES = (
    "afr af amh am ara ar arg an asm as aze az bak ba bel be ben bn bos bs bre br bul bg cat ca "
    "ces cs cym cy dan da deu de dzo dz ell el eng en epo eo est et eus eu fao fo fas fa fin fi "
    "fra fr fry fy ful ff gla gd gle ga glg gl grn gn guj gu hat ht hau ha hbs sh heb he hin hi "
    "hrv hr hun hu hye hy ibo ig ind id isl is ita it jav jv jpn ja kan kn kat ka kaz kk khm km "
    "kik ki kin rw kir ky kor ko kur ku lao lo lat la lav lv lin ln lit lt ltz lb lug lg mal ml "
    "mar mr mkd mk mlg mg mlt mt mon mn msa ms mya my nep ne nld nl nno nn nob nb nor no oci oc "
    "ori or orm om pan pa pol pl por pt pus ps que qu ron ro rus ru san sa sin si slk sk slv sl "
    "sme se sna sn som so sot st spa es sqi sq srp sr swa sw swe sv tam ta tat tt tel te tgk tg "
    "tgl tl tha th tuk tk tur tr uig ug ukr uk urd ur uzb uz vie vi vol vo wln wa xho xh yor yo "
    "zho zh zul zu "
    # the languages by which FLORES and Tatoeba name a group that ISO 639-1 has one code for
    "als sq arb ar azj az ekk et fil tl fuv ff gaz om gug gn khk mn kmr ku lvs lv npi ne ory or "
    "pbt ps pes fa plt mg prs fa quy qu swh sw uzn uz zsm ms"
).split()
TWO_LETTERS = dict(zip(_CODES[::2], _CODES[1::2], strict=True))
"""Of the languages that py3langid knows."""
