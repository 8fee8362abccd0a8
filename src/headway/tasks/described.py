"""What each setting of a config.toml means, for every task and type of model: from the docstrings
and checks of the dataclasses that hold them."""

import ast
import dataclasses
import inspect
import re
import textwrap
import typing
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from headway.core.errors import ConfigError
from headway.core.runtime import RuntimeSettings
from headway.core.setting_errors import described_type
from headway.runs.settings import RunSection
from headway.runs.task_spec import TaskSpec
from headway.tasks import TASKS, task_spec


class Setting(NamedTuple):
    """A key of one section, as one or more tasks or types of model have it."""

    section: str
    key: str
    of: tuple[str, ...]
    """Which have it: tasks, or where the section is [model] `TASK/TYPE`."""
    type: str
    default: Any
    range: str
    """What numbers are taken, in the words of what refuses others; empty for what is no number."""
    description: str
    defined_in: str
    """The dataclass, such as `headway.core.training_settings.TrainingSettings`."""

    @property
    def flag(self) -> str:
        return f"--{self.section}.{self.key.replace('_', '-')}"


def settings() -> list[Setting]:
    """Every setting, in the order of config.toml; those that are alike in several tasks once."""
    found: dict[Setting, list[str]] = {}
    for one in _each():
        found.setdefault(one._replace(of=()), []).append(*one.of)
    order = ["run", "text", "data", "model", "training", "decoding", "runtime"]
    merged = [one._replace(of=tuple(of)) for one, of in found.items()]
    return sorted(merged, key=lambda one: order.index(one.section))


def flags() -> Iterator[str]:
    """Every setting as an option of the command line."""
    return (one.flag for one in settings())


def _each() -> Iterator[Setting]:
    for task in TASKS:
        spec = task_spec(task)
        sections = {"run": RunSection, **spec.sections, "runtime": RuntimeSettings}
        for section, of_section in sections.items():
            yield from _of(of_section, section, task)
        yield _model_type(spec)
        for name, (config, _) in spec.models.items():
            yield from _of(config, "model", f"{task}/{name}")


def _model_type(spec: TaskSpec) -> Setting:
    known = ", ".join(map(repr, spec.models))
    what = "Which kind of model is trained. The other keys of [model] depend on it."
    of, default = (spec.name,), spec.default_model
    return Setting("model", "type", of, f"one of {known}", default, "", what, "headway.models")


def _of(config: type, section: str, of: str) -> Iterator[Setting]:
    written, hints = dict[str, tuple[str, str]](), typing.get_type_hints(config)
    for base in reversed(config.__mro__):
        if dataclasses.is_dataclass(base):
            place = f"{base.__module__}.{base.__name__}"
            written |= {name: (text, place) for name, text in docstrings(base).items()}
    for field in dataclasses.fields(config):
        text, place = written.get(field.name, ("", ""))
        default = None if field.default is dataclasses.MISSING else field.default
        yield Setting(
            section, field.name, (of,), described_type(hints[field.name]), default,
            range_of(config, field.name, hints[field.name]), text, place,
        )  # fmt: skip


@cache
def docstrings(config: type) -> dict[str, str]:
    """What stands below each field of a dataclass, on one line; nothing of those it inherits."""
    [body] = ast.parse(textwrap.dedent(inspect.getsource(config))).body
    found, name = dict[str, str](), ""
    for part in getattr(body, "body", ()):
        if isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) and name:
            found[name] = " ".join(str(part.value.value).split())
        name = ast.unparse(part.target) if isinstance(part, ast.AnnAssign) else ""
    return found


def range_of(config: type, key: str, annotation: Any) -> str:
    """What numbers a field takes: the rules that a number far too small, and one far too large,
    are refused by."""
    number = next((kind for kind in (int, float) if annotation in (kind, kind | None)), None)
    if number is None:
        return ""
    rules = []
    for wrong in (-(10**15), 10**15):
        try:
            config(**{key: number(wrong)})
        except ConfigError as error:
            found = re.search(rf"\b{key} (?:must|is) (.*?); got", str(error))
            rules.append(found[1].removeprefix("be ") if found else "")
    words = ", ".join(dict.fromkeys(rule for rule in rules if rule))
    return re.sub(r"(\d)\.0\b", r"\1", words.replace("not be negative", "at least 0"))
