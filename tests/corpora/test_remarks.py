import pytest

from headway.core.cleaning import Pair, Report, clean_pairs
from headway.corpora.remarks import doubt
from headway.corpora.settings import NotedCleaning

BAD = (
    "not OK|NOT OK|Not ok!|nicht OK|nicht ok, bitte ändern|pas ok|pas bon|no ok|non ok|niet ok|"
    "не ок|not good|wrong|Wrong translation|falsch|Fehler|à revoir|不对|翻译错误|需要修改|誤訳|"
    "要確認|수정 필요|state: rejected|state: needs-review|needs review|REJECTED by QA|nok|NG|"
    "bad translation, see glossary|mistranslated|isn't correct|неверный перевод|źle|FIXME|"
    "The second half has to be changed|Draft|todo!|error|译文有误|잘못된 번역"
).split("|")
GOOD = (
    "OK|approved|checked by Anna|state: translated|state: final|label|没有问题|no errors|"
    "Error message shown when the file cannot be opened|check box|Check-in counter, plural|"
    "The wrong password dialog of the login form opens here|TRANSLATORS: right is a direction|"
    "Error message|Draft email|Title of the error dialog|Fix button label|Bad gateway page title|"
    "A reading nook|No final newline|No correct answers|错误信息|source comment: not correct"
).split("|")


@pytest.mark.parametrize("note", BAD)
def test_notes_that_a_translation_is_not_good(note: str) -> None:
    assert doubt(["approved", note]) == note


@pytest.mark.parametrize("note", GOOD)
def test_other_notes_say_nothing(note: str) -> None:
    assert doubt([note]) == ""


@pytest.mark.parametrize(
    ("skipped", "kept"),
    [
        ((), "one two three"),
        (("not  ok",), "two three"),
        (("doubtful",), "three"),
        (("NOT OK", "fine"), "two"),
        (("ok fine",), "one two three"),
    ],
)
def test_pairs_with_such_notes_are_left_out_and_counted(
    skipped: tuple[str, ...], kept: str
) -> None:
    notes = {"one": ("Not OK: see below",), "two": ("falsch",), "three": ("fine",)}
    pairs = [Pair(text, text.upper(), "f", 1, note) for text, note in notes.items()]
    report = Report()
    settings = NotedCleaning(skip_notes=skipped)
    left = list(clean_pairs(pairs, settings, report, settings.judge))
    assert " ".join(pair.source for pair in left) == kept
    assert report.dropped["noted"] == 3 - len(left)
    doubted = sum(pair.source in ("one", "two") for pair in left)
    assert report.noticed["doubtful_note"] == doubted
    assert len(report.examples.get("doubtful_note", ())) == doubted
