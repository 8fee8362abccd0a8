"""A run folder copied to other storage while it is trained: `--training.upload s3://bucket/run`.

What lies there is a run folder like any other. Of a checkpoint `state.json` is copied last, which
has the checksums of the rest, and of a run `config.toml`: what is there is whole, or not taken.
Storage is fsspec's; what is secret comes from the environment, as its libraries have it.
"""

import errno
import re
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from headway.core.checkpoint import STATE, resumable
from headway.core.config import Sections
from headway.core.disk import written_aside
from headway.core.errors import ConfigError, RunError, command
from headway.core.run_folder import CONFIG, RunFolder
from headway.operations.locks import Say

LOOK_S = 1.0
"""Between two looks for a new checkpoint."""
MOST_S = 60.0
"""Between two tries where the storage fails."""
PATIENCE_S = 120.0
"""At the end: how long is waited where no file arrives, and a second more for each MB of it."""
N_TRIES = 3
"""Of taking a run from there."""
FULL = (errno.ENOSPC, errno.EDQUOT)
"""Of this machine's disk."""
_HEAD_BYTES = 256  # of a safetensors file: its checksum is in them
_NAME = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)*")

Signature = tuple[int, int, int]


@contextmanager
def uploaded(url: str, folder: RunFolder, resume: bool, say: Say) -> Iterator[Sections]:
    """While the block lasts, and at its end, new checkpoints are copied to `url`. With `resume`, a
    folder that has no run first becomes what is there. Gives the settings of a run to go on with.

    Raises:
        ConfigError: `url` cannot be used, or not be reached by a run that begins.
        RunError: there is another run, or what is there cannot be taken.
    """
    mirror = Mirror(str(url), folder, say)
    if not folder.config.exists():
        mirror.begin(resume)
    mirror.thread.start()
    try:
        yield folder.settings() if resume and folder.config.exists() else {}
    finally:
        mirror.close()


class StorageError(Exception):
    """A file cannot be taken from there now."""


