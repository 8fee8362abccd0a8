"""A text in, its label out: the whole way by the command line."""

import csv
import gzip
import io
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from everyday_run import command
from labelled import FLAGS, labelled, train, write_labelled
from sklearn.metrics import accuracy_score, f1_score
from topics import TOPICS

from headway.classification.criterion import LabelCriterion, probabilities, target_of
from headway.classification.predicting import TextClassifier
from headway.classification.reading import ClassifiedFiles
from headway.core.run_folder import RunFolder
from headway.core.subwords import SpecialIds
from headway.labelling.task import Example
from headway.labelling.vocabulary import LabelledVocabulary
from headway.tokenizers.words import Words


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("classified")
    finished = train(write_labelled(folder / "train.tsv"), folder / "run")
    assert finished.status == 0, finished.err
    return folder / "run"


@pytest.fixture(scope="module")
def several(tmp_path_factory) -> Path:
    """A run whose texts are of one topic, or of two that stand behind each other."""
    folder = tmp_path_factory.mktemp("several")
    one, other = labelled(300), labelled(300, seed=9)
    rows = [f"{a}\t{x}" for a, x in one[:100]]
    rows += [f"{a}|{b}\t{x} {y}" for (a, x), (b, y) in zip(one[100:], other[3:203], strict=True)]
    (folder / "train.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    finished = train(folder / "train.tsv", folder / "run", "--training.max-steps=150")
    assert finished.status == 0, finished.err
    return folder / "run"


# -- training ---------------------------------------------------------------------------------


def test_what_is_read_and_chosen_is_said_and_the_card_tells_it(run, tmp_path):
    said = train(write_labelled(tmp_path / "train.tsv", 60), tmp_path / "run", model_type="bag").err
    assert "4 labels: fruit 15, sea 15, music 15, city 15" in said
    assert "6 of 60 texts are held out" in said
    assert "unit: words" in said
    card = (run / "README.md").read_text("utf-8")
    assert "# Text classification: city, fruit, music, sea" in card
    assert "| accuracy | 100.00 |" in card
    assert f"headway predict {run} 'a text'" in card
    record = RunFolder(run).record()
    assert record["labels"] == dict.fromkeys(sorted(TOPICS), 45)
    assert record["valid"]["kept"] == 20


def test_batches_are_of_fifty_texts_and_passes_follow_from_their_number(run, tmp_path):
    file = write_labelled(tmp_path / "train.tsv", 200)
    flags = ("--task", "classification", "--corpus", str(file), "--out", str(tmp_path / "run"))
    small = ("--model.type", "bag", "--model.d-model", "8", "--runtime.threads", "1")
    finished = command("train", *flags, *small)
    assert finished.status == 0, finished.err
    assert "60 times through the corpus" in finished.err
    settings = RunFolder(tmp_path / "run").settings()
    assert settings["training"]["batch_tokens"] == 50 * 12  # ten words and two markers
    assert settings["text"]["unit"] == "words"
    assert settings["text"]["segmenter"] == "punctuation"


def test_chinese_is_read_by_characters(tmp_path):
    rows = [
        f"{'好' if n % 2 else '坏'}\t这家酒店{'很好' if n % 2 else '太吵'}，{n}号"
        for n in range(40)
    ]
    (tmp_path / "zh.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    finished = train(tmp_path / "zh.tsv", tmp_path / "run")
    assert finished.status == 0, finished.err
    assert "unit: characters (the text has next to no spaces)" in finished.err
    assert command("predict", str(tmp_path / "run"), "很好").out.startswith("好\t好 ")


def test_words_that_a_parent_does_not_know_are_said(run, tmp_path):
    (tmp_path / "de.tsv").write_text("ja\tgutes Haus\nnein\tkein Weg\n" * 20, encoding="utf-8")
    once, begun = ("--training.max-steps=1", "--training.average=1"), ("--init-from", str(run))
    said = train(tmp_path / "de.tsv", tmp_path / "child", *begun, *once).err
    assert "WARNING: 50% of what is read are unknown words to the run" in said
    said = train(write_labelled(tmp_path / "same.tsv"), tmp_path / "same", *begun, *once).err
    assert "what is read are unknown" not in said


def test_a_model_that_is_no_better_than_one_label_is_below_use(tmp_path):
    random = np.random.default_rng(1)
    rows = [
        f"{'a' if n % 3 else 'b'}\t{' '.join(random.choice(list('xyzuvw'), 6))}" for n in range(200)
    ]
    (tmp_path / "chance.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    finished = train(tmp_path / "chance.tsv", tmp_path / "run", "--training.max-steps=8")
    assert finished.status == 0, finished.err
    assert "THIS MODEL IS BELOW USE: it is right in" in finished.err
    assert "always says the most frequent label" in finished.err
    assert "--preset" not in finished.err, "there is none"


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("one.tsv", "a\tx\n" * 30, "there are two labels or more; all 30 texts are 'a'"),
        ("few.tsv", "a\tx\nb\ty\n", "needs 20 labelled texts"),
        ("empty.tsv", "", "needs at least one line"),
        ("tabs.tsv", "a x\n" * 30, "line 1 of"),
    ],
)
def test_wrong_files_are_refused_and_nothing_is_left(tmp_path, name, text, why):
    (tmp_path / name).write_text(text, encoding="utf-8")
    refused = train(tmp_path / name, tmp_path / "run")
    assert refused.status == 2
    assert why in refused.err
    assert not (tmp_path / "run").exists()


def test_more_that_is_refused(tmp_path):
    file = write_labelled(tmp_path / "train.tsv", 40)
    other = tmp_path / "valid.tsv"
    other.write_text("sea\tship sail\nland\ttree\n", encoding="utf-8")
    for flags, why in (
        (("--valid-corpus", str(other)), "line 2 of"),
        (("--valid-corpus", str(file)), "what is validated on must not be learned from"),
        (("--text-column", "review", "--valid-corpus", str(other)), "'review'"),
        (("--training.word-dropout", "1.5"), "word_dropout must be at least 0 and below 1"),
        (("--model.pooling", "last"), "pooling"),
        (("--preset", "small"), "the task classification has no presets; got --preset small"),
    ):
        refused = train(file, tmp_path / "run", *flags)
        assert refused.status == 2, flags
        assert why in refused.err
    refused = command("train", "--task", "classification", "--out", str(tmp_path / "run"))
    assert "labels are learned from texts; none is named. Give --corpus F." in refused.err


def test_what_is_in_both_files_is_said(tmp_path):
    file, other = tmp_path / "train.tsv", write_labelled(tmp_path / "valid.tsv", 20)
    write_labelled(file, 40)
    said = train(file, tmp_path / "run", "--valid-corpus", str(other), model_type="bag").err
    assert "WARNING: 20 texts to validate on are among those to learn from" in said


def test_of_texts_that_all_come_twice_none_is_held_out_beside_its_like(tmp_path):
    file = tmp_path / "train.tsv"
    rows = labelled(40) * 2
    file.write_text("".join(f"{label}\t{text}\n" for label, text in rows), encoding="utf-8")
    said = train(file, tmp_path / "run", "--seed=1", model_type="bag").err
    assert "8 of 80 texts are held out" in said
    assert "to learn from as well" not in said


def test_what_a_parent_has_learned_of_what_is_validated_on_is_said(run, tmp_path):
    same, new = (write_labelled(tmp_path / f"{n}.tsv", 200, seed=n) for n in (1, 2))
    short = ("--training.max-steps=1", "--training.average=1", f"--init-from={run}")
    said = f"WARNING: {run} has learned from {same}, and so, maybe, what this run is validated on"
    for name, corpora, flags in (
        ("beside", (same, new), ()),
        ("other", (same,), ("--seed=7",)),
        ("named", (new,), ("--valid-corpus", str(same))),
    ):
        corpus = "--corpus", *map(str, corpora), "--out", str(tmp_path / name)
        done = command("train", "--task", "classification", *corpus, *FLAGS, *short, *flags)
        assert done.status == 0, done.err
        assert said in done.err
    for name, corpus, flags in (("new", new, ()), ("own", same, ("--valid-corpus", str(new)))):
        assert "has learned from" not in train(corpus, tmp_path / name, *short, *flags).err
    before = RunFolder(run).settings()["data"]["corpus"]
    assert "has learned from" not in train(Path(*before), tmp_path / "again", *short).err
    line = (*short[:-1], f"--init-from={tmp_path / 'new'}")
    assert said in train(same, tmp_path / "line", *line, "--seed=7").err
    assert "has learned from" not in train(Path(*before), tmp_path / "back", *line).err


# -- use --------------------------------------------------------------------------------------


def test_a_text_a_file_and_lines_get_their_label_and_all_probabilities(run, tmp_path, monkeypatch):
    [line] = command("predict", str(run), "ship and sail").out.splitlines()
    label, each, text = line.split("\t")
    assert (label, text) == ("sea", "ship and sail")
    assert each.split()[0] == "sea"
    assert sum(map(float, each.split()[1::2])) == pytest.approx(1, abs=1e-3)
    file = tmp_path / "lines.txt"
    file.write_text("ship and sail\n\nthe apple\n", encoding="utf-8")
    lines = command("predict", str(run), str(file), "--top", "1").out.split("\n")
    assert [one.partition("\t")[0] for one in lines] == ["sea", "", "fruit", ""]
    told = json.loads(command("predict", str(run), str(file), "--json").out)["predictions"]
    assert [one["label"] for one in told] == ["sea", None, "fruit"]
    assert len(told[0]["labels"]) == 4
    assert sum(one["prob"] for one in told[0]["labels"]) == pytest.approx(1)


@pytest.mark.parametrize("name", ["new.txt", "new.csv", "no/new.tsv.gz"])
def test_the_name_of_a_file_that_is_not_there_is_no_text(run, name):
    refused = command("predict", str(run), name)
    assert (refused.status, refused.out) == (2, "")
    assert f"no such file: {name}" in refused.err
    assert command("predict", str(run), f"ship and {name}").status == 0


@pytest.mark.usefixtures("without_a_gpu")
@pytest.mark.parametrize("labelled_too", [True, False])
@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.csv.gz"])
def test_of_files_with_columns_the_texts_alone_are_read(run, tmp_path, name, labelled_too):
    texts = ['the "apple", a plum', "ship\nand sail", ""]
    rows = [{"text": text} | ({"label": "city"} if labelled_too else {}) for text in texts]
    buffer = io.StringIO()
    if ".csv" in name:
        table = csv.DictWriter(buffer, [*rows[0]])
        table.writeheader()
        table.writerows(rows)
    else:
        buffer.writelines(f"{json.dumps(row)}\n" for row in rows)
    content = buffer.getvalue().encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    told = json.loads(command("predict", str(run), str(tmp_path / name), "--json").out)
    alone = [json.loads(command("predict", str(run), text, "--json").out) for text in texts]
    assert [one["text"] for one in told["predictions"]] == texts
    for found, expected in zip(told["predictions"], alone, strict=True):
        assert found["label"] == expected["predictions"][0]["label"]
        assert [one["prob"] for one in found["labels"]] == pytest.approx(
            [one["prob"] for one in expected["predictions"][0]["labels"]], abs=1e-5
        )
    lines = command("predict", str(run), str(tmp_path / name), "--top", "1").out.splitlines()
    assert [line.split("\t")[-1] for line in lines] == ['the "apple", a plum', "ship and sail", ""]


def test_columns_are_called_as_in_what_the_run_learned_from(run, tmp_path):
    (tmp_path / "t.csv").write_text("review,stars\nthe apple,5\n", encoding="utf-8")
    refused = command("predict", str(run), str(tmp_path / "t.csv"))
    assert (refused.status, refused.out) == (2, "")
    assert "begins with review, stars. Mend it, or call its texts 'text'" in refused.err
    (tmp_path / "t.jsonl").write_text('{"review": "the apple"}\n', encoding="utf-8")
    refused = command("predict", str(run), str(tmp_path / "t.jsonl"))
    assert (refused.status, refused.out) == (2, "")
    assert "an object with 'text' (a string); line 1 of" in refused.err
    rows = "".join(f"{label},{text}\n" for label, text in labelled(40))
    (tmp_path / "named.csv").write_text(f"stars,review\n{rows}", encoding="utf-8")
    named = ("--text-column=review", "--label-column=stars")
    trained = train(tmp_path / "named.csv", tmp_path / "run", *named, model_type="bag")
    assert trained.status == 0, trained.err
    found = command("predict", str(tmp_path / "run"), str(tmp_path / "t.csv"), "--top", "1").out
    assert found.rstrip("\n").split("\t")[-1] == "the apple"


def test_products_are_of_float32_alone(run):
    refused = command("predict", str(run), "ship", "--runtime.precision", "bf16")
    assert (refused.status, refused.out) == (2, "")
    assert "bf16" in refused.err


def test_a_label_in_front_of_a_text_is_not_read_as_a_word_of_it(run, tmp_path):
    refused = command("predict", str(run), str(write_labelled(tmp_path / "test.tsv", 4)))
    assert (refused.status, refused.out) == (2, "")
    assert "begins with a label and a tab. Score such a file with: headway evaluate" in refused.err
    assert command("predict", str(run), "ship\tand sail").status == 0


def test_evaluation_equals_counting_by_hand(run, tmp_path):
    file = write_labelled(tmp_path / "test.tsv", 40, seed=8)
    with file.open("a", encoding="utf-8") as more:
        more.write("sea\tapple pear\nsea\tplum plum\n")  # they are not
    told = json.loads(command("evaluate", str(run), "--corpus", str(file), "--json").out)
    rows = [line.split("\t") for line in file.read_text("utf-8").splitlines()]
    said = command("predict", str(run), *[str(write_texts(tmp_path, rows))]).out.splitlines()
    there, found = [label for label, _ in rows], [line.partition("\t")[0] for line in said]
    assert told["accuracy"]["score"] == pytest.approx(100 * accuracy_score(there, found))
    assert told["f1"]["score"] == pytest.approx(100 * f1_score(there, found, average="macro"))
    assert told["accuracy"]["low"] < told["accuracy"]["score"] < told["accuracy"]["high"]
    printed = command("evaluate", str(run), "--corpus", str(file)).out
    assert "Wilson" in printed
    assert "is (row), said to be (column)" in printed
    assert "expected calibration error" in printed


def write_texts(folder: Path, rows: list[list[str]]) -> Path:
    file = folder / "texts.txt"
    file.write_text("".join(f"{text}\n" for _, text in rows), encoding="utf-8")
    return file


def test_evaluation_refuses_what_it_cannot_score(run, tmp_path):
    unknown = tmp_path / "unknown.tsv"
    unknown.write_text("sea\tship\nland\ttree\n", encoding="utf-8")
    both, none = tmp_path / "both.tsv", tmp_path / "none.jsonl"
    both.write_text("sea\tship\nsea|city\tship street\n", encoding="utf-8")
    none.write_text('{"label": [], "text": "ship"}\n', encoding="utf-8")
    for arguments, why in (
        ((str(run), "--corpus", str(both)), "both.tsv has sea, city. Leave that line out"),
        ((str(run), "--corpus", str(none)), "none.jsonl has none. Leave that line out"),
        ((str(run), "--corpus", str(unknown)), "has 'land', which is none of city, fruit"),
        ((str(run),), "--corpus is what runs that label are scored on; got none"),
        ((str(run), "--corpus", str(unknown), "--lowercase"), "got --lowercase as well"),
        (
            (str(run), str(run), "--corpus", str(unknown)),
            "one such run is evaluated at a time",
        ),
    ):
        refused = command("evaluate", *arguments)
        assert refused.status == 2, arguments
        assert why in refused.err


def test_several_labels_are_each_there_or_not(several, tmp_path):
    told = json.loads(command("predict", str(several), "ship sail apple plum", "--json").out)
    assert told["predictions"][0]["label"] == ["fruit", "sea"]
    assert command("predict", str(several), "ship sail wave tide").out.startswith("sea\tsea ")
    file = tmp_path / "test.tsv"
    file.write_text("sea|fruit\tship sail apple plum\nfruit\tapple pear\n", encoding="utf-8")
    scores = json.loads(command("evaluate", str(several), "--corpus", str(file), "--json").out)
    assert scores["confusion"] is None
    assert scores["micro_f1"]["score"] == scores["accuracy"]["score"] == 100


# -- laws -------------------------------------------------------------------------------------


def test_batch_mates_and_the_order_of_texts_do_not_matter(run):
    classifier = TextClassifier.load(run, device="cpu")
    texts = [text for _, text in labelled(30, seed=5)] + ["ship", "the violin"]
    whole = classifier.probabilities(texts)
    alone = np.concatenate([classifier.probabilities([text]) for text in texts])
    np.testing.assert_allclose(whole, alone, atol=1e-6)
    np.testing.assert_allclose(classifier.probabilities(texts[::-1]), whole[::-1], atol=1e-6)


def test_the_order_in_which_labels_are_written_does_not_matter(tmp_path):
    from headway.classification.reading import read_labelled

    vocabulary = LabelledVocabulary(Words(["x"]), ("a", "b", "c"), {"several": True})
    (tmp_path / "f.tsv").write_text("a|c\tx\nc|a\tx\n", encoding="utf-8")
    one, other = read_labelled([tmp_path / "f.tsv"], ClassifiedFiles())
    assert target_of(vocabulary, one.labels).tolist() == [1, 0, 1]
    assert target_of(vocabulary, other.labels).tolist() == [1, 0, 1]


def test_labels_in_another_order_have_the_same_loss():
    logits, targets = torch.randn(5, 4), torch.tensor([0, 3, 2, 1, 0])
    order = torch.tensor([2, 0, 3, 1])
    places = torch.argsort(order)
    one = LabelCriterion(SpecialIds(), several=False)
    found = one.nats(logits[:, order], places[targets], 0.1)
    torch.testing.assert_close(found, one.nats(logits, targets, 0.1))
    hot = torch.nn.functional.one_hot(targets, 4).float()
    both = LabelCriterion(SpecialIds(), several=True)
    torch.testing.assert_close(both.nats(logits[:, order], hot[:, order]), both.nats(logits, hot))


def test_words_are_hidden_while_a_model_learns_and_markers_never():
    examples = [Example(np.array([2, *([9] * 500), 3]), 0), Example(np.array([2, 9, 3]), 1)]
    one = LabelCriterion(SpecialIds(), several=False, hidden=0.3)
    ids, _ = one.tensors(examples, np.random.default_rng(1))
    assert {*ids.unique().tolist()} == {0, 1, 2, 3, 9}
    assert ids[0, 0] == 2
    assert ids[0, -1] == 3
    assert 100 < int((ids == 1).sum()) < 200
    again, _ = one.tensors(examples, np.random.default_rng(1))
    assert (again == ids).all()
    plain, _ = one.tensors(examples)
    assert not (plain == 1).any()


def test_probabilities_sum_to_one_whatever_the_length(run):
    _, vocabulary, model, _ = TextClassifier.load(run, device="cpu").opened
    rows = [Example(np.array(vocabulary.marked([5] * n)), 0) for n in (0, 1, 300)]
    assert probabilities(model, vocabulary, rows).sum(1) == pytest.approx(np.ones(3))


# -- vectors from elsewhere -------------------------------------------------------------------


def test_a_classifier_begins_with_word_vectors_of_any_size(tmp_path):
    words = [word for topic in TOPICS.values() for word in topic][:-1]
    random = np.random.default_rng(1)
    rows = {word: random.normal(size=12) for word in words}
    lines = [f"{word} {' '.join(f'{x:.4f}' for x in row)}" for word, row in rows.items()]
    vectors = tmp_path / "vectors.txt"
    vectors.write_text(f"{len(rows)} 12\n" + "\n".join(lines) + "\n", encoding="utf-8")
    file, run = write_labelled(tmp_path / "train.tsv", 80), tmp_path / "run"
    names = ("--task", "classification", "--corpus", str(file), "--out", str(run))
    small = ("--model.type=lstm", "--model.d-model=8", "--freeze=embedding")
    steps = ("--training.max-steps=4", "--training.checkpoint-every=2", "--runtime.threads=1")
    done = command("train", *names, *small, *steps, "--init-embedding", str(vectors))
    assert done.status == 0, done.err
    assert "31 of 36 tokens have a vector" in done.err
    opened = TextClassifier.load(run, device="cpu").opened
    embedding = opened.model.encoder.embedding.weight
    assert embedding.shape[1] == 12
    [one] = opened.vocabulary.tokens.encode("apple")
    cosine = np.dot(embedding[one].detach().numpy(), rows["apple"])
    cosine /= np.linalg.norm(embedding[one].detach()) * np.linalg.norm(rows["apple"])
    assert cosine == pytest.approx(1, abs=1e-4)
