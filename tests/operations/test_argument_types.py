"""Any usual shape of texts is taken from Python, and given back; all else is refused in words."""

import io
import itertools
import json
import os
import pickle
import re
import subprocess
import sys
from collections import UserList
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from text_run import train as train_language_model
from text_run import write_corpus
from wrong_calls import UNKNOWN_NAMES, WRONG_CALLS

from headway import TrainedLanguageModel, Translator
from headway.core.errors import ConfigError, RunError, UserError
from headway.localization.terms.keeping import Terms
from headway.operations.argument_types import MOST_AT_ONCE, ArgumentTypeError

pytestmark = pytest.mark.usefixtures("torch_settings_restored")

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent.parent / "src")}
TEXTS = ["The dog ate the apple.", "", "I love cats. He sings."]
TEXT = TEXTS[0]


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load("demo", device="cpu")


@pytest.fixture(scope="module")
def run_of_text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lm")
    assert train_language_model("lstm", write_corpus(folder / "a.txt"), folder / "run").status == 0
    return folder / "run"


@pytest.fixture(scope="module")
def language_model(run_of_text: Path) -> TrainedLanguageModel:
    return TrainedLanguageModel.load(run_of_text, device="cpu")


class Column:
    """Like a column of a table: it can be gone through, and says how many axes it has."""

    ndim = 1

    def __iter__(self):
        return iter(TEXTS)


