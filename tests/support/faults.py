"""What may happen to a run: kills, a failing disk, flipped bits, two at once, hostile folders.

The suite takes a few cases of each kind, `benchmarks/faults.py` as many as are asked for.
"""

import contextlib
import functools
import json
import os
import random
import shutil
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from faulty_disk import End, Nursery, nursery

from headway.core.disk import checksum, digest
from headway.demo import generate

SMALL = (
    "--preset=tiny --model.d-model=16 --model.heads=2 --model.d-ff=16 --model.encoder-layers=1 "
    "--model.decoder-layers=1 --training.max-steps=6 --training.checkpoint-every=2 "
    "--training.average=2 --training.log-every=1 --training.batch-tokens=200 "
    "--training.learning-rate=0.01 --runtime.threads=1 --runtime.device=cpu "
    "--text.vocabulary-size=400 --data.valid-size=20 --training.valid-sentences=4 "
    "--decoding.max-extra-length=3 --decoding.beam=2"
).split()
"""A training of a second; everything that a large one writes is written."""


@dataclass(frozen=True)
class Ground:
    """Text, a way to start processes, and what an undisturbed run of it leaves."""

    folder: Path
    nursery: Nursery
    reference: Path
    n_calls: int
    """What the undisturbed run wrote, in calls."""

    def train(self, out: Path) -> list[str]:
        """The command that begins a run, or goes on with it."""
        files = ["--source", str(self.folder / "a.en"), "--target", str(self.folder / "a.zh")]
        return ["train", *files, "--out", str(out), "--resume", *SMALL]


@contextlib.contextmanager
def ground(folder: Path) -> Iterator[Ground]:
    """Made in a folder, which should be in memory if there is much to do."""
    pairs = sorted(generate(2000, 3), key=lambda pair: len(pair[0]))[:200]  # short: a life is quick
    for name, side in zip(("a.en", "a.zh"), zip(*pairs, strict=True), strict=True):
        (folder / name).write_text("".join(f"{text}\n" for text in side), encoding="utf-8")
    with nursery(folder, folder / "cache") as some:
        empty = Ground(folder, some, folder / "reference", 0)
        some.life(empty.train(folder / "first"))  # fills the cache
        end = some.life(empty.train(empty.reference), below=empty.reference)
        assert end.status == 0, end.said
        yield Ground(folder, some, empty.reference, end.n_calls)


