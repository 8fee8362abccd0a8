import json
from pathlib import Path

import pytest

from headway.cli import main

PO = """
msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\n"
"Language: de\\n"

msgid "Open file %d"
msgstr "Datei %d öffnen"

msgid "Step 2"
msgstr "Schritt 2"

msgid "Close"
msgstr ""
"""


@pytest.fixture
def old(tmp_path: Path) -> str:
    path = tmp_path / "old.po"
    path.write_text(PO, encoding="utf-8")
    return str(path)


def test_texts_are_looked_up(old: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["memory", old, "--query", "Step 3", "--query", "Unheard of"]) == 0
    printed = capsys.readouterr().out
    assert printed.splitlines()[:3] == ["Step 3", "   99%  Step [-2-]{+3+}", "        Schritt 3"]
    assert f"{old}:9; differs: numbers; adapted: 2 -> 3" in printed
    assert "no match of 70% or more" in printed


def test_a_file_of_texts_is_looked_up_as_json(
    old: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = tmp_path / "texts.txt"
    lines = ["Step 2", "", "open file %s", "Step 2"]
    texts.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    assert main(["memory", old, "--queries", str(texts), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["queries"]
    assert [one["query"] for one in found] == lines
    first, blank, second, again = found
    assert again == first
    assert not blank["matches"]
    assert [(m["percent"], m["target"]) for m in first["matches"]] == [(100, "Schritt 2")]
    (match,) = second["matches"]
    assert (match["percent"], match["target"]) == (98, "Datei %s öffnen")
    assert match["repaired"] == ["%d -> %s"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "a memory is one or more files"),
        (["{old}", "--query", "a", "--at-least", "20"], "from 50 to 100; got 20"),
        (["{old}", "--query", "a", "--most", "0"], "--most is at least 1; got 0"),
        (["{old}"], "a text is looked up; none was given"),
        (["no.tmx", "--query", "a"], "no such file: no.tmx"),
        (["{old}", "--query", "a", "--target-language", "fr"], "is de, and fr is wanted"),
    ],
)
def test_mistakes_are_said_in_words(
    arguments: list[str], said: str, old: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["memory", *[argument.format(old=old) for argument in arguments]]) == 2
    assert said in " ".join(capsys.readouterr().err.split())
