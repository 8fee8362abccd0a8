import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.cleaning import (
    CleaningSettings,
    Pair,
    Report,
    clean,
    clean_pairs,
    refuse_unusable,
)
from headway.core.errors import ConfigError, DataError
from headway.corpora.pieces import report_from
from headway.corpora.reasons import MENDED, NOTICED, REASONS

any_text = st.text(
    st.characters() | st.sampled_from("\x00\r\x0b\x0c\x85\u2028\ufeff\ud800\t é\u0301")
)
SETTINGS = CleaningSettings()


@given(any_text)
def test_clean_text_is_one_printable_nfc_line(text: str) -> None:
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    assert cleaned == unicodedata.normalize("NFC", cleaned) == cleaned.strip()
    assert len(cleaned.splitlines()) <= 1
    assert not any(unicodedata.category(character) in ("Cc", "Cs") for character in cleaned)
    cleaned.encode("utf-8")


@given(
    st.text(st.characters(categories=["L", "N", "P"])).map(
        lambda t: unicodedata.normalize("NFC", t)
    )
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    mended: Counter[str] = Counter()
    assert clean(text, mended) == text
    assert not mended


@pytest.mark.parametrize(
    ("text", "cleaned", "kinds"),
    [
        ("a\x00b", "ab", ["nul"]),
        ("a\u2028b\u2029c", "a b c", ["line_separator"]),
        ("a\x0bb\x0cc\x85d\re", "a b c d e", ["line_separator"]),
        ("a\tb", "a b", ["tab"]),
        ("\ufeffa", "a", ["byte_order_mark"]),
        ("a\x07b\x9f", "ab", ["control_character"]),
        ("a\ud800b", "ab", ["lone_surrogate"]),
        ("e\u0301", "é", ["not_nfc"]),
        ("  a\u3000", "a", ["outer_space"]),
        ("a   b  c", "a b c", ["doubled_space"]),
        ("a\t \tb", "a b", ["tab", "doubled_space"]),
        ("，。ﬁ①", "，。ﬁ①", []),
    ],
)
def test_what_is_mended_is_counted_by_kind(text: str, cleaned: str, kinds: list[str]) -> None:
    mended: Counter[str] = Counter()
    assert clean(text, mended) == cleaned
    assert mended == Counter(kinds)
    assert set(mended) <= set(MENDED)


def pair(source: str, target: str, line: int = 1) -> Pair:
    return Pair(source, target, "f", line)


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        ("", "b", "blank_side"),
        ("a", " \u3000\x00\t", "blank_side"),
        ("a " * 1_001, "b " * 1_001, "too_long"),
        ("Yes.", "ja " * 60, "length_ratio"),
        ("ja " * 60, "Yes.", "length_ratio"),
    ],
)
def test_unusable_pairs_are_dropped_with_reason_and_example(
    source: str, target: str, reason: str
) -> None:
    report = Report(read=1)
    assert list(clean_pairs([pair(source, target, 7)], SETTINGS, report)) == []
    assert report.dropped == {reason: 1}
    assert reason in REASONS
    assert (report.examples[reason][0].file, report.examples[reason][0].line) == ("f", 7)


def test_scripts_of_unlike_density_are_not_mistaken_for_misalignment() -> None:
    pairs = [
        pair(
            "The taller the tree, the more likely it is to be struck by lightning.", "树高遭雷击。"
        ),
        pair("OK", "Einverstanden, das machen wir so."),
        pair("我爱学习", "I love learning"),
    ]
    assert list(clean_pairs(pairs, SETTINGS, Report())) == pairs


def test_a_ratio_of_zero_allows_any() -> None:
    settings = CleaningSettings(max_ratio=0.0)
    assert len(list(clean_pairs([pair("a", "b" * 1_999)], settings, Report()))) == 1


def test_copies_are_kept_and_counted() -> None:
    report = Report()
    assert len(list(clean_pairs([pair("a", "a"), pair("a", "b")], SETTINGS, report))) == 2
    assert report.noticed == {"copy": 1}
    assert set(report.noticed) <= set(NOTICED)
    report.drop_kept("duplicate", 1, Counter(copy=1), [pair("a", "a")])
    assert (report.kept, report.noticed["copy"], report.dropped) == (1, 0, {"duplicate": 1})


@given(st.lists(st.tuples(any_text, any_text)))
def test_everything_read_is_kept_or_dropped(texts: list[tuple[str, str]]) -> None:
    report = Report(read=len(texts))
    kept = list(clean_pairs([pair(*sides) for sides in texts], SETTINGS, report))
    assert report.kept == len(kept)
    assert report.read == report.kept + report.dropped.total()


def test_at_most_three_examples_of_a_reason_are_kept_and_cut() -> None:
    report = Report()
    for line in range(9):
        report.drop("blank_side", "f", line, "x" * 10_000)
    assert [example.line for example in report.examples["blank_side"]] == [0, 1, 2]
    assert all(len(example.text) <= 120 for example in report.examples["blank_side"])


def test_reasons_are_told_in_words_the_most_frequent_first() -> None:
    report = Report()
    assert report.dropped_words() == "none"
    report.dropped.update(held_out=20, too_many_tokens=1_200)
    assert report.dropped_words() == "1,200 too many tokens, 20 held out"


def test_a_report_survives_json() -> None:
    import json

    report = Report(read=3)
    list(clean_pairs([pair("", "b"), pair("a", "a"), pair("e\u0301", "b")], SETTINGS, report))
    report.suspicions.append("from about f:1")
    again = report_from(json.loads(json.dumps(report.as_dict())))
    assert again == report


def test_too_little_text_is_refused() -> None:
    report = Report(read=21)
    list(clean_pairs([pair("a", "b")] * 18 + [pair("", "b")] * 3, SETTINGS, report))
    with pytest.raises(DataError, match="at least 20 usable pairs; 18 of 21 .*3 blank side"):
        refuse_unusable(report)
    refuse_unusable(report, least=18)


def test_the_same_text_on_both_sides_is_refused() -> None:
    report = Report(read=100)
    list(clean_pairs([pair("a", "a")] * 95 + [pair("a", "b")] * 5, SETTINGS, report))
    with pytest.raises(DataError, match="95 of 100 pairs they are the same"):
        refuse_unusable(report)


@pytest.mark.parametrize(
    "settings", [{"max_ratio": 1.0}, {"max_ratio": -3.0}, {"max_characters": 0}]
)
def test_impossible_settings_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(settings))):
        CleaningSettings(**settings)  # type: ignore[arg-type]


def test_a_pair_names_its_place() -> None:
    assert Pair("a", "b", "x/train.en", 12).origin == "x/train.en:12"
