"""The page of a run that labels: what it says, which words decided, what breaks; hostile text."""

import json
import re
from html.parser import HTMLParser

import pytest
from everyday_run import command
from labelled_run import train_labelled, write_labelled

from headway.classification.predicting import TextClassifier
from headway.core.run_folder import RunFolder
from headway.inspection.opened_labellers import classifier

pytestmark = pytest.mark.usefixtures("torch_settings_restored")
HOSTILE = "<script>alert(1)</script> & \"quotes' </title> ship"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("topics")
    return write_labelled(folder / "train.tsv", 400, 1), write_labelled(folder / "valid.tsv", 60, 2)


@pytest.fixture(scope="module")
def run(files, tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "topics"
    train_labelled(out, *files)
    return out


@pytest.fixture(scope="module")
def told(run):
    done = command("inspect", str(run), "the ship and a wave", "--off", "encoder.0", "--json")
    assert done.status == 0, done.err
    return json.loads(done.out)


class Texts(HTMLParser):
    """The tags of a page, and its texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.texts.append(data)


def test_it_says_what_predict_says(run, told):
    predicted = json.loads(command("predict", str(run), "the ship and a wave", "--json").out)
    (text,) = told["texts"]
    labels = {one["label"]: one["prob"] for one in predicted["predictions"][0]["labels"]}
    assert {one["label"]: one["prob"] for one in text["labels"]} == pytest.approx(labels, abs=1e-5)
    assert text["words"] == ["the", "ship", "and", "a", "wave"]
    assert text["labels"][0]["label"] == "sea"


def test_it_names_the_words_of_the_topic_and_says_what_to_believe(told):
    (text,) = told["texts"]
    scores = text["evidence"]["gradient times input"]
    assert {text["words"][i] for i in sorted(range(5), key=lambda i: -scores[i])[:2]} == {
        "ship", "wave"
    }  # fmt: skip
    assert {"ship", "wave"} < {*text["removed"]["gradient times input"]["words"]}
    assert "gradient times input" in told["deletion"]["believed"]
    assert told["deletion"]["n"] == 60
    assert "Measured on valid.tsv." in told["deletion"]["told"]


def test_attention_is_that_of_every_layer_and_head_between_words(told):
    attention = told["texts"][0]["attention"]
    assert len(attention) == 2
    assert all(len(heads) == 2 and len(heads[0]) == len(heads[0][0]) == 5 for heads in attention)


def test_a_part_that_is_off_is_in_both_places_the_same(told):
    (text,) = told["texts"]
    parts = {one["part"]: one["labels"] for one in text["parts"]}
    assert text["without"] == parts["encoder.0"]
    assert {"encoder.1.self.head.1", "encoder.1.feed_forward", "encoder.1"} < parts.keys()
    probs = [next(o["prob"] for o in one["labels"] if o["label"] == "sea") for one in text["parts"]]
    assert probs == sorted(probs), "what breaks most stands first"


def test_a_hostile_text_stays_text(run, tmp_path):
    page = tmp_path / "page.html"
    assert command("inspect", str(run), HOSTILE, "--out", str(page)).status == 0
    html = page.read_text(encoding="utf-8")
    read = Texts(html)
    assert "script" not in read.tags
    assert any("<script>" in "".join(read.texts[i : i + 3]) for i in range(len(read.texts)))
    assert "default-src 'none'" in html
    assert not re.search(r"""(?:src|href)\s*=""", html)


def test_chinese_is_read_as_predict_reads_it_though_jieba_cuts_what_it_cut_anew(tmp_path):
    text, run = "没见过的句子上的分数", tmp_path / "run"
    rows = [f"{('短', '长')[n % 2]}\t{text}{n}\n" for n in range(40)]
    (tmp_path / "a.tsv").write_text("".join(rows), encoding="utf-8")
    train_labelled(
        run, tmp_path / "a.tsv", None, "--training.max-steps=2", "--text.segmenter=jieba"
    )
    vocabulary = TextClassifier.load(run).opened.vocabulary
    assert vocabulary.cut(text) != vocabulary.cut(vocabulary.cut(text))
    (read,) = classifier(run).read(text)
    assert [read.ids] == vocabulary.encode_batch([text])
    assert vocabulary.pieces(read.ids)[1:-1] == read.words == vocabulary.cut(text).split()


def test_where_all_own_texts_are_long_the_shortest_are_shown_and_missing_ones_are_told(tmp_path):
    rows = [f"{'ab'[n % 2]}\t{'ship wave ' * 40}{'x' * (40 - n)}\n" for n in range(40)]
    file, run = tmp_path / "long.tsv", tmp_path / "run"
    file.write_text("".join(rows), encoding="utf-8")
    train_labelled(run, file, None, "--training.max-steps=2")
    texts = json.loads(command("inspect", str(run), "--json").out)["texts"]
    shown = [len(" ".join(one["words"])) for one in texts]
    own = classifier(run).own_texts()[1]
    assert shown == sorted(map(len, own))[:4]
    file.write_text("a\tother", encoding="utf-8")
    done = command("inspect", str(run), "--json")
    assert done.status == 2
    assert f"There is nothing to look at: {file} has changed since. Say what to look" in done.err


def test_without_a_text_it_takes_some_of_its_own(run, files, tmp_path):
    page = tmp_path / "page.html"
    assert command("inspect", str(run), "--out", str(page)).status == 0
    first = files[1].read_text(encoding="utf-8").partition("\n")[0].partition("\t")[2]
    shown = Texts(page.read_text(encoding="utf-8")).texts
    words = [text for text in shown if text in first.split()]
    assert words[: len(first.split())] == first.split()


def test_what_means_nothing_is_refused(run, tmp_path):
    for flags, wanted in (
        (("a text", "--target", "x"), "--target is for runs that write texts"),
        (("a text", "--live"), "--live is for runs that write texts"),
        (("a text", "--off", "encoder.7"), "a part is one that the model has"),
        (("  ",), "There is nothing to look at: the text is empty"),
        (("a", "b"), "one text is looked at"),
    ):
        done = command("inspect", str(run), *flags, *(() if "--live" in flags else ("--json",)))
        assert done.status == 2, flags
        assert wanted in done.err


def test_texts_that_have_changed_are_not_read(run, files, tmp_path):
    (tmp_path / "copy").mkdir()
    for file in run.iterdir():
        if file.is_file() and file.name != "data.json":
            (tmp_path / "copy" / file.name).write_bytes(file.read_bytes())
    record = RunFolder(run).data.read_text(encoding="utf-8").replace('"sha256"', '"other"')
    (tmp_path / "copy" / "data.json").write_text(record, encoding="utf-8")
    place, own = classifier(tmp_path / "copy").own_texts()
    assert own == []
    assert place