def contents(run: Path) -> dict[str, object]:
    """What must be the same of two runs: all but times and the names of folders."""
    lines = map(json.loads, (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines())
    log = [{key: value for key, value in line.items() if key != "time_s"} for line in lines]
    kept = ("config.toml", "tokenizer.json", "model.safetensors")
    weights = sorted(run.glob("checkpoints/*/weights.safetensors"))
    return {
        "log": log,
        **{name: (run / name).read_bytes() for name in kept if name != "config.toml"},
        "config": (run / "config.toml").read_text("utf-8").partition("# What the files")[0],
        **{str(path.relative_to(run)): path.read_bytes() for path in weights},
        "names": sorted(str(p.relative_to(run)) for p in run.rglob("*")),
    }


def difference(run: Path, reference: Path) -> str:
    """The first thing in which two finished runs differ; nothing where they are the same."""
    try:
        one, other = contents(run), contents(reference)
    except (OSError, ValueError) as error:
        return str(error)
    for key in one.keys() | other.keys():
        if one.get(key) != other.get(key):
            return f"{key}: {str(one.get(key))[:200]} .. {str(other.get(key))[:200]}"
    return ""


# -- kills and failing disks ------------------------------------------------------------------


class Trial(NamedTuple):
    """What was done to a run, and how that was not right; nothing where it was."""

    what: str
    wrong: str


def killed(place: Ground, out: Path, deaths: Sequence[dict[str, float]]) -> Trial:
    """A run that is killed at each of these moments, one after the other, and then left alone.

    With an `error` of -15 it is asked to stop there (SIGTERM), and may do so in its own way.
    """
    for death in deaths:
        end = place.nursery.life(place.train(out), below=out, **death)  # type: ignore[arg-type]
        if end.status not in (0, -9, -signal.SIGTERM, 130):
            return Trial(str(deaths), f"status {end.status}: {end.said[-500:]}")
    return _finished(place, out, f"killed at {deaths}")


def failing(place: Ground, out: Path, below: Path, at: int, error: int, lasting: bool) -> Trial:
    """A run whose disk fails at a call, once or for good, and that is then gone on with."""
    what = f"errno {error} at call {at} below {below.name}{', lasting' if lasting else ''}"
    before = _checkpoints(out)
    end = place.nursery.life(place.train(out), below=below, at=at, error=error, lasting=lasting)
    if lost := before - _checkpoints(out):
        return Trial(what, f"lost {lost}")
    if wrong := _unclear(end):
        return Trial(what, wrong)
    return _finished(place, out, what)


def _checkpoints(run: Path) -> set[str]:
    return {path.parent.name for path in run.glob("checkpoints/step-*/state.json")}


def _unclear(end: End) -> str:
    if "bug in headway" in end.said or end.status not in (0, 1, 2):
        return f"status {end.status}: {end.said[-500:]}"
    if end.status and "headway: error: " not in end.said:
        return f"no words for status {end.status}: {end.said[-500:]}"
    return ""


def _finished(place: Ground, out: Path, what: str) -> Trial:
    end = place.nursery.life(place.train(out))
    if end.status:
        return Trial(what, f"cannot be gone on with: {end.said[-500:]}")
    return Trial(what, difference(out, place.reference))


# -- flipped bits -----------------------------------------------------------------------------


def flipped(place: Ground, file: Path, rng: random.Random) -> Trial:
    """One bit of a file of the reference run or of the cache, flipped: refused, said or harmless.

    A finished run translates a line as before or says why not; one that is gone on with after its
    last checkpoints were lost, and whose cache is damaged, ends as it would have.
    """
    out = place.folder / "flipped"
    shutil.rmtree(out, ignore_errors=True)
    whole = file.read_bytes()
    at, bit = rng.randrange(len(whole)), rng.randrange(8)
    damaged = whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :]
    what = f"bit {bit} of byte {at:,} of {file.relative_to(place.folder)}"
    in_cache = file.is_relative_to(place.folder / "cache")
    if in_cache or "checkpoints" in file.parts:
        return _flipped_before_resuming(place, file, damaged, what)
    shutil.copytree(place.reference, out)
    (out / file.name).write_bytes(damaged)
    end, text = _translated(place, out)
    if wrong := _unclear(end):
        return Trial(what, wrong)
    expected = _expected(place)
    if end.status == 0 and text != expected:
        return Trial(what, f"another text without a word: {text!r}")
    return Trial(what, "")


def _flipped_before_resuming(place: Ground, file: Path, damaged: bytes, what: str) -> Trial:
    out, whole = place.folder / "flipped", file.read_bytes()
    shutil.copytree(place.reference, out)
    unfinished = (out / "config.toml").read_text("utf-8").partition("# What the files")[0]
    (out / "config.toml").write_text(unfinished.replace("finished = true\n", ""), "utf-8")
    for late in ("model.safetensors", "checks.json"):
        (out / late).unlink()
    target = file if file.is_relative_to(place.folder / "cache") else None
    target = target or out / file.relative_to(place.reference)
    target.write_bytes(damaged)
    try:
        end = place.nursery.life(place.train(out))
    finally:
        if target == file:
            file.write_bytes(whole)
    if wrong := _unclear(end):
        return Trial(what, wrong)
    if end.status:
        return Trial(what, "")
    model = (out / "model.safetensors").read_bytes()
    if model != (place.reference / "model.safetensors").read_bytes() and "damaged" not in end.said:
        return Trial(what, "another model without a word")
    return Trial(what, "")


@functools.cache
def _expected(place: Ground) -> str:
    """What the undisturbed run writes."""
    return _translated(place, place.reference)[1]


def _translated(place: Ground, run: Path) -> tuple[End, str]:
    text, out = place.folder / "new.en", place.folder / "new.zh"
    text.write_text("The dog runs.\nI love my sister.\n", encoding="utf-8")
    out.unlink(missing_ok=True)
    end = place.nursery.life(["translate", str(run), str(text), "--out", str(out)])
    return end, out.read_text(encoding="utf-8") if out.exists() else ""


