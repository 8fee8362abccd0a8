"""All that matters on a GPU, in one call of at most ten minutes, with generated data.

    python benchmarks/gpu.py --results docs/results.md --record FILE
    python benchmarks/gpu.py --device cpu --tiny --seconds 2            the same code, anywhere
    python benchmarks/gpu.py --device cpu --presets tiny --source F --target F --rounds 4

For each preset: target tokens a second of `headway train`, and the share of the card's peak, with
padded batches of like length and with packed ones of one shape, layers compiled or not, batches
made ahead or not, updates replayed or not; memory, time to the first update, and the share of the
time in which training waits for a batch; with --peer the same of Hugging Face's Marian (`pip
install transformers`), of the same shape, on the same padded pairs, which lie on the card already.
Then decoding, greedy and with a beam of 4, also by the processors beside the card. Operations are
counted on real tokens: a multiplication and an addition are two, backward is twice forward. What
the time does not suffice for is left out, and said. Pairs are as long as those of WMT 2014, 4.5
million.
"""

import argparse
import gc
import re
import resource
import time
from collections.abc import Callable
from copy import copy, deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import record
import torch
from numpy.typing import NDArray

from headway.core import runtime
from headway.core.dataset import PairsSettings, prepare_in_memory
from headway.core.errors import ConfigError
from headway.core.hypothesis import DecodingSettings, SearchRequest
from headway.core.learning import ValidationLines, drawn
from headway.core.presets import PRESETS
from headway.core.run_folder import RunFolder
from headway.core.search import decode_all
from headway.core.subwords import SpecialIds, TextSettings
from headway.core.trainer import Trainer
from headway.core.transformer import Transformer, TransformerConfig
from headway.corpora.mixing import Use
from headway.operations.acceleration import compile_layers, replay
from headway.operations.prefetching import prefetch
from headway.runs.gradient import trainer_of
from headway.translation.corpus_task import CorpusTask
from headway.translation.decoding import EngineSearch
from headway.translation.packed_task import PackedTask
from headway.translation.spec import PlannedTranslation

SEED, LONGEST = 1, 250
BEGIN, END = "<!-- benchmarks/gpu.py -->", "<!-- end of benchmarks/gpu.py -->"
PEAKS = {
    "B200": 2250, "GH200": 989, "H200": 989, "H100 PCIe": 756, "H100 NVL": 835, "H100": 989,
    "A100": 312, "A800": 312, "L40S": 362, "L40": 181, "L4": 121, "A40": 150, "A30": 165,
    "A10G": 70, "A10": 125, "RTX 6000 Ada": 364, "A6000": 155, "A5000": 111,
    "4090": 165, "4080": 97, "3090": 71, "3080": 60,
}  # fmt: skip
"""Dense bf16 products with sums in float32, TFLOP/s, by NVIDIA's data sheets."""
PEER = "Hugging Face's Marian, padded"
TINY = {"encoder_layers": 1, "decoder_layers": 1, "d_model": 16, "d_ff": 32, "heads": 2}


class GeneratedSide:
    """Ids of one side of random pairs: slices of one long array, so that millions cost nothing."""

    def __init__(self, lengths: NDArray[np.int32], n_words: int, random: np.random.Generator):
        self.pool = random.integers(4, n_words, 1 << 20).astype(np.uint16)
        self.lengths = lengths
        self.starts = random.integers(0, len(self.pool) - LONGEST, len(lengths))

    def __getitem__(self, row: int) -> NDArray[np.uint16]:
        return self.pool[self.starts[row] : self.starts[row] + self.lengths[row]]


class GeneratedRows:
    """Random pairs: a `headway.core.translation_task.Rows`."""

    def __init__(self, n_pairs: int, n_words: int) -> None:
        random = np.random.default_rng(SEED)
        source = np.clip(random.lognormal(3.1, 0.65, n_pairs), 1, LONGEST).astype(np.int32)
        target = source * random.lognormal(0.05, 0.2, n_pairs)
        both = {"source": source, "target": np.clip(target, 1, LONGEST).astype(np.int32)}
        self.sides = {name: GeneratedSide(n, n_words, random) for name, n in both.items()}
        self.lengths = both

    def __getitem__(self, side: str) -> GeneratedSide:
        return self.sides[side]


