"""What an attacker sends: texts, caches, requests; is all of it bounded, and none of it run?

Run folders and tokenizers made to harm are `benchmarks/faults.py hostile`; that no pattern of the
package grows is a test. Here are other doors:

    texts      40 hostile lines in a file of each kind that is filled in, by a model that writes
               what it reads: a line of 16,000 characters may take 20 times as long as one of 2,000
               (8: linear)
    caches     a compiled engine of somebody else's lies where ours would: it must not be loaded
    requests   broken, deep, long and half-sent requests to the live page: no answer may be a fault
               of the server's, its memory stays under 1 GB, and Ctrl-C ends it

Run: python benchmarks/hostile.py [texts caches requests]; exit status 1 if anything is
wrong.
"""

import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import record
from code_files import KINDS as FILES
from code_files import Kind

from headway.corpora.cache import sealed_folder
from headway.filling.filling import open_text, unit_of
from headway.filling.flow import Flow, Steps
from headway.localization.formats.file_kinds import opener_of
from headway.localization.formats.piecewise import Translated
from headway.localization.placeholders.segments import Segment

LINES = (
    "a|A|1| |\t|<|<a |<a b=|&|&#1|{|{{|[|![|](|(|`|``|:a:`|%|%(|${|http://a|a@a|a.|a_|1.|1,|'|\"|\\"
    "|=|/*|#|@|<!--|]]|中|é|a b"
    "|<b>|</b>|<b>a</b> |[a](b) |**a** |&amp;"
).split("|")
SHORT, LONG, RATIO, GIVE_UP_S = 2_000, 16_000, 20, 10
NOBODY = 65534


class GivenUpError(Exception):
    """Too long."""


def texts(folder: Path) -> Iterator[tuple[str, str]]:
    """Files of each kind."""
    for kind in FILES:
        yield kind.name, _growth(partial(_filled_in, kind, folder))


def _filled_in(kind: Kind, folder: Path, text: str) -> None:
    file = folder / kind.name
    kind.save(file, [text, "And more."], "de")
    opener = open_text if file.suffix == ".txt" else opener_of(file)
    document, flow = opener(file, "en", "de", False), Flow(_Copied.all, Steps(), "de")
    units = [unit_of(gap, file) for gap in document.gaps]
    for _ in flow.run(units):
        pass
    document.filled([flow.outcome(unit).segment for unit in units])


class _Copied(NamedTuple):
    segment: Segment
    complete: bool = True
    n_cut: int = 0

    @classmethod
    def all(cls, segments: list[Segment]) -> Sequence[Translated]:
        return list(map(cls, segments))


