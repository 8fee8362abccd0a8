"""The plural forms of a PO message, and which of its two source texts each is a translation of."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from headway.languages.plurals import forms_of, numbers_of, only_one
from headway.localization.formats.po_entries import Header, PoEntry
from headway.localization.formats.po_text import unescape
from headway.localization.placeholders.segments import PluralForm, learned_form

_PLACE_FOR_NUMBER = re.compile(r"[%{]")


class MessageForm(NamedTuple):
    """A translation of a message: its only one, or that of a plural form."""

    form: int
    source: str
    """What it is a translation of: `msgid` or `msgid_plural`."""
    target: str | None
    """What stands there, maybe nothing; None where the file has no place for it."""
    plural: PluralForm | None = None
    """None for a message that has no plural."""


def message_text(entry: PoEntry, keyword: str, encoding: str) -> str:
    """`msgctxt`, `msgid` or `msgid_plural`; empty where there is none."""
    text = entry.texts.get(keyword)
    return unescape("".join(text.pieces), encoding) if text else ""


def message_forms(entry: PoEntry, header: Header) -> list[MessageForm]:
    """Every form that a message has, or is to have by the header, in their order.

    That of 1 is a translation of `msgid`, all others of `msgid_plural`. Where other numbers share
    it and only the plural has a place for the number, it is one of the plural, too.
    """
    encoding = header.encoding
    targets = {n: unescape("".join(text.pieces), encoding) for n, text in entry.forms.items()}
    singular, plural = (message_text(entry, name, encoding) for name in ("msgid", "msgid_plural"))
    if "msgid_plural" not in entry.texts:
        return [MessageForm(form, singular, target) for form, target in targets.items()]
    n_forms = max(len(targets), header.n_plurals or 0)
    forms = sorted({*range(n_forms), *targets})
    known = _numbers(header, n_forms)
    numbers = [known[min(form, n_forms - 1)] for form in forms]
    of_one = singular if n_forms > 1 and _takes_singular(header, singular, plural) else plural
    sources = [of_one if number == 1 else plural for number in numbers]
    times = Counter(sources)
    return [
        MessageForm(
            form,
            source,
            targets.get(form),
            PluralForm(form, n_forms, number, own_source=times[source] == 1),
        )
        for form, number, source in zip(forms, numbers, sources, strict=True)
    ]


def learned(forms: Sequence[MessageForm]) -> MessageForm:
    """The form that stands for a message where it is one pair: see `learned_form`."""
    there = [one for one in forms if one.target is not None]
    return there[learned_form([one.plural for one in there])]


def _numbers(header: Header, n_forms: int) -> tuple[int, ...]:
    """A number for each form: by the header's rule, else by what is known of the language."""
    found = numbers_of(header.plural, n_forms) if header.plural else None
    if found is not None:
        return tuple(2 if number is None else number for number in found)
    known = tuple(int(form.number) for form in forms_of(header.target_language, whole=True))
    return known if len(known) == n_forms else (1, *[2] * n_forms)[-n_forms:]


def _takes_singular(header: Header, singular: str, plural: str) -> bool:
    """Whether the form of 1 can be told by `msgid`."""
    shared = bool(header.plural) and not only_one(header.plural)
    n_codes = [len(_PLACE_FOR_NUMBER.findall(text)) for text in (singular, plural)]
    return not (shared and n_codes[0] < n_codes[1])
