"""Prepares a corpus in small pieces, in a process that may be killed on the way.

Run: python small_pieces.py CORPUS.tsv CACHE WORKERS STAGE CALL: kills itself at the CALL-th time
that STAGE makes progress, "" for never; `worker` as the stage kills a worker at the CALL-th piece.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from headway.corpora import cleaned, many_pieces, prepared
from headway.corpora.corpus import Corpus
from headway.corpora.pieces import Progress
from headway.corpora.prepared import Prepared
from headway.corpora.settings import DataSettings, TranslationText

PAIRS = 40
"""In each piece."""


def prepare(
    corpus: Path, cache: Path, workers: int, progress: Progress = cleaned.unseen
) -> Prepared:
    """Prepare a corpus, with hardly a piece done before others take part."""
    prepared.IN_MEMORY = 0
    many_pieces.PIECE_PAIRS = PAIRS
    many_pieces.PIECES_ALONE = 1

    def encoded_in_order(*arguments: Any) -> Generator[Any, None, None]:
        for n, result in enumerate(many_pieces.in_order(*arguments)):
            progress("encoding", n, None)
            yield result

    with (
        patch.object(cleaned, "clean_corpus", partial(cleaned.clean_corpus, progress=progress)),
        patch.object(cleaned, "in_order", encoded_in_order),
    ):
        return prepared.prepare_corpus(
            Corpus(pairs=(corpus,)),
            DataSettings(max_length=5, workers=workers),
            TranslationText(vocabulary_size=400),
            root=cache,
            say=lambda message: print(message, flush=True),
        )


def kill_at(stage: str, call: int) -> Progress:
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