def files_to_flip(place: Ground) -> list[Path]:
    """Of every class: the run's own, checkpoints, bare weights, and the cache."""
    both = [*sorted(place.reference.rglob("*")), *sorted((place.folder / "cache").rglob("*"))]
    return [p for p in both if p.is_file() and p.stat().st_size and p.suffix != ".md"]


# -- hostile folders --------------------------------------------------------------------------


Harm = Callable[[Path], None]
VERBS = ("translate", "evaluate", "init-from", "resume")
"""What opens a run that may be somebody else's."""


def harmed(place: Ground, name: str, verb: str, base: End) -> Trial:
    """A run with one of `HARMS` given to a verb: refused at once, in words that name the run.

    `base` is `good_load`. The run to be resumed was stopped before its end.
    """
    run, child = place.folder / "hostile", place.folder / "child"
    for left in (run, child):
        shutil.rmtree(left, ignore_errors=True)
    shutil.copytree(place.reference, run)
    if verb == "resume":
        make_stopped(run)
    HARMS[name](run)
    end = place.nursery.life(_command(place, verb, run, child), killed_after_s=30)
    return Trial(f"{name}, {verb}", _harm_done(place, name, verb, end, base))


def good_load(place: Ground) -> End:
    """A life that opens a run and translates a line with it."""
    end = place.nursery.life(_command(place, "translate", place.reference, place.folder / "none"))
    assert end.status == 0, end.said
    return end


def _command(place: Ground, verb: str, run: Path, child: Path) -> list[str]:
    text = place.folder / "new.en"
    text.write_text("The dog runs.\n", encoding="utf-8")
    files = place.train(child)[1:5]
    return {
        "translate": ["translate", str(run), str(text)],
        "evaluate": ["evaluate", str(run), "--source", files[1], "--reference", files[3]],
        "init-from": ["train", *files, "--out", str(child), "--init-from", str(run),
                      "--training.max-steps=2", "--training.checkpoint-every=2",
                      "--runtime.device=cpu"],
        "resume": ["train", "--out", str(run), "--resume"],
    }[verb]  # fmt: skip


def make_stopped(run: Path) -> None:
    """Make of a finished run one that was stopped before its last checkpoint."""
    config = (run / "config.toml").read_text(encoding="utf-8").partition("# What the files")[0]
    (run / "config.toml").write_text(config.replace("finished = true\n", ""), encoding="utf-8")
    for late in ("README.md", "checks.json"):
        (run / late).unlink(missing_ok=True)
    steps = sorted((run / "checkpoints").iterdir(), key=lambda path: int(path.name[5:]))
    shutil.rmtree(steps[-1])


def _harm_done(place: Ground, name: str, verb: str, end: End, base: End) -> str:
    needed = verb in needed_by(name)
    if end.status == 0 and not needed:
        return ""
    if end.status != 2:
        return f"status {end.status} after {end.seconds:.1f} s: {end.said[-400:]}"
    if "bug in headway" in end.said or str(place.folder / "hostile") not in end.said:
        return f"no file is named: {end.said[-400:]}"
    if end.seconds > base.seconds + 2 or end.n_bytes > base.n_bytes + 500e6:
        return f"{end.seconds:.1f} s and {(end.n_bytes - base.n_bytes) / 1e6:.0f} MB"
    return ""


def _setting(section: str, key: str, value: object) -> Harm:
    """config.toml with a value that is not what training wrote; its seal is taken off."""

    def harm(run: Path) -> None:
        text = (run / "config.toml").read_text(encoding="utf-8").partition("# What the files")[0]
        lines, inside = [], False
        for line in text.splitlines():
            inside = line == f"[{section}]" if line.startswith("[") else inside
            if not (inside and line.startswith(f"{key} =")):
                lines.append(line)
            if line == f"[{section}]":
                lines.append(f"{key} = {value}")
        (run / "config.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")

    return harm


def _file(name: str, content: bytes | None) -> Harm:
    def harm(run: Path) -> None:
        (run / name).unlink()
        if content is not None:
            (run / name).write_bytes(content)

    return harm


