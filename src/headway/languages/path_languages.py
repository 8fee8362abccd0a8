"""The language that the name of a file or of its folder says."""

import re
from pathlib import Path

_CODES = frozenset(
    "aa ab af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da "
    "de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy "
    "hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg "
    "li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or "
    "os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta "
    "te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu".split()
)
"""ISO 639-1."""
_ANDROID = {"in": "id", "iw": "he", "ji": "yi"}
"""What its folders are still called, and the code since 1989."""
_CODE = re.compile(r"([a-z]{2})(?:[-_](?:[A-Z][a-z]{3}|[A-Za-z]{2}|\d{3})){0,2}")
_LAST = re.compile(r"(?:^|[._-])([a-z]{2}(?:[-_](?:[A-Z][a-z]{3}|[A-Z]{2}|\d{3})){0,2})\Z")


def is_code(name: str) -> bool:
    """Whether a name is the code of a language, perhaps with a script or a region."""
    found = _CODE.fullmatch(name)
    return bool(found and found[1] in _CODES)


def named_language(path: Path) -> str | None:
    """What stands last in a file's name, else the folder that it lies in.

    Folders are `en/`, `en.lproj/`, `values-en/`, `values-pt-rBR/`,
    `values-b+sr+Latn/`, and `values-in/` for `id`.
    """
    name = re.sub(r"\.gz\Z", "", path.name, flags=re.IGNORECASE)
    last = _LAST.search(Path(name).stem)
    folder = path.parent.name.removesuffix(".lproj")
    if folder.startswith("values-"):
        android = folder.removeprefix("values-").removeprefix("b+").replace("+", "-")
        language, *others = android.replace("-r", "-", 1).split("-")
        folder = "-".join([_ANDROID.get(language, language), *others])
    return next((code for code in (last[1] if last else "", folder) if is_code(code)), None)
