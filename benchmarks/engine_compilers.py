"""Whether the engine is as fast by one compiler as by another: what a wheel brings is compiled by
zig (clang) for a level of processors, what a source installation makes, by gcc for this very one.

Each compiles the engine for each of --level ("native": this very processor, of zig its best level);
then all translate the same random sentences with the same random `tiny` weights on one thread, in
turn (A B C A B C ..), greedily and with a beam of 5, and of each the fastest of --rounds by
processor time is taken. Run: python benchmarks/engine_compilers.py, after pip install ziglang
"""

import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from engine import PRECISIONS, random_model
from record import add_record_option, parser, write

from headway.core.hypothesis import DecodingSettings, SearchRequest
from headway.core.subwords import SpecialIds
from headway.engine import building, compiling
from headway.engine.compiling import sources_of
from headway.engine.levels import compiler_options, possible_levels
from headway.engine.packing import Packed
from headway.engine.translating import translate


def libraries(levels: list[str], folder: Path) -> dict[tuple[str, str], building.EngineLibrary]:
    """By level and compiler."""
    zig = find_spec("ziglang")
    if zig is None or zig.origin is None:
        raise SystemExit("ziglang is missing: pip install ziglang")
    compilers = {"cc": compiling.found_compiler(), "zig": str(Path(zig.origin).with_name("zig"))}
    found = {}
    for level in levels:
        flags = () if level == "native" else compiler_options(level)
        for name, compiler in compilers.items():
            file = folder / f"{level}-{name}.so"
            compiling.compiled(compiler, sources_of("engine")[0], file, *flags)
            found[level, name] = building.loaded(file)
    return found


def main() -> None:
    """Compile, measure in turn, write a table."""
    options = parser(__doc__)
    best = possible_levels()[-1]
    options.add_argument("--level", nargs="+", default=["x86-64-v3", best, "native"])
    options.add_argument("--sentences", type=int, default=200)
    options.add_argument("--rounds", type=int, default=7)
    add_record_option(options)
    asked = options.parse_args()
    torch.manual_seed(1)
    model, special, n = random_model("tiny", 8000), SpecialIds(), 15
    drawn = torch.randint(4, 8000, (asked.sentences, n)).tolist()
    sources = [[*ids, special.end] for ids in drawn]
    seconds: dict[tuple[str, str, str, int], list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        made = libraries(list(dict.fromkeys(asked.level)), Path(folder))
        packed: dict[Any, Packed] = {
            (*key, precision): Packed(model, library, precision)
            for key, library in made.items()
            for precision in PRECISIONS
        }
        for _ in range(asked.rounds):
            for key, one in packed.items():
                for beam in (1, 5):
                    how = DecodingSettings(
                        method="beam" if beam > 1 else "greedy", beam=beam, max_extra_length=0
                    )
                    request = SearchRequest(special, how, torch.device("cpu"), want_scores=False)
                    begun = time.process_time()
                    translate(one, sources, [n] * len(sources), request, threads=1)
                    seconds.setdefault((*key, beam), []).append(time.process_time() - begun)
    rows = [
        {
            "level": level,
            "precision": precision,
            "beam": beam,
            "cc, sentences/s": round(asked.sentences / min(taken)),
            "zig to cc": round(min(taken) / min(seconds[level, "zig", precision, beam]), 2),
        }
        for (level, compiler, precision, beam), taken in seconds.items()
        if compiler == "cc"
    ]
    for row in rows:
        print("  ".join(f"{key}: {value}" for key, value in row.items()))
    write(asked.record, "engine_compilers", seeds=[1], figures={"rows": rows})


if __name__ == "__main__":
    main()
