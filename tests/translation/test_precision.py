"""Products of fewer bits are taken where a run's own validation pairs allow it, and never else."""

import shutil
from pathlib import Path

import pytest
from everyday_run import FLAGS, Finished, command, write_pairs

from headway.core.config import format_toml, merge
from headway.core.disk import checksum
from headway.core.errors import ConfigError
from headway.core.run_folder import RunFolder
from headway.core.tensor_files import load_tensors, save_tensors
from headway.demo import generate
from headway.engine.building import engine_library
from headway.engine.compiling import NoEngineError
from headway.operations import shipped
from headway.operations.shipped import SHIPPED
from headway.runs.checking import accept, check_run
from headway.runs.quality_gate import QualityGate, keep, known
from headway.translation import engines
from headway.translator import Translator

OPTIONS = ("--runtime.threads=1", "--runtime.device=cpu")
TEXTS = "She reads a book.\nThe dog runs.\nWhere is my hat?\n"


def built() -> bool:
    try:
        engine_library()
    except NoEngineError:
        return False
    return True


pytestmark = pytest.mark.skipif(not built(), reason="no C compiler here")


@pytest.fixture
def able(tmp_path: Path) -> RunFolder:
    """The package's run, which translates well, with text files of its own."""
    folder = RunFolder(tmp_path / "run")
    shutil.copytree(SHIPPED, folder.path)
    sections, sums = folder.settings(), dict[str, str]()
    for name, n, seed in (("", 100, 5), ("valid_", 24, 6)):
        pairs = write_pairs(tmp_path, f"{name}text", generate(n, seed))
        for side, file in zip(("source", "target"), pairs, strict=True):
            sections["data"][f"{name}{side}"] = [str(file)]
            sums[str(file.absolute())] = checksum(file)
    folder.write_data({"sha256": sums})
    sections["decoding"]["method"] = "greedy"
    folder.write_sealed(format_toml(sections), {})
    accept(folder.path, print)
    return folder


def translated(folder: RunFolder, *options: str) -> Finished:
    """Status, texts, and what was said."""
    file = folder.path.parent / "new.en"
    file.write_text(TEXTS, encoding="utf-8")
    return command("translate", str(folder.path), str(file), *OPTIONS, *options)


def spoil(folder: RunFolder) -> None:
    """Give each feed-forward layer a unit that never fires, with weights of 1,000 behind it: the
    model is the same, but in int8 all its other weights are less than half a step."""
    weights = load_tensors(folder.model)
    for name, tensor in weights.items():
        if name.endswith("feed_forward.to_inner.weight"):
            tensor[0] = 0
        elif name.endswith("feed_forward.to_inner.bias"):
            tensor[0] = -1
        elif name.endswith("feed_forward.to_output.weight"):
            tensor[:, 0] = 1000
    save_tensors(weights, folder.model)