def _link(name: str, target: str) -> Harm:
    def harm(run: Path) -> None:
        (run / name).unlink()
        if target == "fifo":
            os.mkfifo(run / name)
        elif target == "folder":
            (run / name).mkdir()
        else:
            (run / name).symlink_to(target)

    return harm


def _cut(name: str, share: float) -> Harm:
    def harm(run: Path) -> None:
        data = (run / name).read_bytes()
        at = int(len(data) * share)
        if name.endswith(".toml"):  # whole lines would be settings: it ends within a name
            at = data.index(b"\n", at) + 3
        os.truncate(run / name, at)

    return harm


def _grown(name: str, n_bytes: int) -> Harm:
    return lambda run: os.truncate(run / name, n_bytes)


def _tensors(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Harm:
    def harm(run: Path) -> None:
        from safetensors.torch import load_file, save_file

        held = load_file(run / "model.safetensors")
        save_file(change(held), run / "model.safetensors")

    return harm


def _header(text: bytes) -> Harm:
    return _file("model.safetensors", len(text).to_bytes(8, "little") + text + bytes(64))


def _vocabulary(change: Callable[[dict[str, Any]], object]) -> Harm:
    def harm(run: Path) -> None:
        plain = json.loads((run / "tokenizer.json").read_text(encoding="utf-8"))
        change(plain)
        (run / "tokenizer.json").write_text(json.dumps(plain), encoding="utf-8")
        config = (run / "config.toml").read_text(encoding="utf-8").partition("# What the files")[0]
        (run / "config.toml").write_text(config, encoding="utf-8")

    return harm


def _state(change: Callable[[dict[str, Any]], object]) -> Harm:
    """Every checkpoint's state.json changed, and its checksum made to fit."""

    def harm(run: Path) -> None:
        for path in run.glob("checkpoints/*/state.json"):
            state = json.loads(path.read_text(encoding="utf-8"))
            sums = state.pop("sha256")
            state = change(state) or state
            if isinstance(state, dict):
                state["sha256"] = {**sums, "state.json": digest(state)}
            path.write_text(json.dumps(state), encoding="utf-8")

    return harm


def _each(name: str, harm: Callable[[str], Harm]) -> Harm:
    """The same done to a file of every checkpoint."""

    def harms(run: Path) -> None:
        for path in run.glob(f"checkpoints/*/{name}"):
            harm(str(path.relative_to(run)))(run)

    return harms


def _foreign_moments(run: Path) -> None:
    """Adam's moments of a larger model, and the checksums made to fit."""
    import torch

    from headway.core.tensor_files import load_tensors, save_tensors

    for path in run.glob("checkpoints/*/resume.safetensors"):
        held = {
            name: torch.cat([tensor, tensor]) if "exp_avg" in name else tensor
            for name, tensor in load_tensors(path).items()
        }
        save_tensors(held, path)
        sums = {"resume.safetensors": checksum(path)}
        state = json.loads((path.parent / "state.json").read_text(encoding="utf-8"))
        state["sha256"].update(sums)
        (path.parent / "state.json").write_text(json.dumps(state), encoding="utf-8")


def _described(*tensors: str) -> Harm:
    """Weights whose header has these entries, and which are sparse: no byte of them is on disk."""
    return _header(("{" + ",".join(tensors) + "}").encode())


def _forged(name: str, shape: object, offsets: object, kind: str = "F32") -> str:
    return json.dumps({name: {"dtype": kind, "shape": shape, "data_offsets": offsets}})[1:-1]


def _terabyte(run: Path) -> None:
    """A header that tells the truth of a file larger than any memory, all of which is holes."""
    _described(_forged("a", [1 << 38], [0, 1 << 40]))(run)
    with (run / "model.safetensors").open("rb") as file:
        n_bytes = int.from_bytes(file.read(8), "little")
    os.truncate(run / "model.safetensors", 8 + n_bytes + (1 << 40))


def _many_pieces(run: Path) -> None:
    """A vocabulary of 100 MB: a row of weights for each there is not."""
    more = {f"piece{i:030}": i + 1000 for i in range(2_000_000)}
    _vocabulary(lambda plain: plain["model"]["vocab"].update(more))(run)


def _unsealed(name: str, content: bytes) -> Harm:
    def harm(run: Path) -> None:
        _setting("run", "task", '"translation"')(run)
        (run / name).write_bytes(content)

    return harm


def _elsewhere(name: str) -> Harm:
    """The file is a link to one of the user's, which has the same content."""

    def harm(run: Path) -> None:
        shutil.move(run / name, run.with_name("mine"))
        (run / name).symlink_to(run.with_name("mine"))

    return harm


def _linked_folder(name: str) -> Harm:
    """A folder of the run is a link to one of the user's, with the same in it."""

    def harm(run: Path) -> None:
        theirs = run.with_name(f"my-{Path(name).name}")
        shutil.rmtree(theirs, ignore_errors=True)
        place = next(run.glob(name))
        shutil.move(place, theirs)
        place.symlink_to(theirs)

    return harm


_REPLACE = {"type": "Replace", "pattern": {"String": "e"}, "content": "e" * 100}


def _part(name: str, part: object) -> Harm:
    """tokenizer.json with another part, and no seal."""
    return _vocabulary(lambda plain: plain.update({name: part}))


_TOKENIZERS: dict[str, Harm] = {
    "a normalizer that writes 10^8 for one": _part(
        "normalizer", {"type": "Sequence", "normalizers": [_REPLACE] * 4}
    ),
    "a normalizer of nothing": _part("normalizer", {**_REPLACE, "pattern": {"String": ""}}),
    "a normalizer with a pattern": _part(
        "normalizer", {**_REPLACE, "pattern": {"Regex": "(a+)+b"}}
    ),
    "5,000 normalizers": _part(
        "normalizer", {"type": "Sequence", "normalizers": [{"type": "NFKD"}] * 5000}
    ),
    "an unknown normalizer": _part(
        "normalizer", {"type": "Precompiled", "precompiled_charsmap": ""}
    ),
    "a normalizer that is a list": _part("normalizer", [_REPLACE]),
    "a normalizer before each": _part("normalizer", {"type": "Prepend", "prepend": "e" * 10**6}),
    "words by a pattern": _part(
        "pre_tokenizer",
        {"type": "Split", "pattern": {"Regex": "(a+)+b"}, "behavior": "Isolated", "invert": False},
    ),
    "words by a long sign": _part(
        "pre_tokenizer",
        {
            "type": "Metaspace",
            "replacement": "e" * 10**6,
            "prepend_scheme": "always",
            "split": True,
        },
    ),
    "a decoder that writes 1,000 for one": _part("decoder", {**_REPLACE, "content": "x" * 1000}),
    "a decoder with a pattern": _part("decoder", {**_REPLACE, "pattern": {"Regex": "(a+)+b"}}),
    "a decoder with a long mark": _part("decoder", {"type": "BPEDecoder", "suffix": "e" * 10**6}),
    "an unknown decoder": _part("decoder", {"type": "CTC", "pad_token": "e" * 10**6}),
    "decoders in decoders": _part(
        "decoder",
        {"type": "Sequence", "decoders": [{"type": "Sequence", "decoders": [_REPLACE] * 50}] * 50},
    ),
    "pieces at random": _vocabulary(lambda plain: plain["model"].update(dropout=0.5)),
    "a piece of 10^6 characters": _vocabulary(
        lambda plain: plain["model"].update(
            vocab={
                ("x" * 10**6 if i == 9 else piece): i
                for piece, i in plain["model"]["vocab"].items()
            },
            merges=[],
        )
    ),
    "an unknown model": _vocabulary(lambda plain: plain["model"].update(type="Magic")),
    "words of 10^9 characters": _vocabulary(
        lambda plain: plain["model"].update(type="WordPiece", max_input_chars_per_word=10**9)
    ),
    "a model that is none": _part("model", None),
    "a decoder that is text": _part("decoder", "x"),
}
"""What a tokenizer.json may do to a text that it is given."""

_ABSURD: dict[str, dict[str, Sequence[object]]] = {
    "model": {
        "heads": (10**12, 0, -1, 3, '"four"', 2.5, "0x" + "f" * 6000, "[[2]]", "true"),
        "d_model": (10**12, 0, 7, 1 << 16),
        "d_ff": (10**12, 10**9, 1 << 20, -5),
        "encoder_layers": (10**12, 10**9, 1000, 0),
        "decoder_layers": (10**9, -1),
        "max_length": (10**15,),
        "d_k": (10**12,),
        "dropout": ("nan", 2.0),
        "layer_norm_epsilon": ("nan", "inf", 0.0),
        "residual_gain": ("nan", "inf", -1.0),
        "positions": ('"sideways"',),
        "type": ('"gpt"', 7),
        "wings": (2,),
    },
    "decoding": {
        "beam": (10**9, 0, -1, 10**30),
        "max_extra_length": (10**9, -3),
        "n_best": (10**9,),
        "length_penalty": ("1e308", "nan", "-1e308"),
        "temperature": ("1e-320", "inf"),
        "method": ('"magic"',),
        "seed": (10**30,),
    },
    "training": {
        "batch_tokens": (10**12, -1),
        "accumulate": (10**9, 0),
        "log_every": (0,),
        "max_steps": (10**18,),
        "average": (10**9,),
        "learning_rate": ("nan", "inf", 1e9),
        "budget": ('"99999999999d"', '"soon"'),
        "freeze": ("[7]",),
    },
    "data": {
        "max_characters": (-1, 10**18),
        "max_length": (10**15,),
        "workers": (10**9,),
        "source": (7,),
    },
    "runtime": {"threads": (10**9,), "seed": (-1, 10**30)},
    "text": {"vocabulary_size": (10**12,), "algorithm": ('"magic"',)},
    "run": {"task": ('"parrot"',), "finished": ('"perhaps"',)},
}

_WEIGHTS: dict[str, Harm] = {
    "an extra tensor": _tensors(lambda held: {**held, "more": next(iter(held.values())).clone()}),
    "a tensor less": _tensors(lambda held: dict([*held.items()][1:])),
    "half precision": _tensors(lambda held: {k: v.half() for k, v in held.items()}),
    "whole numbers": _tensors(lambda held: {k: v.int() for k, v in held.items()}),
    "no numbers": _tensors(lambda held: {k: v * float("nan") for k, v in held.items()}),
    "one infinite number": _tensors(lambda held: {k: v / (v != v.max()) for k, v in held.items()}),
    "another shape": _tensors(lambda held: {k: v[..., :-1].contiguous() for k, v in held.items()}),
    "a header of lists": _header(b"[[[[]]]]"),
    "a header without end": _header(b'{"a":' * 2000),
    "a header of a million lists": _header(b'{"a":[' + b"[]," * 5_000_000 + b"[]]}"),
    "a header longer than the file": _file("model.safetensors", b"\xff" * 8 + b"{}"),
    "offsets beyond the end": _described(_forged("a", [9999999999], [0, 39999999996])),
    "offsets that overlap": _described(_forged("a", [8], [0, 32]), _forged("b", [8], [0, 32])),
    "offsets below zero": _described(_forged("a", [16], [-64, 0])),
    "offsets the wrong way": _described(_forged("a", [16], [64, 0])),
    "offsets of text": _described(_forged("a", [16], "ab")),
    "a shape that overflows": _described(_forged("a", [1 << 62, 4, 16], [0, 64])),
    "a shape of many axes": _described(_forged("a", [1 << 60] * 10_000, [0, 64])),
    "a name twice": _described(_forged("a", [8], [0, 32]), _forged("a", [8], [32, 64])),
    "a type that there is not": _described(_forged("a", [16], [0, 64], "F99")),
    "a terabyte of holes": _terabyte,
}
"""What may be wrong with `model.safetensors`."""

_CHECKPOINTS: dict[str, Harm] = {
    "a state with more": _state(lambda state: state["progress"].update(wings=2)),
    "a state with less": _state(lambda state: {"step": state["step"]}),
    "a place beyond the data": _state(lambda state: state["position"].update(index=10**12)),
    "a place in words": _state(lambda state: state["position"].update(epoch="x")),
    "a place of lists": _state(lambda state: {**state, "position": []}),
    "moments of another model": _foreign_moments,
    "data.json of lists": _file("data.json", b"[[]]"),
    "data.json without end": _file("data.json", b'{"a":' * 100_000),
    "data.json of words": _unsealed("data.json", b'{"sha256": "x"}'),
    "data.json, pipe": _link("data.json", "fifo"),
    "metrics.jsonl, pipe": _link("metrics.jsonl", "fifo"),
    "metrics.jsonl, the user's": _elsewhere("metrics.jsonl"),
    "model.safetensors, the user's": _elsewhere("model.safetensors"),
    "checkpoints, the user's": _linked_folder("checkpoints"),
    "a checkpoint, the user's": _linked_folder("checkpoints/step-*"),
    "states of lists": _state(lambda state: [[state]]),
    "states without end": _each("state.json", lambda name: _file(name, b"[" * 100_000)),
    "moments that are pipes": _each("resume.safetensors", lambda name: _link(name, "fifo")),
    "moments that are huge": _each("resume.safetensors", lambda name: _grown(name, 1 << 40)),
    "weights that are endless": _each("weights.safetensors", lambda name: _link(name, "/dev/zero")),
}
"""What only going on with a run meets, and must refuse."""

_PASSED_OVER: dict[str, Harm] = {
    "a metrics.jsonl of one line": _file("metrics.jsonl", b"7" * 300_000_000),
    "a metrics.jsonl of lists": _file("metrics.jsonl", b'{"step": [' * 100_000 + b"\n[]\n7\n"),
}
"""What going on with a run may do without, if it says so or nothing is lost."""

HARMS: dict[str, Harm] = {
    **{
        f"{section} {key} = {str(value)[:30]}": _setting(section, key, value)
        for section, keys in _ABSURD.items()
        for key, values in keys.items()
        for value in values
    },
    **{
        f"{name}, {what}": harm
        for name in ("config.toml", "tokenizer.json", "model.safetensors")
        for what, harm in {
            "empty": _file(name, b""),
            "gone": _file(name, None),
            "NULs": _file(name, bytes(5000)),
            "no text": _file(name, b"\xff\xfe" * 400),
            "half": _cut(name, 0.5),
            "pipe": _link(name, "fifo"),
            "endless": _link(name, "/dev/zero"),
            "folder": _link(name, "folder"),
            "itself": _link(name, name),
            "huge": _grown(name, 1 << 40),
            "lists without end": _file(name, b"a = " * (name[0] == "c") + b"[" * 100_000),
        }.items()
    },
    **_WEIGHTS,
    "a key twice": _setting("model", "heads", "2\nheads = 2"),
    "a piece of id 10^9": _vocabulary(lambda plain: plain["model"]["vocab"].update(x=10**9)),
    "a piece of id -1": _vocabulary(lambda plain: plain["model"]["vocab"].update(x=-1)),
    "a piece of id 2.5": _vocabulary(lambda plain: plain["model"]["vocab"].update(x=2.5)),
    "one piece more": _vocabulary(lambda plain: plain["model"]["vocab"].update(x=10_000)),
    "no pieces": _vocabulary(lambda plain: plain["model"].update(vocab={})),
    "merges of nothing": _vocabulary(lambda plain: plain["model"].update(merges=[["zz", "qq"]])),
    "no model": _vocabulary(lambda plain: plain.pop("model")),
    "unsealed tokenizer.json, list": _unsealed("tokenizer.json", b"[]"),
    "unsealed tokenizer.json, nested": _unsealed("tokenizer.json", b'{"a":' * 100_000),
    "two million pieces": _many_pieces,
    **_TOKENIZERS,
    **_CHECKPOINTS,
    **_PASSED_OVER,
}
"""What may be wrong with a run folder that comes from somebody else."""

_READERS = ("translate", "evaluate", "init-from")
_NEEDED_BY: dict[str, Sequence[str]] = {
    **{name: _READERS for name in (*HARMS, *_WEIGHTS) if name.startswith("model.safetensors")},
    **dict.fromkeys(_WEIGHTS, _READERS),  # going on chooses them anew
    **dict.fromkeys(_CHECKPOINTS, ("resume",)),
    **dict.fromkeys(_PASSED_OVER, ()),
}


def needed_by(name: str) -> Sequence[str]:
    """Which verbs must refuse a harm."""
    return _NEEDED_BY.get(name, VERBS)
