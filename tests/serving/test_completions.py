"""`/v1/completions`: its numbers are those of `headway score`, its texts those of `generate`."""

import json
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from everyday_run import command
from starlette.testclient import TestClient
from text_run import FLAGS, SMALL, train, write_corpus

from headway.core.errors import ConfigError
from headway.serving.app import application
from headway.serving.language_models import LOWEST, LanguageModels
from headway.serving.runs import ServedRuns
from headway.serving.service import Service
from headway.translator import Translator

pytestmark = pytest.mark.usefixtures("torch_settings_restored")
NAMES = ("transformer", "lstm", "nnlm", "ngram", "subwords")
LINE = "Who listened to music last Friday ?"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished run of each kind."""
    folder = tmp_path_factory.mktemp("completions")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADWAY_CACHE", str(folder / "cache"))
        corpus = write_corpus(folder / "corpus.txt")
        for name in ("transformer", "lstm", "nnlm"):
            assert train(name, corpus, folder / name).status == 0
        subwords = ("--text.unit=subwords", "--text.vocabulary-size=400", "--text.min-count=0")
        shape = (*SMALL["transformer"], *FLAGS, *subwords)
        names = ("--task", "language-model", "--corpus", str(corpus))
        assert command("train", *names, "--out", str(folder / "subwords"), *shape).status == 0
        counted = ("--out", str(folder / "ngram"), "--model.type=ngram")
        assert command("train", *names, *counted).status == 0
    return folder


@pytest.fixture(scope="module")
def models(runs: Path) -> LanguageModels:
    return LanguageModels([runs / name for name in NAMES])


@pytest.fixture
def client(models: LanguageModels) -> Iterator[TestClient]:
    service = Service(ServedRuns([], Translator.load))
    service.language_models = models
    with TestClient(application(service).app, base_url="http://localhost") as found:
        yield found


def complete(client: TestClient, **body: object) -> list[dict]:
    answer = client.post("/v1/completions", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["choices"]


@pytest.mark.parametrize("name", NAMES)
def test_an_echoed_prompt_costs_what_score_says_and_its_first_token_nothing(client, models, name):
    [choice] = complete(client, model=name, prompt=LINE, echo=True, logprobs=1, max_tokens=0)
    told, scored = choice["logprobs"], models.named(name).model.score(LINE)
    expected = [log_prob for _, log_prob in scored.tokens[:-1]]  # behind the last is </s>
    assert told["token_logprobs"][0] is None
    assert told["top_logprobs"][0] is None
    assert told["token_logprobs"][1:] == pytest.approx(expected[1:], abs=1e-4)
    assert choice["text"] == LINE
    assert choice["finish_reason"] == "length"
    assert "".join(told["tokens"]).replace("<unk>", "listened") == LINE


@pytest.mark.parametrize("name", NAMES)
def test_behind_a_begin_marker_every_token_of_the_prompt_is_scored(client, models, name):
    model = models.named(name).model
    ids = [model.vocabulary.special.decoder_begin, *model.ids(LINE)]
    [choice] = complete(client, model=name, prompt=ids, echo=True, logprobs=0, max_tokens=0)
    told = choice["logprobs"]["token_logprobs"]
    assert told[0] is None
    assert sum(told[1:]) == pytest.approx(
        sum(log_prob for _, log_prob in model.score(LINE).tokens[:-1]), abs=1e-3
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_text_longer_than_the_window_costs_what_the_scorer_says(models, name):
    served = models.named(name)
    lines = (served.model.settings.data.corpus[0]).read_text(encoding="utf-8").split("\n")[:10]
    ids = served.model.ids("\n".join(lines))
    assert len(ids) > 3 * 16
    found = [place.log_prob for place in served.places(ids, 0)]
    ids = np.array([*ids, served.special.end])
    assert found == pytest.approx(served.model.scorer.stream(ids, lanes=1)[:-1], abs=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_the_likeliest_tokens_are_those_of_predict(client, models, name):
    [choice] = complete(
        client, model=name, prompt=LINE, echo=True, logprobs=5, max_tokens=1, temperature=0
    )
    told = choice["logprobs"]
    likeliest = models.named(name).model.next(LINE, 5)
    top = told["top_logprobs"][-1]
    best = sorted(top.values(), reverse=True)[:5]
    assert best == pytest.approx([math.log(one.prob) for one in likeliest], abs=1e-4)
    for log_prob, token, others in list(
        zip(told["token_logprobs"], told["tokens"], told["top_logprobs"], strict=True)
    )[1:]:
        assert others[token] == log_prob  # lm-eval compares them
        assert max(others.values()) >= log_prob
        assert len(others) in (5, 6)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("how", [{"temperature": 0}, {"seed": 7}, {"seed": 3, "top_p": 0.5}])
def test_what_is_written_is_what_generate_writes(client, models, name, how):
    [choice] = complete(client, model=name, prompt="The dog", max_tokens=12, **how)
    as_here = {"top_k": 1} if how.get("temperature") == 0 else how
    told = "".join(models.named(name).model.write("The dog", max_tokens=12, **as_here))
    assert choice["text"] == told


@pytest.mark.parametrize("name", NAMES)
def test_offsets_say_where_each_token_stands(client, models, name):
    prompt = "Does he use pens ?\nThe  cat é 語"
    [choice] = complete(
        client, model=name, prompt=prompt, echo=True, logprobs=0, max_tokens=8, seed=2
    )
    told, text = choice["logprobs"], choice["text"]
    assert text.startswith(prompt)
    assert told["text_offset"] == sorted(told["text_offset"])
    for token, offset in zip(told["tokens"], told["text_offset"], strict=True):
        if offset < len(prompt) and "<" not in token:  # unknown, or half of a character
            assert text[offset:].lstrip().startswith(token.strip())


@pytest.mark.parametrize("how", [{"top_p": 5e-324}, {"temperature": 5e-324}, {"top_k": 1}])
def test_what_leaves_one_token_writes_the_likeliest(client, how):
    [likeliest] = complete(client, prompt="He", temperature=0)
    assert complete(client, prompt="He", **how) == [likeliest]


@pytest.mark.parametrize("prompt", ["", [2], [[2], [3]], "\n", ["", "\n\n"]])
def test_a_prompt_may_hold_no_token(client, prompt):
    for choice in complete(client, prompt=prompt, echo=True, logprobs=1):
        told = choice["logprobs"]
        assert len({len(told[name]) for name in told}) == 1


def test_ids_and_texts_and_lists_of_both_are_the_same_prompt(client, models):
    special = models.named("subwords").model
    two = [LINE, "He"]
    texts = complete(client, model="subwords", prompt=two, echo=True, logprobs=2, seed=1)
    ids = [special.ids(one) for one in two]
    assert complete(client, model="subwords", prompt=ids, echo=True, logprobs=2, seed=1) == texts
    assert [one["index"] for one in texts] == [0, 1]
    [alone] = complete(client, model="subwords", prompt=ids[0], echo=True, logprobs=2, seed=1)
    assert alone == texts[0]


def test_a_stop_text_ends_what_is_written_and_is_not_part_of_it(client):
    [whole] = complete(client, prompt="The", max_tokens=30, seed=5)
    words = whole["text"].split(" ")
    assert len(words) > 4
    stop = f"{words[3]} {words[4]}"
    [cut] = complete(client, prompt="The", max_tokens=30, seed=5, stop=["never said", stop])
    assert cut["text"] == whole["text"][: whole["text"].index(stop)]
    assert cut["finish_reason"] == "stop"


@pytest.mark.parametrize("stop", [None, ["runs", "dog the cat"]])
def test_a_stream_says_the_same_in_pieces(client, stop):
    body = {"prompt": ["The dog", "He"], "max_tokens": 20, "seed": 4, "logprobs": 1, "n": 2,
            "stop": stop}  # fmt: skip
    whole = complete(client, **body)
    answer = client.post(
        "/v1/completions", json={**body, "stream": True, "stream_options": {"include_usage": True}}
    )
    assert answer.headers["content-type"].startswith("text/event-stream")
    *events, done = [line[6:] for line in answer.text.split("\n\n") if line]
    assert done == "[DONE]"
    *pieces, last = map(json.loads, events)
    assert last["usage"]["prompt_tokens"] == 3
    assert len(pieces) > len(whole) == 4
    for choice in whole:
        mine = [one["choices"][0] for one in pieces]
        mine = [one for one in mine if one["index"] == choice["index"]]
        assert "".join(one["text"] for one in mine) == choice["text"]
        assert [t for one in mine for t in one["logprobs"]["tokens"]] == (
            choice["logprobs"]["tokens"]
        )
        assert mine[-1]["finish_reason"] == choice["finish_reason"]


def test_two_of_one_name_are_refused(tmp_path):
    folders = [tmp_path / one / "lm" for one in ("first", "second")]
    for folder in folders:
        folder.mkdir(parents=True)
    with pytest.raises(ConfigError, match="first/lm and .*second/lm are both lm"):
        LanguageModels(folders)


def test_what_is_impossible_has_a_number_that_json_can_say(runs, tmp_path):
    flags = ("--model.type=ngram", "--model.smoothing=none", "--out", str(tmp_path / "ml"))
    corpus = ("--task", "language-model", "--corpus", str(runs / "corpus.txt"))
    finished = command("train", *corpus, *flags)
    assert finished.status == 0, finished.err
    [served] = LanguageModels([tmp_path / "ml"]).all
    [known, *_] = served.model.ids(LINE)
    ids = [known] * 3
    assert served.places(ids, 1)[1].log_prob == LOWEST


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"prompt": "a", "logit_bias": {"5": -100}}, 400, "logit_bias"),
        ({"prompt": [1 << 20]}, 400, "ids of a prompt"),
        ({"prompt": [4, 0]}, 400, "ids of a prompt"),
        ({"prompt": []}, 400, "prompt"),
        ({"prompt": "a", "best_of": 3}, 400, "best_of"),
        ({"prompt": "a", "temperature": -1}, 400, "temperature"),
        ({"prompt": "a", "max_tokens": "7"}, 400, "max_tokens"),
        ({"prompt": "a", "\ud800": 1}, 400, "there is no field"),
        ({"prompt": "a", "pro\u00e9": 1}, 400, "pro"),
        ({"prompt": "a", "model": "none\ud800"}, 404, "no model"),
        ({"prompt": ["a " * 9_000], "max_tokens": 0}, 400, "8,192"),
    ],
)
def test_what_cannot_be_done_is_refused_in_openais_shape(client, body, status, said):
    answer = client.post("/v1/completions", content=json.dumps(body))
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert said in error["message"]
    assert set(error) == {"message", "type", "param", "code"}
    if status == 404:
        assert error["code"] == "model_not_found"


def test_models_and_their_tokenizers_are_told(client, models):
    listed = client.get("/v1/models").json()["data"]
    assert [one["id"] for one in listed] == [*NAMES]
    assert client.get("/v1/models/lstm").json() == listed[1]
    assert client.get("/v1/models/none").status_code == 404
    assert client.get("/tokenizer_info").status_code == 400  # of which model?
    info = client.get("/models/subwords/tokenizer_info").json()

    def ids(**body: object) -> list[int]:
        return client.post("/models/subwords/tokenize", json=body).json()["tokens"]

    special = models.named("subwords").special
    plain = {"add_special_tokens": False}
    assert ids(prompt=info["eos_token"], **plain) == [special.end]
    assert ids(prompt=info["bos_token"], **plain) == [special.decoder_begin]
    text = "Does he use 語 ?\nHe"
    whole = ids(prompt=text)
    assert whole == [special.decoder_begin, *ids(prompt=text, **plain)]
    back = client.post("/detokenize", json={"tokens": whole, "model": "subwords"})
    assert back.json() == {"prompt": text}
    assert (
        complete(client, model="subwords", prompt=whole[1:], seed=1)
        == (
            client.post("/models/subwords/v1/completions", json={"prompt": text, "seed": 1})
        ).json()["choices"]
    )


@pytest.mark.parametrize("name", NAMES)
def test_what_lm_eval_sums_up_is_what_the_continuation_costs(client, models, name):
    model = models.named(name).model
    context, whole = "Who listened to", LINE
    ids, n_context = model.ids(whole), len(model.ids(context))
    [choice] = complete(
        client, model=name, prompt=[ids], temperature=0, max_tokens=1, logprobs=1, seed=1234,
        echo=True,
    )  # fmt: skip
    told = choice["logprobs"]  # of these it leaves out the last one, which was written
    likelihood = sum(told["token_logprobs"][n_context:-1])
    costs = [log_prob for _, log_prob in model.score(whole).tokens[n_context:-1]]
    assert likelihood == pytest.approx(sum(costs), abs=1e-3)
    prefix, greedy = ids[:n_context], True
    for one in ids[n_context:]:
        [(best, _)] = models.named(name).places([*prefix, one], 1)[-1].top
        greedy = greedy and best == one
        prefix.append(one)
    tops = zip(told["token_logprobs"], told["top_logprobs"], strict=True)
    assert greedy == all(one == max(top.values()) for one, top in [*tops][n_context:-1])
