"""Several runs that translate as one, and --mbr, through the command line."""

import io
import shutil
from pathlib import Path

import pytest
import torch
from everyday_run import Finished, command
from random_models import needs_engine

from headway.core.errors import ConfigError
from headway.core.run_folder import RunFolder
from headway.filling.files import Call, Outcomes
from headway.operations.shipped import place_of
from headway.translator import Translator

pytestmark = pytest.mark.usefixtures("torch_settings_restored")

LINES = ["I love cats.", "", "The dog is tired.", "He sings."]


def changed(run: Path, out: Path, seed: int) -> Path:
    """A run with the same vocabulary and other weights."""
    translator = Translator.load(run, device="cpu")
    torch.manual_seed(seed)
    with torch.no_grad():
        for weight in translator.model.parameters():  # type: ignore[attr-defined]
            weight.add_(0.1 * weight.std() * torch.randn_like(weight))
    return translator.save(out)


@pytest.fixture(scope="module")
def other_run(everyday_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return changed(everyday_run, tmp_path_factory.mktemp("other") / "run", 1)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    file = tmp_path / "in.en"
    file.write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    return file


def translate(*arguments: object) -> Finished:
    finished = command("translate", *map(str, arguments), "--runtime.threads=1")
    assert "Traceback" not in finished.err
    return finished


def test_the_runs_that_are_named_translate_together(everyday_run, other_run, text):
    finished = translate(everyday_run, other_run, text)
    assert finished.status == 0, finished.err
    assert f"an ensemble of {everyday_run}, {other_run}" in finished.err
    together = Translator.load([everyday_run, other_run], device="cpu")
    assert finished.out.split("\n")[:-1] == together.translate(LINES)
    alone = [Translator.load(one, device="cpu") for one in (everyday_run, other_run)]
    found, *others = (one.translate_fully(LINES[0]) for one in (together, *alone))
    assert found.n_best[0].score not in [one.n_best[0].score for one in others]


def test_one_run_twice_is_that_run(everyday_run, text):
    twice = translate(everyday_run, everyday_run, text)
    once = translate(everyday_run, text)
    assert twice.out == once.out
    assert f"{everyday_run.resolve()} is named 2 times" in twice.err
    assert "times" not in once.err


def test_standard_input_is_read_where_all_are_runs(everyday_run, other_run, text, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.read_bytes())))
    finished = translate(everyday_run, other_run)
    assert finished.out == translate(everyday_run, other_run, text).out


def test_files_are_filled_in_by_both(everyday_run, other_run, tmp_path):
    file = tmp_path / "app.po"
    file.write_text('msgid ""\nmsgstr ""\n"Language: zh\\n"\n\nmsgid "He sings."\nmsgstr ""\n')
    out = tmp_path / "new.po"
    finished = translate(everyday_run, other_run, file, "--out", out)
    assert finished.status == 0, finished.err
    together = Translator.load([everyday_run, other_run], device="cpu")
    assert f'msgstr "{together.translate("He sings.")}"' in out.read_text(encoding="utf-8")


def test_what_is_half_filled_in_goes_on_with_the_very_runs_that_began_it(
    everyday_run, other_run, tmp_path, monkeypatch
):
    second, file = tmp_path / "second", tmp_path / "app.po"
    file.write_text('msgid ""\nmsgstr ""\n"Language: zh\n"\n\nmsgid "He sings."\nmsgstr ""\n')
    words = ["translate", everyday_run, second, file, "--out", tmp_path / "new.po"]
    too_long = "x" * 300  # for the name of a file, as a pattern may be
    monkeypatch.setattr("sys.argv", ["headway", *map(str, words), too_long])
    told: list[str] = []

    def noted(names: object, options: object, call: Call) -> Outcomes:
        told.append(call.how)
        return Outcomes([], True, "")

    monkeypatch.setattr("headway.filling.calls.fill_files", noted)
    for weights in (other_run, other_run, everyday_run):  # trained anew in the same place
        shutil.rmtree(second, ignore_errors=True)
        shutil.copytree(weights, second)
        assert translate(*words[1:]).status == 0
    assert told[0] == told[1] != told[2]


def test_terms_hold_as_in_one_run(everyday_run, text, tmp_path):
    terms = tmp_path / "terms.tsv"
    terms.write_text("cats\t猫咪\ndog\t小狗\n", encoding="utf-8")
    twice = translate(everyday_run, everyday_run, text, "--glossary", terms)
    assert twice.status == 0, twice.err
    assert twice.out == translate(everyday_run, text, "--glossary", terms).out


def test_they_are_scored_together(everyday_run, other_run, text, tmp_path):
    reference = tmp_path / "in.zh"
    reference.write_text(translate(everyday_run, other_run, text).out, encoding="utf-8")
    files = ("--source", str(text), "--reference", str(reference))
    finished = command("evaluate", str(everyday_run), str(other_run), *files, "--json")
    assert finished.status == 0, finished.err
    assert f'"system": "{everyday_run} + {other_run}"' in finished.out
    assert '"exact_match": 100.0' in finished.out
    refused = command("evaluate", str(everyday_run), str(other_run), *files, "--off", "cross.0")
    assert refused.status == 2
    assert "--off is for one run" in refused.err


