"""How fast sentences become translations: the compiled engine in each precision, and CTranslate2.

Same weights, same ids, from ids to ids: tokenization and loading are not counted. In every round
each contender translates all sentences once greedily and once with a beam of 5, one after the
other (A B C A B C ..), so that what else the machine does hits all alike; of each the median over
rounds is taken, of the clock and of processor time. CTranslate2 is given the best of --batches
(tokens) for each search, found before. Ratios are to CTranslate2 in float32, and to the faster of
its float32 and int8. Texts that differ from those of the engine in fp32 are counted, greedy
search's of CTranslate2 too (its beam search has another length penalty and another end). Then each
translates --alone sentences one at a time, in turn: median and 99th percentile of the clock.

With --run and --source: that run's weights and those lines. Without: for each of --shape and
--vocabulary a model with random weights writes as many tokens as each source has, --length for
all. Random weights say nothing of what a precision costs in quality; the gate of a run does. With
--torch torch takes part, which takes long. Run: python benchmarks/engine.py
"""

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import torch
from record import add_record_option, parser, write

from headway.core.hypothesis import DecodingSettings, SearchRequest
from headway.core.runtime import ProductPrecision
from headway.core.subwords import SpecialIds
from headway.core.transformer import Transformer, TransformerConfig
from headway.exchange.ctranslate2 import write_ctranslate2
from headway.translation.decoding import EngineChoice, decode
from headway.translator import Translator

CPU = torch.device("cpu")
SHAPES = {
    "tiny": {"encoder_layers": 4, "decoder_layers": 4, "d_model": 128, "d_ff": 256, "heads": 4},
    "paper-base": {},
}
SENTENCES = {"tiny": 1000, "paper-base": 100}
PRECISIONS: tuple[ProductPrecision, ...] = ("fp32", "bf16", "int8")
BEAMS = (1, 5)
Written = list[list[int]]
Translate = Callable[[int, Written], Written]
"""Sentences with a beam of so many hypotheses; 1 is greedy."""
Taken = dict[tuple[int, str], list[tuple[float, float, Written]]]
"""By beam and contender, for each round: seconds of the clock, of processors, and what came out."""


def random_model(shape: str, vocabulary: int) -> Transformer:
    """A model that hardly ever writes its end marker before it must."""
    torch.manual_seed(1)
    model = Transformer(TransformerConfig(**SHAPES[shape]), vocabulary_size=vocabulary).eval()
    with torch.no_grad():
        model.output_weight[SpecialIds().end] = 0
    return model


def in_headway(
    model: Transformer, special: SpecialIds, extra: int, choice: EngineChoice, threads: int
) -> Translate:
    """Contenders of this project."""
    engine = choice.prepare(model, CPU)

    def translate(beam: int, sources: Written) -> Written:
        method: Any = "beam" if beam > 1 else "greedy"
        settings = DecodingSettings(method=method, beam=beam, max_extra_length=extra)
        torch.set_num_threads(threads)
        request = SearchRequest(special, settings, CPU, want_scores=False)
        found = decode(model, sources, request, engine)
        return [hypotheses[0].ids for hypotheses in found]

    return translate


def in_ctranslate2(
    folder: Path, special: SpecialIds, asked: argparse.Namespace, kind: str, forced: int
) -> Callable[[int, int, Written], Written]:
    """The peer: beam, tokens of a batch, sentences; `forced` tokens are written, 0 for as many as
    it likes."""
    import ctranslate2

    translator = ctranslate2.Translator(
        str(folder), compute_type=kind, inter_threads=asked.threads, intra_threads=1
    )
    lengths = {"min_decoding_length": forced, "max_decoding_length": forced or 256}

    def translate(beam: int, batch: int, sources: Written) -> Written:
        results = translator.translate_batch(
            [[str(i) for i in ids] for ids in sources],
            beam_size=beam,
            length_penalty=1,
            suppress_sequences=[[str(i)] for i in special.unwritten],
            max_batch_size=batch,
            batch_type="tokens",
            **lengths,
        )
        return [[int(token) for token in result.hypotheses[0]] for result in results]

    return translate