class Mirror:
    """The copy of a run folder in other storage, and the thread that keeps it up to date."""

    def __init__(self, url: str, folder: RunFolder, say: Say) -> None:
        self.url, self.folder, self.say = url.rstrip("/"), folder, say
        self.storage, self.root = opened(self.url)
        self.copied: dict[str, Signature] = {}  # the files that are there, as they were here
        self.known, self.closing, self.trouble = False, threading.Event(), ""
        self.moved_at, self.slow_s = time.monotonic(), 0.0
        self.thread = threading.Thread(target=self.work, name="upload", daemon=True)

    # -- there ------------------------------------------------------------------------------------

    def listed(self) -> dict[str, int]:
        """The files of a run that are there, and their bytes."""
        self.storage.invalidate_cache()
        try:
            found = self.storage.find(self.root, detail=True)
        except FileNotFoundError:
            return {}
        start = self.root.strip("/") + "/"
        names = {path.strip("/").removeprefix(start): one["size"] for path, one in found.items()}
        return {name: size for name, size in names.items() if _NAME.fullmatch(name)}

    def place(self, name: str) -> str:
        """Where a file is there."""
        return f"{self.root.rstrip('/')}/{name}"

    def begin(self, resume: bool) -> None:
        """Take the run that is there into a folder that has none; one that begins finds none."""
        try:
            there = self.listed()
            if CONFIG not in there:  # what may be written is found out before anything is trained
                self.storage.pipe_file(self.place(".begun"), b"")
                self.storage.rm_file(self.place(".begun"))
        except Exception as error:  # whatever a storage raises
            raise ConfigError(
                f"What is saved is uploaded to {self.url}, which cannot be written: {told(error)}. "
                "See to its name, and to what the storage's library reads: for s3:// "
                "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_ENDPOINT_URL."
            ) from error
        if CONFIG in there and not resume:
            raise RunError(
                f"A run is uploaded to a place of its own; {self.url} holds a run. Go on with it "
                "by --resume, or give another place to --training.upload."
            )
        if CONFIG in there:
            self.take(there)

    def take(self, there: dict[str, int]) -> None:
        """Copy all files from there; config.toml last: where it is, there is a run. What of it is
        damaged is found by whoever reads it."""
        data = self.folder.data
        if not data.exists() or data.read_bytes() != self.storage.cat_file(self.place(data.name)):
            self.folder.refuse_taken()
        n_bytes = sum(there.values()) / 1e6
        self.say(f"takes the run from {self.url}: {len(there)} files, {n_bytes:,.1f} MB")
        for name in sorted(
            in_order(there), key=lambda name: name != data.name
        ):  # tells whose it is
            for tries_left in reversed(range(N_TRIES)):
                try:
                    with written_aside(self.folder.path / name) as aside:
                        self.fetch(name, aside)
                    break
                except StorageError as error:
                    if not tries_left:
                        raise RunError(
                            f"{name} cannot be taken from {self.url}: {error}. Start the "
                            "same command again, or copy the folder with the storage's own tool."
                        ) from error
                    time.sleep(LOOK_S)

    def fetch(self, name: str, aside: Path) -> None:
        """Copy one file from there. Raises StorageError, and OSError where the disk is full: errors
        of networks are OSErrors too."""
        try:
            self.storage.get_file(self.place(name), str(aside))
        except Exception as error:  # whatever a storage raises
            if isinstance(error, OSError) and error.errno in FULL:
                raise
            raise StorageError(told(error)) from error

    # -- the thread -------------------------------------------------------------------------------

    def work(self) -> None:
        """Look for what is new until it is closed, and all is there."""
        seen: object = None
        pause = LOOK_S
        while True:
            closing = self.closing.is_set()
            try:
                now = self.state()
                if (closing or now != seen) and self.folder.config.exists():
                    self.bring_up_to_date()
                    seen, pause = now, LOOK_S
                    if self.trouble:
                        self.say(f"{self.url} is up to date again")
                    self.trouble = ""
                if closing:
                    return
            except RunError as error:
                self.say(str(error))
                self.trouble = str(error)
                return
            except Exception as error:  # a file that was replaced meanwhile, or the storage fails
                if not (isinstance(error, FileNotFoundError) and self.state() != seen):
                    if not self.trouble:
                        self.say(f"upload to {self.url} fails, and is tried again: {told(error)}")
                    self.trouble, pause = told(error), min(MOST_S, 2 * pause)
            if closing:
                time.sleep(LOOK_S)
            self.closing.wait(pause)

    def state(self) -> list[tuple[str, Signature]]:
        """Which checkpoints are whole here, and whether the run is finished."""
        steps = resumable(self.folder.checkpoints)
        names = [CONFIG, *(f"checkpoints/step-{step}/{STATE}" for step in steps)]
        return [(name, sign) for name, sign in self.files() if name in names]

    def files(self) -> list[tuple[str, Signature]]:
        """Those of the run here, in the order in which they are copied."""
        found = dict[str, Signature]()
        for path in self.folder.path.rglob("*"):
            name = path.relative_to(self.folder.path).as_posix()
            if _NAME.fullmatch(name) and "/damaged-" not in name and path.is_file():
                status = path.stat()
                found[name] = status.st_size, status.st_mtime_ns, status.st_ino
        return [(name, found[name]) for name in in_order(found)]

    def bring_up_to_date(self) -> None:
        """Copy what is new, then remove the checkpoints that are no longer here."""
        there, here = self.listed(), self.files()
        if not self.known:
            self.refuse_other_run(there)
            for name, sign in here:
                if self.is_there(name, sign[0], there):
                    self.copied[name] = sign
            self.known = True
        for name, sign in here:
            if self.copied.get(name) != sign:
                self.slow_s = sign[0] / 1e6
                self.put(name)
                self.copied[name], self.moved_at = sign, time.monotonic()
        of_checkpoints = {name for name in there if name.startswith("checkpoints/step-")}
        for name in reversed(in_order(of_checkpoints - dict(here).keys())):  # state.json first
            self.storage.rm_file(self.place(name))
            self.copied.pop(name, None)

    def put(self, name: str) -> None:
        """Copy a file, in one instant: what is no disk knows no half of a file."""
        here, place = str(self.folder.path / name), self.place(name)
        if not getattr(self.storage, "local_file", False):
            self.storage.put_file(here, place)
            return
        folder, _, own = place.rpartition("/")
        self.storage.put_file(here, f"{folder}/.{own}.part")
        self.storage.mv(f"{folder}/.{own}.part", place)

    def refuse_other_run(self, there: dict[str, int]) -> None:
        """Raise RunError where the run that is there has been another from its beginning."""
        data = self.folder.data
        if {CONFIG, data.name} <= there.keys() and data.exists():
            if self.storage.cat_file(self.place(data.name)) == data.read_bytes():
                return
            raise RunError(
                f"Nothing is uploaded: {self.url} holds another run than {self.folder.path}. "
                "Give another place to --training.upload."
            )

    def is_there(self, name: str, n_bytes: int, there: dict[str, int]) -> bool:
        """Whether a file of tensors, which begins with its checksum, was copied by an earlier
        start."""
        if not name.endswith(".safetensors") or there.get(name) != n_bytes:
            return False
        with (self.folder.path / name).open("rb") as file:
            head = file.read(_HEAD_BYTES)
        return bool(self.storage.cat_file(self.place(name), 0, _HEAD_BYTES) == head)

    # -- the end ----------------------------------------------------------------------------------

    def close(self) -> None:
        """Wait until all is there, as long as something moves; say what is not."""
        if self.folder.config.exists() and any(s != self.copied.get(n) for n, s in self.files()):
            self.say(f"uploads what is new to {self.url}")
        self.moved_at = time.monotonic()
        self.closing.set()
        while self.thread.is_alive() and (
            time.monotonic() - self.moved_at < PATIENCE_S + self.slow_s
        ):
            self.thread.join(0.2)
        missing = [name for name, sign in self.files() if self.copied.get(name) != sign]
        if missing and self.folder.config.exists():
            more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
            again = command("train", "--out", self.folder.path, "--resume")
            self.say(
                f"NOT at {self.url}: {', '.join(missing[:5])}{more} ({self.trouble or 'too slow'})."
                f" What is there goes on from an earlier checkpoint. To upload the rest: {again}"
            )


