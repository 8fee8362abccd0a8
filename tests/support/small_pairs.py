"""A corpus of 80 pairs in memory, encoded as `headway train` has it."""

from headway.core.cleaning import Pair, Report
from headway.core.rows import encoded
from headway.core.subwords import Subwords
from headway.corpora.corpus import Corpus
from headway.corpora.in_memory import RowsInMemory
from headway.corpora.mixing import Use
from headway.corpora.prepared import Prepared
from headway.demo import generate


def prepared() -> Prepared:
    """Learned from, and validated on, alike."""
    pairs = [Pair(source, target, "pairs.tsv", 1) for source, target in generate(80, seed=1)]
    subwords = Subwords.train((text for pair in pairs for text in pair[:2]), vocabulary_size=600)
    rows, places = encoded(pairs, subwords, 0, Report())
    store = RowsInMemory(rows, ["pairs.tsv"] * len(places), ["pairs.tsv"])
    return Prepared(
        corpus=Corpus(), train=store, valid=store, valid_texts=[pair[:2] for pair in pairs],
        valid_uses=[Use(target_language="zh")] * len(pairs), subwords=subwords, report=Report(),
        valid_report=Report(), checksums={}, weights=None, codes="keep",
    )  # fmt: skip