def timed(work: Callable[[], Written]) -> tuple[float, float, Written]:
    """Seconds of the clock, seconds of processors, and what came out."""
    clock, used = time.perf_counter(), time.process_time()
    found = work()
    return time.perf_counter() - clock, time.process_time() - used, found


def best_batch(
    translate: Callable[[int, int, Written], Written],
    beam: int,
    sizes: Sequence[int],
    sources: Written,
) -> int:
    """Where the peer is fastest, each tried twice."""
    seconds = {
        size: min(timed(lambda n=size: translate(beam, n, sources))[0] for _ in range(2))
        for size in sizes
    }
    return min(seconds, key=lambda size: seconds[size])


class Texts(NamedTuple):
    """What is translated, and how."""

    named: str
    model: Any
    special: SpecialIds
    sources: Written
    n_tokens: int
    extra: int
    forced: int
    """Tokens that each writes; 0 for as many as it likes."""


def of_run(asked: argparse.Namespace) -> Texts:
    """A trained model and lines of text."""
    translator = Translator.load(asked.run, device="cpu")
    lines = asked.source.read_text(encoding="utf-8").splitlines()[: asked.sentences or None]
    sources = [list(ids) for ids in translator.subwords.encode_batch(lines)]
    n_tokens = len(translator.model.output_weight)
    return Texts(
        asked.run.name, translator.model, translator.subwords.special, sources, n_tokens, 50, 0
    )


def of_shape(asked: argparse.Namespace, shape: str, vocabulary: int) -> Texts:
    """A random model and random sources."""
    draw = torch.Generator().manual_seed(1)
    size = (asked.sentences or SENTENCES[shape], asked.length - 1)
    sources = torch.randint(4, vocabulary, size, generator=draw).tolist()
    model = random_model(shape, vocabulary)
    named = f"{shape}, {vocabulary:,} sub-words"
    return Texts(named, model, SpecialIds(), sources, vocabulary, 0, asked.length)


def main() -> None:
    """For each model rounds, then a line for each contender and search."""
    options = parser(__doc__)
    options.add_argument("--run", type=Path)
    options.add_argument("--source", type=Path)
    options.add_argument("--shape", choices=list(SHAPES), nargs="*", default=list(SHAPES))
    options.add_argument("--vocabulary", type=int, nargs="*", default=[8000, 32000])
    options.add_argument("--length", type=int, default=14)
    options.add_argument("--sentences", type=int, help="1,000 of tiny, 100 of paper-base")
    options.add_argument("--alone", type=int, default=100)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--torch", action="store_true")
    options.add_argument("--batches", type=int, nargs="*", default=[512, 1024, 2048, 4096])
    add_record_option(options)
    asked = options.parse_args()
    torch.set_num_threads(asked.threads)

    rows: list[dict[str, Any]] = []
    shapes = [(shape, size) for shape in asked.shape for size in asked.vocabulary]
    for texts in [of_run(asked)] if asked.run else (of_shape(asked, *one) for one in shapes):
        print(f"{texts.named}: {len(texts.sources):,} sentences, {asked.threads} threads")
        with TemporaryDirectory() as place:
            folder = Path(place) / "peer"
            folder.mkdir()
            tokens = [str(i) for i in range(texts.n_tokens)]
            write_ctranslate2(texts.model, tokens, texts.special, folder, 2048)
            found = measured(texts, folder, asked)
        for row in found:
            print(in_words(row), flush=True)
        rows += [{"model": texts.named, **row} for row in found]
    write(asked.record, "engine", seeds=[1], figures={"rows": rows})


