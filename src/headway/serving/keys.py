"""Who may ask: keys, of which only hashes are stored, with quotas and rates."""

import hmac
import json
import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from headway.core.disk import DiskError, whole_text
from headway.core.errors import DataError
from headway.operations.locks import only_writer_of_file
from headway.serving.requests import RefusedError

HEADER = "name\tsha256\tcharacters a month\trequests a minute"
SAVED_EACH_S = 5.0
"""What was used is written down no later, and no more often."""
_LOG = logging.getLogger(__name__)


@dataclass
class Account:
    """A client: a key's owner, or an address where there are no keys."""

    name: str
    monthly_characters: int = 0
    """0: without limit."""
    requests_per_minute: int = 0
    month: str = ""
    used: int = 0
    """Characters in `month`."""
    tokens: float = 0.0
    """Requests that it may send at once; at most those of a minute."""
    seen: float = 0.0
    """When it last sent one, by `time.monotonic`."""
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def admit(self, default_rate: int) -> None:
        """Count a request; raises RefusedError when they come too fast."""
        rate = self.requests_per_minute or default_rate
        now = time.monotonic()
        if rate:
            elapsed = now - self.seen if self.seen else 60.0
            self.tokens = min(float(rate), self.tokens + elapsed * rate / 60)
            if self.tokens < 1:
                self.seen = now
                raise RefusedError(
                    "rate", f"slow down: at most {rate} requests a minute",
                    (1 - self.tokens) * 60 / rate,
                )  # fmt: skip
            self.tokens -= 1
        self.seen = now

    def charge(self, n_characters: int) -> None:
        """Count characters of this month (UTC); raises RefusedError, and counts none, when it has
        fewer left. Fewer than none give back what was counted."""
        most = self.monthly_characters
        with self._lock:
            self.turn()
            if most and 0 < n_characters > most - self.used:
                raise RefusedError("quota", f"the quota of {most:,} characters a month is used up")
            self.used = max(0, self.used + n_characters)

    def turn(self) -> None:
        """Begin to count anew in a new month."""
        month = time.strftime("%Y-%m", time.gmtime())
        if month != self.month:
            self.month, self.used = month, 0


def hashed(key: str) -> str:
    """What is stored of a key: 256 random bits need no salt and no slow hash."""
    return sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


class ApiKeys:
    """The keys of a file: a header, then a row for each, as `new_key` writes them."""

    def __init__(self, file: Path, usage: Path | None = None) -> None:
        """`usage` is where the characters of the month are kept over restarts.

        Raises DataError for a file that is none of keys.
        """
        self.file, self.usage = file, usage
        self.accounts: list[tuple[str, Account]] = []
        self._known: dict[str, Account] | None = None  # by name, of rows that were there as well
        self._is_due, self._saving = False, threading.Lock()
        self.read()

    def read(self) -> None:
        """Take the file as it is now; whose name stays, or comes back, keeps what was used. Raises
        DataError, and leaves all as it was."""
        known = self._kept() if self._known is None else self._known
        accounts = list[tuple[str, Account]]()
        for digest, account in list(_rows(self.file)):
            kept = known.setdefault(account.name, account)  # what is under way counts for it
            kept.monthly_characters = account.monthly_characters
            kept.requests_per_minute = account.requests_per_minute
            accounts.append((digest, kept))
        self._known, self.accounts = known, accounts

    def account(self, key: str) -> Account | None:
        """Whose key it is. Every key is compared, each in constant time."""
        given, found = hashed(key), None
        for stored, account in self.accounts:
            if hmac.compare_digest(stored, given):
                found = account
        return found

    def save(self) -> None:
        """Write down what was used; what cannot be written is said."""
        if self.usage is None:
            return
        with self._saving:
            self._is_due = False  # what is used from now on is written by the next one
            known = list((self._known or {}).values())
            rows = {account.name: [account.month, account.used] for account in known}
            try:
                with whole_text(self.usage) as output:
                    output.write(json.dumps(rows, ensure_ascii=False))
            except DiskError as error:
                _LOG.error("what keys used is not written down: %s", error)

    def save_soon(self) -> None:
        """The same within a few seconds, whether or not anybody asks again until then, in a thread:
        for who cannot wait."""
        if self.usage is not None and not self._is_due:
            self._is_due = True
            later = threading.Timer(SAVED_EACH_S, self.save)
            later.daemon = True
            later.start()

    def _kept(self) -> dict[str, Account]:
        if self.usage is None or not self.usage.exists():
            return {}
        try:
            rows = json.loads(self.usage.read_text(encoding="utf-8"))
            return {
                name: Account(name, month=str(month), used=int(used))
                for name, (month, used) in rows.items()
            }
        except (ValueError, AttributeError, TypeError) as error:
            raise DataError(
                f"{self.usage} holds what each key used; it cannot be read ({error}). "
                "Remove it to count anew."
            ) from None


def _rows(file: Path) -> Iterator[tuple[str, Account]]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            f"--api-keys names a file of keys; {file} cannot be read ({error}). "
            f"Make one with: headway serve --api-keys {file} --new-key NAME"
        ) from None
    for number, line in enumerate(lines, 1):
        if not line.strip() or line == HEADER:
            continue
        cells = line.split("\t")
        try:
            name, digest, characters, requests = cells
            if len(digest) != 64 or not name:
                raise ValueError
            bytes.fromhex(digest)
            yield digest.lower(), Account(name, int(characters), int(requests))
        except ValueError:
            raise DataError(
                f"a row of {file} has: {HEADER.replace(chr(9), ', ')}; line {number} does not. "
                f"Write one with: headway serve --api-keys {file} --new-key NAME"
            ) from None


def new_key(
    file: Path, name: str, say: Callable[[str], None], *, characters: int = 0, requests: int = 0
) -> str:
    """Add a key to a file, which is made if need be, and give it: it is stored nowhere else.

    Raises DataError for a name that is taken, or is none.
    """
    if not name.strip() or any(not character.isprintable() for character in name):
        raise DataError(f"a key has a name of printable characters; got {name!r}.")
    with only_writer_of_file(file, say):
        rows = list(_rows(file)) if file.exists() else []
        if name in (account.name for _, account in rows):
            raise DataError(
                f"each key of {file} has its own name; {name} is there. Take another, or remove "
                "its line first."
            )
        key = secrets.token_urlsafe(32)
        rows.append((hashed(key), Account(name, characters, requests)))
        with whole_text(file) as output:
            output.write(HEADER + "\n")
            for digest, one in rows:
                cells = (one.name, digest, one.monthly_characters, one.requests_per_minute)
                output.write("\t".join(map(str, cells)) + "\n")
        file.chmod(0o600)
    return key
