"""The whole flow with a run: from Python, and lines of text on the command line."""

import io
import json
from pathlib import Path

import polib
import pytest
from everyday_run import command

import headway
from headway.core.errors import ConfigError

pytestmark = pytest.mark.usefixtures("torch_settings_restored")

PO = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\nLanguage: zh\\n"\n'
KNOWN = "A dog that only the memory knows."


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("po/deep").mkdir(parents=True)
    for name, text in (("po/a.po", KNOWN), ("po/deep/b.po", "The dog runs.")):
        Path(name).write_text(f'{PO}\nmsgid "{text}"\nmsgstr ""\n', encoding="utf-8")
    Path("old.tsv").write_text(
        f"{KNOWN}\t记忆里的狗。\nhe has 3 dogs.\t他有3条狗。\n", encoding="utf-8"
    )
    return tmp_path


def test_python_does_what_the_command_does(everyday_run, place):
    done = headway.translate_files(
        everyday_run, "po", out="one", memory="old.tsv", report="r.json", device="cpu",
        everything=True, say=lambda _: None,
    )  # fmt: skip
    finished = command(
        "translate", str(everyday_run), "po", "--out", "two", "--memory", "old.tsv",
        "--runtime.threads=1",
    )  # fmt: skip
    assert finished.status == 0, finished.err
    assert "2 files: 2 units" in finished.err or finished.err.count("1 unit,") == 2
    for name in ("a.po", "deep/b.po"):
        assert Path("one", name).read_bytes() == Path("two", name).read_bytes()
    assert polib.pofile("one/a.po")[0].msgstr == "记忆里的狗。"
    assert [row["origin"] for one in done for row in one.rows] == ["memory", "model"]
    assert json.loads(Path("r.json").read_text(encoding="utf-8"))["total"]["gaps"] == 2


@pytest.mark.parametrize("option", ["memory", "glossary", "codes"])
def test_a_report_never_replaces_what_a_call_reads(everyday_run, place, option):
    before = Path("old.tsv").read_bytes()
    with pytest.raises(ConfigError, match=r"would replace old\.tsv"):
        headway.translate_files(
            everyday_run, "po", out="one", report=place / "old.tsv", **{option: "old.tsv"}
        )
    assert Path("old.tsv").read_bytes() == before
    assert not Path("one").exists()


def test_an_unknown_option_is_refused(everyday_run, place):
    with pytest.raises(ConfigError, match="got 'memories'"):
        headway.translate_files(everyday_run, "po", out="one", memories="old.tsv")


def test_units_are_given_as_a_table_or_an_object_and_no_file_is_written(everyday_run, place):
    before = sorted(place.rglob("*"))
    finished = command("translate", str(everyday_run), "po", "--json", "--runtime.threads=1")
    assert finished.status == 0, finished.err
    found = json.loads(finished.out)["translations"]
    assert [one["source"] for one in found] == [KNOWN, "The dog runs."]
    assert {"file", "line", "target", "origin", "confidence", "score", "reasons"} <= set(found[0])
    finished = command("translate", str(everyday_run), "po", "--scores", "--runtime.threads=1")
    heading, *lines = finished.out.splitlines()
    assert heading.startswith("file\tline\tkey\tsource\ttarget")
    assert [line.split("\t")[3] for line in lines] == [KNOWN, "The dog runs."]
    assert sorted(place.rglob("*")) == before


@pytest.mark.parametrize("piped", [False, True])
def test_lines_of_text_go_through_the_same_flow(everyday_run, place, piped, monkeypatch):
    text = f"The dog runs.\n\n{KNOWN}\n   \n...\n"
    Path("new.en").write_text(text, encoding="utf-8")
    stream = io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", stream)
    named = [] if piped else ["new.en"]
    options = ["--memory", "old.tsv", "--report", "r.tsv", "--runtime.threads=1"]
    finished = command("translate", str(everyday_run), *named, *options)
    assert finished.status == 0, finished.err
    lines = finished.out.split("\n")
    assert len(lines) == 6
    assert lines[0]
    assert lines[1:] == ["", "记忆里的狗。", "   ", "...", ""]
    assert "5 lines, 2 to translate, 2 filled in (1 from memory, 1 by the model)" in finished.err
    assert Path("r.tsv").read_text(encoding="utf-8").startswith("file\tline\t")
    finished = command("translate", str(everyday_run), "new.en", "--json", *options)
    found = json.loads(finished.out)["translations"]
    assert [one["line"] for one in found] == [1, 3]


def test_a_near_match_is_taken_and_its_number_put_right(everyday_run, place):
    Path("new.en").write_text("he has 4 dogs.\n", encoding="utf-8")
    options = ["--memory", "old.tsv", "--fuzzy-from", "60", "--runtime.threads=1"]
    finished = command("translate", str(everyday_run), "new.en", *options)
    assert finished.out == "他有4条狗。\n"
    assert "1 from near matches" in finished.err
    finished = command("translate", str(everyday_run), "new.en", *options, "--out", "new.en")
    assert finished.status == 2
    assert "does not replace what went in" in finished.err
