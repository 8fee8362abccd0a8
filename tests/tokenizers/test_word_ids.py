import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.core.subword_training import train_bpe
from headway.core.subwords import Subwords
from headway.tokenizers import word_ids
from headway.tokenizers.learners import around
from headway.tokenizers.word_ids import WordIds, has_known_words, quicker
from headway.tokenizers.wordpiece import train_wordpiece

MIXED = [
    "don't stop, it's 1990_s \"rock'n'roll\"!",
    "größer – où ? Привет мир, ёж.",
    "我 爱你。 x²",
] * 3
LEARNED = Subwords.train(MIXED, vocabulary_size=400, learn=around(["\ue000"], train_bpe))
tricky = st.text(
    st.sampled_from("aZéßñДё 's't12_-.,!?\"“–…€¿½²ªׁא我爱\u0301\u00a0\u2009\ue000\n\t<>/")
    | st.characters(min_codepoint=32, max_codepoint=0x52F, exclude_categories=["Cs"])
)
texts = st.lists(tricky | st.text(st.characters(exclude_categories=["Cs"])))


@settings(max_examples=300)
@given(texts, st.integers(0, 4))
def test_ids_are_those_of_the_tokenizer(some: list[str], most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_ids, "_MOST", most)
        remembering = WordIds(LEARNED.encode_batch)
        for _ in range(2):
            assert remembering.encode(some) == LEARNED.encode_batch(some)


def test_every_simple_character_is_of_the_same_class_everywhere() -> None:
    simple = [chr(i) for i in range(0x3000) if word_ids._SIMPLE.fullmatch(chr(i))]
    assert len(simple) > 700
    around = [f"a{c}b {c} {c}{c}a 1{c}2 '{c}s.{c}" for c in simple]
    assert WordIds(LEARNED.encode_batch).encode(around) == LEARNED.encode_batch(around)


def test_words_are_known_only_where_they_are_cut_as_here() -> None:
    assert has_known_words(LEARNED.serialized)
    wordpiece = Subwords.train(MIXED, vocabulary_size=100, learn=train_wordpiece)
    assert not has_known_words(wordpiece.serialized)


def test_a_word_is_asked_for_once() -> None:
    asked: list[str] = []

    def encode(some: list[str]) -> list[list[int]]:
        asked.extend(some)
        return [[len(text)] for text in some]

    remembering = WordIds(encode)  # type: ignore[arg-type]
    assert remembering.encode(["a bb", "a 我"]) == [[1, 3], [3]]
    assert remembering.encode(["a bb bb", ""]) == [[1, 3, 3], []]
    assert sorted(asked) == [" bb", "a", "a 我"]


def test_many_texts_get_the_same_ids_as_few() -> None:
    wordpiece = Subwords.train(MIXED, vocabulary_size=100, learn=train_wordpiece)
    some = [f"{text} {i}" for i in range(400) for text in MIXED[:3]]
    for subwords in (LEARNED, wordpiece):
        encode = quicker(subwords.encode_batch, subwords)
        assert (encode == subwords.encode_batch) is (subwords is wordpiece)
        assert encode(some) == [subwords.encode(text) for text in some]
