"""How fast sentences become translations: the compiled engine, torch, and CTranslate2, in turn.

Same weights, same ids, from ids to ids: tokenization and loading are not counted. In every round
each contender translates all sentences of --source once greedily and once with a beam of 5, one
after the other (A B C A B C ..), so that what else the machine does hits all alike; of each the
median over rounds is taken, of the clock and of processor time. CTranslate2 is given the best of
--batches (tokens) for each search, found before. Ratios are to CTranslate2 in float32, and to the
faster of its float32 and int8. Texts that differ from torch's are counted, greedy search's of
CTranslate2 too (its beam search has another length penalty and another end).

Without --run a model of --shape with random weights writes as many tokens as each source has,
--length for all. Run: python benchmarks/engine.py --run RUN --source test_2016_flickr.en
"""

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import torch
from record import add_record_option, parser, write

from headway.decoding.search import decode_all
from headway.decoding.settings import DecodingSettings
from headway.exchange.ctranslate2 import write_ctranslate2
from headway.models import Transformer, TransformerConfig
from headway.text.subwords import SpecialIds
from headway.translator import Translator

SHAPES = {
    "tiny": {"encoder_layers": 4, "decoder_layers": 4, "d_model": 128, "d_ff": 256, "heads": 4},
    "paper-base": {},
}
BEAMS = (1, 5)
Written = list[list[int]]
Translate = Callable[[int], Written]
"""All sentences with a beam of so many hypotheses; 1 is greedy."""
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
    model: Transformer, sources: Written, special: SpecialIds, extra: int, **how: Any
) -> Translate:
    """Contenders of this project."""
    kept: dict[str, Any] = {}

    def translate(beam: int) -> Written:
        method: Any = "beam" if beam > 1 else "greedy"
        settings = DecodingSettings(method=method, beam=beam, max_extra_length=extra)
        found = decode_all(
            model,
            sources,
            special,
            settings,
            device=torch.device("cpu"),
            want_scores=False,
            kept=kept,
            **how,
        )
        return [hypotheses[0].ids for hypotheses in found]

    return translate


def in_ctranslate2(
    folder: Path,
    sources: Written,
    special: SpecialIds,
    asked: argparse.Namespace,
    kind: str,
    forced: int,
) -> Callable[[int, int], Written]:
    """The peer: beam and tokens of a batch; `forced` tokens are written, 0 for as many as it
    likes."""
    import ctranslate2

    translator = ctranslate2.Translator(
        str(folder), compute_type=kind, inter_threads=asked.threads, intra_threads=1
    )
    spelled = [[str(i) for i in ids] for ids in sources]
    lengths = {"min_decoding_length": forced, "max_decoding_length": forced or 256}

    def translate(beam: int, batch: int) -> Written:
        results = translator.translate_batch(
            spelled,
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


def best_batch(translate: Callable[[int, int], Written], beam: int, sizes: Sequence[int]) -> int:
    """Where the peer is fastest, each tried twice."""
    seconds = {
        size: min(timed(lambda n=size: translate(beam, n))[0] for _ in range(2)) for size in sizes
    }
    return min(seconds, key=lambda size: seconds[size])


def main() -> None:
    """Rounds, then a line for each contender and search."""
    options = parser(__doc__)
    options.add_argument("--run", type=Path)
    options.add_argument("--source", type=Path)
    options.add_argument("--shape", choices=list(SHAPES), default="tiny")
    options.add_argument("--vocabulary", type=int, default=8000)
    options.add_argument("--length", type=int, default=14)
    options.add_argument("--sentences", type=int, default=1000)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--batches", type=int, nargs="*", default=[512, 1024, 2048, 4096])
    add_record_option(options)
    asked = options.parse_args()
    torch.set_num_threads(asked.threads)

    if asked.run:
        translator = Translator.load(asked.run, device="cpu")
        lines = asked.source.read_text(encoding="utf-8").splitlines()[: asked.sentences]
        model, special = translator.model, translator.subwords.special
        sources = [list(ids) for ids in translator.subwords.encode_batch(lines)]
        n_tokens, extra, forced = len(model.output_weight), 50, 0
    else:
        model, special = random_model(asked.shape, asked.vocabulary), SpecialIds()
        draw = torch.Generator().manual_seed(1)
        shape = (asked.sentences, asked.length - 1)
        sources = torch.randint(4, asked.vocabulary, shape, generator=draw).tolist()
        n_tokens, extra, forced = asked.vocabulary, 0, asked.length
    with TemporaryDirectory() as place:
        folder = Path(place) / "peer"
        folder.mkdir()
        write_ctranslate2(model, [str(i) for i in range(n_tokens)], special, folder, 2048)
        rows = measured(model, sources, special, extra, forced, folder, asked)
    for row in rows:
        by = "; ".join(
            f"{row[f'per_s_{unit}']:7.1f} sentences a {unit} second, "
            f"{row[f'of_float32_{unit}']:.2f}x CTranslate2 float32, "
            f"{row[f'of_best_{unit}']:.2f}x its best"
            for unit in ("clock", "processor")
        )
        print(f"beam {row['beam']} {row['name']:20} {by}; {row['differing']} texts differ")
    write(asked.record, "engine", seeds=[1], figures={"rows": rows})


def measured(
    model: Any,
    sources: Written,
    special: SpecialIds,
    extra: int,
    forced: int,
    folder: Path,
    asked: argparse.Namespace,
) -> list[dict[str, Any]]:
    """One row of figures for each contender and search."""
    # CTranslate2 sets the number of threads of the whole process to its own: it is said each time.
    contenders: dict[str, Translate] = {
        name: in_headway(model, sources, special, extra, engine=name, processes=asked.threads)
        for name in ("torch", "native")
    }
    for kind in ("float32", "int8"):
        peer = in_ctranslate2(folder, sources, special, asked, kind, forced)
        sizes = {beam: best_batch(peer, beam, asked.batches) for beam in BEAMS}
        print(f"CTranslate2 {kind}: batches of {sizes} tokens")
        contenders[f"CTranslate2 {kind}"] = lambda beam, peer=peer, sizes=sizes: peer(
            beam, sizes[beam]
        )
    for translate in contenders.values():
        translate(1)  # what is done once
    taken: Taken = {}
    for _ in range(asked.rounds):
        for beam in BEAMS:
            for name, translate in contenders.items():
                one = timed(lambda t=translate, b=beam: t(b))
                taken.setdefault((beam, name), []).append(one)
    return [row_of(name, beam, taken, len(sources)) for beam, name in taken]


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
    ours, reference = taken[beam, name][0][2], taken[beam, "torch"][0][2]
    row["differing"] = sum(a != b for a, b in zip(ours, reference, strict=True))
    return row


if __name__ == "__main__":
    main()
