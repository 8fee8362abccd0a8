"""What two text files become in memory is what the cached way makes of them."""

import random
from pathlib import Path

import numpy as np
import pytest

from headway.core.batching import TokenBatches
from headway.core.dataset import PairsSettings, prepare_in_memory
from headway.core.errors import ConfigError
from headway.core.subwords import TextSettings
from headway.corpora.corpus import Corpus
from headway.corpora.prepared import prepare_corpus
from headway.corpora.settings import DataSettings, TranslationText

WORDS = "ein hund läuft über die straße 小狗 跑 e\u0301tage नमस्ते was thé 7 ,".split()
ODD = ("", " ", "\ufeff", "a\tb", "c\u2028d", "\x00e", " gap ", "end\r")


def write(folder: Path, name: str, seed: int, n: int) -> tuple[Path, Path]:
    """Lines with repeats, shared sides, blanks, odd characters and pairs of unlike length."""
    draw = random.Random(seed)
    pairs = list[tuple[str, str]]()
    for _ in range(n):
        sides = [" ".join(draw.choices(WORDS, k=draw.randint(1, 9))) for _ in "st"]
        chance = draw.random()
        if pairs and chance < 0.2:
            earlier = draw.choice(pairs)
            sides = [earlier[0], draw.choice([earlier[1], sides[1]])]
        elif chance < 0.3:
            sides[draw.randrange(2)] = draw.choice(ODD)
        elif chance < 0.35:
            sides[1] = sides[0]
        elif chance < 0.4:
            sides[1] *= 40
        pairs.append((sides[0], sides[1]))
    found = folder / f"{name}.xx", folder / f"{name}.yy"
    for path, texts in zip(found, zip(*pairs, strict=True), strict=True):
        path.write_bytes("".join(f"{text}\n" for text in texts).encode())
    return found


@pytest.mark.parametrize("seed", range(1, 7))
def test_it_is_what_the_cached_way_makes(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headway.corpora.prepared.IN_MEMORY", 0)
    source, target = write(tmp_path, "train", seed, 400)
    own = write(tmp_path, "valid", seed + 100, 60) if seed % 3 == 0 else None
    n_held = 0 if seed % 2 else 30
    data = DataSettings(max_length=20, deduplicate=seed != 4)
    cached = prepare_corpus(
        Corpus((source,), (target,)), data, TranslationText(vocabulary_size=400, codes="keep"),
        valid=Corpus((own[0],), (own[1],)) if own else None, root=tmp_path / "cache",
        hold_out=n_held or None, seed=seed,
    )  # fmt: skip
    files = {"source": (source,), "target": (target,)}
    if own:
        files |= {"valid_source": own[:1], "valid_target": own[1:]}
    pairs = PairsSettings(**files, max_length=20, deduplicate=seed != 4, valid_size=n_held)
    plain = prepare_in_memory(pairs, TextSettings(vocabulary_size=400), seed=seed)
    assert plain.subwords.fingerprint() == cached.subwords.fingerprint()
    assert plain.valid_texts == cached.valid_texts
    for mine, theirs in ((plain.train, cached.train), (plain.valid, cached.valid)):
        assert len(mine) == len(theirs) > 10
        for side in ("source", "target"):
            assert mine.lengths[side].tolist() == theirs.lengths[side].tolist()
            assert all(np.array_equal(mine[side][i], theirs[side][i]) for i in range(len(mine)))
    epochs = [
        TokenBatches(list(rows.lengths.values()), batch_tokens=100, seed=seed).epoch(3)
        for rows in (plain.train, cached.train)
    ]
    assert [batch.tolist() for batch in epochs[0]] == [batch.tolist() for batch in epochs[1]]
    for one, other in ((plain.report, cached.report), (plain.valid_report, cached.valid_report)):
        told = {**other.as_dict(), "suspicions": []}  # no part of the plain way
        assert one.as_dict() == told


def test_the_vocabulary_is_fitted_alike(tmp_path: Path) -> None:
    source, target = write(tmp_path, "train", 9, 1_500)
    cached = prepare_corpus(
        Corpus((source,), (target,)), DataSettings(), TranslationText(codes="keep"),
        root=tmp_path / "cache",
    )  # fmt: skip
    pairs = PairsSettings(source=(source,), target=(target,))
    plain = prepare_in_memory(pairs, TextSettings())
    assert plain.subwords.fingerprint() == cached.subwords.fingerprint()


@pytest.mark.parametrize("n", [(0, 0, 0, 0), (1, 0, 0, 0), (2, 2, 0, 0), (1, 1, 1, 0)])
def test_it_takes_two_files_and_two_to_validate_on(n: tuple[int, ...]) -> None:
    names = ("source", "target", "valid_source", "valid_target")
    given = {name: (Path("a"),) * times for name, times in zip(names, n, strict=True)}
    with pytest.raises(ConfigError, match="one source file and one target file"):
        PairsSettings(**given).files()
