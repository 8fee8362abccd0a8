"""Which files of headway a plain `train --budget` and `translate` enter: what one must know of it.

    python tests/support/plain_way.py

prints each file of which a function runs, with its lines; the compiled search counts with its C.
Two text files without codes, one translated line, default flags but for the sizes of a model that
learns in seconds; these stand for a budget of hours and for many pairs (one of minutes begins
elsewhere: `headway.runs.short_budgets`; what pairs teach that are seen a hundred times decays).
`benchmarks/structure.py` counts the same with a model of the usual size.
"""

import inspect
import json
import math
import os
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType

SOURCE = Path(__file__).parent.parent.parent / "src" / "headway"

SIZES = "--model.d-model=16 --model.d-ff=32 --model.encoder-layers=1 --model.decoder-layers=1"
FLAGS = ["--budget=3s", *SIZES.split()]


def entered(folder: Path) -> list[Path]:
    """The files, in the order of their names."""
    os.environ["HEADWAY_CACHE"] = str(folder / "cache")
    from headway.demo import generate

    pairs = generate(300, 3)
    texts = folder / "a.en", folder / "a.zh"
    for file, side in zip(texts, zip(*pairs, strict=True), strict=True):
        # a model of three seconds would write sentence ends anywhere, and have them looked at
        texts_only = "".join(f"{text.rstrip('。')}\n" for text in side)
        file.write_text(texts_only, encoding="utf-8")
    (folder / "new.en").write_text("The dog runs.\n", encoding="utf-8")
    seen: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # a function's body
            seen.add(frame.f_code.co_filename)

    sys.setprofile(note)
    threading.setprofile(note)
    from headway.cli import main
    from headway.runs import fitting

    fitting.FEW = fitting.FEW_DISTINCT = 0
    fitting.OFTEN = math.inf
    names = ["--source", str(texts[0]), "--target", str(texts[1]), "--out", str(folder / "run")]
    assert main(["train", *names, *FLAGS]) == 0
    new = [str(folder / "new.en"), "--out", str(folder / "new.zh")]
    assert main(["translate", str(folder / "run"), *new]) == 0
    sys.setprofile(None)
    files = {Path(name) for name in seen if Path(name).is_relative_to(SOURCE)}
    if SOURCE / "engine" / "engine.py" in files:
        files |= {*(SOURCE / "engine").glob("*.[ch]")}
    return sorted(files)


if __name__ == "__main__":
    sys.path.insert(0, str(SOURCE.parent))
    with tempfile.TemporaryDirectory() as place:
        found = entered(Path(place))
    lines = {
        str(file.relative_to(SOURCE)): len(file.read_text(encoding="utf-8").splitlines())
        for file in found
    }
    if "--json" in sys.argv:
        print(json.dumps(lines))
    else:
        for name, n_lines in lines.items():
            print(f"{n_lines:5} {name}")
        print(f"{sum(lines.values()):5} lines in {len(lines)} files")
