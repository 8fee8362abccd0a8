"""`headway compare`, through the command line, on trained runs."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from everyday_run import command, unfinish, write_pairs
from lxml import html
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from headway.core.config import merge
from headway.core.errors import DataError
from headway.core.run_folder import RunFolder
from headway.demo import generate
from headway.study import comparison_page
from headway.study.compared_runs import refuse_changed
from headway.translator import Translator

pytestmark = pytest.mark.usefixtures("torch_settings_restored")


@pytest.fixture(scope="module", autouse=True)
def few_alone() -> Iterator[None]:
    """How long single sentences take is not what is tested."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("headway.study.measuring.MOST_ALONE", 1)
        yield


@pytest.fixture(scope="module")
def runs(everyday_run: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The shared run, and the same with the weights of the first checkpoint that it keeps."""
    early = tmp_path_factory.mktemp("runs") / "early"
    shutil.copytree(everyday_run, early)
    kept = (early / "checkpoints").glob("step-*/weights.safetensors")
    first = min(kept, key=lambda file: int(file.parent.name.removeprefix("step-")))
    shutil.copy(first, early / "model.safetensors")
    return str(everyday_run), str(early)


@pytest.fixture(scope="module")
def new_texts(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Ten pairs, one of them longer than any that was trained on."""
    pairs = generate(10, seed=9)
    pairs[5] = (" ".join(["the old cat"] * 12), "老猫" * 12)
    pairs[7] = ("<b> & co", "<b> 和公司")
    return tuple(map(str, write_pairs(tmp_path_factory.mktemp("test"), "test", pairs)))


@pytest.fixture(scope="module")
def two_pairs(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Flags that name two short pairs."""
    pairs = [("I have a cat .", "我有一只猫。"), ("A dog runs .", "狗在跑。")]
    source, reference = write_pairs(tmp_path_factory.mktemp("two"), "two", pairs)
    return "--source", str(source), "--reference", str(reference)


@pytest.fixture(scope="module")
def compared(runs, new_texts, tmp_path_factory):
    """What the command prints, and its page."""
    page = tmp_path_factory.mktemp("page") / "compared.html"
    files = ("--source", new_texts[0], "--reference", new_texts[1])
    done = command("compare", *runs, *files, "--json", "--page", str(page))
    assert done.status == 0, done.err
    return json.loads(done.out), page


def lines_of(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines()


def test_the_scores_are_those_that_sacrebleu_gives_to_the_translations(compared, runs, new_texts):
    found, _ = compared
    sources, references = map(lines_of, new_texts)
    for run, path in zip(found["runs"], runs, strict=True):
        outputs = Translator.load(path, device="cpu").translate(sources)
        bleu = BLEU(tokenize="zh").corpus_score(outputs, [references]).score
        assert run["figures"]["BLEU"]["value"] == pytest.approx(bleu)
        chrf = CHRF().corpus_score(outputs, [references]).score
        assert run["figures"]["chrF"]["value"] == pytest.approx(chrf)
        shown = [
            out["text"] for one in found["side_by_side"] for out in one["outputs"]
            if out["run"] == run["name"]
        ]  # fmt: skip
        assert len(shown) == 10
        assert set(shown) <= set(outputs)


def test_sizes_and_counts_are_those_of_the_run(compared, runs, new_texts):
    found, _ = compared
    translator = Translator.load(runs[0], device="cpu")
    model = translator.model
    first, second = found["runs"]
    shared = 700 * 32  # one matrix for source, target and output
    assert first["parameters"] == sum(p.numel() for p in model.parameters())
    assert first["parameters_without_embeddings"] == first["parameters"] - shared
    described = json.loads(command("parameters", runs[0], "--json").out)
    assert described["parameters_without_embeddings"] == first["parameters_without_embeddings"]
    assert first["bytes"] >= 4 * first["parameters"]
    last = json.loads(lines_of(str(RunFolder(Path(runs[0])).metrics))[-1])
    for run in (first, second):
        assert run["updates"] == last["step"] == 12
        assert run["time_s"] == last["time_s"]
        assert run["counts"]["target_tokens"] == last["target_tokens"]
        assert [point["updates"] for point in run["curves"]["bleu"]] == [4, 8, 12]
        assert run["curves"]["bleu"][-1]["tokens"] == last["source_tokens"] + last["target_tokens"]
        assert run["latency_s"] > 0
        assert run["examples_per_s"] > 0


def test_the_page_has_the_numbers_of_the_json_and_loads_nothing(compared):
    found, path = compared
    text = path.read_text(encoding="utf-8")
    tree = html.fromstring(text.encode())
    assert tree.xpath("//script | //link | //img | //*[@src] | //*[@href]") == []
    cells = {
        row.xpath("string(th[@scope='row'])").strip(): row.xpath("td/text()")
        for row in tree.xpath("//div[@class='wide']//tbody/tr")
    }
    for name in ("BLEU", "chrF"):
        for cell, run in zip(cells[name], found["runs"], strict=True):
            figure = run["figures"][name]
            shown = [figure[key] for key in ("value", "low", "high")]
            numbers = [float(number.strip("[],")) for number in cell.split()]
            assert numbers == pytest.approx(shown[: len(numbers)], abs=0.005)
    assert cells["parameters"] == [f"{run['parameters']:,}" for run in found["runs"]]
    for table in tree.xpath("//div[@class='wide']/table"):
        assert table.xpath("caption")
        assert table.xpath("thead/tr/th/@scope") == ["col"] * len(table.xpath("thead/tr/th"))
    pictures = tree.xpath("//svg")
    assert len(pictures) == 9
    assert all(picture.get("aria-label") for picture in pictures)
    sides = tree.xpath("//table[@class='side']")
    assert len(sides) == 10
    for table, example in zip(sides, found["side_by_side"], strict=True):
        given, wanted, *outputs = (cell.text_content() for cell in table.xpath(".//td"))
        assert (given, wanted) == (example["given"], example["wanted"])
        assert outputs == [out["text"] for out in example["outputs"]]


def test_a_page_for_others_has_none_of_the_texts(runs, two_pairs, tmp_path, monkeypatch):
    page, texts = tmp_path / "for-others.html", lines_of(two_pairs[1]) + lines_of(two_pairs[3])
    flags = "--json", "--page", str(page)
    for given, n_shown in (("0", 0), ("1", 1)):
        done = command("compare", *runs, *two_pairs, *flags, "--texts", given)
        assert done.status == 0, done.err
        shown = page.read_text(encoding="utf-8")
        assert sum(text in shown for text in texts) == 2 * n_shown
        assert len(json.loads(done.out)["side_by_side"]) == n_shown
        monkeypatch.setattr(comparison_page, "_curves", lambda found: [])  # once is enough


def test_people_get_tables_rankings_and_notes(runs, two_pairs):
    done = command("compare", *runs, *two_pairs)
    assert done.status == 0, done.err
    for words in (
        "by BLEU: ",
        "Side by side",
        "parameters",
    ):
        assert words in done.out


def test_what_was_measured_is_told_also_where_the_page_has_no_room(runs, two_pairs, monkeypatch):
    monkeypatch.setattr(comparison_page, "_curves", lambda found: [])  # they take long to draw
    done = command("compare", *runs, *two_pairs, "--page", "/dev/full")
    assert done.status == 2
    assert "/dev/full is to be written, but its disk is full" in done.err
    assert "BLEU" in done.out


def test_without_files_they_are_measured_on_the_validation_sentences_of_both(runs):
    done = command("compare", *runs, "--json")
    assert done.status == 0, done.err
    found = json.loads(done.out)
    assert found["test"]["examples"] == 10
    assert {r["by"]: bool(r["places"]) for r in found["rankings"]} == {"BLEU": True, "chrF": True}
    card = (Path(runs[0]) / "README.md").read_text(encoding="utf-8")
    scores = [run["figures"]["BLEU"]["value"] for run in found["runs"]]
    assert f"| BLEU | {scores[0]:.2f} |" in card


@pytest.fixture
def other_language(runs, tmp_path):
    """A run that says that it translates into another language."""
    other = tmp_path / "other"
    shutil.copytree(runs[0], other)
    folder = RunFolder(other)
    sections = folder.settings()
    sections["data"]["target_language"] = "de"
    folder.write_settings(sections)
    return str(other)


def test_an_unfair_ranking_is_refused_and_the_figures_are_shown(runs, other_language, two_pairs):
    done = command("compare", runs[0], other_language, *two_pairs, "--json")
    assert done.status == 0, done.err
    found = json.loads(done.out)
    for ranking in found["rankings"]:
        assert ranking["places"] == []
        [reason] = ranking["refused"]
        assert reason == "the target language differs: zh (everyday); de (other)"
    assert all("BLEU" in run["figures"] for run in found["runs"])


def test_that_runs_search_otherwise_than_one_another_is_said(runs, two_pairs, tmp_path):
    greedy = tmp_path / "greedy"
    shutil.copytree(runs[0], greedy)
    folder = RunFolder(greedy)
    sections = folder.settings()
    sections["decoding"]["method"] = "greedy"
    folder.write_settings(sections)
    done = command("compare", runs[0], str(greedy), *two_pairs, "--json")
    assert done.status == 0, done.err
    [said] = [note for note in json.loads(done.out)["notes"] if "search" in note]
    assert "the search differs: beam " in said
    assert "; greedy, max extra length 4 (greedy)" in said


def test_a_run_that_is_not_finished_is_compared_and_said(runs, two_pairs, tmp_path):
    stopped = tmp_path / "stopped"
    shutil.copytree(runs[0], stopped)
    unfinish(stopped)
    done = command("compare", runs[0], str(stopped), *two_pairs)
    assert done.status == 0, done.err
    assert "stopped is not finished" in done.out


def test_mistakes_are_told_with_what_to_do(runs, new_texts, two_pairs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where no folder is called demo
    first, second = runs
    before = Path(two_pairs[-1]).read_bytes()
    for arguments, words in (
        ((first,), "two runs or more are compared; got 1"),
        ((first, f"{first}/../{Path(first).name}"), "twice"),
        ((first, str(tmp_path)), "holds no config.toml"),
        (("demo", first), "demo names no texts"),
        ((*runs, *two_pairs, "--page", two_pairs[-1]), "--page does not replace what is read"),
        ((first, second, "--source", new_texts[0]), "--source F --reference F"),
        ((first, second, "--corpus", new_texts[0]), "--source F --reference F"),
        ((first, second, "--texts", "-1"), "--texts must not be negative; got -1. 0 shows none."),
    ):
        done = command("compare", *arguments)
        assert done.status == 2
        assert words in done.err
        assert done.out == ""
    assert Path(two_pairs[-1]).read_bytes() == before


def test_a_tag_stands_before_every_text(runs, two_pairs, tmp_path):
    tagged = []
    for run in runs:
        copy = tmp_path / Path(run).name
        shutil.copytree(run, copy, ignore=shutil.ignore_patterns("checkpoints"))
        folder = RunFolder(copy)
        folder.write_settings(merge(folder.settings(), {"data": {"tags": ["", "mine"]}}))
        tagged.append(str(copy))
    done = command("compare", *tagged, *two_pairs, "--tag", "mine", "--json")
    assert done.status == 0, done.err
    sources = lines_of(two_pairs[1])
    expected = [Translator.load(run).translate(sources, tag="mine") for run in tagged]
    rows = json.loads(done.out)["side_by_side"]
    shown = {row["given"]: [one["text"] for one in row["outputs"]] for row in rows}
    assert shown == dict(zip(sources, map(list, zip(*expected, strict=True)), strict=True))
    mixed = command("compare", tagged[0], runs[1], *two_pairs, "--tag", "mine", "--json")
    assert mixed.status == 0, mixed.err
    rows = json.loads(mixed.out)["side_by_side"]
    plain = Translator.load(runs[1]).translate(sources)
    expected = dict(zip(sources, map(list, zip(expected[0], plain, strict=True)), strict=True))
    assert {row["given"]: [one["text"] for one in row["outputs"]] for row in rows} == expected
    for arguments, words in (
        ((*runs, *two_pairs, "--tag", "mine"), "none of these runs reads tags; got --tag mine."),
        ((*tagged, "--tag", "mine"), "Give --source F --reference F"),
        ((*tagged, *two_pairs, "--tag", "yours"), "Its tags: mine"),
    ):
        done = command("compare", *arguments)
        assert done.status == 2
        assert words in done.err


def test_changed_validation_text_is_refused(runs):
    sums = RunFolder(Path(runs[0])).record()["sha256"]
    refuse_changed(Path(runs[0]), sums)
    file = next(iter(sums))
    with pytest.raises(DataError, match="has changed since"):
        refuse_changed(Path(runs[0]), {file: "0" * 64})
