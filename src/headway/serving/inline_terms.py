"""Glossaries that come with a request: compiled once, however often they come."""

import threading
from collections import OrderedDict
from collections.abc import Sequence

from headway.core.errors import DataError
from headway.localization.terms.glossary import Glossary, GlossaryRow
from headway.localization.terms.keeping import Terms
from headway.serving.requests import RefusedError

KEPT = 64
"""Glossaries that are kept compiled: those that were asked for last."""
MOST = 20_000
"""Terms of one."""

Rows = tuple[tuple[str, str], ...]

_compiled: "OrderedDict[Rows, Terms]" = OrderedDict()
_lock = threading.Lock()


def terms_of(pairs: Sequence[tuple[str, str]]) -> Terms:
    """The terms of some pairs of a term and its translation; with an empty translation, or `=`, a
    term is not to be translated.

    Raises RefusedError: none is a term, two contradict each other, or they are too many.
    """
    rows = tuple((source, target) for source, target in pairs)
    if len(rows) > MOST:
        raise RefusedError("too_long", f"a glossary has up to {MOST:,} terms; got {len(rows):,}")
    with _lock:
        if (found := _compiled.get(rows)) is not None:
            _compiled.move_to_end(rows)
            return found
        try:
            glossary = Glossary.of(
                (
                    GlossaryRow(source, target, "", "", f"term {number}")
                    for number, (source, target) in enumerate(rows, start=1)
                ),
                "the request",
            )
        except DataError as error:
            raise RefusedError("bad", str(error)) from None
        found = _compiled[rows] = Terms(glossary)
        while len(_compiled) > KEPT:
            _compiled.popitem(last=False)
        return found
