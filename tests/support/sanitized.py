"""All that is compiled, under sanitizers, in one process: torch takes long to load into it.

    LD_PRELOAD=libasan.so python tests/support/sanitized.py COMPILER FOLDER

A fault ends the process.
"""

import sys
from pathlib import Path

import sanitized_engine
import sanitized_training
import sanitized_word2vec

if __name__ == "__main__":
    for one in (sanitized_engine, sanitized_training, sanitized_word2vec):
        one.main(sys.argv[1], Path(sys.argv[2]))
