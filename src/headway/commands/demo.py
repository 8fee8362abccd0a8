"""`headway demo`: the main job on a corpus that headway writes itself, English to Chinese."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from headway.commands.arguments import Overrides, option_names, parse_overrides
from headway.core.disk import write_text
from headway.core.errors import RunError, StoppedError, command
from headway.demo import DEMO_SEED, DEMO_SIZES
from headway.operations.shipped import refuse_undecodable

if TYPE_CHECKING:
    from headway.core.config import Sections
    from headway.demo import Pair, Split
    from headway.inspection.pronoun_picture import PronounSentence
    from headway.translator import Translator

FOLDER = Path("demo")
N_TRAIN, N_VALID, N_TEST = DEMO_SIZES
N_SHOWN = 6
PRESET = "tiny"
SETTINGS: "Sections" = {
    # Small, so that words stay words: with thousands of pieces a whole clause becomes one.
    "text": {"vocabulary_size": 1000},
    "model": {"encoder_layers": 2, "decoder_layers": 2, "d_ff": 512, "dropout": 0.1},
    "training": {"checkpoint_every": 300, "average": 3},
}
"""On top of the preset: found by measuring, so that two cores need under five minutes."""
CHANCE = 0.6
"""A head that is right no more often than this is not said to know; half would be a coin."""
LENGTH = {"max_steps": 1500, "warmup_steps": 187}
"""Unless there is a budget; of the run that comes with headway, too."""


def demo(
    *overrides: Overrides,
    out: Path = FOLDER,
    text: list[str] | None = None,
    budget: str = "",
) -> None:
    """Train, score and use a translator on generated sentences; needs no data and no network.

    Parameters
    ----------
    out
        Folder for the corpus, the run and the pictures: demo. If a demo was begun there, it goes
        on; if it was finished, its model is used.
    text
        An English sentence to translate at the end; give it several times for several.
    budget
        Training time instead of the demo's own, such as 2m.
    """
    from headway.api import train
    from headway.core.config import merge
    from headway.core.runtime import set_threads
    from headway.demo import EXAMPLES
    from headway.translator import Translator

    given = parse_overrides(overrides, options=option_names(demo))
    if budget:
        given = merge(given, {"training": {"budget": budget}})
    parts = corpus()
    write_files(out, parts)
    begun = (out / "run" / "config.toml").exists()  # then it keeps the settings that it has
    try:
        run = train(
            source=out / "train.en", target=out / "train.zh",
            valid_source=out / "valid.en", valid_target=out / "valid.zh", out=out / "run",
            preset=None if begun else PRESET, resume=True,
            settings=given if begun else merge(_settings(given), given),
        )  # fmt: skip
    except StoppedError:
        again = command("demo", "--out", out)
        raise StoppedError(f"stopped, and saved. Go on with: {again}") from None
    set_threads(0)
    translator = Translator.load(run)
    _score(translator, parts, out)
    _translate(translator, parts, text or [english for english, _ in EXAMPLES])
    _draw(translator, parts, out)
    _say_what_next(out)


def _settings(given: "Sections") -> "Sections":
    """What the demo sets itself: a number of updates, unless that is given or there is a budget."""
    from headway.core.config import merge

    set_ = given.get("training", {})
    own = {} if set_.get("budget") or "max_steps" in set_ else {"training": LENGTH}
    return merge(SETTINGS, own)


def corpus() -> "Split":
    """The sentences to learn from, to validate on and to test on; always the same."""
    from headway.demo import generate, split

    pairs = generate(N_TRAIN + N_VALID + N_TEST, DEMO_SEED)
    return split(pairs, n_valid=N_VALID, n_test=N_TEST)


def write_files(out: Path, written: "Split") -> None:
    """The corpus, as files that anybody can read."""
    files = {
        out / f"{part}.{language}": "".join(f"{pair[side]}\n" for pair in pairs)
        for part, pairs in written._asdict().items()
        for side, language in enumerate(("en", "zh"))
    }
    write_corpus(out, files)
    print(
        f"{N_TRAIN:,} sentence pairs to learn from: {out / 'train.en'} and {out / 'train.zh'}\n"
        f"{N_VALID} to validate on and {N_TEST} to test on, none of which it will have seen"
    )


def write_corpus(out: Path, files: Mapping[Path, str]) -> None:
    """Write texts under their names in `out`, which is new or holds the same demo.

    Raises:
        RunError: the folder holds something else.
    """
    refuse_undecodable(out.absolute())
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        _refuse_others(out, files)
    out.mkdir(parents=True, exist_ok=True)
    for file, lines in files.items():
        write_text(file, lines)


def _refuse_others(out: Path, files: Mapping[Path, str]) -> None:
    """The folder may hold an earlier demo, however far it came, and nothing else."""
    found = [file for file in files if file.is_file()]
    changed = [file for file in found if file.read_bytes() != files[file].encode()]
    if changed or not found:
        which = f"another {changed[0].name}" if changed else "no corpus of the demo"
        raise RunError(
            f"the demo writes to a new folder, or goes on in its own; {out} holds {which}. "
            "Give another with --out, or remove it."
        )


def _score(translator: "Translator", parts: "Split", out: Path) -> None:
    """BLEU on the test sentences, and whether *it* was understood."""
    from headway.core.bleu import bleu_statistics
    from headway.demo.sentences import coreference

    translations = translator.translate([english for english, _ in parts.test])
    lines = (one.replace("\n", " ") for one in translations)
    write_text(out / "test.translated.zh", "".join(f"{line}\n" for line in lines))
    references = [chinese for _, chinese in parts.test]
    bleu = bleu_statistics(translations, references, target_language="zh")
    print(f"\nBLEU {bleu.score():.1f}")
    exact = sum(t == zh for t, (_, zh) in zip(translations, parts.test, strict=True))
    print(f"on {N_TEST} sentences it had never seen; {exact} are the reference, word for word")
    about_it = [
        (expected, coreference(english, translation))
        for (english, chinese), translation in zip(parts.test, translations, strict=True)
        if (expected := coreference(english, chinese))
    ]
    right = sum(
        found is not None and found.antecedent == expected.antecedent
        for expected, found in about_it
    )
    print(f'in {right} of {len(about_it)} it names what "it" stands for')


def _translate(translator: "Translator", parts: "Split", texts: Sequence[str]) -> None:
    """Some test sentences beside their references, then the ones that were asked for."""
    shown = parts.test[:N_SHOWN]
    print("\nSentences it had never seen:")
    translations = translator.translate([english for english, _ in shown])
    for (english, chinese), translation in zip(shown, translations, strict=True):
        verdict = "" if translation == chinese else f"   (reference: {chinese})"
        print(f"  {english}\n    {translation}{verdict}")
    print('\nYours (change them with --text "..."):')
    known = {word for english, _ in parts.train for word in _words(english)}
    for english, translation in zip(texts, translator.translate(texts), strict=True):
        new = [word for word in _words(english) if word not in known]
        doubt = f"   (new to it: {', '.join(new)})" if new else ""
        print(f"  {english}\n    {translation}{doubt}")


def _words(text: str) -> list[str]:
    return [word.strip(".,?!").lower() for word in text.split()]


def _draw(translator: "Translator", parts: "Split", out: Path) -> None:
    """Where the model looks while it writes what *it* is, and where *it* looks in the encoder."""
    from headway.demo import EXAMPLES
    from headway.inspection.pronoun_picture import (
        draw_pronouns,
        look_of_encoder,
        look_of_naming,
    )

    texts = [english for english, _ in EXAMPLES]
    own = _about_it(list(zip(texts, translator.translate(texts), strict=True)))
    shown = own if len(own) == len(_about_it(EXAMPLES)) else _about_it(EXAMPLES)
    for picture, view, title, untrue in (
        (
            "attention.png", look_of_naming,
            'What the decoder looks at while it names what "it" is',
            "this model does not decide here",
        ),
        (
            "encoder-attention.png", look_of_encoder, 'What "it" looks at in the encoder',
            'the well-known picture, "it" looking at its noun, is not true of this model',
        ),
    ):  # fmt: skip
        counted = _about_it(parts.test)
        found = draw_pronouns(
            translator, shown, out / picture, view=view, title=title,
            choose_on=_about_it(parts.valid), count_on=counted,
        )  # fmt: skip
        print(f"\nA picture: {out / picture}")
        print(f"  {title}, layer {found.head.layer}, head {found.head.head} (counted from 0)")
        for sentence, (on_antecedent, on_rival) in zip(shown, found.weights, strict=True):
            print(
                f"  {sentence.text} -> {sentence.antecedent} {on_antecedent:.2f}, "
                f"{sentence.rival} {on_rival:.2f}"
            )
        print(
            f"  of {found.n_layers * found.n_heads} heads this one tells them apart best: it looks "
            f"more at the right one in {found.right:.0%} of {len(counted)} unseen sentences"
        )
        if found.right < CHANCE:
            print(f"  which is hardly more than chance: {untrue}")


def _about_it(pairs: "Sequence[Pair]") -> "list[PronounSentence]":
    """The sentences in which *it* could stand for two things."""
    from headway.demo.sentences import coreference
    from headway.inspection.pronoun_picture import PronounSentence

    found = [(*pair, coreference(*pair)) for pair in pairs]
    return [PronounSentence(english, chinese, *which) for english, chinese, which in found if which]


def _say_what_next(out: Path) -> None:
    run, source, reference = (quote(str(out / name)) for name in ("run", "test.en", "test.zh"))
    print(
        f"""
Try:
  headway translate {run}                    then type a sentence
  headway inspect {run}                      see it think, as a page
  headway evaluate {run} --source {source} --reference {reference}
With text of your own, line by line a translation:
  headway prepare --source yours.en --target yours.de
  headway train --source yours.en --target yours.de --out runs/mine"""
    )
