"""Plural forms that stand each by itself: `key_one`, `<item quantity="one">`, `one:`."""

from collections.abc import Callable, Iterator, Mapping

from headway.languages.plurals import also_one, forms_of
from headway.localization.formats.spans import Entry
from headway.localization.placeholders.patterns import find
from headway.localization.placeholders.segments import PluralForm, Segment

NAMES = ("zero", "one", "two", "few", "many", "other")


def plural_entries(
    group: Mapping[str, Entry], language: str | None, added: Callable[[str], Entry]
) -> Iterator[Entry]:
    """The forms of one text by their names, and those that only the target language has.

    `added` puts in a form of that name, of any text. Where other numbers take `one` too and
    only `other` has a place for the number, that is both.
    """
    forms = forms_of(language) if language else ()
    names = [form.name for form in forms]
    one, other, also = group.get("one"), group.get("other"), also_one(language)
    by_other = (
        one is not None and other is not None and also is not None
        and not (also == 0 and "zero" in group) and _n_codes(one) < _n_codes(other)
    )  # fmt: skip
    for name, entry in group.items():
        if name not in names:
            yield entry
            continue
        own = other is None or not (by_other and name == "one")
        place = names.index(name)
        plural = PluralForm(place, len(forms), forms[place].number, name, own_source=own)
        yield entry._replace(
            plural=plural, source=entry.source if own or not other else other.source
        )
    if other is None or len(group) < 2:
        return
    for place, form in enumerate(forms):
        if form.name not in group:
            plural = PluralForm(place, len(forms), form.number, form.name, own_source=False)
            yield added(form.name)._replace(source=other.source, plural=plural)


def _n_codes(entry: Entry) -> int:
    return len(find(entry.segment.text)) + len(entry.segment.codes)


def inserted(
    line: int, place: int, before: str, write: Callable[[Segment], str], key: str
) -> Entry:
    """An entry that is put in at a place, with what stands in front of it."""
    return Entry("", line, place, place, lambda new: before + write(new), key)