@dataclass(frozen=True)
class Words:
    """A vocabulary of which nothing but its size is known."""

    n_words: int
    special: SpecialIds = field(default_factory=SpecialIds)

    def __len__(self) -> int:
        return self.n_words


@dataclass(frozen=True)
class Data:
    """What tasks ask of a corpus; nothing is validated here."""

    train: Any
    valid: Any
    subwords: Any
    valid_texts: tuple[tuple[str, str], ...] = (("", ""),)
    valid_uses: tuple[Use, ...] = (Use(),)
    rounds: None = None


class Variant(NamedTuple):
    """A way to train."""

    packed: bool
    compiled: bool
    ahead: bool
    replayed: bool = False

    def words(self) -> str:
        """For the table."""
        shape = "packed" if self.packed else "padded"
        return (
            f"{shape}{', compiled' * self.compiled}{', ahead' * self.ahead}"
            f"{', replayed' * self.replayed}"
        )


VARIANTS = (
    Variant(False, False, False), Variant(False, False, True), Variant(True, False, True),
    Variant(True, False, True, True), Variant(True, True, True, True), Variant(True, True, True),
    Variant(False, True, True),
)  # fmt: skip


class Measured(NamedTuple):
    """Of one way to train, in one round."""

    speed: float
    """Real target tokens a second."""
    operations: float
    """A second, of real tokens."""
    memory_gb: float
    first_s: float
    waiting: float
    """Share of the time."""
    full: float
    """Share of the places of both sides that hold real tokens."""