@pytest.fixture
def quick_int8(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a processor that multiplies bytes twice as fast."""
    seconds = {"fp32": 2.0, "bf16": 2.0, "int8": 1.0}
    monkeypatch.setattr(engines, "product_seconds", lambda _engine: seconds)


@pytest.mark.usefixtures("quick_int8")
def test_what_costs_nothing_is_measured_once_and_taken_by_auto_from_then_on(
    able: RunFolder,
) -> None:
    assert "int8" not in translated(able).err
    assert not able.precision.exists()
    first = translated(able, "--precision", "int8")
    assert "translating 24 validation sentences in fp32 and in int8, once" in first.err
    assert "int8 products: on 24 validation pairs BLEU" in first.err
    gate = known(able)["int8"]
    assert gate.open
    assert gate.usual > 20
    again = translated(able, "--precision", "int8")
    assert "once" not in again.err
    assert again.out == first.out
    of_itself = translated(able)
    assert "int8 products: on 24" in of_itself.err
    assert "int8" not in translated(able, "--precision", "fp32").err
    assert Translator.load(able.path, device="cpu").search.choice.precision == "fp32"
    loaded = Translator.load(able.path, device="cpu", precision="int8")
    assert loaded.translate(TEXTS.splitlines()) == first.out.splitlines()
    drawn = translated(able, "--precision", "int8", "--method", "sampling")
    assert "in fp32: int8 products are the compiled engine's; it draws no samples" in drawn.err
    assert "in fp32: int8" not in again.err
    assert all(one.state == "whole" for one in check_run(able.path))

    stored = able.precision.read_text(encoding="utf-8")
    able.precision.write_text(stored.replace('"quick": ', '"quick": 1'), encoding="utf-8")
    assert known(able) == {}
    assert [one.name for one in check_run(able.path) if one.state == "damaged"] == [
        able.precision.name
    ]
    able.precision.write_text(stored, encoding="utf-8")
    assert known(able) == {"int8": gate}
    spoil(able)
    assert known(able) == {}  # of other weights
    assert "int8" not in translated(able).err


@pytest.mark.parametrize(
    ("bf16", "int8", "taken"),
    [(1.0, 0.5, "int8"), (0.5, 1.0, "bf16"), (0.96, 0.97, "fp32"), (1.2, 9.0, "fp32")],
)
def test_auto_takes_what_multiplies_fastest_here_and_never_a_slower_one(
    able: RunFolder, monkeypatch: pytest.MonkeyPatch, bf16: float, int8: float, taken: str
) -> None:
    seconds = {"fp32": 1.0, "bf16": bf16, "int8": int8}
    monkeypatch.setattr(engines, "product_seconds", lambda _engine: seconds)
    gate = QualityGate(30.0, 30.0, 1.0, 1.0, 24)
    for precision in ("bf16", "int8"):
        keep(able, precision, gate)
    said: list[str] = []
    assert engines.quickest(able, said.append) == taken
    assert len(said) == (taken != "fp32")
    named = translated(able, "--precision", "int8").err
    assert ("times as long as in fp32 in int8" in named) == (int8 > engines.WORTH)


def test_a_run_that_int8_spoils_is_refused_with_both_scores(able: RunFolder) -> None:
    before = translated(able, "--precision", "fp32").out
    spoil(able)
    assert translated(able, "--precision", "fp32").out == before
    for _ in range(2):  # measured, then remembered
        refused = translated(able, "--precision", "int8")
        assert refused.status == 2
        assert "int8 products may cost 0.3 BLEU and 1% of length at most; on 24" in refused.err
        assert "Use --precision fp32" in refused.err
    assert "once" not in refused.err
    assert not known(able)["int8"].open
    assert translated(able).out == before
    with pytest.raises(ConfigError, match="int8 products may cost"):
        Translator.load(able.path, device="cpu", precision="int8")


def test_without_validation_pairs_it_is_done_by_name_with_a_warning(able: RunFolder) -> None:
    Path(able.settings()["data"]["valid_source"][0]).unlink()
    done = translated(able, "--precision", "bf16")
    assert done.status == 0
    assert "WARNING: what bf16 products cost this run was not measured" in done.err
    assert "valid_text.en is gone" in done.err
    assert not able.precision.exists()


def test_where_the_runs_own_search_is_torchs_nothing_is_measured_or_opened(
    able: RunFolder,
) -> None:
    search = {"method": "beam", "beam": 100}
    able.write_sealed(format_toml(merge(able.settings(), {"decoding": search})), {})
    accept(able.path, print)
    quick = ("--method", "greedy", "--decoding.max-extra-length", "5")
    done = translated(able, "--precision", "int8", *quick)
    assert "WARNING: what int8 products cost this run was not measured" in done.err
    assert "does not search as it does (its widest beam is 64)" in done.err
    assert not able.precision.exists()
    assert "int8" not in translated(able, *quick).err


def test_what_torch_does_is_refused_by_name(able: RunFolder, tmp_path: Path) -> None:
    refused = translated(able, "--precision", "int8", "--runtime.engine", "torch")
    assert refused.status == 2
    assert "int8 products are the compiled engine's; the engine is torch" in refused.err
    files = [str(tmp_path / f"text.{side}") for side in ("en", "zh")]
    names = ["--source", files[0], "--target", files[1], "--out", str(tmp_path / "new")]
    refused = command("train", *names, *FLAGS, "--runtime.precision", "int8")
    assert refused.status == 2
    assert "training computes in fp32 or bf16" in refused.err


def test_the_packages_run_is_measured_and_not_written_to(
    able: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipped, "SHIPPED", able.path)
    done = translated(able, "--precision", "int8")
    assert done.status == 0, done.err
    assert "to see what int8 products cost" in done.err
    assert "the run that comes with headway stays as it is" in done.err
    assert not able.precision.exists()
