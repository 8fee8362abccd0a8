"""Codes of languages (`en`, `zh-Hans`, `pt_BR`): which go together, and what names of files say."""

import re
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable


@runtime_checkable
class Languages(Protocol):
    """Whatever says what is translated into what; None is for the file to say."""

    @property
    def source_language(self) -> str | None:
        """The language that is translated."""

    @property
    def target_language(self) -> str | None:
        """The language that it is translated into."""


class LanguagePair(NamedTuple):
    """What is translated into what, as far as it is known."""

    source_language: str | None = None
    target_language: str | None = None


def base(code: str | None) -> str:
    """The language alone: `pt` of `pt-BR` and `PT_br`; empty where none is given."""
    return re.split("[-_]", code or "")[0].lower()


def folded(code: str) -> str:
    """Without its region: `en-GB` and `en_US` are both `en`, `sr-Latn-RS` is `sr-Latn`.

    Of Chinese the region stays, as it says the script.
    """
    language, *parts = re.split("[-_]", code)
    if language.lower() == "zh":
        return code
    scripts = [part for part in parts[:1] if len(part) == 4 and part.isalpha()]
    return "-".join([language.lower(), *scripts])


def same_language(code: str, wanted: str | None) -> bool:
    """Case does not matter; `zh-Hans` answers to `zh`, and `zh-Hans-CN` to both."""
    if wanted is None:
        return False
    one, other = (re.split("[-_]", name.lower()) for name in (code, wanted))
    n = min(len(one), len(other))
    return one[:n] == other[:n]


_LIKE_A_CODE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*")
_NOT_LANGUAGES = frozenset(
    "txt tsv tok raw src tgt trg ref hyp bpe out low lc gz bz xz zip csv tab json srt vtt".split()
)


def is_language(name: str) -> bool:
    """Whether a suffix or a column's name looks like the code of a language."""
    return bool(_LIKE_A_CODE.fullmatch(name)) and name.lower() not in _NOT_LANGUAGES


def suffix_of(path: Path) -> str:
    """What tells the kind of a file, or its language: its suffix in lower case, without `.gz`."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


_CODES = frozenset(
    "aa ab af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da "
    "de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy "
    "hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg "
    "li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or "
    "os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta "
    "te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu".split()
)
"""ISO 639-1."""
_CODE = re.compile(r"([a-z]{2})(?:[-_](?:[A-Z][a-z]{3}|[A-Za-z]{2}|\d{3})){0,2}")
_LAST = re.compile(r"(?:^|[._-])([a-z]{2}(?:[-_](?:[A-Z][a-z]{3}|[A-Z]{2}|\d{3})){0,2})\Z")


def is_code(name: str) -> bool:
    """Whether a name is the code of a language, perhaps with a script or a region."""
    found = _CODE.fullmatch(name)
    return bool(found and found[1] in _CODES)


def named_language(path: Path) -> str | None:
    """What stands last in a file's name, else the folder that it lies in.

    Folders are `en/`, `en.lproj/`, `values-en/`, `values-pt-rBR/`.
    """
    name = re.sub(r"\.gz\Z", "", path.name, flags=re.IGNORECASE)
    last = _LAST.search(Path(name).stem)
    folder = path.parent.name.removesuffix(".lproj")
    if folder.startswith("values-"):
        folder = folder.removeprefix("values-").replace("-r", "-", 1)
    return next((code for code in (last[1] if last else "", folder) if is_code(code)), None)
