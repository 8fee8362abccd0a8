import pickle
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.errors import ConfigError, DataError
from headway.core.subword_training import SPECIAL_PIECES
from headway.core.subwords import SpecialIds, Subwords, TextSettings
from headway.corpora.settings import TranslationText
from headway.tokenizers import tokenizer_files
from headway.tokenizers.learners import LEARNERS, train_wordpiece

LINES = [
    "the animal didn't cross the street because it was too tired",
    "the animal didn't cross the street because it was too wide",
    "Ein Mann läuft schnell über die Straße, 2016.",
    "我爱学习，我爱你。",
    "हिन्दी में लिखा",
] * 3

BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "this", "is", "a", "boy", "fly", "##ing"]

BPE = Subwords.train(LINES, vocabulary_size=350)
WORDPIECE = Subwords.train(LINES, vocabulary_size=300, learn=train_wordpiece)

any_text = st.text(st.characters(exclude_categories=["Cs"]))
TROUBLESOME = [
    *("<pad>", "<unk>", "<s>", "</s>", "[SEP]", "##ing", "\u2581", "Ġ", "'s", "street", "1", "e"),
    *(" ", "  ", "\n", "\t", "\x00", "\u2028", "\u3000", "\ufeff", "\u0301", "\u1112", "\u1161"),
    *("👩\u200d👧", "一", "ก", "ß"),
]
troublesome = st.lists(st.sampled_from(TROUBLESOME)).map("".join)


def nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


@given(any_text | troublesome)
def test_byte_level_bpe_writes_any_text(text: str) -> None:
    assert BPE.decode(BPE.encode(text)) == nfc(text)


def test_byte_level_bpe_writes_every_character_of_unicode() -> None:
    """And every 97th of the million points that are none yet, or none for all."""
    points = {*range(0, 0x110000, 97)}
    points |= {i for i in range(0x110000) if unicodedata.category(chr(i)) not in ("Cn", "Co")}
    characters = [chr(i) for i in sorted(points) if not 0xD800 <= i < 0xE000]
    texts = ["x".join(characters[i : i + 997]) for i in range(0, len(characters), 997)]
    assert BPE.decode_batch(BPE.encode_batch(texts)) == [nfc(text) for text in texts]


@given(any_text | troublesome)
def test_no_text_makes_a_marker(text: str) -> None:
    assert not set(BPE.encode(text)) & set(range(4))
    assert not set(WORDPIECE.encode(text)) & {0, 2, 3}


@given(st.lists(any_text | troublesome, max_size=4))
def test_encoding_in_a_batch_equals_encoding_alone(texts: list[str]) -> None:
    assert BPE.encode_batch(texts) == [BPE.encode(text) for text in texts]


@given(st.lists(st.integers(0, len(BPE) - 1)))
def test_any_ids_can_be_decoded_and_shown(ids: list[int]) -> None:
    assert isinstance(BPE.decode(ids), str)
    assert len(BPE.pieces(ids)) == len(ids)


@pytest.mark.parametrize("text", LINES)
def test_wordpiece_writes_text_of_known_characters(text: str) -> None:
    assert WORDPIECE.decode(WORDPIECE.encode(text)) == text


def test_wordpiece_has_unknown_characters_and_bpe_has_none() -> None:
    assert WORDPIECE.special.unknown in WORDPIECE.encode("Ω")
    assert WORDPIECE.decode(WORDPIECE.encode("the Ω")) == "the<unk>"
    assert BPE.special.unknown not in BPE.encode("Ω")


def test_markers_are_ids_0_to_3_and_are_not_shown() -> None:
    assert BPE.special == WORDPIECE.special == SpecialIds(0, 1, 2, 3)
    ids = BPE.encode("the street")
    assert BPE.decode([2, *ids, 3, 0, 0]) == "the street"
    assert BPE.decode([1]) == "<unk>"


def test_the_vocabulary_has_the_asked_size_and_every_id_encodes_something() -> None:
    assert len(BPE) == 350
    assert len(set(BPE.pieces(range(len(BPE))))) > 200  # of 128 lone bytes, many share no look
    assert len(WORDPIECE) <= 300


