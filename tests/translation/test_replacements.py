"""What a reviewer always changes is learned, and what was changed once is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.translation.replacements import Correction, Replacement, learned, replaced, taken_up


def reviewed(*both: tuple[str, str]) -> list[Correction]:
    """Texts before and after."""
    return [Correction("", after, before) for before, after in both]


@pytest.mark.parametrize(
    ("both", "unseen", "wanted"),
    [
        (
            [("Ein Mann rennt.", "Ein Herr rennt."), ("Der Mann lacht.", "Der Herr lacht.")],
            "Die Mannschaft sieht den Mann.",
            "Die Mannschaft sieht den Herr.",
        ),
        ([("我爱花园。", "我爱园子。"), ("花园大。", "园子大。")], "在花园里", "在园子里"),
        (
            [("他在跑。", "他在奔跑。"), ("我跑。", "我奔跑。")],
            "狗在跑，鸟奔跑",
            "狗在奔跑，鸟奔跑",
        ),
        ([("So, ja.", "So – ja."), ("Ach, nie.", "Ach – nie.")], "Nun, gut.", "Nun – gut."),
        (
            [("Er ist hier heute.", "Er ist heute hier."), ("Wir, hier heute", "Wir, heute hier")],
            "Sie ist hier heute.",
            "Sie ist heute hier.",
        ),
    ],
    ids=["a whole word", "without spaces", "a word in the new one", "a sign", "an order"],
)
def test_what_was_changed_twice_is_changed_in_other_texts(both, unseen, wanted):
    found = learned(reviewed(*both))
    assert replaced(unseen, found) == wanted
    assert replaced(wanted, found) == wanted
    assert all(one.reliable for one in found)


ADJECTIVES = ["junge", "alte", "kluge"]


def test_what_stays_inside_of_a_change_is_left_open():
    both = [(f"Eine {one} Frau lacht.", f"Ein {one}s Kind lacht.") for one in ADJECTIVES]
    found = learned(reviewed(*both))
    sure = [one for one in found if one.reliable]
    assert [str(one) for one in sure] == ["Eine .. Frau -> Ein ..s Kind"]
    assert replaced("Hier ist eine grüne Frau.", sure) == "Hier ist ein grünes Kind."
    assert replaced("Eine grüne Tür.", sure) == "Eine grüne Tür."


def test_what_holds_the_habit_of_half_of_the_corrections_is_learned_from_one_text():
    both = [("Eine Frau lacht.", "Ein Kind lacht."), ("Eine Frau!", "Ein Kind!")]
    once = ("Ein Hund einer Frau.", "Ein Hund einem Kind.")
    found = learned(reviewed(*both, once))
    assert replaced("Von einer Frau.", found) == "Von einem Kind."
    other = ("Ein Hund einer Katze.", "Ein Hund einem Kater.")
    assert replaced(other[0], learned(reviewed(*both, other))) == other[0]


def test_where_a_habit_is_left_over_nothing_is_sure():
    both = [("Eine Frau lacht.", "Ein Kind lacht."), ("Eine Frau!", "Ein Kind!")]
    left = ("Eine Tür.", "Eine Tür.")
    found = learned(reviewed(*both, left))
    assert [(str(one), one.reliable) for one in found] == [
        ("Eine Frau -> Ein Kind", True),
        ("Frau -> Kind", False),
    ]


def test_words_that_always_go_to_the_beginning_go_there_from_anywhere():
    both = [("他昨天来。", "昨天他来。"), ("小明昨天在家。", "昨天小明在家。")]
    once = ("那个女孩明天晚上走。", "明天晚上那个女孩走。")
    found = learned(reviewed(*both, once))
    assert replaced("我的好朋友昨天走了。", found) == "昨天我的好朋友走了。"
    assert replaced("你明天晚上来吗？", found) == "明天晚上你来吗？"
    assert replaced("昨天我的好朋友走了。", found) == "昨天我的好朋友走了。"
    assert replaced("好，他昨天走了。", found) == "好，他昨天走了。", "no sign is passed over"


ANY = st.text("ab 花。\0\1", max_size=8)


@given(st.lists(st.tuples(ANY, ANY), max_size=6), ANY)
def test_whatever_is_learned_can_be_replaced_anywhere_and_leaves_no_open_place(both, text):
    made = replaced(text, learned(reviewed(*both)))
    assert made.count("\0") + made.count("\1") <= text.count("\0") + text.count("\1")


def test_what_was_changed_once_or_as_often_left_is_not_learned():
    once = ("Ein Mann rennt.", "Ein Herr rennt."), ("Ein Hund bellt.", "Ein Kater bellt.")
    assert learned(reviewed(*once)) == []
    twice = reviewed(("Der Mann", "Der Herr"), ("Mann!", "Herr!"))
    left = reviewed(("Ein Mann", "Ein Mann"), ("O Mann", "O Mann"))
    assert learned(twice) != []
    assert learned([*twice, *left]) == []


def test_what_would_have_changed_far_more_texts_than_the_reviewer_brought_is_no_habit():
    colours = ["rote", "alte", "junge", "kluge", "kleine"]
    both = reviewed(*((f"Eine sehr {one} Frau", f"Ein sehr {one} Kind") for one in colours))
    usual = [f"Eine Blume {n}" for n in range(90)] + [f"Die Frau {n}" for n in range(10)]
    text = "Eine Blume"
    assert replaced(text, learned(both)) == "Ein Blume"
    assert replaced(text, learned(both, usual)) == text


def test_a_replacement_that_seldom_is_all_is_not_reliable():
    verbs = {
        "bist": "sind",
        "hast": "haben",
        "darfst": "dürfen",
        "weißt": "wissen",
        "gibst": "geben",
    }
    both = [(f"du {old}", f"Sie {new}") for old, new in verbs.items()]
    found = learned(reviewed(*both, ("für du", "für Sie"), ("und du", "und Sie"), ("du?", "Sie?")))
    assert [(one.old, one.new, one.reliable) for one in found] == [("du", "Sie", False)]


@given(st.text("ab 花，.", min_size=1, max_size=8), st.text("ab 花，.", max_size=8))
def test_replacing_again_changes_nothing_where_the_new_text_has_not_the_old(old, new):
    if old not in new and old.strip() and new.strip():
        once = Replacement(old, new).of(f"x {old} y")
        assert old in once or Replacement(old, new).of(once) == once


@pytest.mark.parametrize(
    ("text", "yes"),
    [
        ("Ein Herr geht.", True),
        ("Der Herr und eine Frau gehen.", True),
        ("Ein Mann geht.", False),
        ("Ein Herr und ein Mann gehen.", False),
        ("Jemand geht.", False),
    ],
)
def test_taken_up_is_the_new_word_without_the_old_one_whatever_else_stands_there(text, yes):
    assert taken_up(text, Correction("", "Ein Herr rennt.", "Ein Mann rennt.")) is yes


def test_where_words_only_changed_places_what_is_nearer_is_taken_up():
    one = Correction("", "昨天他在公园里吃了一个橙子。", "他昨天在公园里吃了一个橙子。")
    assert taken_up("昨天他在公园里吃了两个橙子。", one)
    assert not taken_up("他昨天在公园里吃了两个橙子。", one)
