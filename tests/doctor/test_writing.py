from doctoring import everyday, found_by, lines_of

from headway.doctor.findings import FindingsLog, Severity
from headway.doctor.languages import ScriptCheck


def writing(source: str | None, target: str | None):  # type: ignore[no-untyped-def]
    return lambda notes: ScriptCheck(notes, source, target)


def test_clean_text_is_in_its_scripts() -> None:
    assert found_by(writing("en", "zh"), everyday(500)) == {}
    assert found_by(writing(None, None), everyday(500)) == {}


def test_a_line_in_another_script_is_named() -> None:
    texts = everyday(500)
    texts[99] = (texts[99][0], "Я не знаю")
    texts[199] = ("我不知道该怎么办", texts[199][1])
    for languages in (("en", "zh"), (None, None)):
        finding = found_by(writing(*languages), texts)["wrong_script"]
        assert lines_of(finding) == [100, 200]
        assert [case.detail for case in finding.examples] == ["target", "source"]
        assert finding.severity is Severity.LOOK


def test_copied_names_are_no_fault() -> None:
    texts = [("Ask OpenerDirector", "OpenerDirector"), ("Say hello", "说hello"), ("x", "abc")]
    texts += [("I love learning", "我爱学习，非常非常爱学习，爱得不得了")] * 2
    assert found_by(writing("en", "zh"), texts) == {}


def test_declared_languages_that_cannot_be_are_told() -> None:
    found = found_by(writing("zh", "en"), everyday(50))
    assert {"source_script", "target_script"} <= set(found)
    assert "declared as zh, but written in Latin letters" in found["source_script"].title


def test_much_code_in_chinese_is_still_chinese() -> None:
    texts = [("Use the parser like this", "使用解析器 parser.parse"), *everyday(5)] * 3
    code = [("parser = ArgumentParser", "parser = ArgumentParser")] * 9
    assert found_by(writing("en", "zh"), texts + code) == {}


def test_shares_by_hand() -> None:
    check = ScriptCheck(FindingsLog(), "en", "zh")
    assert check.shares() == {"source": {}, "target": {}}
    found_by(lambda _notes: check, [("abc", "我爱x"), ("d 1!", "你")])
    assert check.shares() == {"source": {"LATIN": 1.0}, "target": {"HAN": 0.75, "LATIN": 0.25}}
