import pytest
from doctoring import as_pairs

from headway.doctor.batches import batches
from headway.doctor.findings import Finding, FindingsLog
from headway.doctor.languages import LanguageCheck
from headway.languages.detection import alike, detect

LONG = "a sentence that is long enough to tell its language"


def by_first_word(text: str) -> tuple[str, float]:
    """A language, and how sure one may be: `de? ..` is not."""
    word = text.split()[0]
    return word.rstrip("?"), 0.5 if word.endswith("?") else 1.0


def found(
    source: str | None, target: str | None, texts: list[tuple[str, str]]
) -> tuple[dict[str, Finding], LanguageCheck]:
    notes = FindingsLog()
    check = LanguageCheck(notes, (source, target), by_first_word, range(len(texts)))
    for batch in batches(as_pairs(texts)):
        check.add(batch)
    check.conclude()
    return {finding.name: finding for finding in notes.findings()}, check


def test_text_in_another_language_is_named_with_side_and_language() -> None:
    texts = [(f"en {LONG}", f"de {LONG}")] * 9 + [(f"en {LONG}", f"fr {LONG}")]
    findings, check = found("en", "de", texts)
    assert set(findings) == {"other_language"}
    (case,) = findings["other_language"].examples
    assert (case.line, case.detail) == (10, "the target seems to be fr")
    assert check.shares() == {"source": {"en": 1.0}, "target": {"de": 0.9, "fr": 0.1}}


def test_two_languages_on_one_side_are_told_with_their_shares() -> None:
    texts = [(f"en {LONG}", f"de {LONG}")] * 90 + [(f"en {LONG}", f"fr {LONG}")] * 10
    for declared in (None, "de"):
        findings, _ = found("en", declared, texts)
        mixed = findings["mixed_languages"]
        assert mixed.serious
        assert mixed.n == 10
        assert "the target is in several languages: de 90.0%, fr 10.0%" in mixed.title
        assert [case.line for case in mixed.examples] == [1, 91]


@pytest.mark.parametrize("second", ["fr", "en"])
def test_a_second_language_of_a_few_percent_is_serious(second: str) -> None:
    texts = [(f"en {LONG}", f"de {LONG}")] * 191 + [(f"en {LONG}", f"{second} {LONG}.")] * 9
    assert any(finding.serious for finding in found("en", "de", texts)[0].values())


def test_untranslated_text_and_a_few_mistakes_are_no_second_language() -> None:
    texts = [(f"en {LONG}", f"de {LONG}")] * 90 + [(f"en {LONG}", f"en {LONG}.")] * 10
    assert "mixed_languages" not in found("en", "de", texts)[0]
    texts = [(f"en {LONG}", f"de {LONG}")] * 400 + [(f"en {LONG}", f"nl {LONG}")] * 5
    assert "mixed_languages" not in found("en", "de", texts)[0]


def test_short_texts_and_doubtful_answers_say_nothing() -> None:
    findings, check = found("en", "de", [("fr short", f"fr? {LONG}"), ("copy", "copy")])
    assert findings == {}
    assert check.shares() == {"source": {}, "target": {}}


def test_sides_that_are_declared_the_wrong_way_round_are_told() -> None:
    findings, _ = found("de", "en", [(f"en {LONG}", f"de {LONG}")] * 3)
    assert "declared as de, but seems to be en" in findings["source_language"].title
    assert {"source_language", "target_language", "other_language"} == set(findings)
    assert findings["other_language"].n == 3  # pairs, not sides


def test_without_a_declaration_nothing_contradicts_it() -> None:
    findings, check = found(None, None, [(f"en {LONG}", f"de {LONG}")])
    assert findings == {}
    assert check.shares()["target"] == {"de": 1.0}


@pytest.mark.parametrize("codes", [("eng", "deu"), ("eng_Latn", "deu_Latn"), ("EN", "de-AT")])
def test_a_language_may_be_declared_in_any_code_of_iso_639(codes: tuple[str, str]) -> None:
    assert found(*codes, [(f"en {LONG}", f"de {LONG}")] * 9)[0] == {}


@pytest.mark.parametrize("declared", ["sd", "bo", "old"])
def test_no_text_is_judged_by_a_language_that_cannot_be_heard(
    declared: str,
) -> None:
    texts = [(f"ur {LONG}", f"de {LONG}")] * 90 + [(f"fa {LONG}", f"fr {LONG}")] * 10
    findings, check = found(declared, "de", texts)
    assert set(findings) == {"other_language", "mixed_languages"}
    assert (findings["other_language"].n, findings["other_language"].of) == (10, 100)
    assert "target" in findings["mixed_languages"].title
    assert check.shares()["source"] == {}


def test_the_share_in_another_language_is_of_the_texts_that_could_be_judged() -> None:
    judged = [(f"en {LONG}", f"de {LONG}")] * 16 + [(f"en {LONG}", f"fr {LONG}")] * 4
    unjudged = [("en", "de"), (f"en? {LONG}", f"fr? {LONG}"), (f"fr {LONG}", f"fr {LONG}")]
    finding = found("en", "de", judged + 30 * unjudged)[0]["other_language"]
    assert (finding.n, finding.of, finding.serious) == (4, 20, True)
    assert found("sd", "bo", judged)[0] == {}


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("zh", "zh-Hans", True),
        ("PT_br", "pt", True),
        ("nb", "no", True),
        ("en", "de", False),
        ("cs", "sk", False),
    ],
)
def test_what_is_alike(one: str, other: str, expected: bool) -> None:
    assert alike(one, other) is alike(other, one) is expected


def test_the_real_detector_tells_languages_apart() -> None:
    for language, text in (
        ("en", "The animal didn't cross the street because it was too tired."),
        ("de", "Das Tier ging nicht über die Straße, weil es zu müde war."),
        ("fr", "L'animal n'a pas traversé la rue parce qu'il était trop fatigué."),
        ("zh", "那只动物没有过马路，因为那只动物太累了，它想在树下睡觉。"),
    ):
        heard, probability = detect(text)
        assert heard == language
        assert 0.8 < probability <= 1.0
