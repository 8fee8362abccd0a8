"""The `headway` command: names the verbs, loads only the one that is asked for, reports errors.

Exit status: 0 done, 1 our fault (or the machine's), 2 the user's, 3 `prepare --strict`
found what nobody should train on, 130 interrupted.
"""

import inspect
import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import is_dataclass
from importlib import import_module
from keyword import iskeyword
from typing import TYPE_CHECKING, get_args

from headway.commands.error_reports import complain, report
from headway.core.errors import HeadwayError, UserError
from headway.operations.streams import lead_nowhere
from headway.version import __version__

if TYPE_CHECKING:
    from cyclopts import App

VERBS = {
    "demo": "Train, score and use a translator, or language models, on generated text.",
    "prepare": "The data doctor: what was read, kept, dropped and why.",
    "train": "Train a translator, or a language model, on your own text.",
    "translate": "Translate text line by line, or fill in a translation file.",
    "memory": "Look texts up in translation memories.",
    "evaluate": "Score a translator, or finished translations, against references.",
    "inspect": "See a model think: one text, every number of it, as a page.",
    "compare": "Runs side by side: quality, cost, speed, and who may be ranked by what.",
    "corrections": "What a reviewer changed between two versions of a file, as pairs.",
    "score": "How likely each line is under a language model.",
    "predict": "What comes next, under a language model.",
    "generate": "Let a language model write.",
    "distill": "A small translator that learns from what a large one writes.",
    "import": "A model from another program's file, as a run.",
    "export": "A run's model, as a file for other programs.",
    "parameters": "How large a model is and what it costs, before it is trained.",
    "complexity": "Why self-attention: table 1 of the paper, measured on this machine.",
    "settings": "What every setting means: default, range, and which models have it.",
    "check": "Compare every file of a run with its checksum.",
    "tokenize": "Show the pieces and ids that a model sees.",
}
"""Each verb is the function of that name in `headway/commands/<verb>.py`, or where `HOMES` says;
where Python has the word for itself, `_` is put behind it."""

HOMES = {
    "score": "language_models",
    "predict": "language_models",
    "generate": "language_models",
    "import": "exchange",
    "export": "exchange",
}
"""The files of those that share one."""


