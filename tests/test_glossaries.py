"""Terms on their whole way: `--glossary` of translate, evaluate and train, and from Python."""

import json
import shutil
from pathlib import Path

import polib
import pytest
from everyday_run import Finished, command, write_pairs

from headway import Translator, translate_files
from headway.core.config import read_toml
from headway.core.errors import RunError
from headway.demo import generate
from headway.localization.terms.glossary_files import read_glossary
from headway.operations.shipped import SHIPPED
from headway.runs.checking import check_run
from headway.serving.requests import Caller, TranslationRequest
from headway.serving.runs import ServedRuns
from headway.serving.service import Service

pytestmark = pytest.mark.usefixtures("torch_settings_restored")

TERMS = "dog\t犬\tas in the shop\tdogs|doggy\nAcme\t=\ncat\t猫咪|喵\n"
LINES = ["The dog is tired.", "I love cats.", "Acme is here."]


@pytest.fixture(scope="session")
def terms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("terms") / "terms.tsv"
    file.write_text(TERMS, encoding="utf-8")
    return file


@pytest.fixture
def text(tmp_path: Path) -> Path:
    file = tmp_path / "in.en"
    file.write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    return file


@pytest.fixture(scope="session")
def run_with_terms(tmp_path_factory: pytest.TempPathFactory, terms: Path) -> Path:
    """The package's run, with terms: a model that has learned nothing writes no word for them.

    Of a copy it is not known what it learned from, so that none of that is written and read.
    """
    folder = tmp_path_factory.mktemp("with-terms")
    source, target = write_pairs(folder, "train", generate(60, seed=3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADWAY_CACHE", str(folder / "cache"))
        finished = command(
            "train", "--source", str(source), "--target", str(target), "--out", str(folder / "run"),
            "--init-from", str(shutil.copytree(SHIPPED, folder / "copy")), "--data.valid-size=4",
            "--training.max-steps=1", "--training.learning-rate=1e-9", "--runtime.device=cpu",
            "--glossary", str(terms),
        )  # fmt: skip
    assert finished.status == 0, finished.err
    assert "are kept in the run" in finished.err
    return folder / "run"


def lines(*arguments: object) -> tuple[list[str], str]:
    finished: Finished = command("translate", *map(str, arguments))
    assert finished.status == 0, finished.err
    return finished.out.splitlines(), finished.err


def test_a_glossary_of_translate_holds_in_text_and_in_files(terms, text, tmp_path):
    found, said = lines(SHIPPED, text, "--glossary", terms)
    assert "犬" in found[0]
    assert "Acme" in found[2]
    assert "3 terms, 1 of them not to be translated" in said
    po, out = tmp_path / "a.po", tmp_path / "b.po"
    po.write_text(f'msgid ""\nmsgstr ""\n\nmsgid "{LINES[0]}"\nmsgstr ""\n', encoding="utf-8")
    lines(SHIPPED, po, "--glossary", terms, "--out", out)
    assert "犬" in polib.pofile(str(out))[0].msgstr


def test_evaluate_translates_with_a_glossary_and_says_how_many_hold(terms, text):
    finished = command(
        "evaluate", str(SHIPPED), "--source", str(text), "--reference", str(text),
        "--glossary", str(terms), "--json",
    )  # fmt: skip
    assert finished.status == 0, finished.err
    assert json.loads(finished.out)["bleu"]
    assert "2 of 2 terms in the sources hold" in finished.err
    alone = command("evaluate", "--hypothesis", str(text), "--reference", str(text),
                    "--glossary", str(terms))  # fmt: skip
    assert alone.status == 2
    assert "--glossary" in alone.err


def test_train_keeps_a_copy_that_says_the_same(run_with_terms, terms):
    kept = run_with_terms / "glossary.tsv"
    given, copied = (read_glossary([file], "en", "zh").terms for file in (terms, kept))
    assert [one._replace(place="") for one in given] == [one._replace(place="") for one in copied]
    assert read_toml(run_with_terms / "config.toml")["data"]["glossary"] == [str(terms)]
    assert {one.name: one.state for one in check_run(run_with_terms)}["glossary.tsv"] == "whole"


def test_what_translates_with_the_run_uses_its_terms_unless_told_otherwise(
    run_with_terms, text, tmp_path
):
    held, said = lines(run_with_terms, text)
    assert "犬" in held[0]
    assert said.count("headway: glossary of the run (--glossary none leaves it out)") == 1
    free, said = lines(run_with_terms, text, "--glossary", "none")
    assert "犬" not in free[0]
    assert "glossary" not in said
    translator = Translator.load(run_with_terms, device="cpu")
    assert translator.translate(LINES) == held
    assert translator.translate(LINES, glossary="none") == free
    other = tmp_path / "other.tsv"
    other.write_text("dog\t狗子\n", encoding="utf-8")
    assert "狗子" in lines(run_with_terms, text, "--glossary", other)[0][0]
    po = tmp_path / "a.po"
    po.write_text(f'msgid ""\nmsgstr ""\n\nmsgid "{LINES[0]}"\nmsgstr ""\n', encoding="utf-8")
    heard: list[str] = []
    for name, glossary in (("held", None), ("free", ["none"])):
        out = tmp_path / f"{name}.po"
        translate_files(run_with_terms, po, out=out, glossary=glossary, say=heard.append)
        assert ("犬" in polib.pofile(str(out))[0].msgstr) == (name == "held")
    assert sum("glossary of the run" in one for one in heard) == 1
    scored = command("evaluate", str(run_with_terms), "--source", str(text),
                     "--reference", str(text))  # fmt: skip
    assert "glossary of the run" in scored.err


def test_a_term_that_is_lost_is_flagged_whosever_glossary_it_is(run_with_terms, terms, tmp_path):
    file = tmp_path / "many.en"
    file.write_text("The dog dog dog dog dog dog runs.\n", encoding="utf-8")
    lost = "'dog' is to be '犬', which is not there 6 times"
    given = ("--glossary", terms)
    for option, flags in (((), "flags"), (given, "reasons"), (("--glossary", "none"), "reasons")):
        [row] = json.loads(lines(run_with_terms, file, "--json", *option)[0][0])["translations"]
        said = [flag["why"] for flag in row[flags] if flag["name"] == "term"]
        assert said == ([] if "none" in option else [lost])
    assert lost in lines(run_with_terms, file)[1]
    assert lost not in lines(run_with_terms, file, "--begin-with", "那只")[1]
    translator = Translator.load(run_with_terms, device="cpu")
    one = translator.translate_fully(file.read_text(encoding="utf-8"))
    assert lost in [flag.why for flag in translator.judged(one).flags]
    assert lost not in [flag.why for flag in translator.judged(one, "none").flags]


def test_a_service_flags_terms_that_are_lost(run_with_terms):
    service = Service(ServedRuns([run_with_terms], Translator.load))
    for text in ("The dog dog dog dog dog dog runs.", "The <b>dog</b> dog dog dog dog dog runs."):
        for asked, is_flagged in ((None, True), ("none", False)):
            request = TranslationRequest(
                [text], "zh", source="en", details=True, terms=asked,
                markup="xml" if "<" in text else "text",
            )  # fmt: skip
            [answer] = service.translate_now(request, Caller())
            assert ("term" in [flag.name for flag in answer.verdict.flags]) == is_flagged


def test_a_kept_glossary_that_is_gone_or_changed_is_refused(run_with_terms):
    kept = run_with_terms / "glossary.tsv"
    before = kept.read_bytes()
    try:
        kept.write_bytes(before + b"x\ty\n")
        with pytest.raises(RunError, match=r"glossary\.tsv is not as headway wrote it"):
            Translator.load(run_with_terms)
        kept.unlink()
        with pytest.raises(RunError, match="is gone"):
            Translator.load(run_with_terms)
    finally:
        kept.write_bytes(before)


def test_a_bad_glossary_is_refused_before_anything_is_read(tmp_path, text):
    bad = tmp_path / "terms.tsv"
    bad.write_text("dog\tHund\ndog\t=\n", encoding="utf-8")
    finished = command("train", "--source", str(text), "--target", str(text), "--out",
                       str(tmp_path / "run"), "--glossary", str(bad))  # fmt: skip
    assert finished.status == 2
    assert "terms.tsv" in finished.err
    assert not (tmp_path / "run").exists()
