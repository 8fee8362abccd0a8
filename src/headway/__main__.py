"""The `headway` command as a program: `headway`, and `python -m headway`."""

import gc
import sys

from headway.cli import main


def program() -> int:
    """Run the command line. Python then ends without looking for garbage among all that was
    loaded, which takes a sixth of a short command's time."""
    try:
        return main()
    finally:
        gc.freeze()


if __name__ == "__main__":
    sys.exit(program())