class Bench:
    """Everything that is measured on one device."""

    def __init__(self, asked: argparse.Namespace) -> None:
        self.asked, self.begun = asked, time.monotonic()
        precision = runtime.RuntimeSettings(device=asked.device, precision="auto", seed=SEED)
        self.runtime = runtime.start(precision)
        self.device = self.runtime.device
        self.on_gpu = self.device.type == "cuda"
        self.left_out: list[str] = []
        self.known: dict[tuple[int, int], dict[bool, CorpusTask]] = {}

    def wait(self) -> None:
        """Until the device has done what was asked of it: only then does a clock tell."""
        if self.on_gpu:
            torch.cuda.synchronize(self.device)

    def now(self) -> float:
        """Seconds: of the clock; without a GPU of this process, by the thread, whatever others do
        to the machine."""
        return time.perf_counter() if self.on_gpu else time.process_time() / self.runtime.threads

    def peak(self) -> tuple[float, str]:
        """Operations a second that the device can do at most in the precision of training."""
        if self.on_gpu:
            name = torch.cuda.get_device_name(self.device)
            for card, tera in PEAKS.items():
                if re.search(rf"\b{card}\b", name):
                    return tera * 1e12, f"{tera} TFLOP/s by its data sheet"
        size = 8192 if self.on_gpu else 1024
        a, b = torch.randn(2, size, size, device=self.device).to(self.runtime.dtype)
        times = []
        for _ in range(12):
            self.wait()
            clock = time.perf_counter()
            a @ b
            self.wait()
            times.append(time.perf_counter() - clock)
        found = 2 * size**3 / min(times)
        return found, f"{found / 1e12:.2f} TFLOP/s, measured with products of {size} x {size}"

    def tried(self, what: str, work: Callable[[], Any]) -> Any:
        """What it gives. Left out, and None, where the time is over, or it fails: the rest is
        measured all the same."""
        if time.monotonic() - self.begun > 60 * self.asked.minutes:
            self.left_out.append(f"{what} (the time was over)")
            return None
        try:
            return work()
        except Exception as error:
            why = f"{type(error).__name__}: {error}".partition("\n")[0]
            self.left_out.append(f"{what} ({why})")
            return None

    # -- training ---------------------------------------------------------------------------

    def tasks(
        self, preset: dict[str, Any]
    ) -> tuple[TransformerConfig, dict[bool, CorpusTask], int]:
        """The model's shape, the task padded and packed, and the size of the vocabulary."""
        asked, n_words = self.asked, preset.get("text", {}).get("vocabulary_size", 10_000)
        model = {key: value for key, value in preset["model"].items() if key != "type"}
        config = TransformerConfig(**{**model, **(TINY if asked.tiny else {})})
        self.training = PlannedTranslation(
            batch_tokens=asked.batch_tokens or preset["training"]["batch_tokens"],
            pack_length=asked.pack_length, max_steps=10**6, warmup_steps=10**3, learning_rate=1e-4,
        )  # fmt: skip
        key = self.training.batch_tokens, n_words
        if key not in self.known:  # millions of pairs are put in order
            data = self.data(500 if asked.tiny else n_words)
            how = {"valid_rows": np.arange(1), "seed": SEED, "device": self.device}
            kinds = {False: CorpusTask, True: PackedTask}
            self.known[key] = {
                packed: kind(data, self.training, **how)  # type: ignore[arg-type]
                for packed, kind in kinds.items()
            }
        found = self.known[key]
        return config, found, len(found[False].subwords)

    def data(self, n_words: int) -> Data:
        """Pairs of files, or generated ones of a vocabulary of this size."""
        asked = self.asked
        if asked.source:
            files = PairsSettings(source=(asked.source,), target=(asked.target,))
            held = prepare_in_memory(files, TextSettings(), seed=SEED, say=print)
            return Data(held.train, held.valid, held.subwords)
        rows = GeneratedRows(2_000 if asked.tiny else asked.pairs, n_words)
        return Data(rows, rows, Words(n_words))

    def measure(
        self, config: TransformerConfig, task: CorpusTask, n_words: int, variant: Variant
    ) -> Measured:
        """Build what `headway train` builds, and make updates for a while."""
        gc.collect()
        if self.on_gpu:
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats(self.device)
        begun = time.perf_counter()
        trainer = self.trainer(config, task, n_words, variant)
        task = trainer.task
        waits: list[float] = []
        taken: list[Any] = []
        task.next_batch = timed(task.next_batch, waits, taken)  # type: ignore[method-assign]
        task.tensors = timed(task.tensors, waits)  # type: ignore[method-assign]
        trainer.train_step()
        self.wait()
        first_s = time.perf_counter() - begun
        for _ in range(1 if self.asked.tiny else 4):  # other shapes may be compiled
            trainer.train_step()
        self.wait()
        waits.clear()
        taken.clear()
        clock, begun = self.now(), time.perf_counter()
        while time.perf_counter() - begun < self.asked.seconds:
            trainer.train_step()
        self.wait()
        passed, spent = time.perf_counter() - begun, self.now() - clock
        lengths = [[side[b.rows[1]] + 1 for side in task.train.lengths.values()] for b in taken]
        places = sum(places_of(task, both) for both in lengths)
        memory = torch.cuda.max_memory_allocated(self.device) if self.on_gpu else resident()
        return Measured(
            speed=sum(batch.units for batch in taken) / spent,
            operations=sum(operations(config, n_words, *both) for both in lengths) / spent,
            memory_gb=memory / 1e9,
            first_s=first_s,
            waiting=sum(waits) / passed,
            full=sum(int(side.sum()) for both in lengths for side in both) / places,
        )

    def measure_peer(self, config: TransformerConfig, task: CorpusTask, n_words: int) -> Measured:
        """Hugging Face's Marian: mixed precision as its trainer has it, a fused optimizer."""
        from transformers import MarianConfig, MarianMTModel

        gc.collect()
        if self.on_gpu:
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats(self.device)
        stream, begun = copy(task.stream), time.perf_counter()
        rows = [stream.next() for _ in range(2 if self.asked.tiny else 32)]
        given = [task.tensors(task.train, one) for one in rows]
        padding = task.special.padding
        torch.manual_seed(SEED)
        model = MarianMTModel(
            MarianConfig(
                vocab_size=n_words, d_model=config.d_model, max_position_embeddings=512,
                encoder_layers=config.encoder_layers, decoder_layers=config.decoder_layers,
                encoder_attention_heads=config.heads, decoder_attention_heads=config.heads,
                encoder_ffn_dim=config.d_ff, decoder_ffn_dim=config.d_ff, dropout=config.dropout,
                activation_function="relu", scale_embedding=True, pad_token_id=padding,
                eos_token_id=task.special.end, decoder_start_token_id=task.special.decoder_begin,
            )
        ).to(self.device).train()  # fmt: skip
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)

        def update(n: int) -> None:
            source, fed, expected = given[n % len(given)]
            with torch.autocast(self.device.type, torch.bfloat16):
                logits = model(
                    input_ids=source, attention_mask=source != padding, decoder_input_ids=fed
                ).logits
                loss = torch.nn.functional.cross_entropy(
                    logits.flatten(0, 1), expected.flatten(),
                    ignore_index=padding, label_smoothing=0.1,
                )  # fmt: skip
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()

        update(0)
        self.wait()
        first_s = time.perf_counter() - begun
        for n in range(len(given)):  # each shape once
            update(n)
        self.wait()
        clock, begun, n = self.now(), time.perf_counter(), 0
        while time.perf_counter() - begun < self.asked.seconds or n % len(given):
            update(n)
            n += 1
        self.wait()
        spent = (self.now() - clock) * len(given) / n
        lengths = [[side[one] + 1 for side in task.train.lengths.values()] for one in rows]
        places = sum(places_of(task, both) for both in lengths)
        memory = torch.cuda.max_memory_allocated(self.device) if self.on_gpu else resident()
        return Measured(
            speed=sum(int(target.sum()) for _, target in lengths) / spent,
            operations=sum(operations(config, n_words, *both) for both in lengths) / spent,
            memory_gb=memory / 1e9,
            first_s=first_s,
            waiting=0.0,
            full=sum(int(side.sum()) for both in lengths for side in both) / places,
        )

    def trainer(
        self, config: TransformerConfig, task: CorpusTask, n_words: int, variant: Variant
    ) -> Trainer[CorpusTask]:
        """A new one, at the task's beginning."""
        task = copy(task)
        task.stream = copy(task.stream)
        own, twin = (
            drawn(lambda: Transformer(config, vocabulary_size=n_words), SEED, self.device)
            for _ in range(2)
        )
        if variant.compiled:
            compile_layers(own, one_shape=variant.packed, backend=self.asked.backend)
        if variant.ahead:
            prefetch(task)
        if variant.replayed:
            replay(own, task)
        return trainer_of(
            own, twin, task, RunFolder(Path()), self.training,
            dtype=self.runtime.dtype, reporter=ValidationLines(print),
        )  # fmt: skip

    def training_rows(self, name: str, peak: float) -> tuple[list[list[str]], dict[str, Any]]:
        """A line of the table for each way to train, and every figure."""
        config, tasks, n_words = self.tasks(PRESETS[name])
        ways = [one for one in VARIANTS if not (one.compiled and self.asked.uncompiled)
                and (self.on_gpu or not one.replayed)]  # fmt: skip
        works: dict[str, Callable[[], Measured]] = {
            way.words(): partial(self.measure, config, tasks[way.packed], n_words, way)
            for way in ways
        }
        if self.asked.peer:
            works[PEER] = partial(self.measure_peer, config, tasks[False], n_words)
        found: dict[str, list[Measured]] = {way: [] for way in works}
        for n in range(self.asked.rounds):
            for way, its in found.items():
                what = f"{name}, {way}, round {n + 1}"
                if measured := self.tried(what, works[way]):
                    its.append(measured)
                    print(f"{what}: {measured.speed:,.0f} target tokens/s", flush=True)
        found = {way: its for way, its in found.items() if its}
        rows = []
        for way, its in found.items():
            of = [median(column) for column in zip(*its, strict=True)]
            speed, n_operations, memory, first_s, waiting, full = of
            first = next(iter(found.values()))
            by = median(a.speed / b.speed for a, b in zip(its, first, strict=False))
            rows.append([name, way, f"{speed:,.0f}", f"{by:.2f}",
                         f"{n_operations / peak:.1%}", f"{full:.1%}", f"{memory:.2f}",
                         f"{first_s:.1f}", f"{waiting:.1%}"])  # fmt: skip
        figures = {way: [one._asdict() for one in its] for way, its in found.items()}
        return rows, figures

    # -- decoding ---------------------------------------------------------------------------

    def decoding_rows(self, name: str) -> tuple[list[list[str]], dict[str, Any]]:
        """Sentences a second, by search and by how many are translated side by side. Weights are
        random, so no output ends by itself: each is as long as its source."""
        config, tasks, n_words = self.tasks(PRESETS[name])
        model = drawn(lambda: Transformer(config, vocabulary_size=n_words), SEED, self.device)
        model.eval()
        models = {"": model}
        if self.on_gpu:
            models[f" by the engine on {self.runtime.threads} processors"] = deepcopy(model).cpu()
        store, rows, figures = tasks[False].train, list[list[str]](), dict[str, Any]()
        for method, beam in (("greedy", 1), ("beam", 4)):
            settings = DecodingSettings(method=method, beam=beam, max_extra_length=0)  # type: ignore[arg-type]
            sizes = (1, 2) if self.asked.tiny else (1, 32, 256)
            for (by, searched), n_rows in product(models.items(), sizes):
                words = f"{method}{f' {beam}' if beam > 1 else ''}, {n_rows}{by}"
                some = [store["source"][i] for i in range(n_rows)]
                what = f"{name}, {words} sentences at once"
                work = partial(self.searches, searched, some, settings)
                if not (spent := self.tried(what, work)):
                    continue
                speed = n_rows / median(spent)
                tokens = speed * float(np.mean([len(one) for one in some]))
                rows.append([name, words, f"{speed:,.1f}", f"{tokens:,.0f}"])
                figures[words] = {"sentences_s": speed, "tokens_s": tokens}
        return rows, figures

    def searches(self, model: Transformer, some: list[Any], settings: Any) -> list[float]:
        """Seconds of a search, many times; the first does not count."""
        beam, device = settings.method == "beam", next(model.parameters()).device
        request = SearchRequest(
            SpecialIds(), settings, device, want_scores=beam, batch_tokens=1 << 20
        )
        search = EngineSearch() if self.on_gpu and device.type == "cpu" else decode_all
        spent = list[float]()
        with torch.inference_mode():
            while sum(spent) < self.asked.seconds / 2 or len(spent) < 2:
                self.wait()
                clock = time.perf_counter()
                search(model, some, request)
                self.wait()
                spent.append(time.perf_counter() - clock)
        return spent[1:]


