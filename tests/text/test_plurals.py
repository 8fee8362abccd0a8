"""Plural forms by rule; Python's own gettext is the oracle for expressions."""

import gettext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.text.plurals import also_one, forms_of, numbers_of, only_one, parsed

RUSSIAN = "(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2)"
ARABIC = "n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5"
VALUES = st.recursive(
    st.sampled_from(["n", "0", "1", "2", "10", "100"]),
    lambda inner: st.one_of(
        st.tuples(
            inner,
            st.sampled_from(["+", "-", "*", "<", ">", "<=", ">=", "==", "!="]),
            inner,
        ).map(" ".join),
        inner.map("({})".format),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} ? {t[1]} : {t[2]})"),
        st.tuples(inner, st.sampled_from(["&&", "||"]), inner).map(
            lambda t: f"({' '.join(t)} ? 1 : 0)"  # of C; in Python they give one of the two
        ),
        st.tuples(inner, st.sampled_from(["n%10", "n/10", "(!n)"])).map(lambda t: f"{t[0]}+{t[1]}"),
    ),
    max_leaves=8,
)


@given(expression=VALUES, number=st.integers(0, 300))
def test_expressions_mean_what_gettext_means(expression, number):
    assert parsed(expression)(number) == int(gettext.c2py(expression)(number))  # type: ignore[attr-defined]


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
    with pytest.raises(ValueError, match="plural expression"):
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
