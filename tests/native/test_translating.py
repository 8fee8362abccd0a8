"""The engine alone: what it gives depends on nothing but model, sentence and search."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from random_models import sources_for

from headway.models import Transformer, TransformerConfig
from headway.native import building, translating
from headway.native.packing import Packed
from headway.native.translating import Found, Search, translate

SUPPORT = Path(__file__).parent.parent / "support"
COMPILER = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), "")
pytestmark = pytest.mark.skipif(not COMPILER, reason="no C compiler here")

SEARCH = Search(
    begin=2, end=3, forbidden=(0, 1, 2), beam=4, n_best=3, length_penalty=1.0, want_scores=True
)


@pytest.fixture
def model() -> Transformer:
    sizes = {"encoder_layers": 2, "decoder_layers": 2, "d_model": 24, "d_ff": 40, "heads": 3}
    return Transformer(TransformerConfig(**sizes), vocabulary_size=500).eval()


@pytest.fixture
def sources(model: Transformer) -> list[list[int]]:
    return [[*ids, 3] for ids in sources_for(model, [n * 7 % 19 for n in range(70)])]


def all_of(
    packed: Packed, sources: list[list[int]], search: Search = SEARCH, threads: int = 1
) -> list[list[Found]]:
    limits = [len(ids) + 4 for ids in sources]
    return translate(packed, sources, limits, search, threads=threads, done=lambda n: None)


def test_batch_mates_and_threads_change_no_bit(
    model: Transformer, sources: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = Packed(model, building.engine())
    together = all_of(packed, sources)
    assert [all_of(packed, [ids])[0] for ids in sources] == together
    assert all_of(packed, sources, threads=3) == together
    monkeypatch.setattr(translating, "ROWS", (9, 9))
    monkeypatch.setattr(translating, "ENCODED_ROWS", 30)
    assert all_of(packed, sources) == together


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="names x86-64's instruction sets")
@pytest.mark.parametrize("level", ["x86-64", "x86-64-v3"])
def test_narrower_vectors_find_the_same(
    level: str, model: Transformer, sources: list[list[int]], tmp_path: Path
) -> None:
    building.compiled(COMPILER, tmp_path / building.NAME, f"-march={level}")
    narrow = building.loaded(tmp_path / building.NAME)
    assert narrow.width == {"x86-64": 4, "x86-64-v3": 8}[level]
    if level == "x86-64-v3" and "avx2" not in building.processor_flags():
        pytest.skip("this processor has no AVX2")
    ours = all_of(Packed(model, narrow), sources)
    for one, other in zip(ours, all_of(Packed(model, building.engine()), sources), strict=True):
        assert [h.tokens for h in one] == [h.tokens for h in other]
        for h, k in zip(one, other, strict=True):
            assert h.log_probs == pytest.approx(k.log_probs, abs=1e-5)


@pytest.mark.parametrize(
    ("sources", "changed", "why"),
    [
        ([[500, 3]], {}, "ids must be"),
        ([[-1, 3]], {}, "ids must be"),
        ([[4, 3]], {"end": 500}, "ids must be"),
        ([[4, 3]], {"forbidden": (0, 1 << 40)}, "ids must be"),
        ([[4, 3], []], {}, "at least an end marker"),
        ([[4, 3]], {"beam": 65}, "n_best"),
        ([[4, 3]], {"n_best": 5}, "n_best"),
        ([[4] * 5000], {}, "positions end at 4096"),
    ],
)
def test_what_would_reach_beyond_an_array_never_reaches_the_engine(
    sources: list[list[int]], changed: dict[str, Any], why: str, model: Transformer
) -> None:
    with pytest.raises(ValueError, match=why):
        all_of(Packed(model, building.engine()), sources, SEARCH._replace(**changed))


def test_a_stopped_job_ends(model: Transformer, sources: list[list[int]]) -> None:
    def interrupted(_n: int) -> None:
        raise KeyboardInterrupt

    packed = Packed(model, building.engine())
    with pytest.raises(KeyboardInterrupt):
        translate(packed, sources, [9] * 70, SEARCH, threads=2, done=interrupted)
    assert len(all_of(packed, sources)) == 70


def runtime_library() -> str:
    """What the sanitizer needs loaded before all else; nothing if the compiler has none."""
    command = [COMPILER, "-print-file-name=libasan.so"]
    path = subprocess.run(command, check=False, capture_output=True, text=True).stdout.strip()
    return path if os.path.isabs(path) else ""


@pytest.mark.skipif(not COMPILER or not runtime_library(), reason="no address sanitizer here")
def test_sanitizers_find_nothing_wrong(tmp_path: Path) -> None:
    """Random models, sources and searches through the engine compiled with both sanitizers."""
    script = SUPPORT / "sanitized_engine.py"
    environment = {
        **os.environ,
        "LD_PRELOAD": runtime_library(),
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        "PYTHONPATH": os.pathsep.join(
            [str(Path(building.__file__).parent.parent.parent), str(SUPPORT)]
        ),
    }
    command = [sys.executable, str(script), COMPILER, str(tmp_path / building.NAME)]
    done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "cases" in done.stdout
