"""What is said of the lines of a language model's corpus."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from headway.core.errors import ConfigError
from headway.language_models.spec import SPEC
from headway.language_models.texts import complete, held_out_rows, read
from headway.language_models.units import LanguageText, TokenUnit, learned_vocabulary
from headway.runs.settings import Settings

WORDS = "the dog runs and a cat sleeps near the old red house"


def said_of(corpus: list[str], folder: Path, valid: list[str] | None = None) -> list[str]:
    """Warnings while such lines are read."""
    data = {}
    for name, lines in (("corpus", corpus), ("valid_corpus", valid)):
        if lines is not None:
            (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            data[name] = [str(folder / name)]
    text = {"unit": "words", "min_count": 1}
    given = {"run": {"task": "language-model"}, "data": data, "text": text}
    settings = Settings.of({**given, "model": {"type": "lstm"}}, SPEC)
    said: list[str] = []
    read(settings, None, said.append)
    return [line for line in said if line.startswith("WARNING")]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ({"unit": "words", "algorithm": "wordpiece"}, "algorithm is of sub-words; got wordpiece"),
        ({"unit": "characters", "algorithm": "wordpiece"}, "and the unit is characters"),
        ({"unit": "subwords", "min_count": 2}, "min_count is of words and characters; got 2"),
        ({"unit": "subwords", "algorithm": "wordpiece"}, ""),
        ({"unit": "words", "min_count": 2}, ""),
    ],
)
def test_what_a_unit_of_text_does_not_have_is_refused(text: dict[str, Any], says: str) -> None:
    unit = TokenUnit(text["unit"], "none")
    with pytest.raises(ConfigError, match=says) if says else nullcontext():
        learned_vocabulary(
            LanguageText(**text), unit, lambda: iter([WORDS] * 50), unlimited=False, seed=1,
            say=lambda _: None,
        )  # fmt: skip


@pytest.mark.parametrize("asked", [None, False, True])
def test_whether_blank_lines_part_documents_is_as_asked_or_as_they_are(tmp_path, asked) -> None:
    for name, between in (("parted", "\n"), ("whole", "")):
        file = tmp_path / name
        file.write_text(between.join(f"{WORDS} {n}\n" for n in range(40)), encoding="utf-8")
        given = {"run": {"task": "language-model"}, "model": {"type": "lstm"}}
        found = {"corpus": [str(file)], **({} if asked is None else {"documents": asked})}
        settings = Settings.of({**given, "data": found, "text": {"unit": "words"}}, SPEC)
        data = complete({}, settings, read(settings, None, lambda _: None))["data"]
        assert data["documents"] is ((name == "parted") if asked is None else asked)


@pytest.mark.parametrize("named", [False, True])
def test_lines_that_are_validated_on_and_learned_from_are_counted(tmp_path, named) -> None:
    corpus = [f"{WORDS} {number:04}" for number in range(400)]
    valid = [f"{WORDS} {number:04}" for number in range(1000, 1020)]
    assert said_of(corpus, tmp_path, valid if named else None) == []
    held = list(range(20)) if named else sorted(held_out_rows(400))
    texts = valid if named else corpus
    learned = next(row for row in range(400) if named or row not in held)
    for row in (*held[:3], held[-1]):  # once, and three times the same
        texts[row] = corpus[learned]
    [line] = said_of(corpus, tmp_path, valid if named else None)
    assert f"4 of {len(held)} lines to validate on ({4 / len(held):.0%} of that text)" in line


def test_of_headings_that_running_text_repeats_nothing_is_said(tmp_path) -> None:
    corpus = [f"{WORDS * 5} {number}" for number in range(400)]
    for row in range(0, 400, 2):
        corpus[row] = "="
    assert said_of(corpus, tmp_path) == []