def test_pieces_are_readable() -> None:
    assert BPE.pieces(BPE.encode("the street")) == ["the", "▁street"]
    assert BPE.pieces(BPE.encode("Ω")) == ["<0xCE>", "<0xA9>"]
    assert "".join(BPE.pieces(BPE.encode("über 我"))) == "über▁我"


def test_digits_are_pieces_of_their_own() -> None:
    subwords = Subwords.train(["in 2016 and 2017"] * 5, vocabulary_size=300)
    assert subwords.pieces(subwords.encode("2016")) == ["2", "0", "1", "6"]


def test_training_is_repeatable_where_characters_tie_for_the_last_places() -> None:
    lines = ["".join(map(chr, range(0x4E00, 0x4E00 + 900)))] * 2
    fingerprints = {Subwords.train(lines, vocabulary_size=700).fingerprint() for _ in range(4)}
    assert len(fingerprints) == 1


def test_training_is_repeatable() -> None:
    for algorithm, first in (("bpe", BPE), ("wordpiece", WORDPIECE)):
        size = 350 if algorithm == "bpe" else 300
        again = Subwords.train(LINES, vocabulary_size=size, learn=LEARNERS[algorithm])
        assert again.fingerprint() == first.fingerprint()
    other = Subwords.train(LINES, vocabulary_size=351)
    assert other.fingerprint() != BPE.fingerprint()


@pytest.mark.parametrize("subwords", [BPE, WORDPIECE])
def test_saved_and_loaded_is_the_same(subwords: Subwords, tmp_path: Path) -> None:
    subwords.save(tmp_path / "tokenizer.json")
    for path in (tmp_path, tmp_path / "tokenizer.json"):
        loaded = tokenizer_files.load(path)
        assert loaded.fingerprint() == subwords.fingerprint()
        assert loaded.special == subwords.special
        for text in (*LINES, "</s> <pad>", " x  ", ""):
            assert loaded.encode(text) == subwords.encode(text)


def test_the_saved_file_means_the_same_to_the_tokenizers_library(tmp_path: Path) -> None:
    from tokenizers import Tokenizer

    BPE.save(tmp_path / "tokenizer.json")
    theirs = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in (*LINES, "e\u0301 \u1112\u1161\u11ab"):
        assert theirs.encode(text).ids == BPE.encode(text)


def test_the_plain_way_in_takes_what_is_learned_here_and_nothing_else(tmp_path: Path) -> None:
    BPE.save(tmp_path / "tokenizer.json")
    for path in (tmp_path, tmp_path / "tokenizer.json"):
        assert Subwords.load(path).fingerprint() == BPE.fingerprint()
    WORDPIECE.save(tmp_path / "wordpiece.json")
    for name in ("none", "broken", "list", "wordpiece"):
        path = tmp_path / f"{name}.json"
        if name in ("broken", "list"):
            path.write_text("{" if name == "broken" else "[]", encoding="utf-8")
        with pytest.raises(DataError, match=f"{name}.json is missing"):
            Subwords.load(path)


@pytest.fixture
def vocab_txt(tmp_path: Path) -> Path:
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(BERT) + "\n", encoding="utf-8")
    return path


def test_a_bert_vocabulary_gives_line_numbers_as_ids(vocab_txt: Path) -> None:
    subwords = tokenizer_files.load(vocab_txt)
    assert len(subwords) == len(BERT)
    assert subwords.special == SpecialIds(padding=0, unknown=1, begin=2, end=3)
    assert subwords.encode("This is a FLYing boy zzz") == [5, 6, 7, 9, 10, 8, 1]
    assert subwords.decode([2, 5, 6, 9, 10, 3]) == "this is flying"
    assert tokenizer_files.load(vocab_txt.parent).encode("boy") == [8]


def test_a_bert_vocabulary_agrees_with_transformers(vocab_txt: Path) -> None:
    transformers = pytest.importorskip("transformers")
    theirs = transformers.BertTokenizer(str(vocab_txt))
    ours = tokenizer_files.load(vocab_txt)
    for text in ("This is a flying boy", "BÖY, boys; fly-ing", "  a boy 我 "):
        assert theirs.encode(text, add_special_tokens=False) == ours.encode(text)


