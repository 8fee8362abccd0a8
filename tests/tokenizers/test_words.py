"""Words and characters as vocabularies."""

import json
import pickle
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from headway.core.errors import DataError
from headway.tokenizers.words import Words, opened

some_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


def test_ids_follow_frequency_and_rare_words_are_unknown():
    counts = Counter("the cat saw the dog and the cat ran".split())
    words = Words.learned(counts, "words", min_count=2)
    assert words.pieces(range(len(words))) == ["<pad>", "<unk>", "<s>", "</s>", "the", "cat"]
    assert words.encode("the  dog saw\ta cat") == [4, 1, 1, 1, 5]
    assert words.decode([2, 4, 1, 5, 3]) == "the <unk> cat"
    assert len(Words.learned(counts, "words", most=3)) == 7


def test_typed_markers_are_no_markers():
    words = Words(["a", "b"])
    assert words.encode("<s> a </s> <unk> <pad>") == [1, 4, 1, 1, 1]


def test_a_text_that_has_words_spelled_as_markers_makes_a_vocabulary_that_loads(tmp_path):
    counts = Counter("the <unk> of <unk> and </s> the <s> <pad>".split())
    words = Words.learned(counts, "words")
    assert words.pieces(range(4, len(words))) == ["the", "and", "of"]
    words.save(tmp_path / "tokenizer.json")
    assert Words.load(tmp_path).encode("the <unk>") == [4, 1]


@given(some_text)
def test_characters_of_a_text_come_back(text):
    normal = Words([], "characters").split(text)
    characters = Words(sorted(set(normal)), "characters")
    assert characters.decode(characters.encode(text)) == "".join(normal)


@given(st.lists(some_text, max_size=5))
def test_words_of_a_text_come_back_one_space_between(texts):
    counts = Counter(word for text in texts for word in Words([]).split(text))
    words = Words.learned(counts, "words")
    for text, ids in zip(texts, words.encode_batch(texts), strict=True):
        assert words.decode(ids) == " ".join(words.split(text))


@pytest.mark.parametrize("unit", ["words", "characters"])
def test_saved_and_loaded_it_is_the_same_and_the_library_reads_it(tmp_path, unit):
    pieces = ["a", "é", "词"] if unit == "characters" else ["词性", "cat", "naïve"]
    words = Words(pieces, unit)
    words.save(tmp_path / "tokenizer.json")
    loaded = Words.load(tmp_path)
    assert loaded.fingerprint() == words.fingerprint()
    assert (loaded.unit, len(loaded)) == (unit, 7)
    again = pickle.loads(pickle.dumps(words))
    assert again.fingerprint() == words.fingerprint()
    library = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    text = " ".join(pieces) if unit == "words" else "".join(pieces)
    assert library.encode(text).ids == words.encode(text) == [4, 5, 6]
    assert opened(tmp_path).fingerprint() == words.fingerprint()


@pytest.mark.parametrize("damage", ["{}", "[", '{"model": {"vocab": {"a": 7}}}', "", "null"])
def test_a_damaged_file_is_refused_by_name(tmp_path, damage):
    file = tmp_path / "tokenizer.json"
    file.write_text(damage, encoding="utf-8")
    with pytest.raises(DataError, match=r"tokenizer\.json"):
        Words.load(file)


def test_a_word_that_is_none_is_refused(tmp_path):
    words = Words(["a"])
    words.save(tmp_path / "tokenizer.json")
    whole = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))
    whole["model"]["vocab"]["two words"] = 5
    (tmp_path / "tokenizer.json").write_text(json.dumps(whole), encoding="utf-8")
    with pytest.raises(DataError, match="two words"):
        Words.load(tmp_path)
    with pytest.raises(DataError, match="'a' twice"):
        Words(["a", "a"])
