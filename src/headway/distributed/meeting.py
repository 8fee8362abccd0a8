"""How the processes of a training find each other: the store of torch, and who is in it."""

import json
import os
import socket
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed import PrefixStore, Store

from headway.core.errors import ConfigError, HeadwayError, command
from headway.distributed.watch import START_AGAIN, seconds_set
from headway.version import __version__

ASK_S = 0.05
TWICE_S = 5.0
"""How long the process 0 of a meeting without this one must be alive for that to be said."""


class UnmetError(HeadwayError):
    """The processes of a training have not found each other."""

    exit_status = START_AGAIN


def local_rank() -> int:
    """The number of this process among those of its machine."""
    return int(os.environ.get("LOCAL_RANK", "0"))


def joined(rank: int, size: int) -> tuple[Store, list[dict[str, Any]]]:
    """A place in the store for all processes of this start, and who they are, by rank.

    HEADWAY_MEETS_WITHIN (seconds, 300) is how long they may take to come.

    Raises:
        ConfigError: the environment does not say where they meet, or their versions differ.
        UnmetError: they do not all come.
    """
    try:
        address, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    except (KeyError, ValueError):
        raise ConfigError(
            "Where several processes meet, MASTER_ADDR and MASTER_PORT say where; they are not "
            f"both set. Start with torchrun, or: {command('train', '--processes', size, '..')}"
        ) from None
    within = timedelta(seconds=seconds_set("HEADWAY_MEETS_WITHIN", 300))
    by_torchrun = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
    with store_errors(address, port):
        store = dist.TCPStore(
            address,
            port,
            is_master=rank == 0 and not by_torchrun,
            wait_for_workers=False,
            timeout=within,
        )
        return meet(store, rank, size, within)


def meet(
    store: Store, rank: int, size: int, within: timedelta
) -> tuple[Store, list[dict[str, Any]]]:
    """See `joined`. What an earlier start has left in the store is not mistaken for this one:
    process 0 opens a place with a name of its own, and lists there who has come to it."""
    me = {
        "nonce": uuid.uuid4().hex,
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "parent": os.getppid(),
        "versions": f"headway {__version__}, torch {torch.__version__}",
        "has_gpu": torch.cuda.is_available() and torch.cuda.device_count() > local_rank(),
    }
    until = time.monotonic() + within.total_seconds()
    if rank == 0:
        everyone = gathered(store, me, size, until)
    else:
        everyone = listed_with(store, me, rank, until)
    for other, they in enumerate(everyone):
        if they["versions"] != everyone[0]["versions"]:
            raise ConfigError(
                f"All processes must have the same versions; process {other} on {they['host']} has "
                f"{they['versions']}, process 0 on {everyone[0]['host']} has "
                f"{everyone[0]['versions']}. Install the same on every machine."
            )
    return PrefixStore(everyone[0]["nonce"], store), everyone


def gathered(store: Store, me: Mapping[str, Any], size: int, until: float) -> list[dict[str, Any]]:
    """Process 0: wait for all, then tell who has come."""
    place = PrefixStore(str(me["nonce"]), store)
    store.set("place", str(me["nonce"]))
    missing = list(range(1, size))
    while missing := [rank for rank in missing if not place.check([f"here/{rank}"])]:
        if time.monotonic() > until:
            raise UnmetError(
                f"All {size} processes must come within some minutes; without a word: "
                f"{', '.join(map(str, missing))}. See what they say, or whether their machines "
                "are there."
            )
        time.sleep(ASK_S)
    others = [json.loads(place.get(f"here/{rank}")) for rank in range(1, size)]
    place.set("everyone", json.dumps([me, *others]))
    return [dict(me), *others]


def listed_with(
    store: Store, me: Mapping[str, Any], rank: int, until: float
) -> list[dict[str, Any]]:
    """Any other: come to the place that is open, and wait to be listed."""
    place: Store = store
    name, since, sign = "", time.monotonic(), b""
    while time.monotonic() < until:
        now = store.get("place").decode() if store.check(["place"]) else ""
        if now and now != name:
            name, since, sign = now, time.monotonic(), b""
            place = PrefixStore(name, store)
            place.set(f"here/{rank}", json.dumps(me))
        if now and place.check(["everyone"]):
            everyone: list[dict[str, Any]] = json.loads(place.get("everyone"))
            other = everyone[rank] if rank < len(everyone) else {}
            if other.get("nonce") == me["nonce"]:
                return everyone
            lives = place.get("sign/0") if place.check(["sign/0"]) else b""
            sign = sign or lives
            if other and lives != sign and time.monotonic() - since > TWICE_S:
                raise ConfigError(
                    f"Each process has a rank of its own; another process {rank} is at work on "
                    f"{other['host']}, process id {other['pid']}. Start each once, or a second "
                    "training with another MASTER_PORT."
                )
        time.sleep(ASK_S)
    raise UnmetError("Process 0 must come, too; it has not. See what it says.")


@contextmanager
def store_errors(address: str, port: int) -> Iterator[None]:
    """Torch's errors as sentences."""
    try:
        yield
    except RuntimeError as error:
        where, words = f"{address}:{port}", str(error)
        if "EADDRINUSE" in words or "already in use" in words:
            raise ConfigError(
                f"Process 0 waits for the others at {where}; another program has that port. Set "
                "MASTER_PORT to a free one (torchrun: --rdzv-endpoint, or --standalone)."
            ) from None
        raise UnmetError(
            f"Processes meet at {where}, which is not reached: {words.partition(chr(10))[0][:200]}."
            " See whether process 0 is there, and whether its machine's name and port are open to "
            "this one."
        ) from None
