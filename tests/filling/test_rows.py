"""What is told of a file: counts that agree with each other."""

from dataclasses import replace

from headway.filling.report import CODES_AT_END, FileReport, causes, summary
from headway.filling.report_files import as_json, page
from headway.languages.codes import LanguagePair
from headway.localization.formats.units import FUZZY


def row(*names: str, written: bool = True) -> dict[str, object]:
    reasons = [{"name": name, "confidence": None, "why": name} for name in names]
    empty = {"key": "", "confidence": None, "percent": None, "score": None, "near": []}
    texts = {"file": "a.po", "line": 1, "source": "one", "target": "eins", "origin": "model"}
    return {**empty, **texts, "written": written, "reasons": reasons}


ROWS = [
    *[row("numbers")] * 3,
    *[row("numbers", CODES_AT_END, FUZZY)] * 2,
    *[row(CODES_AT_END, FUZZY)] * 4,
    *[row(FUZZY)] * 5,
    *[row("too_long", written=False)] * 6,
]


def test_the_causes_of_what_is_listed_add_up_to_it():
    report = FileReport("a.po", None, 30, 25, {"model": 19}, {"too_long": 6}, rows=ROWS, flagged=5)
    found = causes([report])
    assert sum(found.values()) == len(ROWS)
    assert found == {
        "left as they were": 6, "doubtful": 5, "near matches": 5, "codes at the end": 4,
    }  # fmt: skip
    text = page([report], LanguagePair("en", "de"))
    for n, cause in ((20, "are listed"), (6, "left as they were"), (5, "doubtful")):
        assert f"{n} {cause}" in text


def test_forms_of_plurals_are_told_where_there_are_more_texts_than_units():
    plural = FileReport("a.po", None, 2, 4, {"model": 4})
    assert "2 units, 4 to translate (a plural counts once for each form), 4 filled" in summary(
        plural
    )
    single = FileReport("a.po", None, 3, 2, {"model": 2}, left={"translated": 1})
    said = "a.po: 3 units, 2 to translate, 2 filled in; left as they were: 1 translated already"
    assert summary(single) == said
    onto = replace(single, left={"translated": 1, "only_in_target": 5})
    assert summary(onto).startswith("a.po: 3 units, 2 to translate, 2 filled in;")
    assert as_json([single])["summary"] == said.replace("a.po", "1 file")
    assert as_json([single, onto])["summary"].startswith("2 files: 6 units, 4 to translate, 4")
    assert summary(FileReport("a.txt", None, 1, 1, {"model": 1}), "lines").startswith(
        "a.txt: 1 line"
    )
