"""Train the small translator that comes with the package, and put it into src/headway/shipped/demo.

It learns the demo's corpus, which a grammar writes: nothing is fetched. What is put there is the
run without its checkpoints and without the paths of this machine, and a card that says how it was
made and what was measured. Run: python benchmarks/ship_demo.py
"""

import argparse
import shutil
import tempfile
from pathlib import Path
from typing import Any

import record

from headway import Translator, train
from headway.commands import demo
from headway.core.bleu import bleu_statistics
from headway.core.config import Sections, format_toml, merge
from headway.core.disk import checksum, write_text
from headway.core.run_folder import RunFolder
from headway.core.tensor_files import load_finite, save_tensors
from headway.operations.shipped import SHIPPED, open_folder
from headway.runs.train import machine

OWN: Sections = {"training": demo.LENGTH, "runtime": {"threads": 1}}
"""On top of the demo's settings: what `headway demo` does, on one thread."""
CARD = """\
# The translator that comes with headway: en -> zh

`headway translate demo` and `headway inspect demo` use it, where there is no run in `./demo`. It
learned {pairs} sentences that a grammar wrote. It knows their words and no others, and has the
licence of the package: no text of anybody was used.

- Made by `python benchmarks/ship_demo.py`: corpus, settings and {steps} updates of `headway demo`,
  on one thread of a processor of type {processor}. Weights are rounded to 11 binary digits, so
  that the package is smaller.
- A Transformer of {weights} parameters: encoder {encoder_layers} layers, decoder {decoder_layers},
  d_model {d_model}, d_ff {d_ff}, {heads} heads.
- On {tested} test sentences that it had never seen: BLEU {bleu}; {exact} of the translations are
  the reference, word for word.
"""
PATHS = ("source", "target", "valid_source", "valid_target")


def trained(folder: Path) -> RunFolder:
    """A run on the demo's corpus."""
    demo.write_files(folder / "corpus", demo.corpus())
    begun = (folder / "run" / "config.toml").exists()
    run = train(
        source=folder / "corpus" / "train.en",
        target=folder / "corpus" / "train.zh",
        valid_source=folder / "corpus" / "valid.en",
        valid_target=folder / "corpus" / "valid.zh",
        out=folder / "run",
        preset=None if begun else demo.PRESET,
        settings=None if begun else merge(demo.SETTINGS, OWN),
        resume=True,
    )
    return open_folder(Path(run))


def put(run: RunFolder, place: Path) -> None:
    """The files that using a run needs, sealed again, without the paths of this machine."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for file in (run.tokenizer, run.checks):
        shutil.copyfile(file, place / file.name)
    # In float32, as every run; with 13 zeros at the end of each they take half the room in a wheel.
    weights = {name: tensor.half().float() for name, tensor in load_finite(run.model).items()}
    save_tensors(weights, place / run.model.name)
    settings = merge(run.settings(), {"data": {name: [] for name in PATHS}})
    sums = {file.name: checksum(place / file.name) for file in (run.tokenizer, run.checks)}
    RunFolder(place).write_sealed(format_toml(settings), sums)


def described(run: RunFolder) -> str:
    """The card: how it was made, and what was measured now."""
    translator, parts = Translator.load(run.path, device="cpu"), demo.corpus()
    translations = translator.translate([english for english, _ in parts.test])
    references = [chinese for _, chinese in parts.test]
    bleu = bleu_statistics(translations, references, target_language="zh").score()
    exact = sum(t == zh for t, zh in zip(translations, references, strict=True))
    settings: dict[str, Any] = run.settings()
    return CARD.format(
        pairs=f"{len(parts.train):,}",
        steps=f"{settings['training']['max_steps']:,}",
        processor=machine()["cpu"],
        weights=f"{sum(p.numel() for p in translator.model.parameters()):,}",
        tested=len(references),
        bleu=f"{bleu:.1f}",
        exact=exact,
        **settings["model"],
    )


def main() -> int:
    """Train, measure, and put it there."""
    options = record.parser(__doc__)
    options.add_argument("--out", type=Path, default=SHIPPED, metavar="DIR")
    options.add_argument("--work", type=Path, metavar="DIR", help="keep corpus and run there")
    given: argparse.Namespace = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        put(trained(given.work or Path(folder)), given.out)
    write_text(given.out / "README.md", described(RunFolder(given.out)))
    sizes = {file.name: file.stat().st_size for file in sorted(given.out.iterdir())}
    print(f"{given.out}: {sum(sizes.values()) / 1e6:.2f} MB {sizes}")
    return 0


if __name__ == "__main__":
    raise SystemExit(record.exit_status(main))