def in_order(names: Iterable[str]) -> list[str]:
    """What makes others valid comes last: of checkpoints state.json, of the run config.toml."""
    return sorted(names, key=lambda name: (name == CONFIG, name.endswith(f"/{STATE}"), name))


def opened(url: str) -> tuple[Any, str]:
    """The storage of an address, and the path there. Raises ConfigError where it is none, names
    a password, or needs a package."""
    if not re.match(r"[a-z0-9+.-]+://.", url):
        raise ConfigError(
            "--training.upload is an address such as s3://bucket/runs/one, gs://.. or "
            f"file:///mnt/backup/one; got {url!r}."
        )
    if "?" in url or urlsplit(url).password is not None:
        shown = re.sub(r"://.*", "://..", url)
        raise ConfigError(
            "--training.upload is written down with the settings, so that no password or key may "
            f"be in it; got {shown} with one. Give those as the storage's library has them: for "
            "s3:// AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or ~/.aws."
        )
    try:
        import fsspec

        options = {"auto_mkdir": True} if url.startswith("file://") else {}
        storage, root = fsspec.url_to_fs(url, **options)
    except (ImportError, ValueError) as error:
        raise ConfigError(
            f"{url} is storage that cannot be opened here ({told(error)}). For s3://: pip install "
            "'headway[storage]'; gs:// needs gcsfs, others what fsspec names."
        ) from error
    return storage, root


def told(error: Exception) -> str:
    """In one short line."""
    return (" ".join(str(error).split()) or type(error).__name__)[:200].rstrip(".")
