"""Codes of languages as clients write them: which is meant, and its name in English."""

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from headway.languages.codes import base
from headway.languages.detection import TWO_LETTERS
from headway.serving.requests import AUTO
from headway.serving.runs import OTHERS, between
from headway.serving.service import Service

LONGEST = 100
"""Characters of a code that are looked at."""
_NAMES = """
    aa Afar|ab Abkhazian|af Afrikaans|ak Akan|am Amharic|an Aragonese|ar Arabic|as Assamese
    av Avaric|ay Aymara|az Azerbaijani|ba Bashkir|be Belarusian|bg Bulgarian|bm Bambara|bn Bengali
    bo Tibetan|br Breton|bs Bosnian|ca Catalan|ce Chechen|ch Chamorro|co Corsican|cs Czech
    cv Chuvash|cy Welsh|da Danish|de German|dv Divehi|dz Dzongkha|ee Ewe|el Greek|en English
    eo Esperanto|es Spanish|et Estonian|eu Basque|fa Persian|ff Fulah|fi Finnish|fj Fijian
    fo Faroese|fr French|fy Western Frisian|ga Irish|gd Scottish Gaelic|gl Galician|gn Guarani
    gu Gujarati|gv Manx|ha Hausa|he Hebrew|hi Hindi|hr Croatian|ht Haitian Creole|hu Hungarian
    hy Armenian|ia Interlingua|id Indonesian|ie Interlingue|ig Igbo|io Ido|is Icelandic|it Italian
    iu Inuktitut|ja Japanese|jv Javanese|ka Georgian|ki Kikuyu|kk Kazakh|kl Greenlandic|km Khmer
    kn Kannada|ko Korean|ks Kashmiri|ku Kurdish|kv Komi|kw Cornish|ky Kyrgyz|la Latin
    lb Luxembourgish|lg Ganda|li Limburgish|ln Lingala|lo Lao|lt Lithuanian|lu Luba-Katanga
    lv Latvian|mg Malagasy|mh Marshallese|mi Maori|mk Macedonian|ml Malayalam|mn Mongolian
    mr Marathi|ms Malay|mt Maltese|my Burmese|nb Norwegian Bokmål|nd North Ndebele|ne Nepali
    nl Dutch|nn Norwegian Nynorsk|no Norwegian|nr South Ndebele|nv Navajo|ny Nyanja|oc Occitan
    om Oromo|or Odia|os Ossetic|pa Punjabi|pl Polish|ps Pashto|pt Portuguese|qu Quechua|rm Romansh
    rn Rundi|ro Romanian|ru Russian|rw Kinyarwanda|sa Sanskrit|sc Sardinian|sd Sindhi
    se Northern Sami|sg Sango|si Sinhala|sk Slovak|sl Slovenian|sm Samoan|sn Shona|so Somali
    sq Albanian|sr Serbian|ss Swati|st Southern Sotho|su Sundanese|sv Swedish|sw Swahili|ta Tamil
    te Telugu|tg Tajik|th Thai|ti Tigrinya|tk Turkmen|tl Tagalog|tn Tswana|to Tongan|tr Turkish
    ts Tsonga|tt Tatar|ty Tahitian|ug Uyghur|uk Ukrainian|ur Urdu|uz Uzbek|ve Venda|vi Vietnamese
    vo Volapük|wa Walloon|wo Wolof|xh Xhosa|yi Yiddish|yo Yoruba|yue Cantonese|za Zhuang|zh Chinese
    zu Zulu
"""
_SCRIPTS = {"hans": "simplified", "hant": "traditional", "latn": "Latin", "cyrl": "Cyrillic"}
_CHINESE = {"cn": "hans", "sg": "hans", "my": "hans", "tw": "hant", "hk": "hant", "mo": "hant"}
"""Scripts by region."""
_SHORT = {"zt": "zh-hant", "pb": "pt-br"}
"""What LibreTranslate's own models are named."""


@cache
def _names() -> dict[str, str]:
    entries = re.split(r"[|\n]", _NAMES)
    return {code: name for code, _, name in (one.strip().partition(" ") for one in entries) if code}


@cache
def _three_letters() -> dict[str, str]:
    return {two: three for three, two in reversed(TWO_LETTERS.items())}  # of several the first


def english_name(code: str) -> str:
    """`German` of `de`, `Portuguese (BR)` of `pt-BR`; the code itself where there is no name."""
    language, *parts = re.split("[-_]", code)
    name = _names().get(TWO_LETTERS.get(language.lower(), language.lower()))
    if name is None:
        return code
    more = [_SCRIPTS.get(part.lower(), part.upper()) for part in parts]
    return f"{name} ({', '.join(more)})" if more else name


def three_letters(code: str) -> str:
    """`deu` of `de` and of `de-AT`; the code itself where it has none."""
    return _three_letters().get(base(code), code)


def served_code(asked: str, codes: Iterable[str]) -> str | None:
    """Which of some codes is meant: `zh-CN` is `zh-Hans` before `zh`, and `deu_AT` is `de`.

    A region or a script that no code has is no other language: `en-GB` is `en`, or `en-US`.
    """
    wanted = _as_served(asked[:LONGEST])
    found = min(codes, key=lambda code: between(code, wanted), default=None)
    return found if found is not None and between(found, wanted) < OTHERS else None


@lru_cache(4096)
def _as_served(code: str) -> str:
    """In two letters where there are two; of Chinese the script alone, in place of a region."""
    code = _SHORT.get(code.lower(), code.lower())
    language, *rest = re.split("[-_@]", code)
    language = {"cmn": "zh", "chi": "zh"}.get(language, TWO_LETTERS.get(language, language))
    if language == "zh":
        scripts = [_CHINESE.get(part, part) for part in rest]
        rest = [part for part in scripts if part in ("hans", "hant")][:1]
    return "-".join([language, *rest])


def sources(service: Service) -> list[str]:
    """The languages that something is translated from, in order."""
    return list(dict.fromkeys(pair.source for pair in service.runs.pairs))


def targets(service: Service, source: str | None = None) -> list[str]:
    """The languages that something, or one language, is translated into."""
    pairs = service.runs.pairs
    return list(dict.fromkeys(one.target for one in pairs if source in (None, one.source)))


def same_or_into(service: Service, source: str, target: str) -> str | None:
    """The target that is meant: one that a source (`AUTO`: any) is translated into, or the source
    itself, whose texts stay as they are."""
    if source == AUTO:
        return served_code(target, targets(service))
    return served_code(target, targets(service, source)) or served_code(target, [source])


def short(value: object, n_characters: int = 40) -> str:
    """What was given, as a refusal shows it."""
    text = str(value) if isinstance(value, str | int | float) else type(value).__name__
    return text if len(text) <= n_characters else text[:n_characters] + ".."
