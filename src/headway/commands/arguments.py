"""What verbs take and say: settings as flags (any as `--section.key VALUE`), a run, JSON."""

import glob
import inspect
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from cyclopts import App, Group, Parameter

from headway.core.config import SECTIONS, Sections, build
from headway.core.errors import CONTROLS, ConfigError
from headway.core.setting_errors import unknown_section
from headway.languages.codes import suffix_of
from headway.localization.formats.file_kinds import FILE_KINDS, NO_TEXT
from headway.operations.option_errors import no_option, settled
from headway.runs.flags import ShortFlag

if TYPE_CHECKING:
    from headway.core.runtime import RuntimeSettings
    from headway.translator import Translator

Unread = Annotated[str, Parameter(allow_leading_hyphen=True)]
"""For `*tokens: Unread`: every token that is no option of the verb, in order, as it is."""

Overrides = Annotated[
    Unread,
    Parameter(help="Any setting as a flag, like --model.heads 4: headway settings tells them all."),
]
"""For `*overrides: Overrides`: tokens that can only be settings."""

Several = Annotated[tuple[Path, ...], Parameter(consume_multiple=True)]
"""For an option that takes files until the next option."""

Verb = TypeVar("Verb", bound=Callable[..., object])

MOST_USED = Parameter(group=Group("Most used", sort_key=0))
"""The group of options that stands first in a verb's help."""


def group(title: str, place: int) -> Parameter:
    """For `Annotated[.., group(..)]`: options that stand together in a verb's help."""
    return Parameter(group=Group(title, sort_key=place))


def parse_overrides(tokens: Sequence[str], *, options: Iterable[str] = ()) -> Sections:
    """Read `--section.key value`, `--section.key=value`, `--section.key` and `--no-section.key`.

    A key without a value is `true`, with `--no-` in front `false`. All values stay text; `build`
    converts them. `options` are the command's other options, only used to suggest one of them
    when an option is misspelt. Raises `ConfigError` on anything else.
    """
    sections: Sections = {}
    waiting = list(tokens)
    while waiting:
        token = waiting.pop(0)
        flag, equals, value = token.partition("=")
        negated = flag.startswith("--no-") and "." in flag
        name = flag.removeprefix("--no-" if negated else "--").replace("-", "_")
        section, _, key = name.partition(".")
        if not flag.startswith("--") or not section or not key:
            raise no_option(token, SECTIONS, options)
        if section not in SECTIONS:
            raise unknown_section(section, SECTIONS, f"in option {flag}", "--{}.".format)
        if negated and equals:
            raise ConfigError(f"{flag} takes no value; got {value!r}. Leave out '={value}'.")
        if negated:
            value = "false"
        elif not equals:
            value = waiting.pop(0) if waiting and not waiting[0].startswith("--") else "true"
        sections.setdefault(section, {})[key] = value
    return sections


def takes(
    flags: Mapping[str, ShortFlag], groups: Mapping[str, str] | None = None
) -> Callable[[Verb], Verb]:
    """Give a verb these flags, which it gets by name in its `**flags`; `groups` are titles in its
    help, and the names of the flags below each."""

    def decorate(verb: Verb) -> Verb:
        own = inspect.signature(verb).parameters.values()
        grouped = {
            name: group(title, place) if place else MOST_USED
            for place, (title, names) in enumerate((groups or {}).items())
            for name in names.split()
        }
        added = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=None,
                annotation=Annotated[
                    list[str] | None if flag.many else str | None,
                    Parameter(help=flag.help, consume_multiple=flag.many),
                    grouped.get(name, Parameter()),
                ],
            )
            for name, flag in flags.items()
        ]
        before = [p for p in own if p.kind in (p.POSITIONAL_ONLY, p.VAR_POSITIONAL)]
        behind = [p for p in own if p.kind is p.KEYWORD_ONLY]
        verb.__signature__ = inspect.Signature([*before, *added, *behind])  # type: ignore[attr-defined]
        return verb

    return decorate


