from doctoring import as_pairs

from headway.core.subwords import Subwords
from headway.doctor.findings import FindingsLog
from headway.doctor.subword_use import SubwordUse
from headway.tokenizers.wordpiece import train_wordpiece

LINES = ["one house", "two houses", "three mice", "ein haus", "zwei mäuse"] * 5


def test_pieces_and_unknown_ones_are_counted() -> None:
    subwords = Subwords.train(LINES, vocabulary_size=60, learn=train_wordpiece)
    notes = FindingsLog()
    use = SubwordUse(notes, subwords, max_length=0)
    texts = [("one house", "ein haus"), ("two 我 houses", "zwei haus")]
    for pair in as_pairs(texts):
        use.add(pair)
    use.conclude()
    (finding,) = notes.findings()
    assert (finding.name, finding.n, finding.examples[0].line) == ("unknown", 1, 2)
    n_pieces = sum(len(subwords.encode(source)) for source, _ in texts)
    source = use.summary()["source"]
    assert source["pieces"] == n_pieces
    assert source["unknown_share"] == round(1 / n_pieces, 6)
    assert source["pieces_per_word"] == round(n_pieces / 5, 3)
    assert source["characters_per_piece"] == round(sum(len(s) for s, _ in texts) / n_pieces, 3)
    assert use.summary()["target"]["unknown_share"] == 0
    assert use.summary()["vocabulary"] == len(subwords)


def test_bytes_know_every_text_but_may_be_many() -> None:
    subwords = Subwords.train(LINES, vocabulary_size=300)
    notes = FindingsLog()
    use = SubwordUse(notes, subwords, max_length=8)
    for pair in as_pairs([("one", "ein"), ("我" * 9, "x")]):
        use.add(pair)
    use.conclude()
    (finding,) = notes.findings()
    assert (finding.name, finding.examples[0].line) == ("too_many_tokens", 2)
