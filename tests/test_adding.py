"""What CONTRIBUTING.md says of adding, followed: a model, a task, a kind of file, a check, engine.

Each is one file below tests/support and one line here, and goes the whole way: a model and a task
train, stop, go on, and are used. If this needs more than a line, the house has lost its seams.
"""

import dataclasses
import itertools
import json
from pathlib import Path
from typing import Any, NamedTuple

import bag
import letters
import parrot
import pytest
import torch
from everyday_run import FLAGS, Finished, check_stopped_and_resumed, command
from safetensors.torch import load_file
from shouting import ShoutingCheck

from headway import tasks
from headway.core.checkpoint import save_tensors
from headway.core.cleaning import Report
from headway.core.errors import RunError
from headway.core.interfaces import Seq2Seq, StepDecoder
from headway.core.run_folder import RunFolder
from headway.corpora.corpus import Corpus, read_pairs
from headway.demo import generate
from headway.doctor.examination import CHECKS
from headway.localization.formats.file_kinds import FILE_KINDS, FileKind
from headway.models import MODELS
from headway.runs.loading import LoadedRun, open_run
from headway.runs.task_spec import CardWords, Learned, Learner, Run
from headway.translator import Translator

pytestmark = pytest.mark.usefixtures("torch_settings_restored")


@pytest.fixture(autouse=True)
def added(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one line each."""
    monkeypatch.setitem(MODELS, "bag", (bag.BagConfig, bag.Bag))
    monkeypatch.setitem(tasks.TASKS, "letters", "letters")
    monkeypatch.setitem(FILE_KINDS, ".hints", FileKind("hints:open_document", keyed=True))
    monkeypatch.setitem(CHECKS, ShoutingCheck, lambda of: ShoutingCheck(of.log))


# -- a model ----------------------------------------------------------------------------------

BAG_FLAGS = [flag for flag in FLAGS if not flag.startswith("--model.")]


def train_bag(files: tuple[Path, Path], run: Path, *flags: str) -> Finished:
    names = ("--source", str(files[0]), "--target", str(files[1]), "--out", str(run))
    return command("train", *names, "--model.type", "bag", *BAG_FLAGS, *flags)


def test_an_added_model_trains_stops_goes_on_and_translates(everyday_files, tmp_path, monkeypatch):
    assert isinstance(bag.Bag(bag.BagConfig(), vocabulary_size=9), StepDecoder)
    assert isinstance(bag.Bag(bag.BagConfig(), vocabulary_size=9), Seq2Seq)
    finished = check_stopped_and_resumed(
        lambda run: train_bag(everyday_files, run), tmp_path, monkeypatch
    )
    whole = tmp_path / "whole"
    assert "preset" not in finished.err  # they are the Transformer's
    assert RunFolder(whole).settings()["model"] == {"type": "bag", "d_model": 16}
    translator = Translator.load(whole, device="cpu")
    texts = [source for source, _ in generate(3, seed=5)]
    for beam in (1, 2):
        found = translator.translate_fully(texts, beam=beam)
        assert all(torch.isfinite(torch.tensor(one.n_best[0].score)) for one in found)
    with pytest.raises(Exception, match="look"):
        translator.attention(texts[0])
    seen = command("inspect", str(whole), texts[0], "--json")
    assert seen.status == 0, seen.err
    assert json.loads(seen.out)["sentences"]


def test_keys_of_another_model_are_refused_by_name(everyday_files, tmp_path):
    refused = train_bag(everyday_files, tmp_path / "run", "--model.heads=2")
    assert refused.status == 2
    assert "unknown key 'heads' in [model]" in refused.err
    refused = train_bag(everyday_files, tmp_path / "run", "--preset=tiny")
    assert "--preset tiny is for --model.type transformer; got bag" in refused.err
    assert not (tmp_path / "run").exists()


# -- a task -----------------------------------------------------------------------------------

LETTER_FLAGS = (
    "--training.max-steps=8", "--training.checkpoint-every=2", "--training.log-every=2",
    "--training.batch-tokens=300", "--training.learning-rate=0.1", "--training.average=2",
    "--runtime.threads=1", "--runtime.device=cpu",
)  # fmt: skip


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.en"
    path.write_text("".join(f"{source}\n" for source, _ in generate(60, seed=2)), encoding="utf-8")
    return path


def train_letters(run: Path, *flags: str) -> Finished:
    return command("train", "--task", "letters", "--out", str(run), *LETTER_FLAGS, *flags)


def test_an_added_task_trains_stops_goes_on_and_is_used(corpus, tmp_path, monkeypatch):
    check_stopped_and_resumed(
        lambda run: train_letters(run, "--data.corpus", str(corpus)),
        tmp_path,
        monkeypatch,
        letters.LettersTask,
    )
    whole = tmp_path / "whole"
    log = RunFolder(whole).read_log()
    assert log[-1]["log_prob"] > log[1]["log_prob"], "it learns"
    assert "letters" in log[0]
    settings = RunFolder(whole).settings()
    assert settings["run"] == {"task": "letters", "finished": True}
    assert settings["data"]["corpus"] == str(corpus)
    assert "text" not in settings
    assert "decoding" not in settings
    assert "letters, trained with headway" in (whole / "README.md").read_text(encoding="utf-8")
    opened = open_run(letters.SPEC, whole, device="cpu")
    [t, h, x] = opened.vocabulary.encode("Th.")
    after_t = opened.model(torch.tensor([t]))[0]
    assert after_t[h] > after_t[x], "it has read many a The"


def test_an_added_task_survives_when_its_batches_do_not_fit(corpus, tmp_path, monkeypatch):
    whole, halved = tmp_path / "whole", tmp_path / "halved"
    assert train_letters(whole, "--data.corpus", str(corpus)).status == 0
    loss, n_rows = letters.LettersTask.loss, []

    def little_memory(self: Any, model: Any, batch: Any) -> Any:
        if model.training:
            n_rows.append(len(batch.rows))
            if len(batch.rows) > 4:
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB")
        return loss(self, model, batch)

    monkeypatch.setattr(letters.LettersTask, "loss", little_memory)
    finished = train_letters(halved, "--data.corpus", str(corpus))
    assert finished.status == 0, finished.err
    assert "learned in 2 parts" in finished.err
    assert max(n_rows) > 4
    for line, other in zip(RunFolder(whole).read_log(), RunFolder(halved).read_log(), strict=True):
        assert other["letters"] == line["letters"]
        assert other.get("loss", 0) == pytest.approx(line.get("loss", 0), abs=2e-5)
    weights = (load_file(run / "model.safetensors")["rows.weight"] for run in (whole, halved))
    torch.testing.assert_close(*weights, rtol=1e-3, atol=1e-4)


class Guesser(NamedTuple):
    """What `headway predict` asks."""

    opened: LoadedRun

    @classmethod
    def load(cls, run: Path, **how: Any) -> "Guesser":
        return cls(open_run(letters.SPEC, run, device=how["device"]))

    def doubts(self, text: str) -> list[str]:
        return [] if text else ["nothing stands before: it is the beginning of a line"]

    def next(self, text: str, top: int) -> list[tuple[str, float]]:
        known = self.opened.vocabulary
        last = torch.tensor([2, *known.encode(text)][-1:])
        best = self.opened.model(last)[0].softmax(0).topk(top or len(known))
        return [*zip(known.pieces(best.indices), best.values.tolist(), strict=True)]


def test_an_added_task_is_evaluated_and_asked_what_comes_next(corpus, tmp_path, monkeypatch):
    monkeypatch.setitem(letters.VERBS, "predict", f"{__name__}:Guesser")
    run = tmp_path / "run"
    assert train_letters(run, "--data.corpus", str(corpus)).status == 0
    evaluated = command("evaluate", str(run), "--corpus", str(corpus))
    assert evaluated.status == 0, evaluated.err
    assert evaluated.out.endswith(" nats a letter\n")
    predicted = command("predict", str(run), "T", "--top", "1", "--runtime.device", "cpu")
    assert predicted.status == 0, predicted.err
    assert predicted.out.endswith("\th\n")
    refused = command("generate", str(run))
    assert "a run of the task language-model; " in refused.err
    assert refused.err.endswith(
        "is one of letters, which goes with headway evaluate, predict. Train one with: headway "
        "train --task language-model\n"
    )


def test_a_task_is_added_in_fewer_than_120_lines():
    assert len(Path(letters.__file__).read_text(encoding="utf-8").splitlines()) + 1 < 120


def count(run: Run, resume: bool) -> Learned:
    """Add-one counts of pairs of letters, as logits."""
    counts = torch.ones(len(run.data.vocabulary), len(run.data.vocabulary))
    for row in run.data.train:
        for one, other in itertools.pairwise([2, *row.tolist(), 3]):
            counts[one, other] += 1
    save_tensors({"rows.weight": counts.log()}, run.folder.model)
    return Learned("counts of pairs, one added to each", "Every line was counted once.")


def test_a_model_that_counts_does_not_go_through_the_loop(corpus, tmp_path, monkeypatch):
    learner = Learner(lambda run: run.settings, count)
    counting = dataclasses.replace(
        letters.SPEC,
        learner=lambda settings: learner,
        card=lambda run: CardWords("letters", "letters", "none", "counted", []),
        counted=("table",),
    )
    monkeypatch.setattr(letters, "SPEC", counting)
    run = tmp_path / "run"
    finished = train_letters(run, "--data.corpus", str(corpus))
    assert finished.status == 0, finished.err
    assert not (run / "checkpoints").exists()
    table = load_file(run / "model.safetensors")["rows.weight"].exp()
    [e, n] = open_run(letters.SPEC, run).vocabulary.encode("en")
    lines = corpus.read_text(encoding="utf-8").splitlines()
    in_train = sum(line.count("en") for number, line in enumerate(lines) if number % 10)
    assert table[e, n] == pytest.approx(1 + in_train, rel=1e-5)
    assert "is finished" in command("train", "--out", str(run), "--resume").err


def test_a_run_is_opened_by_its_own_task_only(corpus, everyday_run, tmp_path):
    run = tmp_path / "run"
    assert train_letters(run, "--data.corpus", str(corpus)).status == 0
    with pytest.raises(
        RunError, match=r"one of letters[.,] .*Train one with: .*--task translation"
    ):
        Translator.load(run)
    with pytest.raises(RunError, match="one of translation"):
        open_run(letters.SPEC, everyday_run)
    refused = command("translate", str(run), str(corpus))
    assert refused.status == 2


def test_what_a_task_does_not_know_is_refused_by_name(corpus, tmp_path):
    for flags, message in (
        (("--decoding.beam=3",), "the task letters has no section [decoding]"),
        (("--data.max-length=3",), "unknown key 'max_length' in [data]"),
        (("--source", str(corpus)), "unknown key 'source' in [data]"),
        (("--preset=tiny",), "the task letters has no presets; got --preset tiny"),
        (("--model.type=tables",), "Did you mean 'table'?"),
    ):
        refused = train_letters(tmp_path / "run", "--data.corpus", str(corpus), *flags)
        assert refused.status == 2, flags
        assert message in refused.err
    refused = command("train", "--task", "leters", "--out", str(tmp_path / "run"))
    assert "got 'leters'. Did you mean 'letters'?" in refused.err
    assert not (tmp_path / "run").exists()


def test_a_translator_is_not_gone_on_from_as_letters(everyday_run, corpus, tmp_path):
    refused = train_letters(
        tmp_path / "run", "--data.corpus", str(corpus), "--init-from", str(everyday_run)
    )
    assert refused.status == 2
    assert not (tmp_path / "run").exists()


# -- a kind of file ---------------------------------------------------------------------------


def test_an_added_kind_of_file_is_filled_in_completed_and_trained_on(everyday_run, tmp_path):
    english, chinese = tmp_path / "en.hints", tmp_path / "zh.hints"
    english.write_text("# all\nmenu.open:  I love cats. \n\nmenu.end: The dog runs.\n", "utf-8")
    filled = command("translate", str(everyday_run), str(english), "--out", str(chinese))
    assert filled.status == 0, filled.err
    before, opened, _, end = chinese.read_text("utf-8").splitlines()
    assert (before, opened[:12], end[:10]) == ("# all", "menu.open:  ", "menu.end: ")
    chinese.write_text("menu.end: 狗在跑。\n", "utf-8")
    onto = ("--onto", str(chinese), "--out", str(tmp_path / "new.hints"))
    assert command("translate", str(everyday_run), str(english), *onto).status == 0
    assert "menu.end: 狗在跑。" in (tmp_path / "new.hints").read_text("utf-8")
    pairs = [*read_pairs(Corpus((english,), (chinese,)), Report())]
    assert [pair[:2] for pair in pairs] == [("The dog runs.", "狗在跑。")]


# -- a check ----------------------------------------------------------------------------------


def test_an_added_check_finds_tells_and_leaves_out(tmp_path):
    files = tmp_path / "a.en", tmp_path / "a.zh"
    pairs = generate(30, seed=3)
    for file, side in zip(files, zip(*pairs, strict=True), strict=True):
        first = side[0].upper()
        file.write_text("".join(f"{text}\n" for text in (first, *side[1:])), encoding="utf-8")
    names = ("prepare", "--source", str(files[0]), "--target", str(files[1]))
    found = json.loads(command(*names, "--json").out)["findings"]
    [case] = [one["examples"] for one in found if one["name"] == "shouting"]
    assert [one["line"] for one in case] == [1]
    dropped = command(*names, "--drop", "shouting", "--out", str(tmp_path / "new"))
    assert dropped.status == 0, dropped.err
    assert len((tmp_path / "new" / "a.en").read_text("utf-8").splitlines()) == 29


# -- an engine --------------------------------------------------------------------------------


def test_an_added_engine_searches_what_it_can_and_leaves_the_rest(everyday_run, monkeypatch):
    texts = [source for source, _ in generate(20, seed=5)]
    before = Translator.load(everyday_run, device="cpu").translate(texts)
    translator = Translator.load(everyday_run, device="cpu")
    lengths = [len(translator.subwords.encode(text)) for text in texts]
    monkeypatch.setattr(parrot, "MOST", sorted(lengths)[10])
    translator.search.use(parrot.Parrot())
    after = translator.translate(texts)
    short = [length <= parrot.MOST for length in lengths]
    for text, own, said, few in zip(texts, before, after, short, strict=True):
        assert said == (text if few else own)
