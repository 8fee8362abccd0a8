"""Examples that are held out, and what is learned from beside them."""

import gzip
import json
from collections import Counter

import numpy as np
import pytest
from drawn_pictures import drawn, idx_bytes
from entities import PATTERNS, PEOPLE, PLACES
from labelled import labelled

from headway.classification.spec import SPEC as CLASSIFICATION
from headway.core.errors import DataError
from headway.images.spec import SPEC as IMAGES
from headway.labelling.data import FEW, held_out, kinds_of, tokens_of, whole_words
from headway.language_models.units import LanguageText
from headway.runs.settings import Settings
from headway.tagging.spec import SPEC as TAGGING


def test_of_what_is_there_several_times_none_is_held_out():
    inputs = [f"text {n % 150}" for n in range(240)]  # 90 of them twice
    rows = list(enumerate(inputs))
    train, valid = held_out(rows, 1, "texts", inputs)
    assert sorted(train + valid) == rows
    assert {text for _, text in valid}.isdisjoint(text for _, text in train)
    _, drawn_of_all = held_out(rows, 1, "texts", range(240))
    assert valid == [row for row in drawn_of_all if Counter(inputs)[row[1]] == 1] != drawn_of_all


@pytest.mark.parametrize("copies", [4, 12])
def test_where_most_come_again_inputs_are_held_out_with_all_their_rows(copies):
    inputs = [f"text {n % 60}" for n in range(60 * copies)]
    kinds = [n % 60 % 3 for n in range(60 * copies)]
    _, valid = held_out(inputs, 1, "texts", inputs, kinds)
    assert {*Counter(valid).values()} == {copies}
    assert len(valid) == pytest.approx(6 * copies, rel=0.2)
    few = ["hello"] * 100 + ["bye"] * 100 + [f"text {n}" for n in range(12)]
    train, valid = held_out(few, 1, "texts", few, [one[0] for one in few])
    assert {*train} >= {"hello", "bye"}
    assert {*train}.isdisjoint(valid)
    assert valid
    one_text_a_kind = [f"label {n}" for n in range(4)] * 20
    train, valid = held_out(one_text_a_kind, 1, "texts", one_text_a_kind, one_text_a_kind)
    assert {*train} == {*one_text_a_kind}, "each is learned"


def test_where_all_are_alone_of_their_kind_it_is_said():
    rows = list(range(60))
    with pytest.raises(DataError, match="of 60 there are none. Give more of each kind, or"):
        held_out(rows, 1, "texts", rows, rows)


def test_of_texts_with_several_labels_a_tenth_is_held_out_whatever_their_labels(tmp_path):
    assert kinds_of([("a",), ("b",)]) == ["a", "b"]
    assert kinds_of([("a",), ("b", "a")]) is kinds_of([("a",), ()]) is None
    labels = [[str(i) for i in range(6) if n >> i & 1] for n in range(60)]
    rows = [json.dumps({"text": f"text {n}", "label": one}) for n, one in enumerate(labels)]
    (tmp_path / "a.jsonl").write_text("\n".join(rows), "utf-8")
    data = read(CLASSIFICATION, [], corpus=[str(tmp_path / "a.jsonl")])
    assert (len(data.train), len(data.valid)) == (54, 6)


def written_texts(folder):
    rows = [f"{label}\t{text}\n" for label, text in labelled(100)]
    (folder / "a.tsv").write_text("".join(rows + rows[:50]), "utf-8")
    return folder / "a.tsv"


@pytest.mark.parametrize(
    ("texts", "unit"),
    [(["a cat, a dog!"] * 30, "words"), (["今天我们都有猫和狗！"] * 30, "characters")],
)
def test_a_unit_that_is_named_is_that_which_is_chosen(texts, unit):
    chosen, named = (
        tokens_of(whole_words(LanguageText(unit=given), texts, print), "bag", texts, 1, print)
        for given in ("auto", unit)
    )
    assert chosen[1] == named[1]
    assert chosen[0].fingerprint() == named[0].fingerprint()
    assert (
        whole_words(LanguageText(unit="words"), ["今天我们都有猫和狗！"] * 30, print).segmenter
        == "auto"
    )


def written_sentences(folder):
    names = [(pattern, who, where) for pattern in PATTERNS for who in PEOPLE for where in PLACES]
    rows = ["".join(f"{word}\tO\n" for word in " ".join(one).split()) for one in names]
    (folder / "a.conll").write_text("\n".join(rows + rows[:30] + ["end\tX\n"]), "utf-8")
    return folder / "a.conll"


def written_pictures(folder):
    pictures, kinds = (np.concatenate([one, one[:40]]) for one in drawn(90))
    for name, one in (("train-images-idx3", pictures), ("train-labels-idx1", kinds)):
        (folder / f"{name}-ubyte.gz").write_bytes(gzip.compress(idx_bytes(one)))
    return folder / "train-images-idx3-ubyte.gz"


def read(spec, said, **data):
    settings = Settings.of({"run": {"task": spec.name}, "data": data}, spec)
    return spec.read(settings, None, said.append)


@pytest.mark.parametrize(
    ("spec", "written"),
    [(CLASSIFICATION, written_texts), (TAGGING, written_sentences), (IMAGES, written_pictures)],
)
def test_what_is_validated_on_is_not_learned_from(spec, written, tmp_path):
    said = list[str]()
    data = read(spec, said, corpus=[str(written(tmp_path))])
    train, valid = ({one.input.tobytes() for one in some} for some in (data.train, data.valid))
    assert valid
    assert not train & valid
    assert not any("to learn from as well" in line for line in said)
    assert any("WARNING: validated on" in line for line in said) == (len(data.valid) < FEW)


def test_what_is_learned_from_and_validated_on_is_said(tmp_path):
    for spec, written in ((TAGGING, written_sentences), (IMAGES, written_pictures)):
        said, places = list[str](), (tmp_path / f"{spec.name}-learned", tmp_path / spec.name)
        for place in places:
            place.mkdir()
        learned, validated = ([str(written(place))] for place in places)
        found = read(spec, said, corpus=learned, valid_corpus=validated)
        n = len({one.input.tobytes() for one in found.valid})
        what = {"tagging": "sentences", "images": "pictures"}[spec.name]
        assert f"WARNING: {n:,} {what} to validate on are among those to learn from" in str(said)
