"""Inline codes all arrive, whatever the model writes: with masks, and without."""

import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest
import torch
from everyday_run import command, train, write_pairs

from headway import Translator
from headway.core.config import read_toml
from headway.demo import generate
from headway.localization.checks.output_checks import evidence_of
from headway.localization.placeholders.codes import PLACEHOLDERS
from headway.localization.placeholders.patterns import find, partners
from headway.localization.placeholders.segments import Code, Segment

pytestmark = pytest.mark.usefixtures("torch_settings_restored")

TEXTS = [
    "I love %s cats.",
    "The <b>dog</b> didn't cross {the_street}, it was 100%% tired.",
    "See :ref:`the street <map>` at http://example.org/street, $ {x}.",
    "No codes here.",
    "\ue000 and \ue001 are the user's own.",
    " ".join(f"{{code{n}}}" for n in range(70)),
    "",
]
SEGMENTS = [
    Segment(("I love ", Code("<b>", '<bpt i="1"/>'), "cats", Code("</b>", '<ept i="1"/>'), ".\n")),
    Segment((Code("<g>", "<g id='1'>"), "The dog ", Code("%s", "<x/>"), Code("</g>", "</g>"))),
    Segment(
        ("  Two\nlines with %d", Code("%s", '<ph x="1"/>'), " and ", Code("%s", '<ph x="2"/>'))
    ),
    Segment((Code("<b>", "1"), "A ", Code("<b>", "2"), "b", Code("</b>", "3"), Code("</b>", "4"))),
    Segment(("We",)),
    Segment((Code("%s", "<x/>"), " - ", Code("%d", "<y/>"))),
    Segment(),
]