def timed(
    work: Callable[..., Any], seconds: list[float], found: list[Any] | None = None
) -> Callable[..., Any]:
    """The same, which notes how long it takes, and what it gives."""

    def doing(*given: Any) -> Any:
        clock = time.perf_counter()
        what = work(*given)
        seconds.append(time.perf_counter() - clock)
        if found is not None:
            found.append(what)
        return what

    return doing


def resident() -> int:
    """Bytes that this process has had in memory at most, whatever was measured before."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def places_of(task: CorpusTask, lengths: list[NDArray[Any]]) -> int:
    """Of both sides of a batch, padding included."""
    if isinstance(task, PackedTask):
        return task.packed.n_rows * sum(task.packed.row_lengths)
    return sum(len(side) * int(side.max()) for side in lengths)


def operations(
    config: TransformerConfig, n_words: int, source: NDArray[Any], target: NDArray[Any]
) -> float:
    """Of an update on pairs of these many tokens, markers included, forward and backward."""
    queries, values = config.heads * config.key_size, config.heads * config.value_size
    attention = 2 * config.d_model * (2 * queries + 2 * values)  # four projections of a token
    read = 2 * config.d_model * (queries + values)  # of a source token, in each decoder layer
    inner = 2 * config.d_model * config.d_ff * (3 if config.activation == "swiglu" else 2)
    scores = 2 * (queries + values)  # of a query with a key
    squares = (source.astype(float) ** 2).sum(), (target.astype(float) ** 2).sum()
    both = (source.astype(float) * target).sum()
    encoder = (attention + inner) * source.sum() + scores * squares[0]
    decoder = (2 * attention - read + inner) * target.sum() + read * source.sum()
    decoder += scores * (squares[1] + both)
    whole = config.encoder_layers * encoder + config.decoder_layers * decoder
    return 3 * float(whole + 2 * config.d_model * n_words * target.sum())


def report(bench: Bench) -> tuple[str, dict[str, Any]]:
    """Everything, as Markdown and as figures."""
    peak, how = bench.peak()
    training, decoding = list[list[str]](), list[list[str]]()
    figures: dict[str, Any] = {"peak": peak, "training": {}, "decoding": {}}
    for name in bench.asked.presets:
        rows, figures["training"][name] = bench.training_rows(name, peak)
        training += rows
    for name in bench.asked.presets:
        rows, figures["decoding"][name] = bench.decoding_rows(name)
        decoding += rows
    asked, size, length = bench.asked, bench.training.batch_tokens, bench.training.pack_length
    lines = [
        f"{datetime.now(UTC):%Y-%m-%d}, {bench.runtime.described}, torch {torch.__version__}; peak "
        f"{how}; batches of {size:,} tokens, rows of {length}, "
        f"{'' if asked.source else 'generated pairs, '}seed {SEED}, {asked.rounds} times "
        f"{asked.seconds:g} s of each. Memory is "
        f"{'of the card' if bench.on_gpu else 'the most that the process has had so far'}"
        f"{'' if bench.on_gpu else '; speeds are by seconds of the processor'}.",
        "",
        record.table(["preset", "batches", "target tokens/s", "by the first", "of the peak", "full",
                      "GB", "first update, s", "waiting"], training),
        "",
        record.table(["preset", "search, sentences at once", "sentences/s", "tokens/s"], decoding),
    ]  # fmt: skip
    if bench.left_out:
        lines += ["", f"Left out: {'; '.join(bench.left_out)}."]
    figures["left_out"] = bench.left_out
    return "\n".join(lines), figures


def put_into(results: Path, text: str) -> None:
    """Between the marks that the file has."""
    whole = results.read_text(encoding="utf-8")
    before, begin, rest = whole.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ConfigError(f"--results names a file with the lines {BEGIN} and {END}; {results} has "
                          "them not. Put them where the table is to be.")  # fmt: skip
    results.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")


def main() -> int:
    """Measure, print, record."""
    parser = record.parser(__doc__)
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--presets", nargs="+", choices=[*PRESETS], metavar="NAME",
                        default=["paper-base", "paper-big"])  # fmt: skip
    parser.add_argument("--seconds", type=float, default=12, help="for each way to train")
    parser.add_argument("--minutes", type=float, default=8, help="after which nothing is begun")
    parser.add_argument("--rounds", type=int, default=1, help="all ways, one after the other")
    parser.add_argument("--batch-tokens", type=int, default=0, help="otherwise the preset's")
    parser.add_argument("--pack-length", type=int, default=512, help="of packed rows")
    parser.add_argument("--pairs", type=int, default=4_500_000, help="generated")
    parser.add_argument("--source", type=Path, metavar="F", help="pairs of files instead")
    parser.add_argument("--target", type=Path, metavar="F")
    parser.add_argument("--tiny", action="store_true", help="the smallest model, few pairs")
    parser.add_argument("--peer", action="store_true", help="Hugging Face's Marian as well")
    parser.add_argument("--uncompiled", action="store_true", help="leave torch.compile out")
    parser.add_argument("--backend", default="inductor", help="of torch.compile")
    parser.add_argument("--results", type=Path, metavar="FILE", help="put the tables into it")
    record.add_record_option(parser)
    bench = Bench(asked := parser.parse_args())
    text, figures = report(bench)
    print(f"\n{text}")
    if asked.results:
        put_into(asked.results, text)
    record.write(asked.record, "gpu", seeds=[SEED], figures=figures)
    return 0


if __name__ == "__main__":
    raise SystemExit(record.exit_status(main))