def apart(tokens: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names, and settings (one word behind a dash) with their values, wherever they stand."""
    names, flags = list[str](), list[str]()
    for before, token in zip(("", *tokens), tokens, strict=False):
        a_value = before.startswith("--") and not before.startswith("--no-") and "=" not in before
        a_setting = token.startswith("-") and len(token.partition("=")[0].split()) == 1
        (flags if a_setting or a_value else names).append(token)
    return names, flags


def option_names(verb: Callable[..., object], sections: Sequence[str] = SECTIONS) -> Iterator[str]:
    """The verb's own options (`--out`, ..), then the settings of some sections, for a suggestion
    when one is misspelt: these take a second, and are found when they are asked for."""
    app = App(default_command=verb, default_parameter=Parameter(negative=()))
    for one in app.assemble_argument_collection():
        yield from (name for name in one.names if name.startswith("--"))
    from headway.tasks.described import flags

    yield from (flag for flag in flags() if flag.startswith(tuple(f"--{s}." for s in sections)))


def given(told: object, *among: str) -> list[str]:
    """Those of some options that are not as they usually are, as they are written."""
    usual = vars(type(told)())
    return [
        f"--{key.strip('_').replace('_', '-')}"
        for key, value in vars(told).items()
        if key in among and value != usual[key]
    ]


def say(message: str) -> None:
    """On stderr, at once."""
    print(message.translate(CONTROLS), file=sys.stderr, flush=True)


def print_json(found: Any) -> None:
    """One object on stdout."""
    print(json.dumps(found, ensure_ascii=False), flush=True)


def plain(names: Sequence[str]) -> bool:
    """Whether this is a single file of text, or standard input."""
    if len(names) != 1:
        return not names
    [name], path = names, Path(names[0])
    of_a_kind = suffix_of(path) in {*FILE_KINDS, *NO_TEXT}
    pattern = glob.has_magic(name) and not path.exists()
    return not (of_a_kind or path.is_dir() or pattern)


def ready(
    run: Any,
    tag: str | None,
    decoding: Mapping[str, Any],
    flags: Sequence[str] = (),
    known_flags: Iterable[str] = (),
    codes: Sequence[Path] = (),
    shortlist: int | None = None,
) -> "tuple[Translator, dict[str, Any]]":
    """A run's translator, or that of a list of runs, and how it is to translate; `flags` set
    [decoding], [runtime]."""
    from headway.operations.shipped import open_folder
    from headway.translator import Translator

    sections = parse_overrides(flags, options=known_flags)
    if others := sections.keys() - {"decoding", "runtime"}:
        raise settled("translate", min(others), ("decoding", "runtime"))
    runtime = process_settings(sections)
    how: dict[str, Any] = {"precision": runtime.precision, "engine": runtime.engine, "say": say}
    translator = Translator.load(run, device=runtime.device, codes=codes, **how)
    if shortlist is not None:
        translator.shorten(run, shortlist, say)
    for one in run if isinstance(run, list) else [run]:
        if why := open_folder(one).settings().get("run", {}).get("below_use"):
            say(f"headway: WARNING: {one} is below use: {why}")
    if tag is not None or translator.settings.data.tags:
        from headway.commands.tags import announced_tag  # a side room

        tag = announced_tag(translator, tag, say)
    wanted = translator.decoding({**decoding, **sections.get("decoding", {})})
    return translator, {"tag": tag, **asdict(wanted)}


def process_settings(sections: Mapping[str, Mapping[str, Any]]) -> "RuntimeSettings":
    """Section [runtime], with what is the process's set by it."""
    from headway.core.runtime import RuntimeSettings, allow_tf32, chosen_device, set_threads

    runtime = build(RuntimeSettings, sections.get("runtime", {}), section="runtime")
    set_threads(runtime.threads)
    allow_tf32(chosen_device(runtime).type == "cuda")
    return runtime
