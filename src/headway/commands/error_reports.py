"""What the command says of an error that ends it, and with which exit status."""

import errno
import json
import os
import sys
import time
import traceback
from pathlib import Path
from typing import TextIO

from headway.core.errors import CONTROLS
from headway.core.out_of_reach import out_of_memory
from headway.operations.streams import let_go

OURS = {errno.EBADF, errno.EFAULT, errno.ENOTSOCK}
"""Only a mistake of the program leads to them."""
MACHINES_LIMITS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOMEM, errno.EMFILE}


def complain(message: str, status: int) -> int:
    """Say it on stderr, if anybody can read it there; returns the exit status. One of several
    processes leaves it for what started them (`headway.distributed.launch`, or torchrun)."""
    if place := os.environ.get("TORCHELASTIC_ERROR_FILE"):
        leave_word(Path(place), message, status)
        if "TORCHELASTIC_RUN_ID" not in os.environ:  # not torchrun, which would say much more
            return status
    try:
        print(f"headway: error: {message.translate(CONTROLS)}", file=sys.stderr, flush=True)
    except OSError as error:
        let_go(sys.stderr, error)
    return status


def leave_word(place: Path, message: str, status: int) -> None:
    """As torch.distributed.elastic.multiprocessing.errors has it."""
    found = {"message": message, "errorCode": status, "extraInfo": {"timestamp": int(time.time())}}
    part = place.with_suffix(".part")
    try:
        part.write_text(json.dumps({"message": found}), encoding="utf-8")
        part.replace(place)
    except OSError as error:
        print(f"headway: {error}", file=sys.stderr)


def report(error: BaseException, show_traceback: bool) -> int:
    """Say what went wrong, a bug of ours or a limit of the machine; returns the exit status."""
    if _began_with_ctrl_c(error):
        return complain("interrupted", 130)
    if isinstance(error, OSError) and error.errno in errno.errorcode.keys() - OURS:
        return complain(_about_file(error), 1 if error.errno in MACHINES_LIMITS else 2)
    if isinstance(error, RuntimeError) and "Symlink loop from" in str(error):  # Path.resolve
        return complain(f"{error}: links that lead round in a circle. Choose another place.", 2)
    if out_of_memory(error):
        return complain(f"out of memory: {error}. Use a smaller batch or a smaller model.", 1)
    message = " ".join(f"{type(error).__name__}: {error}".split())
    if show_traceback:
        traceback.print_exception(error)
        where = "the traceback is above"
    else:
        where = _save_traceback(error)
    return complain(f"{message}\nThis is a bug in headway; {where}.", 1)


def _began_with_ctrl_c(error: BaseException | None) -> bool:
    """Whether an interrupt became another error: Python makes one of it while a class is made."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _about_file(error: OSError) -> str:
    if error.filename is None and _holds_what_cannot_be_written(sys.stdout):
        return f"standard output cannot be written: {error.strerror}. Send it elsewhere."
    where = f": {error.filename}" if error.filename else ""
    remedy = {
        errno.ENOSPC: "Free some space, then run the same command again (train: with --resume).",
        errno.ENOENT: "Check the path.",
        errno.EACCES: "Check the permissions, or choose another place.",
    }.get(error.errno or 0, "")
    return f"{error.strerror}{where}. {remedy}".rstrip()


def _holds_what_cannot_be_written(stream: TextIO) -> bool:
    try:
        stream.flush()
    except OSError:
        return True
    return False


def _save_traceback(error: BaseException) -> str:
    import tempfile  # not needed by `--help`, which is quick

    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", prefix="headway-", suffix=".txt", delete=False
        ) as file:
            traceback.print_exception(error, file=file)
        return f"the traceback is in {file.name}, please send it with your report"
    except OSError:
        return "HEADWAY_TRACEBACK=1 shows the traceback"