def _growth(look: Callable[[str], object]) -> str:
    for piece in LINES:
        try:
            signal.setitimer(signal.ITIMER_PROF, GIVE_UP_S)
            short, long = (_seconds(look, piece * (n // len(piece))) for n in (SHORT, LONG))
        except GivenUpError:
            return f"no end with {piece!r}"
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        if long > 0.01 and long > RATIO * short:
            return f"{long / short:.0f} times as long with {piece!r}"
    return ""


def _seconds(look: Callable[[str], object], text: str) -> float:
    began = time.process_time()
    look(text)
    return time.process_time() - began


def caches(folder: Path) -> Iterator[tuple[str, str]]:
    """A library that leaves a mark when it is loaded lies where the engine would."""
    mark, source = folder / "loaded", folder / "evil.c"
    source.write_text(
        "#include <stdio.h>\n"
        f'__attribute__((constructor)) void f(void) {{ fopen("{mark}", "w"); }}\n'
    )
    evil = folder / "evil.so"
    subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", str(evil)], check=True)
    clean = folder / "clean"
    _translate(clean, "HEADWAY_ENGINE_CACHE")
    [engine] = clean.glob("engine-*")
    for name in ("HEADWAY_CACHE", "HEADWAY_ENGINE_CACHE"):
        for what, mode, change in _CACHES:
            root = folder / "cache"
            shutil.rmtree(root, ignore_errors=True)
            mark.unlink(missing_ok=True)
            root.mkdir()
            with sealed_folder(root / engine.name) as (part, _):
                shutil.copy(evil, part / "engine.so")
            change(root, root / engine.name)
            root.chmod(mode)
            done = _translate(root, name)
            wrong = "it was loaded" if mark.exists() else _unclear(done)
            yield f"{name}, {what}", wrong


def _translate(cache: Path, name: str) -> "subprocess.CompletedProcess[str]":
    others = {"HEADWAY_CACHE": str(cache.with_name("other")), name: str(cache)}
    return subprocess.run(
        [sys.executable, "-m", "headway", "translate", "demo"],
        input="The dog runs.\n",
        env={**os.environ, **others},
        capture_output=True,
        text=True,
        check=False,
    )


def _unclear(done: "subprocess.CompletedProcess[str]") -> str:
    broken = done.returncode not in (0, 2) or "Traceback" in done.stderr or "a bug" in done.stderr
    return done.stderr[-300:] if broken else ""


def _as_it_is(_root: Path, _entry: Path) -> None:
    """Nothing changed but the mode of the cache."""


def _anothers(root: Path, _entry: Path) -> None:
    os.chown(root, NOBODY, NOBODY)


def _anothers_entry(_root: Path, entry: Path) -> None:
    os.chown(entry, NOBODY, NOBODY)


def _anothers_file(_root: Path, entry: Path) -> None:
    os.chown(entry / "engine.so", NOBODY, NOBODY)


def _linked(root: Path, entry: Path) -> None:
    entry.rename(root / "elsewhere")
    entry.symlink_to(root / "elsewhere")


def _open_entry(_root: Path, entry: Path) -> None:
    entry.chmod(0o777)


_CACHES: tuple[tuple[str, int, Callable[[Path, Path], None]], ...] = (
    ("anybody writes", 0o777, _as_it_is),
    ("the group writes, a file of another", 0o775, _anothers_file),
    ("others write", 0o757, _as_it_is),
    ("as /tmp", 0o1777, _as_it_is),
    ("as /tmp, of another", 0o1777, _anothers),
    ("of another", 0o755, _anothers),
    ("an entry of another", 0o755, _anothers_entry),
    ("a file of another", 0o755, _anothers_file),
    ("a linked entry", 0o755, _linked),
    ("an entry that anybody writes", 0o755, _open_entry),
)


def requests(folder: Path) -> Iterator[tuple[str, str]]:
    """Two hundred to one page, and Ctrl-C while some are half sent."""
    page = subprocess.Popen(
        [sys.executable, "-m", "headway", "inspect", "demo", "--live"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert page.stderr is not None
    found = next(filter(None, (re.search(r":(\d+)(/\S+/)", line) for line in page.stderr)))
    place, path = ("127.0.0.1", int(found[1])), found[2].encode()
    chance, open_ones = random.Random(1), []
    bodies = [
        b"[" * 200_000, b'{"a":' * 200_000, b'"' + b"x" * 40_000_000, b"", b"\xff\x00", b"[]",
        b"7", b'{"text": 7}', b'{"text": "a", "begin": [' + b"4," * 99_999 + b"4]}",
        b'{"text": "\\ud800"}',
        b'{"text": "' + b"a" * 2_000 + b'"}', b'{"text": "a", "off": ["' + b"." * 9_999 + b'"]}',
        b'{"text": "a", "force": [' + b'"x",' * 5_000 + b'"x"]}', b'{"text": "a", "begin": [-1]}',
        b'{"text": "\\u0000", "target": 1e999}', b'{"text": "a", "target": ["a"]}',
    ]  # fmt: skip
    for number in range(200):
        body, half = bodies[number % len(bodies)], number % 8 == 7
        length = len(body) + 100 if half else chance.choice((len(body), len(body), 10**12, -5))
        head = b"POST %slook HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n" % (
            path,
            length,
        )
        one = socket.create_connection(place, timeout=0.5 if length != len(body) else 60)
        open_ones.append(one)
        try:
            one.sendall(head + body)
            answer = one.recv(4000)
        except OSError:
            answer = b""
        wrong = "a fault of the server's" if re.match(rb"HTTP/1.1 5(?!03)", answer) else ""
        yield f"request {number}", wrong
        if len(open_ones) > 20:
            open_ones.pop(0).close()
    status = Path(f"/proc/{page.pid}/status").read_text(encoding="utf-8")
    peak_mb = int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1000
    yield f"memory: {peak_mb:.0f} MB", "" if peak_mb < 1000 else "over 1 GB"
    page.send_signal(signal.SIGINT)
    try:
        said = page.communicate(timeout=10)[1]
        yield "Ctrl-C", said if "Traceback" in said else ""
    except subprocess.TimeoutExpired:
        page.kill()
        yield "Ctrl-C", "does not end it"


KINDS = {"texts": texts, "caches": caches, "requests": requests}


def main() -> int:
    """Try what is asked for; print what went wrong."""
    options = record.parser(__doc__)
    options.add_argument("kinds", nargs="*", choices=list(KINDS), default=list(KINDS))
    record.add_record_option(options)
    asked, failed = options.parse_args(), 0

    def give_up(*_: object) -> None:
        raise GivenUpError

    signal.signal(signal.SIGPROF, give_up)
    warnings.simplefilter("ignore")
    for kind in asked.kinds:
        with tempfile.TemporaryDirectory() as folder:
            wrong = {}
            n = 0
            for what, why in KINDS[kind](Path(folder)):
                n += 1
                if why or what.startswith("memory"):
                    print(f"{kind}: {what}: {why or 'good'}", flush=True)
                wrong |= {what: why} if why else {}
        print(f"{kind}: {n} tried, {len(wrong)} wrong", flush=True)
        failed += len(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
