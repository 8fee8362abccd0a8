"""Plural forms by rule, and by the expressions that files have."""

import pytest

from headway.languages.plurals import also_one, forms_of, numbers_of, only_one, parsed

RUSSIAN = "(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2)"
ARABIC = "n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5"


@pytest.mark.parametrize(
    ("expression", "form_of"),
    [
        ("n != 1", lambda n: n != 1),
        (" n>1 ", lambda n: n > 1),
        (RUSSIAN, lambda n: 0 if n % 10 == 1 and n % 100 != 11
         else 1 if 2 <= n % 10 <= 4 and n % 100 // 10 != 1 else 2),
        ("n==1 || n/10 == 2 ? !n : 1+n*0", lambda n: 0 if n == 1 or n // 10 == 2 else 1),
    ],
)  # fmt: skip
def test_expressions_mean_what_they_mean_in_c(expression, form_of):
    assert [parsed(expression)(n) for n in range(300)] == [int(form_of(n)) for n in range(300)]


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "n +",
        "(n",
        "n ? 1",
        "m",
        "n n",
        "__import__('os')",
        "(" * 5000,
        "!" * 5000,
        "n+" * 5000,
        "1;",
    ],
)
def test_what_is_no_expression_is_refused(wrong):
    with pytest.raises(ValueError, match="plural"):
        parsed(wrong)
    assert numbers_of(wrong, 2) is None


def test_each_form_has_the_number_that_stands_for_it():
    assert numbers_of("n != 1", 2) == (1, 2)
    assert numbers_of("(n > 1)", 2) == (1, 2)
    assert numbers_of("0", 1) == (1,)
    assert numbers_of(RUSSIAN, 3) == (1, 2, 5)
    assert numbers_of(ARABIC, 6) == (0, 1, 2, 3, 11, 100)
    assert numbers_of("n % 0", 1) is None
    assert numbers_of("n != 1", 3) == (1, 2, None)


def test_a_form_may_be_that_of_one_alone():
    assert only_one("n != 1")
    assert not only_one("n > 1")
    assert not only_one(RUSSIAN)


@pytest.mark.parametrize(
    ("language", "expression"),
    [("ru", RUSSIAN), ("ar", ARABIC), ("de_AT", "n != 1"), ("zh-Hans", "0"), ("fr", "n > 1"),
     ("pl", "n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2"),
     ("cs", "n==1 ? 0 : n>=2 && n<=4 ? 1 : 2"),
     ("ro", "n==1 ? 0 : n==0 || (n!=1 && n%100>=1 && n%100<=19) ? 1 : 2"),
     ("pt_PT", "n != 1"), ("pt-BR", "n > 1"), ("is", "n%10!=1 || n%100==11"),
     ("lt", "n%10==1 && n%100!=11 ? 0 : n%10>=2 && (n%100<10 || n%100>=20) ? 1 : 2"),
     ("sl", "n%100==1 ? 0 : n%100==2 ? 1 : n%100==3 || n%100==4 ? 2 : 3"),
     ("gd", "n==1 || n==11 ? 0 : n==2 || n==12 ? 1 : n>2 && n<20 ? 2 : 3")],
)  # fmt: skip
def test_the_table_agrees_with_the_expressions_that_catalogues_have(language, expression):
    forms = forms_of(language, whole=True)
    form_of = parsed(expression)
    assert [form_of(int(form.number)) for form in forms] == list(range(len(forms)))
    assert {form_of(n) for n in range(200)} == set(range(len(forms)))
    others = [n for n in (*range(2, 200), 0) if len(forms) > 1 and form_of(n) == form_of(1)]
    assert also_one(language) == next(iter(others), None)


def test_all_forms_of_a_language_end_in_other():
    names = ["zero", "one", "two", "few", "many", "other"]
    for language in ("en", "ru", "ar", "ja", "fr", "lv", None):
        found = [form.name for form in forms_of(language)]
        assert found[-1] == "other"
        assert found == sorted(found, key=names.index)
    assert [form.name for form in forms_of("es")] == ["one", "many", "other"]
