"""What `headway VERB --help` shows: two examples first, then options in groups, common ones first.

Entered only where help is asked for.
"""

import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from keyword import iskeyword
from typing import Annotated, Any, get_args

from cyclopts import Group, Parameter

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

GROUPS = {
    "train": {
        "Most used": "out source target pairs budget preset resume",
        "To validate on": "valid_source valid_target valid_pairs",
        "From another run": "init_from old_share forget_at_most freeze reinit",
        "A language model": "task corpus valid_corpus",
        "How texts are read": "source_language target_language skip_notes codes glossary",
        "Settings": "config seed",
    },
    "prepare": {
        "Most used": "source target pairs page out drop fix",
        "To validate on": "valid_source valid_target valid_pairs",
    },
    "translate": {
        "Most used": "out beam glossary memory json",
        "Files that are filled in": "overwrite in_place onto as_ keep_going report leave_below "
        "fuzzy_from no_own_memory source_language target_language",
        "Search": "method n_best begin_with tag shortlist precision",
        "What is shown": "scores alignment",
    },
    "evaluate": {
        "Most used": "source reference hypothesis corpus json score_card",
        "Conventions": "tokenize lowercase ter source_language target_language",
    },
    "inspect": {
        "Most used": "out open live target json",
        "Parts and words": "off force tag",
    },
}
"""Of verbs with many options: they stand in this order, all others behind them."""


def arranged(verb: str) -> str:
    """Have the help of a verb show its options in groups; returns what stands above all."""
    name = f"{verb}_" if iskeyword(verb) else verb
    function = getattr(importlib.import_module(f"headway.commands.{name}"), name)
    function.__doc__ = _on_one_line(inspect.cleandoc(function.__doc__ or ""))
    _group(function, GROUPS.get(verb, {}))
    return "\n".join(("", "For example:", *(f"  {line}" for line in EXAMPLES[verb])))


def _on_one_line(doc: str) -> str:
    """What is said of each parameter on one line, to be wrapped where it is shown."""
    about, below, parameters = doc.partition("\nParameters\n")
    return about + below + re.sub(r"\n    (?=\S)", _joint, parameters)


def _joint(found: "re.Match[str]") -> str:
    line = found.string[: found.start()].rpartition("\n")[2]
    return " " if line.startswith("    ") else found[0]


def _group(function: Callable[..., Any], groups: Mapping[str, str]) -> None:
    places = {
        name: Group(title, sort_key=number)
        for number, (title, names) in enumerate(groups.items())
        for name in names.split()
    }
    others = Group("Other options" if groups else "Options", sort_key=len(groups))
    signature = inspect.signature(function)
    kept, options = list[inspect.Parameter](), list[inspect.Parameter]()

    def shown(name: str, annotation: Any, default: Any) -> Any:
        told = None if default not in (None, False, "", ()) else False
        how = Parameter(group=places.get(name, others), show_default=told)
        return Annotated[annotation, how]

    for one in signature.parameters.values():
        bundle = next(iter(get_args(one.annotation)), None)
        if is_dataclass(bundle):  # options that travel together
            bundle.__doc__ = _on_one_line(inspect.cleandoc(bundle.__doc__ or ""))
            for field in fields(bundle):
                field.type = shown(field.name, field.type, field.default)
                bundle.__annotations__[field.name] = field.type
        if one.kind is not one.KEYWORD_ONLY or is_dataclass(bundle):
            kept.append(one)
            continue
        options.append(one.replace(annotation=shown(one.name, one.annotation, one.default)))
        if one.name in function.__annotations__:
            function.__annotations__[one.name] = options[-1].annotation
    order = list(places)
    options.sort(key=lambda one: order.index(one.name) if one.name in order else len(order))
    function.__signature__ = signature.replace(parameters=[*kept, *options])  # type: ignore[attr-defined]
