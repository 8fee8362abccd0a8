import pytest
from doctoring import everyday, found_by, lines_of

from headway.doctor.agreement import AgreementCheck
from headway.doctor.findings import Severity


def test_clean_text_agrees() -> None:
    urgent = [f for f in found_by(AgreementCheck, everyday(1_000)).values() if f.severity == "look"]
    assert urgent == []


@pytest.mark.parametrize(
    ("pair", "name", "detail"),
    [
        (("In 1990.", "Im Jahr 1991."), "numbers_differ", "1990 against 1991"),
        (("48 sailors.", "Matrosen."), "number_missing", "48 against none"),
        (("Hello %s.", "Hallo."), "codes_differ", "only in the source: %s"),
        (("Hello.", "Hallo <b>Welt</b>."), "codes_differ", "only in the target: <b>, </b>"),
        (("New York", "New York"), "copy", ""),
    ],
)
def test_each_disagreement_is_named_with_its_line(
    pair: tuple[str, str], name: str, detail: str
) -> None:
    found = found_by(AgreementCheck, [("one.", "eins."), pair, ("two?", "zwei？")])
    assert set(found) == {name}
    assert lines_of(found[name]) == [2]
    assert found[name].examples[0].detail == detail
    assert (found[name].n, found[name].of) == (1, 3)


@pytest.mark.parametrize(
    "pair",
    [
        ("He said “Is it (so)?”", "他说：“是（这样）吗？”"),
        ("“It is so.”", "“是这样。”"),
        ("Use %(name)s and {0}.", "{0} und %(name)s verwenden."),
        ("WARNING", "警告"),
        ("{{ n }} day|{{ n }} days", "{{ n }} день|{{ n }} дня|{{ n }} дней"),
        ("50 % sure.", "zu 50 % sicher."),
        (":ref:`Some Title`", ":ref:`Ein Titel <some title>`"),
        ("see :mod:`!abc` -- Abstract `Base`_ ", "siehe :mod:`abc` -- abstrakte `Basis <base>`_"),
        (":term:`the Iterator`", ":term:`迭代器 <the iterator>`"),
    ],
)
def test_good_translations_agree(pair: tuple[str, str]) -> None:
    assert found_by(AgreementCheck, [pair]) == {}


def test_placeholders_are_shown_before_references() -> None:
    pairs = [("see :ref:`a`", "siehe :ref:`b`")] * 12 + [("Hello %s", "Hallo")]
    shown = lines_of(found_by(AgreementCheck, pairs)["codes_differ"])
    assert shown == [13, *range(1, 10)]


def test_a_few_differences_are_for_information_and_many_ask_for_a_look() -> None:
    good, odd = ("So {a}.", "Ach so {a}."), ("So {a}.", "So a.")
    few = found_by(AgreementCheck, [good] * 199 + [odd])["codes_differ"]
    many = found_by(AgreementCheck, [good] * 100 + [odd] * 3)["codes_differ"]
    assert few.severity is Severity.INFORMATION
    assert many.severity is Severity.LOOK
