"""The `headway` command: names the verbs, loads only the one that is asked for, reports errors.

Exit status: 0 done, 1 our fault (or the machine's), 2 the user's, 3 findings (`--strict`) or
files left out, 130 interrupted.
"""

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import pairwise
from keyword import iskeyword
from typing import TYPE_CHECKING

from headway.commands.error_reports import complain, report
from headway.commands.verbs import EXAMPLES, HOMES, VERBS, more_of, tell_versions, unwrap
from headway.core.errors import HeadwayError, UserError
from headway.operations.streams import lead_nowhere
from headway.version import __version__

if TYPE_CHECKING:
    from cyclopts import App


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
        return complain("interrupted", 130)
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
    if "--out=" in tokens or ("--out", "") in pairwise(tokens):
        raise UserError("--out names what is written; got an empty name (a variable, unset?).")
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
        shown = {"help": summary}
        if verb == helped:
            unwrap(function_of(verb))
            examples = "".join(f"\n  {line}" for line in EXAMPLES[verb])
            more = more_of(function_of(verb))
            shown = {"help_prologue": f"\nFor example:{examples}", "help": f"{summary}{more}"}
        app.command(":".join(home_of(verb)), name=verb, sort_key=order, **shown)  # not imported yet
    app.command(tell_versions, name="versions", show=False)
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
