"""Translations that go on from what a person has typed."""

from pathlib import Path

import pytest
from everyday_run import Finished, command

from headway.core.errors import ConfigError
from headway.operations.shipped import SHIPPED
from headway.translator import Translator

TEXTS = ["She reads a book.", "", "The dog runs.", "Where is my hat?"]
PREFIXES = ["她很", "什么", "", "我的帽"]


@pytest.fixture(scope="module")
def translator() -> Translator:
    """The package's."""
    return Translator.load(SHIPPED, device="cpu")


@pytest.mark.parametrize("method", ["greedy", "beam", "sampling"])
def test_each_translation_begins_with_its_own(translator: Translator, method: str) -> None:
    found = translator.translate(TEXTS, prefixes=PREFIXES, method=method)
    assert found[1] == ""
    for text, prefix in zip(found, PREFIXES, strict=True):
        assert not text or text.startswith(prefix)
    if method != "sampling":
        assert found[2] == translator.translate(TEXTS[2:3], method=method)[0]
        assert found == translator.translate(TEXTS, prefixes=found, method=method)


def test_without_one_a_text_keeps_its_codes_its_sentences_and_its_terms(
    translator: Translator, tmp_path: Path
) -> None:
    terms = tmp_path / "terms.tsv"
    terms.write_text("dog\t犬\n", encoding="utf-8")
    texts = ["Click <b>here</b>.", "She reads a book. Where is my hat?", "The dog runs.", "Hi."]
    usual = translator.translate_fully(texts[:3], glossary=terms)
    found = translator.translate_fully(texts, glossary=terms, prefixes=["", " ", "", "我"])
    assert found[:3] == usual
    assert "<b>" in found[0].target
    assert found[1].parts
    assert "犬" in found[2].target
    assert found[3].target.startswith("我")


def test_what_cannot_begin_so_is_refused(translator: Translator) -> None:
    for texts, prefixes, why in (
        (TEXTS, ["她"], "got 1 for 4 texts"),
        (["Hi."], ["书" * 80], "got a prefix of"),
        (["See https://example.org now."], ["看"], "has no codes"),
    ):
        with pytest.raises(ConfigError, match=why):
            translator.translate(texts, prefixes=prefixes)


def translated(file: Path, *options: str) -> Finished:
    runtime = ("--runtime.threads", "1", "--runtime.device", "cpu")
    return command("translate", str(SHIPPED), str(file), *options, *runtime)


def test_on_the_command_line_all_lines_begin_with_it(tmp_path: Path) -> None:
    file = tmp_path / "new.en"
    file.write_text("".join(f"{text}\n" for text in TEXTS), encoding="utf-8")
    lines = translated(file, "--begin-with", "我").out.splitlines()
    assert [line[:1] for line in lines] == ["我", "", "我", "我"]
    for option in (("--shortlist", "100"), ("--memory", str(file))):
        refused = translated(file, "--begin-with", "我", *option)
        assert refused.status == 2, refused.err