def coded_pairs(n: int) -> list[tuple[str, str]]:
    codes = ["%s", "{name}", "<b>", "</b>", ":class:`int`", "&amp;"]
    pairs = []
    for i, (english, chinese) in enumerate(generate(n, seed=3)):
        one, other = codes[i % len(codes)], codes[i // len(codes) % len(codes)]
        pairs.append((f"{one} {english} {other}", f"{one} {chinese} {other}"))
    return pairs


@pytest.fixture(scope="session")
def masking_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("coded")
    files = write_pairs(folder, "train", coded_pairs(300))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADWAY_CACHE", str(folder / "cache"))
        finished = train(files, folder / "run")
    assert finished.status == 0, finished.err
    assert "are masked: about 100.0% of the pairs" in finished.err
    return folder / "run"


@pytest.fixture(params=["masking_run", "everyday_run"])
def translator(request: pytest.FixtureRequest, torch_settings_restored: None) -> Translator:
    run = request.getfixturevalue(request.param)
    return Translator.load(run, device="cpu")


def codes_of(text: str) -> list[str]:
    return [text[start:end] for start, end, _ in find(text)]


def assert_carried(source: str, target: str) -> None:
    """Every code as often as in the source, and no other, where codes may stand side by side."""
    for code in sorted(codes_of(source), key=len, reverse=True):
        assert code in target
        target = target.replace(code, " ", 1)
    assert not codes_of(target)


def test_what_auto_decided_is_kept_with_the_run(masking_run, everyday_run):
    assert read_toml(masking_run / "config.toml")["text"]["codes"] == "mask"
    assert read_toml(everyday_run / "config.toml")["text"]["codes"] == "keep"


def test_placeholders_are_pieces_of_their_own(masking_run):
    subwords = Translator.load(masking_run, device="cpu").subwords
    text = f"a{PLACEHOLDERS[0]}b {PLACEHOLDERS[-1]}{PLACEHOLDERS[1]}."
    ids = subwords.encode(text)
    assert [p for p in subwords.pieces(ids) if p in PLACEHOLDERS] == [
        PLACEHOLDERS[0], PLACEHOLDERS[-1], PLACEHOLDERS[1],
    ]  # fmt: skip
    assert subwords.decode(ids) == text
    assert len(subwords) <= 700


@pytest.mark.parametrize("options", [{"beam": 3}, {"method": "greedy"}, {"beam": 3, "n_best": 3}])
def test_every_code_of_a_text_arrives_and_none_is_invented(translator, options):
    for text, translation in zip(TEXTS, translator.translate_fully(TEXTS, **options), strict=True):
        for alternative in translation.n_best:
            assert_carried(text, alternative.target)
            assert alternative.target == alternative.written or not alternative.codes_complete
        complete = [alternative.codes_complete for alternative in translation.n_best]
        assert complete == sorted(complete, reverse=True)
        assert translation.codes_complete == all(complete[:1])


SIDE_ROOM = ("codes", "patterns", "projection", "segment_texts", "segments", "coded")


def entered(work: Callable[[], object]) -> set[str]:
    """Names of the files of headway of which a function runs."""
    files: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and "headway" in frame.f_code.co_filename:
            files.add(Path(frame.f_code.co_filename).name)

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return files


def writing(translator: Translator, text: str) -> list[int]:
    """Have it write this and nothing else; how many hypotheses of a sentence it is asked for."""
    asked: list[int] = []

    def decode_batch(rows: list[list[int]]) -> list[str]:
        asked.append(len(rows))
        return [text] * len(rows)

    translator.subwords.decode_batch = decode_batch
    return asked


def test_plain_text_never_enters_the_side_room_of_codes(translator):
    writing(translator, "我爱猫。")
    plain = ["No codes here.", "The dog is tired (too): 3.5 - 4."]
    rooms = entered(lambda: translator.translate(plain, method="greedy"))
    assert {"translator.py", "translate.py", "subwords.py"} <= rooms
    assert not [name for name in rooms if name.startswith(SIDE_ROOM)]
    assert "codes.py" in entered(lambda: translator.translate([*plain, "a %s b"]))


def test_a_code_that_is_invented_for_plain_text_is_taken_out(translator):
    asked = writing(translator, "我爱 {x}\ue003。")
    [found] = translator.translate_fully(["I love cats."], beam=2)
    assert asked == [1, 2]  # all of its beam, as the best one is not right
    assert found.target == "我爱 。"
    assert not found.codes_complete
    assert found.n_best[0].written == "我爱 {x}\ue003。"


def test_every_code_of_a_segment_arrives_as_the_file_writes_it(translator):
    for segment, (translated, _, n_cut, _) in zip(
        SEGMENTS, translator.translate_segments(SEGMENTS), strict=True
    ):
        assert n_cut == 0
        assert Counter(translated.codes) == Counter(segment.codes)
        pairs = [framed(each) for each in (segment, translated)]
        assert pairs[0] == pairs[1]
        assert_carried(segment.text, translated.text)
        outer = segment.text[: len(segment.text) - len(segment.text.lstrip())]
        assert translated.text.startswith(outer)
        assert translated.text.endswith("\n") == segment.text.endswith("\n")
        assert translated.text.count("\n") == segment.text.count("\n")


def framed(segment: Segment) -> Counter[tuple[str, str]]:
    texts = [code.text for code in segment.codes]
    return Counter((texts[i], texts[j]) for i, j in partners(texts).items())


def test_a_model_that_never_saw_codes_is_not_asked_to_spell_those_that_it_loses(everyday_run):
    translator = Translator.load(everyday_run, device="cpu")
    segments = [Segment(("I love %s cats.",)), Segment(("The <b>dog</b> is {very} tired.",))]
    for segment, found in zip(segments, translator.translate_segments(segments), strict=True):
        assert found.complete
        codes = codes_of(segment.text)
        assert sorted(codes_of(found.segment.text)) == sorted(codes)


def test_a_segment_without_words_is_copied(translator):
    for segment in SEGMENTS[-2:]:
        [translation] = translator.translate_segments([segment])
        assert translation == (segment, True, 0, ())


def test_plain_segments_are_translated_as_plain_text(translator):
    texts = ["I love cats.", "The dog is tired."]
    found = translator.translate_segments([Segment((text,)) for text in texts], beam=2)
    assert [each.segment.text for each in found] == translator.translate(texts, beam=2)


def test_the_sub_words_that_are_shown_name_the_codes(masking_run):
    translator = Translator.load(masking_run, device="cpu")
    [translation] = translator.translate_fully(["I love %s."], want_alignment=True)
    assert "%s" in translation.source_tokens
    assert len(translation.n_best[0].alignment) == len(translation.n_best[0].tokens)
    attention = translator.attention("I love %s.", "我爱 %s。")
    assert "%s" in attention.source_tokens
    assert "%s" in attention.target_tokens


def test_what_is_drawn_for_codes_repeats_with_its_generator(everyday_run):
    translator = Translator.load(everyday_run, device="cpu")

    def drawn() -> list[str]:
        generator = torch.Generator().manual_seed(1)
        return translator.translate(TEXTS, method="sampling", generator=generator)

    assert drawn() == drawn()


def test_a_cut_text_keeps_all_its_codes(translator):
    text = "cats and dogs " * 60 + "%s <b>"
    [translation] = translator.translate_fully([text])
    assert translation.n_cut > 0
    assert not translation.codes_complete
    assert_carried(text, translation.target)


def test_masking_goes_on_after_a_stop(masking_run):
    again = command("train", "--out", str(masking_run), "--resume")
    assert again.status == 0, again.err


def test_a_small_model_learns_to_carry_placeholders(tmp_path):
    """Words that differ, codes in another order: the codes can only come from the source."""
    kinds = ["%s", "%d", "{name}", "{0}", "%(key)s", "<br/>"]
    pairs = [
        (f"take {kinds[i % 6]} and then {kinds[j]} too {n}", f"{kinds[j]} und {kinds[i % 6]} {n}")
        for n, (i, j) in enumerate((i, j) for i in range(60) for j in range(6) if i % 6 != j)
    ]
    files = write_pairs(tmp_path, "train", pairs)
    finished = train(
        files, tmp_path / "run", "--training.max-steps=150", "--training.checkpoint-every=150",
        "--training.batch-tokens=1000", "--model.dropout=0", "--decoding.length-penalty=1.0",
    )  # fmt: skip
    assert finished.status == 0, finished.err
    translator = Translator.load(tmp_path / "run", device="cpu")
    unseen = [f"take &lt; and then {{x{n}}} too 7" for n in range(10)]
    found = translator.translate_fully(unseen)
    assert sum(translation.codes_complete for translation in found) >= 8


def test_a_text_with_a_name_has_as_many_alternatives_as_one_without(everyday_run):
    translator = Translator.load(everyday_run, device="cpu")
    texts = ["I love AcmeCorp cats.", "I love cats.", "AcmeCorp"]
    how = {"beam": 4, "length_penalty": 1.0}
    one = translator.translate_fully(texts, n_best=1, **how)
    named, plain, alone = translator.translate_fully(texts, n_best=3, **how)
    assert len(named.n_best) == len(plain.n_best) == 3
    assert [found.target for found in (named, plain, alone)] == [found.target for found in one]
    assert all(alternative.target.count("AcmeCorp") == 1 for alternative in named.n_best)
    assert len({alternative.target for alternative in named.n_best}) > 1
    complete = [alternative.codes_complete for alternative in named.n_best]
    assert complete == sorted(complete, reverse=True)


@pytest.mark.parametrize(
    "text", ["{name}: %d", "%s, %s", "12.50", "3 + 4 = 7", "— 5 —", "<b>{x}</b>", "$name 🎉"]
)
def test_a_text_without_words_is_copied(translator, text):
    [found] = translator.translate_fully([text])
    assert found.target == text
    [segment] = translator.translate_segments([Segment((text,))])
    assert segment.segment.text == text


def test_tabs_part_what_is_translated_and_stay(translator):
    writing(translator, "word")
    [line] = translator.translate_fully(["A dog.\tA cat."])
    assert [bool(part.strip()) for part in line.target.split("\t")] == [True, True]
    [found] = translator.translate_segments([Segment(("\tA dog.\t\tA cat.\n",))])
    assert re.fullmatch(r"\t[^\t]+\t\t[^\t]+\n", found.segment.text)


@pytest.mark.parametrize("loop", ["v" * 40, "Be" + "he" * 9, "a b c " * 8, "OOKKKKK.", "  " * 9])
def test_a_loop_is_no_translation(translator, loop):
    writing(translator, loop)
    [found] = translator.translate_fully(["The dog, {x}."], method="greedy")
    assert found.target == "The dog, {x}."
    assert translator.judged(found).flags
    assert translator.judged(found).confidence < 0.05  # --leave-below leaves it
    [unit] = translator.translate_segments([Segment(("The dog, {x}.",))], method="greedy")
    assert unit.segment.text == "The dog, {x}."
    evidence = evidence_of(unit.parts)
    assert translator.checker.look("The dog, {x}.", "The dog, {x}.", evidence).confidence < 0.05
    [line] = translator.translate_fully(["I love cats."], beam=2)
    assert line.target != "I love cats."  # what the model says of words, for its reader to judge
    assert translator.judged(line).flags