def test_a_cased_bert_vocabulary_keeps_case(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join([*BERT, "Boy"]), encoding="utf-8")
    subwords = tokenizer_files.load(tmp_path / "vocab.txt")
    assert subwords.encode("boy Boy") == [8, 11]


def test_typed_bert_markers_stay_text(vocab_txt: Path) -> None:
    assert not set(tokenizer_files.load(vocab_txt).encode("[SEP] [CLS] [PAD]")) & {0, 2, 3}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "does not exist"),
        (b"\xff\xfe\x00", "is UTF-8 text"),
        (b"{}", "is no tokenizer"),
        (
            b'{"version": "1.0", "model": {"type": "BPE", "vocab": {}, "merges": [["a", "b"]]}}',
            "is no tok",
        ),
        (b"a\nb\n", "needs a piece for padding"),
        (b"", "needs a piece for padding"),
    ],
)
def test_what_is_no_tokenizer_is_refused(
    content: bytes | None, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "tokenizer.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        tokenizer_files.load(path)


@pytest.mark.parametrize(("algorithm", "size"), [("bpe", 259), ("wordpiece", 5)])
def test_a_vocabulary_too_small_for_its_alphabet_is_refused(algorithm: str, size: int) -> None:
    with pytest.raises(ConfigError, match=f"got {size}"):
        Subwords.train(LINES, vocabulary_size=size, learn=LEARNERS[algorithm])  # type: ignore[arg-type]


def test_a_vocabulary_can_be_learned_from_nothing() -> None:
    subwords = Subwords.train([], vocabulary_size=1_000)
    assert len(subwords) == 260
    assert subwords.decode(subwords.encode("何でも")) == "何でも"


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(ConfigError, match="vocabulary_size"):
        TextSettings(vocabulary_size=-1)
    with pytest.raises(ConfigError, match="sample_lines"):
        TranslationText(sample_lines=0)


def test_another_process_gets_the_same_subwords() -> None:
    subwords = Subwords.train(["a typed marker </s> stays text"] * 3, vocabulary_size=300)
    sent = pickle.loads(pickle.dumps(subwords))
    text = "a typed </s> marker"
    assert sent.encode(text) == subwords.encode(text)
    assert sent.fingerprint() == subwords.fingerprint()
    assert sent.decode(sent.encode(text)) == text


# -- words that were met before ------------------------------------------------------------------


def test_markers_trained_here_are_ids_0_to_3() -> None:
    vocabulary = {piece: i for i, piece in enumerate(SPECIAL_PIECES)}
    assert SpecialIds.of(vocabulary, "it") == SpecialIds(padding=0, unknown=1, begin=2, end=3)


def test_a_loaded_vocabulary_keeps_its_own_marker_ids() -> None:
    vocabulary = {"a": 0, "[CLS]": 1, "[SEP]": 2, "[UNK]": 7, "[PAD]": 9}
    assert SpecialIds.of(vocabulary, "it") == SpecialIds(padding=9, unknown=7, begin=1, end=2)


def test_a_vocabulary_without_a_begin_marker_starts_a_decoder_with_padding() -> None:
    marian = SpecialIds.of({"</s>": 0, "<unk>": 1, "a": 2, "<pad>": 3}, "vocab.json")
    assert marian == SpecialIds(padding=3, unknown=1, begin=None, end=0)
    assert marian.decoder_begin == 3
    assert set(marian.unwritten) == {1, 3}


def test_markers_stand_around_a_text_and_only_the_end_is_ever_written() -> None:
    special = SpecialIds(padding=9, unknown=7, begin=1, end=2)
    assert special.decoder_begin == 1
    assert set(special.unwritten) == {9, 7, 1}
    same = SpecialIds(padding=0, unknown=1, begin=2, end=2)
    assert set(same.unwritten) == {0, 1}


def test_a_missing_marker_is_named() -> None:
    with pytest.raises(DataError, match=r"piece for end, called </s> or \[SEP\].*v\.txt has none"):
        SpecialIds.of({"<pad>": 0, "<unk>": 1, "<s>": 2}, "v.txt")