def test_mbr_through_the_command_line(everyday_run, text, tmp_path):
    finished = translate(everyday_run, text, "--mbr", 9)
    assert finished.status == 0, finished.err
    assert finished.out.count("\n") == len(LINES)
    reference = tmp_path / "in.zh"
    reference.write_text(finished.out, encoding="utf-8")
    files = ("--source", str(text), "--reference", str(reference))
    scored = command("evaluate", str(everyday_run), *files, "--mbr", "9", "--json")
    assert '"exact_match": 100.0' in scored.out


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["--mbr", 1], "--mbr chooses among 2 to 200 candidates; got 1"),
        (["--mbr", 9, "--n-best", 3], "--mbr tells one translation"),
        (["--mbr", 9, "--method", "greedy"], "--method beam or --method sampling"),
        (["--mbr", 9, "--shards", "--out", "x"], "shards are translated with one run"),
    ],
)
def test_what_does_not_go_with_mbr_is_refused(everyday_run, text, given, expected):
    finished = translate(everyday_run, text, *given)
    assert finished.status == 2
    assert expected in finished.err


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["--shortlist", 50], "--shortlist is learned for one run; got 2"),
        (["--shards", "--out", "x"], "shards are translated with one run"),
        (["--runtime.engine", "ctranslate2"], "by the compiled engine or by torch"),
        (["--runtime.engine", "torch", "--precision", "int8"], "the engine is torch"),
    ],
)
def test_what_does_not_go_with_several_runs_is_refused(
    everyday_run, other_run, text, given, expected
):
    finished = translate(everyday_run, other_run, text, *given)
    assert finished.status == 2
    assert expected in finished.err
    assert finished.out == ""


@needs_engine
def test_the_compiled_engine_writes_what_torch_writes(everyday_run, other_run, text):
    native, torchs = (
        translate(everyday_run, other_run, text, "--runtime.engine", engine, "--scores")
        for engine in ("native", "torch")
    )
    assert native.status == 0, native.err
    for line, other in zip(native.out.split("\n"), torchs.out.split("\n"), strict=True):
        *score, written = line.split("\t")
        *torchs_score, torchs_text = other.split("\t")
        assert written == torchs_text
        assert list(map(float, score)) == pytest.approx(list(map(float, torchs_score)), abs=1e-3)


@needs_engine
def test_products_are_in_the_precision_that_all_runs_have(
    everyday_run, other_run, tmp_path, monkeypatch
):
    measured = changed(everyday_run, tmp_path / "measured", 2)
    RunFolder(measured).precision.write_text("{}", encoding="utf-8")
    monkeypatch.setattr("headway.translation.engines.quickest", lambda *_: "int8")
    found, said = {}, list[str]()
    for runs in ([measured, other_run], [measured, measured]):
        translator = Translator.load(runs, device="cpu", precision="auto", say=said.append)
        assert isinstance(translator.translate(LINES[0]), str)
        search = translator.search
        found[runs[1]] = search.choice.precision, search.engine.packed.precision
    assert found == {other_run: ("fp32", "fp32"), measured: ("int8", "int8")}
    assert [line for line in said if "together they have fp32" in line] == said[:1]


@pytest.mark.parametrize("more", [[], ["in.en"], ["in.en", "--out", "new"]])
def test_a_folder_that_is_not_there_is_named(everyday_run, other_run, more, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("in.en").write_text("He sings.\n", encoding="utf-8")
    for runs in ([everyday_run], [everyday_run, other_run]):
        finished = translate(*runs, "runs/misspelt", *more)
        assert finished.status == 2
        assert "no such file: runs/misspelt, nor is it the folder of another run" in finished.err
        assert finished.out == ""
    assert not Path("new").exists()


def test_runs_with_other_vocabularies_score_what_all_of_them_find(everyday_run, text, tmp_path):
    demo = RunFolder(shutil.copytree(place_of(Path("demo")), tmp_path / "demo"))
    finished = translate(everyday_run, demo.path, text, "--scores", "--mbr", 9)
    assert finished.status == 0, finished.err
    assert "2 vocabularies: each searches by itself" in finished.err
    assert finished.out.count("\n") == len(LINES)
    both = Translator.load([everyday_run, "demo"], device="cpu")
    plain = translate(everyday_run, demo.path, text, "--alignment").out
    assert translate(everyday_run, "demo", text, "--alignment").out == plain
    assert [line.split("\t")[0] for line in plain.split("\n")[:-1]] == both.translate(LINES)


def test_runs_of_other_languages_are_refused(everyday_run, other_run, tmp_path):
    import shutil

    turned = tmp_path / "turned"
    shutil.copytree(other_run, turned)
    folder = RunFolder(turned)
    sections = folder.settings()
    sections["data"]["source_language"] = "fr"
    folder.write_settings(sections)
    with pytest.raises(ConfigError, match="same languages; .* has fr to zh, .* en to zh"):
        Translator.load([everyday_run, turned], device="cpu")
    sections["data"] |= {"source_language": "", "target_language": "", "tags": ["2de", "2fr"]}
    folder.write_settings(sections)
    with pytest.raises(ConfigError, match="same languages; .* has several directions, .* en to zh"):
        Translator.load([everyday_run, turned], device="cpu")


def test_an_ensemble_of_no_run_is_refused():
    with pytest.raises(ConfigError, match="one run or more; got none"):
        Translator.load([])
