"""`headway serve`: runs behind an address that existing clients speak to."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from headway.commands.arguments import MOST_USED, group, say
from headway.core.errors import ConfigError
from headway.serving.limits import Limits

WHO = group("Who may ask", 1)
RUNS = group("Runs, and what goes before them", 2)
LIMITS = group("Limits (0: none)", 3)


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """What `headway serve` is told.

    Parameters
    ----------
    host
        Address to listen at: 0.0.0.0 lets other machines in.
    port
        Port to listen at; 0 takes one that is free.
    api_keys
        File of keys; without it nobody needs one.
    new_key
        Add a key of this name to --api-keys, print it, and end.
    name
        Name under which clients find this machine, such as mt.example.org, or
        https://mt.example.org behind a proxy.
    allow_origin
        Site whose pages may ask from a browser, such as https://example.org.
    state
        Folder for what is to outlast the service: corrections, glossaries, what keys used.
    memory
        Translation memory (.tmx, .po, .xlf, .tsv, ..) whose exact matches go first.
    load
        Load all runs before the first request, and not when one needs them.
    precision
        Of the engine's products: fp32, bf16, int8, or auto for what was measured to be quicker.
    memory_limit
        MiB that runs may take; those that were not used for longest are unloaded. 0: any.
    """

    host: Annotated[str, MOST_USED] = "127.0.0.1"
    port: Annotated[int, MOST_USED] = 5000
    api_keys: Annotated[Path | None, WHO] = None
    new_key: Annotated[str | None, WHO] = None
    name: Annotated[tuple[str, ...], WHO] = ()
    allow_origin: Annotated[tuple[str, ...], WHO] = ()
    state: Annotated[Path | None, RUNS] = None
    memory: Annotated[tuple[Path, ...], RUNS] = ()
    load: Annotated[bool, Parameter(negative=()), RUNS] = False
    precision: Annotated[Literal["auto", "fp32", "bf16", "int8"], RUNS] = "auto"
    memory_limit: Annotated[int, RUNS] = 0


def said(message: str) -> None:
    """Tell whoever started the service."""
    say(f"headway: {message.removeprefix('headway: ')}")


DEFAULTS = ServeOptions()
NO_OTHER_LIMITS = Limits()


def serve(
    *run: Path,
    told: Annotated[ServeOptions, Parameter(name="*")] = DEFAULTS,
    limits: Annotated[Limits, Parameter(name="*"), LIMITS] = NO_OTHER_LIMITS,
) -> None:
    """Serve translations by trained runs over HTTP, to the clients that people have.

    The page, LibreTranslate's, DeepL's and other interfaces: docs/serve.md.

    Parameters
    ----------
    run
        Run folders, one for each pair of languages; language models beside them.
    """
    if told.new_key is not None:
        from headway.serving.keys import new_key

        if told.api_keys is None:
            raise ConfigError("--new-key needs a file to add it to. Name it: --api-keys FILE")
        key = new_key(told.api_keys, told.new_key, say)
        say(f"a key for {told.new_key}, which is stored nowhere: {told.api_keys} has its hash")
        print(key)
        return
    if not run:
        raise ConfigError("serve needs a run. Name its folder: headway serve runs/mine")
    try:
        from headway.serving.server import bound, set_up_process
        from headway.serving.server import serve as serve_until_told
    except ImportError as error:
        raise ConfigError(
            f"a service needs packages that are not here ({error.name}). Install them with: "
            'pip install "headway[serve]"'
        ) from None
    from headway.serving.assembly import assembled

    set_up_process()
    with assembled(
        run, limits, api_keys=told.api_keys, state=told.state, memory=told.memory,
        precision=told.precision, memory_limit=told.memory_limit, load=told.load,
        names=told.name, origins=told.allow_origin, say=said,
    ) as served:  # fmt: skip
        place = bound(told.host, told.port)
        host, port = place.getsockname()[:2]
        where = f"[{host}]" if ":" in host else host
        said(f"http://{where}:{port}/ (Ctrl-C ends it)")
        serve_until_told(served, place)