EXAMPLES = {
    "demo": ("headway demo", "headway demo --task language-model --budget 3m"),
    "prepare": (
        "headway prepare --source train.en --target train.de --page report.html",
        "headway prepare --pairs memory.tmx --drop all --out cleaned/",
    ),
    "train": (
        "headway train --source train.en --target train.de --out runs/mine --budget 30m",
        "headway train --pairs memory.tmx --init-from runs/general --out runs/ours",
    ),
    "translate": (
        "headway translate runs/mine new.en --out new.de",
        "headway translate runs/mine po/ --out filled/ --memory old.tmx",
    ),
    "memory": (
        'headway memory old.tmx --query "The dog runs."',
        "headway memory old.tmx --queries new.en --at-least 80",
    ),
    "evaluate": (
        "headway evaluate runs/mine --source test.en --reference test.de",
        "headway evaluate --hypothesis a.de b.de --reference test.de",
    ),
    "inspect": (
        'headway inspect runs/mine "The dog runs." --out page.html',
        "headway inspect runs/mine --live",
    ),
    "compare": (
        "headway compare runs/a runs/b --source test.en --reference test.de",
        "headway compare runs/lm runs/other --corpus test.txt --page report.html",
    ),
    "corrections": (
        "headway corrections drafts/ reviewed/ --out corrections.tsv",
        "headway corrections old.de.po new.de.po --out corrections.tsv",
    ),
    "score": (
        "headway score runs/lm lines.txt",
        "headway score runs/lm lines.txt --tokens --worst 10",
    ),
    "predict": ('headway predict runs/lm "The dog"', 'headway predict runs/lm "The dog" --top 5'),
    "generate": (
        'headway generate runs/lm "The dog"',
        "headway generate runs/lm --n 3 --temperature 0.8 --seed 2",
    ),
    "distill": (
        "headway distill runs/large --preset tiny --out runs/small",
        "headway distill runs/large --source more.en --out runs/small --budget 30m",
    ),
    "import": (
        "headway import marian opus-mt-en-de/ --out runs/opus",
        "headway import arpa model.arpa --out runs/lm",
    ),
    "export": (
        "headway export runs/mine exported/ --to ctranslate2",
        "headway export runs/lm vectors.txt --to word2vec",
    ),
    "parameters": (
        "headway parameters paper-base",
        "headway parameters tiny --model.heads 8 --vocabulary 8000",
    ),
    "complexity": ("headway complexity --page report.html", "headway complexity --n 64 128 256"),
    "settings": ("headway settings training", "headway settings learning-rate"),
    "check": ("headway check runs/mine", "headway check runs/mine --measure"),
    "tokenize": (
        'headway tokenize runs/mine "some text"',
        'headway tokenize vocab.txt "some text" --special-tokens',
    ),
}
"""What stands above all in the help of each."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line (without the program's name) and return the exit status.

    `--traceback`, or HEADWAY_TRACEBACK=1, shows the traceback of an unexpected error.
    """
    _speak_utf8()
    tokens = list(sys.argv[1:] if argv is None else argv)
    show_traceback = "--traceback" in tokens or os.environ.get("HEADWAY_TRACEBACK", "0") != "0"
    try:
        status = _run([token for token in tokens if token != "--traceback"])
        sys.stdout.flush()
        return status
    except HeadwayError as error:
        return complain(str(error), error.exit_status)
    except KeyboardInterrupt:
        return complain("interrupted", 128 + signal.SIGINT)
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        return 128 + 13  # as if ended by SIGPIPE, which not every system names
    except (SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # tokenizers' panic is no Exception
        return report(error, show_traceback)
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except OSError:  # said already: Python would say it again at its end, with status 120
                lead_nowhere(stream)


def _run(tokens: list[str]) -> int:
    from cyclopts import CycloptsError

    if tokens and tokens[0] not in (*VERBS, "--help", "-h", "--version"):
        from headway.operations.option_errors import unknown_verb

        raise unknown_verb(tokens[0], VERBS)
    if tokens == ["--version", "--verbose"]:
        tokens = ["versions"]  # known to nobody
    try:
        help_asked = bool({"--help", "-h"} & {*tokens[1:]})
        result = _app(tokens[0] if help_asked else "")(tokens)
    except CycloptsError as error:
        verb = f" {tokens[0]}" if tokens else ""
        raise UserError(f"{error} Try: headway{verb} --help") from None
    return result if isinstance(result, int) else 0


def _app(helped: str = "") -> "App":
    """`helped` is the verb whose help is asked for, if one's is."""
    from cyclopts import App, Group, Parameter

    app = App(
        name="headway",
        help="Parallel text in, a translator of your own out. More: headway COMMAND --help",
        help_format="plaintext",
        version=__version__,
        default_parameter=Parameter(
            negative=(), show_default=lambda default: str(default) if default else None
        ),
        group_parameters=Group("Options", sort_key=99),
        print_error=False,
        exit_on_error=False,
        suppress_keyboard_interrupt=False,
        result_action="return_value",
    )
    for order, (verb, summary) in enumerate(VERBS.items()):
        shown = dict[str, str]()
        if verb == helped:
            _unwrap(function_of(verb))
            examples = "".join(f"\n  {line}" for line in EXAMPLES[verb])
            shown = {"help_prologue": f"\nFor example:{examples}"}
        # Imported when the verb is used.
        app.command(":".join(home_of(verb)), name=verb, help=summary, sort_key=order, **shown)
    app.command(_tell_versions, name="versions", show=False)
    return app


def home_of(verb: str) -> tuple[str, str]:
    """The module and the name of a verb's function."""
    name = f"{verb}_" if iskeyword(verb) else verb
    return f"headway.commands.{HOMES.get(verb, name)}", name


def function_of(verb: str) -> Callable[..., object]:
    """A verb's function."""
    module, name = home_of(verb)
    function: Callable[..., object] = getattr(import_module(module), name)
    return function


def _unwrap(verb: Callable[..., object]) -> None:
    """What is said of each option on one line, to be wrapped where it is shown."""
    options = [next(iter(get_args(one)), None) for one in verb.__annotations__.values()]
    for one in (verb, *filter(is_dataclass, options)):
        doc = inspect.cleandoc(one.__doc__ or "")
        one.__doc__ = re.sub(
            r"(?m)^    .*(?:\n    .*)+", lambda found: f"    {' '.join(found[0].split())}", doc
        )


def _tell_versions() -> None:
    """Print versions, the machine, and what translates on its processor."""
    import platform
    from contextlib import suppress

    import torch

    from headway.core.errors import ConfigError
    from headway.core.runtime import available_cores, cpu_name
    from headway.engine.building import NoEngineError, engine_library
    from headway.exchange import ctranslate2

    try:
        translates = f"native (compiled here, {32 * engine_library().width} bits wide)"
    except NoEngineError as error:
        translates = f"torch: {error}"
    cores = available_cores()
    print(f"headway {__version__}, Python {platform.python_version()}, torch {torch.__version__}")
    print(f"{cpu_name()}, {cores} core{'s'[: cores > 1]}")
    print(f"engine: {translates}")
    with suppress(ConfigError):
        ctranslate2.require()
        print(f"--runtime.engine ctranslate2: CTranslate2 {ctranslate2.version()}")


def _speak_utf8() -> None:
    """UTF-8 in and out, also where the console or the locale is another (GBK, ASCII)."""
    if None in (sys.stdin, sys.stdout, sys.stderr):
        from headway.operations.streams import replace_closed

        replace_closed()
    for stream, errors in (
        (sys.stdin, "strict"),
        (sys.stdout, "surrogateescape"),
        (sys.stderr, "backslashreplace"),
    ):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors=errors)
