"""A trained run from Python."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import tokenizers
import torch

from headway import Translator
from headway.core.errors import ConfigError, RunError
from headway.core.run_folder import RunFolder
from headway.core.subwords import Subwords
from headway.core.transformer import Transformer
from headway.models import MODELS
from headway.nn.attention_weights import look
from headway.runs.checking import check_run
from headway.translation.attention import refuse_unaligned
from headway.translation.processors import RunProcessors
from headway.translation.run_data import measured_again

pytestmark = pytest.mark.usefixtures("torch_settings_restored")

TEXTS = ["I love cats.", "The dog didn't cross the street because it was too tired.", "Yes.", "We"]


@pytest.fixture
def translator(everyday_run, torch_settings_restored) -> Translator:
    return Translator.load(everyday_run, device="cpu")


@pytest.mark.parametrize("options", [{"beam": 3}, {"method": "greedy"}])
def test_batch_mates_do_not_matter(translator, options):
    together = translator.translate_fully(TEXTS, **options)
    for text, translation in zip(TEXTS, together, strict=True):
        [alone] = translator.translate_fully([text], **options)
        assert alone.target == translation.target
        assert alone.n_best[0].score == pytest.approx(translation.n_best[0].score, abs=1e-5)
        assert alone.source == translation.source == text


@pytest.mark.parametrize(
    ("model_type", "settings", "aligned"),
    [
        ("transformer", {"encoder_layers": 1, "decoder_layers": 1}, True),
        ("convolutional", {"encoder_layers": 1, "decoder_layers": 1}, True),
        ("ablated", {"encoder_layers": 1, "decoder_layers": 1, "cross": "none"}, False),
        ("recurrent", {"attention": "none"}, False),
        ("recurrent", {"attention": "dot"}, True),
        ("bytenet", {"encoder_layers": 1, "decoder_layers": 1}, False),
    ],
)
def test_a_model_is_refused_alignments_just_where_they_would_be_empty(
    translator, model_type, settings, aligned
):
    config, of_type = MODELS[model_type]
    model = of_type(config(d_model=16, **settings), vocabulary_size=len(translator.subwords))
    translator.plain.model = model.eval()
    [found] = translator.translate_fully(TEXTS[:1], want_alignment=True, max_extra_length=1)
    assert any(one.alignment for one in found.n_best) == aligned
    if aligned:
        refuse_unaligned(translator.plain)
        return
    with pytest.raises(ConfigError, match="no attention to align by. Leave out --alignment"):
        refuse_unaligned(translator.plain)


def test_blank_stays_blank_and_order_stays(translator):
    texts = ["", TEXTS[0], " \t", TEXTS[1], ""]
    found = translator.translate(texts)
    assert found == [
        "",
        translator.translate(TEXTS[:1])[0],
        "",
        translator.translate(TEXTS[1:2])[0],
        "",
    ]
    assert translator.translate([]) == []


def test_scores_are_log_probabilities_under_the_model(translator):
    """Checked by teacher forcing: one pass over the translation that was found."""
    special = translator.subwords.special
    for translation in translator.translate_fully(TEXTS, beam=2, n_best=2, length_penalty=0.0):
        source = [*translator.subwords.encode(translation.source), special.end]
        assert len(translation.n_best) == 2
        for alternative in translation.n_best:
            ids = alternative.ids
            assert translator.subwords.pieces(ids) == alternative.tokens
            assert translator.subwords.decode(ids) == alternative.target
            with torch.inference_mode():
                logits = translator.model(
                    torch.tensor([source]), torch.tensor([[special.begin, *ids]])
                )
            log_probs = logits[0].log_softmax(-1)
            by_token = log_probs[range(len(ids) + 1), [*ids, special.end]].tolist()
            assert alternative.token_log_probs == pytest.approx(by_token, abs=1e-4)
            assert alternative.score == pytest.approx(sum(by_token), abs=1e-3)


def test_settings_of_the_run_hold_unless_others_are_given(translator):
    assert translator.settings.decoding.beam == 2
    assert len(translator.translate_fully(TEXTS[:1], n_best=2)[0].n_best) == 2
    with pytest.raises(ConfigError, match="n_best must not exceed"):
        translator.translate(TEXTS, n_best=3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "beem"}, "method must be one of .*; got 'beem'. Did you mean 'beam'?"),
        ({"beams": 3}, "unknown key 'beams' in .decoding.; did you mean 'beam'?"),
        ({"beam": 2.5}, "beam must be a whole number; got 2.5"),
        ({"beam": None}, "beam must be a whole number; got None"),
        ({"length_penalty": "much"}, "length_penalty must be a number; got 'much'"),
        ({"tag": "mine"}, "a model knows the tags of its training; got 'mine'. It has none"),
    ],
)
def test_options_are_checked_as_flags_are(translator, options, message):
    for translate in (translator.translate, translator.translate_fully):
        with pytest.raises(ConfigError, match=message):
            translate(TEXTS, **options)
    with pytest.raises(ConfigError, match=message):
        translator.translate_segments([], **options)


@pytest.mark.parametrize("given", [{"top_k": 5}, {"top_p": 0.5}, {"temperature": 2.0}, {"seed": 9}])
def test_settings_of_sampling_are_refused_where_nothing_is_drawn(translator, given):
    for method in ("beam", "greedy"):
        with pytest.raises(ConfigError, match=f"{next(iter(given))} .* method {method}, .* Add"):
            translator.translate(TEXTS[0], method=method, **given)
    assert isinstance(translator.translate(TEXTS[0], method="sampling", **given), str)


def test_a_text_that_is_too_long_is_cut_at_its_end_and_that_is_told(translator):
    limit = translator.settings.data.max_length
    text = "cats and dogs " * 50
    [long] = translator.translate_fully([text])
    assert len(long.source_tokens) == limit
    assert long.n_cut == len(translator.subwords.encode(text.strip())) - limit
    assert translator.translate_fully(TEXTS[:1])[0].n_cut == 0


@pytest.fixture
def learned(translator) -> Translator:
    """The same, untrained, with positions that end before `data.max_length` does."""
    config = replace(translator.settings.model, positions="learned", max_length=20)
    model = Transformer(config, vocabulary_size=len(translator.subwords)).eval()
    return Translator(model, translator.subwords, translator.settings, translator.device)


@pytest.mark.parametrize("options", [{"beam": 2}, {"method": "greedy"}, {"method": "sampling"}])
def test_a_text_is_cut_where_the_positions_of_the_model_end(learned, options):
    assert learned.longest == 19
    [long] = learned.translate_fully(["cats and dogs " * 50], max_extra_length=50, **options)
    assert len(long.source_tokens) == 19
    assert long.n_cut == len(learned.subwords.encode("cats and dogs " * 50)) - 20
    assert len(long.n_best[0].ids) <= 19


def test_a_limit_of_zero_is_none(translator):
    settings = replace(translator.settings, data=replace(translator.settings.data, max_length=0))
    unbounded = Translator(translator.model, translator.subwords, settings, translator.device)
    assert unbounded.longest is None
    assert unbounded.translate_fully(["cats and dogs " * 50])[0].n_cut == 0


def test_a_vocabulary_without_a_begin_marker_feeds_the_decoder_padding(translator):
    vocabulary = {"</s>": 0, "<unk>": 1, "a": 2, "b": 3, "c": 4, "<pad>": 5}  # as Marian's
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="<unk>"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    subwords = Subwords(words.to_str(), "the test")
    config = translator.settings.model
    model = Transformer(config, vocabulary_size=len(subwords), padding=5).eval()
    marian = Translator(model, subwords, translator.settings, translator.device)
    for alternative in marian.translate_fully(["a b c"], beam=4, n_best=4)[0].n_best:
        assert set(alternative.ids) <= {2, 3, 4}
        assert len(alternative.token_log_probs) == len(alternative.ids) + 1
    found = marian.attention("a b", "c")
    assert (found.source_tokens, found.target_tokens) == (["a", "b", "</s>"], ["<pad>", "c"])


def test_alignments_point_at_source_pieces_only_on_request(translator):
    [plain] = translator.translate_fully(TEXTS[:1])
    assert plain.n_best[0].alignment == []
    [aligned] = translator.translate_fully(TEXTS[:1], want_alignment=True)
    best = aligned.n_best[0]
    assert best.target == plain.n_best[0].target
    assert [target for _, target in best.alignment] == list(range(len(best.tokens)))
    special = translator.subwords.special
    source = [*translator.subwords.encode(TEXTS[0]), special.end]
    with torch.inference_mode():
        looks = look(
            translator.model, torch.tensor([source]), torch.tensor([[special.begin, *best.ids]])
        )
    looked_at = looks.cross[-1][0].mean(0)[:-1, :-1].argmax(-1).tolist()
    assert [source for source, _ in best.alignment] == looked_at


def test_attention_is_there_for_every_layer_and_head_and_sums_to_one(translator):
    found = translator.attention(TEXTS[1], "狗没有过马路。")
    n_source, n_target = len(found.source_tokens), len(found.target_tokens)
    assert found.source_tokens[-1] == "</s>"
    assert found.target_tokens[0] == "<s>"
    assert found.encoder.shape == (1, 2, n_source, n_source)
    assert found.decoder.shape == (1, 2, n_target, n_target)
    assert found.cross.shape == (1, 2, n_target, n_source)
    for weights in (found.encoder, found.decoder, found.cross):
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
    assert not np.triu(found.decoder, 1).any()


def test_without_a_target_attention_is_of_its_own_translation(translator):
    own = translator.translate(TEXTS[:1])[0]
    found, expected = translator.attention(TEXTS[0]), translator.attention(TEXTS[0], own)
    assert found.target_tokens == expected.target_tokens
    np.testing.assert_array_equal(found.cross, expected.cross)


def test_a_model_without_attention_cannot_be_looked_at(translator):
    class Blind:
        def __init__(self, model):
            self.start, self.step, self.longest = model.start, model.step, model.longest

    model = Blind(translator.model)
    blind = Translator(model, translator.subwords, translator.settings, translator.device)
    assert blind.translate(TEXTS) == translator.translate(TEXTS)
    with pytest.raises(ConfigError, match="a method `look`, such as a transformer; the run's is"):
        blind.attention("I love cats.")


def test_markers_that_a_user_types_stay_text(translator):
    [translation] = translator.plain(
        ["</s> <pad> I love cats."], translator.plain.request(translator.settings.decoding)
    )
    special = translator.subwords.special
    ids = translator.subwords.encode("</s> <pad> I love cats.")
    assert not {special.end, special.padding} & set(ids)
    assert len(translation.source_tokens) == len(ids)


def test_progress_is_told_for_every_text(translator):
    told: list[int] = []
    translator.translate_fully([*TEXTS, ""], done=told.append)
    assert sum(told) == 5


def test_target_language_is_known(translator):
    assert translator.target_language == "zh"


def test_what_is_no_run_is_refused(tmp_path):
    with pytest.raises(RunError, match="holds no config.toml"):
        Translator.load(tmp_path)
    with pytest.raises(RunError, match="does not exist"):
        Translator.load(tmp_path / "nowhere")


def test_several_sentences_arrive_as_they_do_alone(translator):
    texts = ["I love cats. The dog is tired.", "Yes.\nThe dog is tired!  I love cats."]
    alone = dict(
        zip(
            pieces := ["I love cats.", "The dog is tired.", "Yes.", "The dog is tired!"],
            translator.translate(pieces),
            strict=True,
        )
    )
    found = translator.translate_fully(texts, want_alignment=True, n_best=2)
    first, second = found
    assert first.target == alone["I love cats."] + alone["The dog is tired."]
    assert second.target.split("\n")[0] == alone["Yes."]
    assert second.target.endswith(alone["I love cats."])
    assert [part.source for part in first.parts] == ["I love cats.", "The dog is tired."]
    for one in found:
        best = one.n_best[0]
        assert len(best.tokens) + 1 == len(best.token_log_probs)
        assert len(best.alignment) == len(best.tokens)
        assert max(source for source, _ in best.alignment) < len(one.source_tokens)
        assert len(one.n_best) == 2
        verdict = translator.judged(one)
        assert verdict.confidence is not None
        assert 0 <= verdict.confidence <= 1


def test_one_sentence_is_never_cut(translator, monkeypatch):
    class CutError(Exception):
        pass

    def cut(_):
        raise CutError

    monkeypatch.setattr(RunProcessors, "portions", cut)
    assert len(translator.translate(TEXTS)) == len(TEXTS)
    with pytest.raises(CutError):
        translator.translate(["I love cats. The dog is tired."])


def test_what_training_held_is_in_the_run_and_is_measured_again_alike(everyday_run, monkeypatch):
    folder = RunFolder(everyday_run)
    assert "checks.json" in folder.sealed()
    written = folder.table(folder.checks)
    assert written["held"]["single"] == 1.0
    monkeypatch.setenv("HEADWAY_CACHE", str(everyday_run.parent / "another-cache"))
    again = measured_again(everyday_run, lambda _: None).as_dict()
    again = json.loads(json.dumps(again))
    assert again["held"] == written["held"]
    for name, norm in again["trust"]["norms"].items():
        assert norm == written["trust"]["norms"][name]
    assert again["trust"]["weights"] == pytest.approx(written["trust"]["weights"], abs=1e-4)


def test_a_run_without_checks_still_translates_each_sentence(everyday_run, tmp_path):
    shutil.copytree(everyday_run, tmp_path / "run")
    (tmp_path / "run" / "checks.json").unlink()
    translator = Translator.load(tmp_path / "run", device="cpu")
    [found] = translator.translate_fully(["I love cats. The dog is tired."])
    assert len(found.parts) == 2
    assert translator.judged(found).confidence is None
    assert all(one.state != "damaged" for one in check_run(tmp_path / "run"))


def test_damaged_checks_are_refused(everyday_run, tmp_path):
    shutil.copytree(everyday_run, tmp_path / "run")
    file = tmp_path / "run" / "checks.json"
    file.write_text(file.read_text("utf-8").replace("held", "hold"), "utf-8")
    with pytest.raises(RunError, match=r"checks\.json is not as headway wrote it"):
        Translator.load(tmp_path / "run", device="cpu")
