"""What may happen to a run: kills, a failing disk, flipped bits, two at once, hostile folders.

The suite takes a few cases of each kind, `benchmarks/faults.py` as many as are asked for.
"""

import contextlib
import json
import os
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from faulty_disk import End, Nursery, nursery

from headway.text.everyday import generate

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
    pairs = generate(200, 3)
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
    """A run that is killed at each of these moments, one after the other, and then left alone."""
    for death in deaths:
        end = place.nursery.life(place.train(out), below=out, **death)  # type: ignore[arg-type]
        if end.status not in (0, -9):
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
    expected = _translated(place, place.reference)[1]
    if end.status == 0 and text != expected:
        return Trial(what, f"another text without a word: {text!r}")
    return Trial(what, "")


def _flipped_before_resuming(place: Ground, file: Path, damaged: bytes, what: str) -> Trial:
    out, whole = place.folder / "flipped", file.read_bytes()
    shutil.copytree(place.reference, out)
    unfinished = (out / "config.toml").read_text("utf-8").partition("# What the files")[0]
    (out / "config.toml").write_text(unfinished.replace("finished = true\n", ""), "utf-8")
    (out / "model.safetensors").unlink()
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


def _translated(place: Ground, run: Path) -> tuple[End, str]:
    text, out = place.folder / "new.en", place.folder / "new.zh"
    text.write_text("The dog runs.\nI love my sister.\n", encoding="utf-8")
    out.unlink(missing_ok=True)
    end = place.nursery.life(["translate", str(run), str(text), "--out", str(out)])
    return end, out.read_text(encoding="utf-8") if out.exists() else ""


def files_to_flip(place: Ground) -> list[Path]:
    """Of every class: the run's own, checkpoints, bare weights, and the cache."""
    run = [p for p in place.reference.rglob("*") if p.is_file() and p.suffix != ".md"]
    return sorted(run) + sorted(p for p in (place.folder / "cache").rglob("*") if p.is_file())


# -- hostile folders --------------------------------------------------------------------------


Harm = Callable[[Path], None]


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
    return lambda run: os.truncate(run / name, int((run / name).stat().st_size * share))


def _grown(name: str, n_bytes: int) -> Harm:
    return lambda run: os.truncate(run / name, n_bytes)


def _tensors(change: Callable[[dict[str, object]], object]) -> Harm:
    def harm(run: Path) -> None:
        from safetensors.torch import load_file, save_file

        held = load_file(run / "model.safetensors")
        save_file(change(held) or held, run / "model.safetensors")  # type: ignore[arg-type]

    return harm


def _header(text: bytes) -> Harm:
    return _file("model.safetensors", len(text).to_bytes(8, "little") + text + bytes(64))


def _vocabulary(change: Callable[[dict[str, object]], object]) -> Harm:
    def harm(run: Path) -> None:
        plain = json.loads((run / "tokenizer.json").read_text(encoding="utf-8"))
        change(plain)
        (run / "tokenizer.json").write_text(json.dumps(plain), encoding="utf-8")
        config = (run / "config.toml").read_text(encoding="utf-8").partition("# What the files")[0]
        (run / "config.toml").write_text(config, encoding="utf-8")

    return harm


HARMS: dict[str, Harm] = {
    **{
        f"{key} = {value}": _setting("model", key, value)
        for key, values in {
            "heads": (10**12, 0, -1, 3),
            "d_model": (10**12, 0, 7),
            "d_ff": (10**12, 10**9, -5),
            "encoder_layers": (10**12, 10**9, 0),
            "decoder_layers": (10**9, -1),
            "max_length": (10**15,),
            "d_k": (10**12,),
            "dropout": ("nan", 2.0),
            "layer_norm_epsilon": ("nan", 0.0),
            "positions": ('"sideways"',),
            "type": ('"gpt"',),
        }.items()
        for value in values
    },
    **{
        f"decoding {key} = {value}": _setting("decoding", key, value)
        for key, values in {
            "beam": (10**9, 0, -1),
            "max_extra_length": (10**9, -3),
            "n_best": (10**9,),
            "length_penalty": ("1e308", "nan", "-1e308"),
            "method": ('"magic"',),
        }.items()
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
        }.items()
    },
    "an extra tensor": _tensors(lambda held: {**held, "more": next(iter(held.values())).clone()}),  # type: ignore[attr-defined]
    "a tensor less": _tensors(lambda held: held.pop(next(iter(held))) and None),
    "half precision": _tensors(lambda held: {k: v.half() for k, v in held.items()}),  # type: ignore[attr-defined]
    "another shape": _tensors(lambda held: {k: v[..., :-1].contiguous() for k, v in held.items()}),  # type: ignore[index]
    "a header of lists": _header(b"[[[[]]]]"),
    "a header without end": _header(b'{"a":' * 2000),
    "offsets beyond the end": _header(
        b'{"a":{"dtype":"F32","shape":[9999999999],"data_offsets":[0,39999999996]}}'
    ),
    "a piece of id 10^9": _vocabulary(lambda plain: plain["model"]["vocab"].update(x=10**9)),  # type: ignore[index]
    "a piece of id -1": _vocabulary(lambda plain: plain["model"]["vocab"].update(x=-1)),  # type: ignore[index]
    "no pieces": _vocabulary(lambda plain: plain["model"].update(vocab={})),  # type: ignore[attr-defined]
    "no merges": _vocabulary(lambda plain: plain["model"].update(merges=[["zz", "qq"]])),  # type: ignore[attr-defined]
}
"""What may be wrong with a run folder that comes from somebody else."""
