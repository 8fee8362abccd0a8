from doctors_words import nothing_said, said

from headway.doctor.report import report_lines


def test_the_most_urgent_comes_first_and_the_next_step_last() -> None:
    lines = list(report_lines(said()))
    assert lines[0] == "read 10,000 pairs, kept 9,000 (90.00%)"
    assert lines[1] == "languages: en -> ?"
    headings = ["Look at this", "Will be dropped", "For information"]
    assert [line for line in lines if line in headings] == headings
    assert lines[-1] == said()["next"]


def test_each_finding_says_how_many_what_it_means_where_and_what_to_do() -> None:
    example = {"file": "f", "line": 7, "source": "one", "target": "eins", "detail": "odd"}
    finding = said()["findings"][0] | {
        "title": "odd pairs",
        "meaning": "They are odd.",
        "remedy": "Mend them.",
        "examples": [example] * 9,
    }
    text = "\n".join(report_lines(said(findings=[finding])))
    assert "    1,234  12.34%  odd pairs" in text
    assert text.count("f:7  (odd)\n             one\n             eins") == 3
    assert text.index("They are odd.") < text.index("f:7") < text.index("-> Mend them.")


def test_lines_fit_on_a_screen() -> None:
    words = "word " * 60
    finding = said()["findings"][0] | {"title": words, "meaning": words, "remedy": words}
    example = {"file": "f", "line": 1, "source": words, "target": words, "detail": ""}
    lines = report_lines(said(findings=[finding | {"examples": [example]}], problems=[words]))
    assert max(map(len, lines)) <= 100 + len(said()["next"])


def test_numbers_are_measured_once_each() -> None:
    text = "\n".join(report_lines(said()))
    assert "scripts (source): latin 90.0%, han 10.0%" in text
    assert "languages heard (source): en 100.0%" in text
    assert "a sample of 500 pairs" in text
    assert "validation: read 10 pairs, kept 9" in text


def test_of_nothing_there_is_little_to_say() -> None:
    lines = list(report_lines(nothing_said()))
    assert lines[0] == "read 0 pairs, kept 0 (0.00%)"
    assert "Verdict: fit to train on." in lines
