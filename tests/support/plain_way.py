"""Which files of headway a plain `train` and `translate` enter: what a reader must know of it.

    python tests/support/plain_way.py

prints each file of which a function runs, with its lines. Two text files without codes, one
translated line, no option that leads into a side room; by torch, whose place the compiled engine
takes where it can.
"""

import inspect
import json
import os
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType

SOURCE = Path(__file__).parent.parent.parent / "src" / "headway"

FLAGS = (
    "--preset=tiny --training.max-steps=4 --training.checkpoint-every=2 --runtime.threads=1 "
    "--text.vocabulary-size=400 --training.valid-sentences=5 --decoding.max-extra-length=3 "
    "--runtime.engine=torch"
).split()


def entered(folder: Path) -> list[Path]:
    """The files, in the order of their names."""
    os.environ["HEADWAY_CACHE"] = str(folder / "cache")
    from headway.demo import generate

    pairs = generate(300, 3)
    files = folder / "a.en", folder / "a.zh"
    for file, side in zip(files, zip(*pairs, strict=True), strict=True):
        file.write_text("".join(f"{text}\n" for text in side), encoding="utf-8")
    (folder / "new.en").write_text("The dog runs.\n", encoding="utf-8")
    seen: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # a function's body
            seen.add(frame.f_code.co_filename)

    sys.setprofile(note)
    threading.setprofile(note)
    from headway.cli import main

    names = ["--source", str(files[0]), "--target", str(files[1]), "--out", str(folder / "run")]
    assert main(["train", *names, *FLAGS]) == 0
    new = [str(folder / "new.en"), "--out", str(folder / "new.zh"), "--runtime.threads=1"]
    new.append("--runtime.engine=torch")
    assert main(["translate", str(folder / "run"), *new]) == 0
    sys.setprofile(None)
    return sorted(Path(name) for name in seen if Path(name).is_relative_to(SOURCE))


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
