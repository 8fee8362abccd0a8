"""What a file of each kind holds survives a translation that changes nothing."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from code_files import KINDS, Kind
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from headway.filling.filling import open_text, unit_of
from headway.filling.flow import Flow, Steps
from headway.localization.formats.documents import Document
from headway.localization.formats.file_kinds import opener_of
from headway.localization.formats.splitting import restored, trimmed
from headway.localization.placeholders.codes import parsed
from headway.localization.placeholders.segments import Segment

WHITE = [" ", "\t", "\n", "\f", "\v", "\x85", "\u2028", "\u2029", "\xa0", "\u2009", "\u3000"]
UNSEEN = ["\u200b", "\u200c", "\u200d", "\u200e", "\u200f", "\u202b", "\u202c", "\u2060", "\ufeff"]
NO_XML = "\f\v"
"""Characters that no XML may hold."""
BREAKS = "\n\f\v\x85\u2028\u2029"
LACKS = {
    **dict.fromkeys((".xlf", ".xliff", ".tmx", ".ts", ".resx", ".xml", ".docx"), NO_XML),
    ".po": BREAKS.replace("\n", ""),
    ".tsv": BREAKS + "\t",
    ".srt": BREAKS,
    ".yml": BREAKS.replace("\n", ""),
    ".vtt": BREAKS,
    ".txt": BREAKS,
    ".properties": BREAKS.replace("\n", ""),
    ".strings": BREAKS.replace("\n", ""),
}
"""What a kind cannot hold, or the reader of this test cannot read."""

SOME = [kind for kind in KINDS if kind.name != "a.csv"]  # which is taken for a table by its rows

texts = st.lists(
    st.sampled_from(["one", "Two", "%s", "{name}", "3", "é", "字", "🎉", ".", *WHITE, *UNSEEN]),
    min_size=1,
    max_size=9,
).map(lambda parts: "a" + "".join(parts) + "b")


class Copied(NamedTuple):
    segment: Segment
    complete: bool = True
    n_cut: int = 0


def copies(segments: Sequence[Segment]) -> list[Copied]:
    """What a model makes of segments that writes what it reads."""
    prepared = [(one, trimmed(one)) for one in segments]
    return [Copied(restored(one, inside, parsed(inside.segment))) for one, inside in prepared]


def filled(document: Document, file: Path) -> bytes:
    flow = Flow(copies, Steps(), "de")
    units = [unit_of(gap, str(file)) for gap in document.gaps]
    for _ in flow.run(units):
        pass
    return document.filled([flow.outcome(unit).segment for unit in units])


@pytest.mark.parametrize("kind", SOME, ids=[Path(kind.name).suffix for kind in SOME])
def test_odd_white_space_survives_a_copy(kind: Kind, tmp_path: Path) -> None:
    file = tmp_path / kind.name
    lacks = LACKS.get(file.suffix, "")

    @settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(texts, min_size=4, max_size=4, unique=True))
    @example(
        [
            "Name:\tValue\t\tb",
            "a\u200f one\u202b 字\u202c b",
            "a\xa0b  one 🎉b",
            "a \nb  \n  b",
        ]
    )
    def check(some: list[str]) -> None:
        some = ["".join(sign for sign in text if sign not in lacks) for text in some]
        expected = [*some, "And more."]
        kind.save(file, expected, "de")
        if file.suffix == ".md":  # to which blanks at a line's ends are nothing, two a line break
            expected = kind.load(file.read_bytes())
        opener = open_text if file.suffix == ".txt" else opener_of(file)
        document = opener(file, "en", "de", False)
        assert kind.load(filled(document, file)) == expected

    check()