ROWS = {
    "list": list(TEXTS),
    "tuple": tuple(TEXTS),
    "array": np.array(TEXTS),
    "array of objects": np.array(TEXTS, dtype=object),
    "column": Column(),
    "values of a dict": dict(enumerate(TEXTS)).values(),
    "keys of a dict": dict.fromkeys(TEXTS).keys(),
    "a list of one's own": UserList(TEXTS),
}
ITERATORS = {
    "generator": lambda: (text for text in TEXTS),
    "iterator": lambda: iter(TEXTS),
    "map": lambda: map(str, TEXTS),
    "file": lambda: io.StringIO("".join(f"{text}\n" for text in TEXTS)),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_of_a_row_of_texts_comes_a_list(translator, row):
    found = translator.translate(row)
    assert found == translator.translate(TEXTS)
    assert type(found) is list
    assert {type(text) for text in found} == {str}
    assert translator.translate_fully(row) == translator.translate_fully(TEXTS)


@pytest.mark.parametrize("texts", ITERATORS.values(), ids=ITERATORS)
def test_of_an_iterator_comes_an_iterator(translator, texts):
    found = translator.translate(texts())
    assert iter(found) is found
    assert list(found) == translator.translate(TEXTS)
    assert [one.target for one in translator.translate_fully(texts())] == translator.translate(
        TEXTS
    )


@pytest.mark.parametrize("text", [TEXT, np.str_(TEXT)])
def test_of_a_text_comes_a_text(translator, text):
    assert translator.translate(text) == translator.translate([TEXT])[0]
    assert translator.translate_fully(text) == translator.translate_fully([TEXT])[0]
    [begun] = translator.translate([TEXT], prefixes=["我们"])
    assert translator.translate(text, prefixes="我们") == begun


def test_an_endless_iterator_is_never_read_far(translator):
    read = []
    endless = (read.append(n) or TEXT for n in itertools.count())
    found = translator.translate(endless)
    assert read == []
    next(found)
    assert len(read) == 1
    list(itertools.islice(found, 30))
    assert len(read) <= 2 * 31
    assert MOST_AT_ONCE <= 2048


def test_settings_are_refused_before_an_iterator_is_read(translator):
    with pytest.raises(ConfigError, match="unknown key 'beams'"):
        translator.translate(iter(TEXTS), beams=3)


def test_scores_of_a_language_model_come_in_the_shape_of_the_texts(language_model):
    texts = ["I love cats.", "He sings."]
    scores = language_model.score(texts)
    assert [score.text for score in scores] == texts
    assert language_model.score(texts[0]).text == texts[0]
    assert language_model.score(np.array(texts)) == scores
    lazy = language_model.score(iter(texts))
    assert iter(lazy) is lazy
    assert [score.log_prob for score in lazy] == pytest.approx([one.log_prob for one in scores])


NO_TEXTS = {
    "none": None,
    "number": 5,
    "float": 0.5,
    "truth value": True,
    "bytes": b"a text",
    "path": Path("a.txt"),
    "dict": {TEXT: 1},
    "set": {TEXT},
    "frozen set": frozenset([TEXT]),
    "object": object(),
    "class": str,
    "function": print,
    "array of two axes": np.array([TEXTS]),
    "array of none": np.array(TEXT),
    "array of numbers": np.zeros(3),
    "list of numbers": [1],
    "list with none": [TEXT, None],
    "list with a gap of a table": [TEXT, float("nan")],
    "list of lists": [[TEXT]],
    "list of tuples": [(TEXT, TEXT)],
    "list of bytes": [b"a text"],
    "list of paths": [Path("a.txt")],
    "list of dicts": [{"text": TEXT}],
    "range": range(3),
    "tuple with a number": (TEXT, 5),
}


@pytest.mark.parametrize("texts", NO_TEXTS.values(), ids=NO_TEXTS)
def test_what_is_no_text_is_refused_with_a_remedy(translator, language_model, texts):
    for call in (translator.translate, translator.translate_fully, language_model.score):
        with pytest.raises(
            TypeError, match=r"^texts(\[\d\])? must be a string.*; got .*\. \w"
        ) as e:
            call(texts)
        assert isinstance(e.value, UserError)


def test_the_number_of_what_is_no_text_is_told(translator):
    with pytest.raises(ArgumentTypeError, match=r"texts\[3\] must be .* got None\. .* is ''"):
        list(translator.translate(iter([*TEXTS, None])))
    with pytest.raises(ArgumentTypeError, match=r"texts\[0\] .* got 5, of type int"):
        next(translator.translate(io for io in [5]))


class Pickled(NamedTuple):
    """A translator that has translated, with terms and texts, in a file."""

    file: Path
    translations: list[list[str]]
    """Without the terms and with them."""


@pytest.fixture(scope="module")
def pickled(tmp_path_factory: pytest.TempPathFactory) -> Pickled:
    translator, folder = Translator.load("demo", device="cpu"), tmp_path_factory.mktemp("pickled")
    (folder / "terms.tsv").write_text("dog\t狗\n", encoding="utf-8")
    terms = Terms.read([folder / "terms.tsv"], translator.settings.data)
    with_terms = translator.translate(TEXTS, glossary=terms)  # the engine packs its weights now
    (folder / "t.pickle").write_bytes(pickle.dumps((translator, terms, TEXTS)))
    return Pickled(folder / "t.pickle", [translator.translate(TEXTS), with_terms])


@pytest.fixture(scope="module")
def elsewhere(
    run_of_text: Path, pickled: Pickled, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """What each wrong call raised, and said, in a process whose calls nobody else checks; and what
    the pickled translator makes of its texts there."""
    script = Path(__file__).parent.parent / "support" / "wrong_calls.py"
    empty = tmp_path_factory.mktemp("empty")
    command = [sys.executable, str(script), str(run_of_text), str(pickled.file)]
    done = subprocess.run(
        command, cwd=empty, env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    assert list(empty.iterdir()) == []
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", WRONG_CALLS)
def test_a_wrong_argument_is_refused_in_words(elsewhere, name):
    raised, said = elsewhere["raised"][name]
    assert raised == "ArgumentTypeError"
    assert re.search(r" must be .*; got |go with a list", said)


@pytest.mark.parametrize("name", UNKNOWN_NAMES)
def test_a_name_that_is_none_of_several_is_refused_with_them(elsewhere, name):
    raised, said = elsewhere["raised"][name]
    assert raised == "ConfigError"
    assert re.search("must be one of '.*'; got '", said)


def test_a_saved_translator_is_a_run_that_translates_alike(translator, tmp_path):
    saved = Translator.load(translator.save(tmp_path / "mine"))
    assert saved.translate(TEXTS) == translator.translate(TEXTS)
    assert saved.judged(saved.translate_fully(TEXT)) == translator.judged(
        translator.translate_fully(TEXT)
    )
    with pytest.raises(RunError, match="is there already. Name another"):
        translator.save(tmp_path / "mine")


def test_weights_are_saved_as_they_are_now(tmp_path):
    changed = Translator.load("demo", device="cpu")
    with torch.no_grad():
        next(changed.model.parameters())[300:600] *= 0.1
    saved = Translator.load(changed.save(tmp_path / "mine"), device="cpu")
    assert saved.translate(TEXTS) == changed.translate(TEXTS)
    for one, other in zip(saved.model.parameters(), changed.model.parameters(), strict=True):
        assert torch.equal(one, other)


def test_a_model_that_was_changed_after_a_translation_is_taken_up_by_refresh():
    changed = Translator.load("demo", device="cpu")
    before = changed.translate(TEXTS)
    with torch.no_grad():
        next(changed.model.parameters())[300:600] *= 0.1
    torchs = Translator.load("demo", device="cpu", engine="torch")
    torchs.model.load_state_dict(changed.model.state_dict())
    changed.refresh()
    assert changed.translate(TEXTS) == torchs.translate(TEXTS) != before


def test_what_was_made_in_memory_has_no_files_to_save(translator, tmp_path):
    made = Translator(translator.model, translator.subwords, translator.settings, translator.device)
    with pytest.raises(RunError, match="made in memory"):
        made.save(tmp_path / "mine")
    assert "made in memory" in repr(made)


def test_a_pickled_translator_translates_alike_in_another_process(pickled, elsewhere):
    assert elsewhere["translations"] == pickled.translations


def test_a_translator_is_told_in_one_line(translator):
    shown = repr(translator)
    assert "en to zh" in shown
    assert "transformer" in shown
    assert "\n" not in shown
