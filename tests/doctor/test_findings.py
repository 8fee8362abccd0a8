import json

from headway.core.cleaning import Pair
from headway.doctor.findings import EXAMPLES, Finding, FindingsLog, Severity, Symptom

RARE = Symptom("rare", "rare things", "It means this.", "Do that.", tolerated=0.05)
GRAVE = Symptom("grave", "grave things", "It means this.", "Do that.")


def pair(line: int) -> Pair:
    return Pair("s" * 300, "t", "f", line)


def test_all_cases_are_counted_and_the_first_ten_shown() -> None:
    notes = FindingsLog()
    for line in range(1, 26):
        notes.take(GRAVE, pair(line), "odd")
    notes.count(GRAVE, 5)
    notes.conclude([GRAVE, RARE], of=100)
    (finding,) = notes.findings()
    assert (finding.n, finding.of, finding.share) == (30, 100, 0.3)
    assert [case.line for case in finding.examples] == list(range(1, EXAMPLES + 1))
    assert {(len(case.source), case.target, case.detail) for case in finding.examples} == {
        (200, "t", "odd")
    }


def test_the_surest_cases_are_shown_first_and_of_equals_the_earliest() -> None:
    notes = FindingsLog()
    for line in range(1, 41):
        notes.take(GRAVE, pair(line), sure=float(line % 4))
    notes.conclude([GRAVE], of=100)
    assert [case.line for case in notes.findings()[0].examples] == [*range(3, 40, 4)]


def test_more_than_a_share_and_a_few_cases_are_serious() -> None:
    severe = Symptom("severe", "", "", "", serious=0.1)
    for n_cases, of, expected in ((10, 100, False), (11, 100, True), (2, 2, False), (3, 3, True)):
        notes = FindingsLog()
        for line in range(n_cases):
            notes.take(severe, pair(line))
            notes.take(GRAVE, pair(line))
        notes.conclude([severe, GRAVE], of=of)
        assert {one.name: one.serious for one in notes.findings()} == {
            "severe": expected,
            "grave": False,
        }


def test_only_more_than_the_tolerated_share_asks_for_a_look() -> None:
    for n_cases, expected in ((5, Severity.INFORMATION), (6, Severity.LOOK)):
        notes = FindingsLog()
        for line in range(n_cases):
            notes.take(RARE, pair(line))
        notes.conclude([RARE], of=100)
        assert notes.findings()[0].severity is expected


def test_whoever_listens_hears_every_case() -> None:
    heard: list[tuple[str, int, str]] = []
    notes = FindingsLog(
        lambda symptom, pair, detail: heard.append((symptom.name, pair.line, detail))
    )
    for line in range(30):
        notes.take(RARE, pair(line), str(line))
    assert heard == [("rare", line, str(line)) for line in range(30)]
    assert notes.heard
    assert not FindingsLog().heard


def test_the_most_urgent_comes_first_then_what_most_pairs_show() -> None:
    notes = FindingsLog()
    for name, severity, n in (
        ("a", Severity.INFORMATION, 90),
        ("b", Severity.DROPPED, 5),
        ("c", Severity.LOOK, 1),
        ("d", Severity.LOOK, 2),
    ):
        notes.add(Finding(name, severity, "", n, 100, "", ""))
    assert [finding.name for finding in notes.findings()] == ["d", "c", "b", "a"]


def test_a_finding_is_plain_values() -> None:
    notes = FindingsLog()
    notes.take(GRAVE, Pair("one", "eins", "f", 7), "odd")
    notes.conclude([GRAVE], of=4)
    plain = notes.findings()[0].as_dict()
    assert json.loads(json.dumps(plain)) == {
        "name": "grave",
        "severity": "look",
        "title": "grave things",
        "n": 1,
        "of": 4,
        "share": 0.25,
        "meaning": "It means this.",
        "remedy": "Do that.",
        "examples": [
            {"file": "f", "line": 7, "source": "one", "target": "eins", "detail": "odd"}
        ],
        "serious": False,
    }  # fmt: skip
