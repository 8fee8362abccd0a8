"""What a glossary asks of a translation, and what it says is lost."""

from headway.localization.placeholders.segments import Code, Segment
from headway.localization.terms.glossary import Glossary, GlossaryRow
from headway.localization.terms.keeping import Terms


def terms(*pairs):
    return Terms(Glossary.of([GlossaryRow(a, b, "", "", "t:1") for a, b in pairs], "t"))


def lost(source, target, *pairs):
    flags = terms(*pairs).lost(Segment((source,)), Segment((target,)))
    return [flag.why for flag in flags]


def test_a_term_that_is_there_is_not_lost() -> None:
    assert lost("The dog.", "Der Hund.", ("dog", "Hund")) == []
    assert lost("The dog.", "Der Köter.", ("dog", "Hund|Köter")) == []


def test_a_term_that_is_not_there_is_said_with_all_its_translations() -> None:
    [why] = lost("The dog.", "Die Katze.", ("dog", "Hund|Köter"))
    assert why == "'dog' is to be 'Hund' or 'Köter', which is not there"


def test_whole_words_are_asked_for_unless_an_ending_is_open() -> None:
    assert lost("The dog.", "Die Hunde.", ("dog", "Hund"))
    assert lost("The dog.", "Das Hündchen, der Hund", ("dog", "Hund")) == []
    assert lost("The dog.", "Die Hunde.", ("dog", "Hund*")) == []
    assert lost("The dog.", "Der Hofhund.", ("dog", "hund*"))
    assert lost("The dog.", "这只狗在", ("dog", "狗")) == []


def test_it_is_asked_for_as_often_as_it_stands_there() -> None:
    assert lost("A dog and a dog.", "Ein Hund und ein Hund.", ("dog", "Hund")) == []
    [why] = lost("A dog and a dog.", "Ein Hund.", ("dog", "Hund"))
    assert "2 times" in why


def test_what_is_not_translated_is_asked_for_as_it_stands_in_the_source() -> None:
    assert lost("An Acme dog.", "Ein Acme-Hund.", ("Acme", "=")) == []
    assert lost("An ACME dog.", "Ein Acme-Hund.", ("acme", "=")) == [
        "'ACME' is not to be translated, and is not there"
    ]
    for spaces in (" ", "  ", "\u00a0"):
        assert lost(f"In Acme{spaces}Cloud.", "In Acme Cloud.", ("Acme Cloud", "=")) == []
        assert lost("In Acme Cloud.", f"In Acme{spaces}Cloud.", ("Acme Cloud", "=")) == []


def test_in_a_text_in_capitals_a_term_may_be_in_capitals_too() -> None:
    assert lost("THE DOG.", "DER HUND.", ("dog", "Hund")) == []
    assert lost("THE DOG.", "DER Hund.", ("dog", "Hund")) == []
    assert lost("THE DOG.", "DIE KATZE.", ("dog", "Hund"))
    assert lost("The DOG.", "Der HUND.", ("dog", "Hund"))


def test_case_is_kept_but_for_the_beginning_of_a_sentence() -> None:
    assert lost("The big dog.", "The Dog.", ("dog", "dog"))
    assert lost("Big things.", "große Dinge.", ("big", "große"))
    assert lost("Big things.", "Große Dinge.", ("big", "große")) == []
    assert lost("It is big.", "Ja. Große Dinge, große.", ("big", "große")) == []
    assert lost("Big\nbig big", "Große\nGroße große", ("big", "große")) == []
    assert lost("It is big.", "Նա։ Große Dinge", ("big", "große")) == []
    assert lost("iPhone here.", "iPhone hier.", ("iPhone", "iPhone")) == []


def test_no_term_is_looked_for_in_codes() -> None:
    assert lost("See dog_house.", "Siehe dog_house.", ("dog", "Hund")) == []
    source = Segment((Code("<b>"), "dog", Code("</b>")))
    assert [flag.name for flag in terms(("dog", "Hund")).lost(source, source)] == ["term"]
    held = Segment((Code("<b>"), "Hund", Code("</b>")))
    assert not terms(("dog", "Hund")).lost(source, held)


def test_end_signs_behind_a_lone_term_are_those_of_its_translations_script() -> None:
    assert [terms(("cat", "猫")).whole(f"cat{end}") for end in ("", ".", "?!", ":", "...")] == [
        "猫", "猫。", "猫？！", "猫：", "猫...",
    ]  # fmt: skip
    assert [terms(("猫", "cat")).whole(f"猫{end}") for end in ("。", "、", "！")] == [
        "Cat.", "Cat,", "Cat!",
    ]  # fmt: skip
    assert terms(("cat", "Katze")).whole("cat:") == "Katze:"
    assert terms(("Acme", "=")).whole("Acme.") == "Acme."
    assert terms(("cat", "猫")).whole("The cat.") is None