def in_words(row: dict[str, Any]) -> str:
    """A line."""
    by = "; ".join(
        f"{row[f'per_s_{unit}']:7.1f} a {unit} second, "
        f"{row[f'of_float32_{unit}']:.2f}x CTranslate2 float32, "
        f"{row[f'of_best_{unit}']:.2f}x its best"
        for unit in ("clock", "processor")
    )
    alone = f"alone {row['alone_median_ms']:.2f} ms, p99 {row['alone_p99_ms']:.2f}"
    return f"beam {row['beam']} {row['name']:20} {by}; {alone}; {row['differing']} texts differ"


def measured(texts: Texts, folder: Path, asked: argparse.Namespace) -> list[dict[str, Any]]:
    """One row of figures for each contender and search."""
    # CTranslate2 sets the number of threads of the whole process to its own: it is said each time.
    contenders: dict[str, Translate] = {
        f"native {precision}": in_headway(
            texts.model,
            texts.special,
            texts.extra,
            EngineChoice("native", precision),
            asked.threads,
        )
        for precision in PRECISIONS
    }
    if asked.torch:
        contenders["torch"] = in_headway(
            texts.model, texts.special, texts.extra, EngineChoice("torch"), asked.threads
        )
    for kind in ("float32", "int8"):
        peer = in_ctranslate2(folder, texts.special, asked, kind, texts.forced)
        sizes = {beam: best_batch(peer, beam, asked.batches, texts.sources) for beam in BEAMS}
        print(f"CTranslate2 {kind}: batches of {sizes} tokens", flush=True)
        contenders[f"CTranslate2 {kind}"] = lambda beam, some, peer=peer, sizes=sizes: peer(
            beam, sizes[beam], some
        )
    for translate in contenders.values():
        translate(1, texts.sources[:8])  # what is done once
    taken: Taken = {}
    for _ in range(asked.rounds):
        for beam in BEAMS:
            for name, translate in contenders.items():
                one = timed(lambda t=translate, b=beam: t(b, texts.sources))
                taken.setdefault((beam, name), []).append(one)
    waited = alone(contenders, texts.sources[: asked.alone])
    return [
        {**row_of(name, beam, taken, len(texts.sources)), **waited[beam, name]}
        for beam, name in taken
    ]


def alone(
    contenders: dict[str, Translate], sources: Written
) -> dict[tuple[int, str], dict[str, float]]:
    """What a sentence that comes alone waits for, in milliseconds of the clock."""
    waited: dict[tuple[int, str], list[float]] = {}
    for ids in sources:
        for beam in BEAMS:
            for name, translate in contenders.items():
                seconds = timed(lambda t=translate, b=beam, one=ids: t(b, [one]))[0]
                waited.setdefault((beam, name), []).append(1000 * seconds)
    return {
        key: {
            "alone_median_ms": median(times),
            "alone_p99_ms": sorted(times)[int(0.99 * (len(times) - 1))],
        }
        for key, times in waited.items()
    }


def row_of(name: str, beam: int, taken: Taken, n: int) -> dict[str, Any]:
    """Figures of one contender: by the clock, and by processor time, which other work on the
    machine hardly changes."""
    row: dict[str, Any] = {"beam": beam, "name": name}
    for unit, which in (("clock", 0), ("processor", 1)):
        seconds = {
            other: median(run[which] for run in runs)
            for (its_beam, other), runs in taken.items()
            if its_beam == beam
        }
        peers = [value for other, value in seconds.items() if "CTranslate2" in other]
        row[f"per_s_{unit}"] = n / seconds[name]
        row[f"of_float32_{unit}"] = seconds["CTranslate2 float32"] / seconds[name]
        row[f"of_best_{unit}"] = min(peers) / seconds[name]
    ours, reference = taken[beam, name][0][2], taken[beam, "native fp32"][0][2]
    row["differing"] = sum(a != b for a, b in zip(ours, reference, strict=True))
    return row


if __name__ == "__main__":
    main()
