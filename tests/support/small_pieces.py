"""Prepares a corpus in small pieces, in a process that may be killed on the way.

Run: python small_pieces.py CORPUS.tsv CACHE WORKERS STAGE CALL: kills itself at the CALL-th time
that STAGE makes progress, "" for never; `worker` as the stage kills a worker at the CALL-th piece.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

from headway.corpora import cleaned, many_pieces
from headway.corpora.corpus import Corpus
from headway.corpora.prepared import Prepared, prepare_corpus
from headway.corpora.settings import DataSettings, TranslationText

PAIRS = 40
"""In each piece."""


def prepare(corpus: Path, cache: Path, workers: int, progress: object = None) -> Prepared:
    """Prepare a corpus, with hardly a piece done before others take part."""
    cleaned.IN_MEMORY = 0
    many_pieces.PIECE_PAIRS = PAIRS
    many_pieces.PIECES_ALONE = 1
    return prepare_corpus(
        Corpus(pairs=(corpus,)),
        DataSettings(max_length=5, workers=workers),
        TranslationText(vocabulary_size=400),
        root=cache,
        say=lambda message: print(message, flush=True),
        progress=progress or (lambda _stage, _done, _total: None),  # type: ignore[arg-type]
    )


def kill_at(stage: str, call: int) -> object:
    """A progress that kills this process, or one of its children."""
    calls = 0

    def progress(now: str, _done: int, _total: int | None) -> None:
        nonlocal calls
        calls += now == stage or stage == "worker"
        if calls == call and stage == "worker":
            found = subprocess.run(
                ["ps", "-o", "pid=,args=", "--ppid", str(os.getpid())],
                capture_output=True,
                text=True,
                check=True,
            )
            workers = (line.split() for line in found.stdout.splitlines())
            children = [pid for pid, command, *_ in workers if Path(command).name != "ps"]
            if children:
                os.kill(int(children[0]), signal.SIGKILL)
                print("killed a worker", flush=True)
                calls += 1
            else:
                calls -= 1
        elif calls == call and now == stage:
            os.kill(os.getpid(), signal.SIGKILL)

    return progress


if __name__ == "__main__":
    corpus, cache, workers, stage, call = sys.argv[1:]
    prepare(Path(corpus), Path(cache), int(workers), kill_at(stage, int(call)))
    print("done", flush=True)
