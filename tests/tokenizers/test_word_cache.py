from hypothesis import given, settings
from hypothesis import strategies as st

from headway.core.subwords import Subwords
from headway.localization.placeholders.codes import PLACEHOLDERS
from headway.tokenizers import word_cache
from headway.tokenizers.learners import around, train_bpe, train_wordpiece
from headway.tokenizers.word_cache import WordCache, encoder_of

LINES = ["the cat sat on the mat, didn't it?", "Ein Haus am See: 12,5 km.", "中文 没有 空格"] * 40
SUBWORDS = Subwords.train(
    LINES, vocabulary_size=400, learn=around(tuple(PLACEHOLDERS[:3]), train_bpe)
)
PIECES = st.sampled_from(
    ["the", "cat", "didn't", "12,5", " ", "  ", "\u00a0", "\u3000", "\u2003", "e\u0301", "\u0301",
     "中文", PLACEHOLDERS[0], "<s>", "a" * 40, "'s", "\t", "?!", "5", "Haus"]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(PIECES, max_size=12).map("".join) | st.text(max_size=20), max_size=8))
def test_words_that_are_looked_up_give_the_ids_of_the_whole_texts(texts: list[str]) -> None:
    encode = encoder_of(SUBWORDS)
    assert isinstance(encode, WordCache)
    assert encode(texts) == SUBWORDS.encode_batch(texts)


def test_they_do_also_when_it_begins_anew(monkeypatch) -> None:
    monkeypatch.setattr(word_cache, "MOST_WORDS", 3)
    encode = WordCache(SUBWORDS.encode_batch)
    for line in (*LINES[:3], *LINES[:3]):
        assert encode([line]) == SUBWORDS.encode_batch([line])


def test_what_parts_texts_otherwise_is_asked_for_whole_texts() -> None:
    other = Subwords.train(LINES, vocabulary_size=300, learn=train_wordpiece)
    assert encoder_of(other) == other.encode_batch
