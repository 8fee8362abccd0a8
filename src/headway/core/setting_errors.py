"""Why a setting is refused, in words: entered only once one is."""

import dataclasses
import difflib
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from headway.core.errors import ConfigError

_WORDS = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "text",
    Path: "a path",
    type(None): "none",
}


def unknown_verb(given: str, verbs: Iterable[str]) -> ConfigError:
    """For what stands where one of the `verbs` should."""
    if given.startswith("-"):
        return ConfigError(f"a verb comes first; got {given}. Try: headway --help")
    remedy = _suggestion(given, verbs) or " Try: headway --help"
    return ConfigError(f"the verbs are {_listed(verbs)}; got {given!r}.{remedy}")


def no_option(token: str, sections: Sequence[str], options: Iterable[str]) -> ConfigError:
    """For a token of the command line that is no setting, nor one of the command's `options`."""
    if not token.startswith("-"):
        return ConfigError(
            f"a setting is written --section.key VALUE; got {token!r} on its own. "
            "Several values for one option are given by repeating the option."
        )
    flag = token.partition("=")[0]
    if meant := meant_by(flag, options):
        return ConfigError(
            f"unknown option {flag}; did you mean {meant}? All settings: headway settings"
        )
    return ConfigError(
        f"unknown option {flag}. Settings are written --section.key VALUE, with the sections "
        f"{_listed(sections)}: see headway settings; --help lists the other options."
    )


_ELSEWHERE = {
    "lr": "learning_rate", "batch_size": "batch_tokens", "batch": "batch_tokens",
    "max_tokens": "batch_tokens", "epochs": "max_steps", "max_epochs": "max_steps",
    "num_epochs": "max_steps", "steps": "max_steps", "max_updates": "max_steps",
    "train_steps": "max_steps", "time": "budget", "gpu": "device", "cuda": "device",
    "fp16": "precision", "bf16": "precision", "amp": "precision", "num_threads": "threads",
    "num_workers": "workers", "beam_size": "beam", "num_beams": "beam", "nbest": "n_best",
    "vocab_size": "vocabulary_size", "vocab": "vocabulary_size", "bpe_size": "vocabulary_size",
    "hidden_size": "d_model", "embed_dim": "d_model", "emb_size": "d_model", "ffn_dim": "d_ff",
    "num_heads": "heads", "attention_heads": "heads", "n_heads": "heads",
    "num_layers": "encoder_layers", "layers": "encoder_layers", "warmup": "warmup_steps",
    "clip": "clip_norm", "grad_clip": "clip_norm", "max_grad_norm": "clip_norm",
    "update_freq": "accumulate", "gradient_accumulation_steps": "accumulate",
    "save_every": "checkpoint_every", "valid_every": "checkpoint_every",
    "early_stopping": "patience", "lenpen": "length_penalty", "min_freq": "min_count",
    "src": "source", "tgt": "target", "output": "out", "save_dir": "out", "input": "source",
    "random_seed": "seed", "arch": "preset", "scheduler": "schedule", "lr_scheduler": "schedule",
}  # fmt: skip
"""What other toolkits call them."""


def meant_by(flag: str, options: Iterable[str]) -> str:
    """The option, or setting as an option, that somebody means; empty where nobody knows.

    First one whose name, without the section, is just this; then what is called so elsewhere; then
    what is written much like it.
    """
    known = list(dict.fromkeys(options))
    by_key = {name.rpartition(".")[2].strip("-"): name for name in reversed(known)}
    key = flag.strip("-").replace("_", "-").lower()
    elsewhere = _ELSEWHERE.get(key.replace("-", "_"), "").replace("_", "-")
    close = difflib.get_close_matches(flag, known, n=1, cutoff=0.7)
    close += [by_key[one] for one in difflib.get_close_matches(key, by_key, n=1, cutoff=0.7)]
    return by_key.get(key) or by_key.get(elsewhere) or next(iter(close), "")


def no_setting(name: str, flags: Iterable[str]) -> ConfigError:
    """For what is neither a section, nor a setting, nor a type of model."""
    meant = meant_by(name, flags)
    remedy = f"did you mean {meant}?" if meant else "headway settings lists all."
    return ConfigError(f"no section, setting or type of model is called {name!r}; {remedy}")


def unknown_section(
    section: str, known: Sequence[str], where: str, written: Callable[[str], str]
) -> ConfigError:
    """`written` says how a section is written there, for the suggestion."""
    close = difflib.get_close_matches(section, known, n=1, cutoff=0.5)
    remedy = f"did you mean {written(close[0])}?" if close else f"there are {_listed(known)}."
    return ConfigError(f"unknown section {section!r} {where}; {remedy}")


def outside_of_sections(key: str, sections: Sequence[str], path: Path) -> ConfigError:
    """For a key at the top of a TOML file."""
    return ConfigError(
        f"{path}: every key belongs to a section; got {key!r} outside of one. "
        f"Put it below one of {_listed(f'[{known}]' for known in sections)}."
    )


def unreadable(path: Path, error: Exception) -> ConfigError:
    """For a TOML file, and what was raised when it was read."""
    try:
        raise error
    except FileNotFoundError:
        return ConfigError(f"settings file not found: {path}. Check the path.")
    except IsADirectoryError:
        return ConfigError(f"a settings file must be a TOML file; {path} is a directory.")
    except UnicodeDecodeError as found:
        line = found.object[: found.start].count(b"\n") + 1
        return ConfigError(
            f"a settings file must be UTF-8; {path}, line {line} is not. Save it as UTF-8."
        )
    except OSError as found:
        return ConfigError(f"cannot read settings file {path}: {found.strerror}.")
    except Exception:
        return ConfigError(f"{path} is not valid TOML: {error}. Correct that line.")


def unknown_key(key: str, known: Iterable[str], section: str) -> ConfigError:
    """For a key that a section has not."""
    close = difflib.get_close_matches(key, list(known), n=1)
    remedy = f"did you mean {close[0]!r}?" if close else f"it has {_listed(known) or 'no keys'}."
    return ConfigError(f"unknown key {key!r} in [{section}]; {remedy}")


def missing_key(key: str, section: str) -> ConfigError:
    """For a key that has no default."""
    return ConfigError(f"[{section}] needs {key!r}; give it with --{_flag(section, key)}.")


def wrong_value(
    value: Any, annotation: Any, default: Any, *, section: str, key: str
) -> ConfigError:
    """For a value that is not of the key's type; `default` is shown as an example, if it can be."""
    choices = [
        str(choice)
        for option in _options(annotation)
        if typing.get_origin(option) is Literal
        for choice in typing.get_args(option)
    ]
    close = difflib.get_close_matches(_shown(value).strip("'"), choices, n=1)
    if close:
        remedy = f"Did you mean {close[0]!r}?"
    elif default in (None, dataclasses.MISSING) or isinstance(default, tuple):
        remedy = f"Give it as --{_flag(section, key)} VALUE, or as {key} = VALUE in TOML."
    else:
        example = str(default).lower() if isinstance(default, bool) else str(default)
        remedy = f"For example (the default): --{_flag(section, key)} {example}"
    small = " between -2^63 and 2^63" if int in _options(annotation) and _is_whole(value) else ""
    return ConfigError(
        f"[{section}] {key} must be {described_type(annotation)}{small}; got {_shown(value)}. "
        f"{remedy}"
    )


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) or (isinstance(value, str) and value.lstrip("+-").isdecimal())


def _shown(value: Any) -> str:
    """The value as Python writes it, its beginning where it is long."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # thousands of digits, or of lists in lists
        return f"too long a {type(value).__name__}"
    return text if len(text) <= 200 else f"{text[:200]} .."


def not_of_the_task(task: str, section: str, key: str, known: Iterable[str]) -> ConfigError:
    """For a section that a task has not."""
    return ConfigError(
        f"the task {task} has no section [{section}]; it has {_listed(known)}. Leave {key!r} out."
    )


def unknown_name(option: str, given: str, known: Iterable[str]) -> ConfigError:
    """For one of several names, such as a preset's, that is none of them."""
    return ConfigError(
        f"{option} must be one of {_listed(known)}; got {given!r}.{_suggestion(given, known)}"
    )


def no_flag(name: str, known: Iterable[str], settings: Iterable[str] = ()) -> ConfigError:
    """For a short name of a setting that there is not; `settings` are written as options."""
    meant = meant_by(name, [*known, *settings]).lstrip("-").replace("-", "_")
    section, _, key = meant.rpartition(".")
    if section:
        meant = f'settings={{"{section}": {{"{key}": ..}}}}'
    remedy = f"did you mean {meant}?" if meant else f"there are {_listed(known)}."
    return ConfigError(f"{name!r} is no option; {remedy} All settings: headway settings")


def preset_of_another_type(
    preset: str, own_type: str, wanted: str, others: Sequence[str]
) -> ConfigError:
    """For a preset of another type of model than is given, which has the presets `others`."""
    remedy = f"Its own: {_listed(others)}." if others else "It has none: leave --preset out."
    return ConfigError(f"--preset {preset} is for --model.type {own_type}; got {wanted}. {remedy}")


def out_of_range(key: str, rule: str, value: int, *, usual: int) -> ConfigError:
    """For a number of [runtime] that is too small or too large."""
    return ConfigError(f"[runtime] {key} must be {rule}; got {value}. Try --runtime.{key} {usual}")


def too_small(key: str, value: object, *, least: float) -> ConfigError:
    """For a number of [training]."""
    rule = f"must be at least {least}" if least else "must not be negative"
    return ConfigError(f"{key} {rule}; got {value}.")


def unlike_the_paper(key: str, value: object) -> ConfigError:
    """For a constant of [training] that the paper names."""
    rule = "above 0" if key == "adam_epsilon" else "at least 0 and below 1"
    papers = {"adam_epsilon": "1e-9", "label_smoothing": "0.1"}.get(key, "0.9 and 0.98")
    return ConfigError(f"{key} must be {rule}; got {value}. The paper uses {papers}.")


def settled(verb: str, section: str, free: Sequence[str]) -> ConfigError:
    """For a setting that a trained model has for good; those of the sections `free` are not."""
    sections = " and ".join(f"--{name}" for name in free)
    return ConfigError(
        f"{verb} takes settings of {sections}; got one of --{section}, which is settled once a "
        "model is trained. Leave it out."
    )


def told_of_data(config: str | Path) -> str:
    """What the comments of a TOML file say of where its data comes from, behind an error."""
    lines = Path(config).read_text(encoding="utf-8-sig").splitlines()
    links = re.findall(r"https?://[^\s,]+", " ".join(line for line in lines if line[:1] == "#"))
    return f" {config} says how to get its data: {links[0].rstrip('.')}" if links else ""


def only_for_sampling(key: str, method: str) -> ConfigError:
    """For a setting of sampling where another method was asked for, which would not look at it."""
    return ConfigError(
        f"decoding.{key} is a setting of sampling; got it with method {method}, where it changes "
        f"nothing. Add --method sampling, or leave it out."
    )


def nothing_to_draw_anew() -> ConfigError:
    """For --reinit without --init-from."""
    return ConfigError(
        "--reinit names parts of the run that --init-from names; there is none. "
        "Leave --reinit out: every weight is drawn anew."
    )


def no_gpu(torch_version: str, *, with_cuda: bool) -> ConfigError:
    """For a GPU that is asked for; `with_cuda`: whether this torch could use one."""
    missing = "torch finds no NVIDIA GPU or driver"
    why = missing if with_cuda else "this torch was built without CUDA"
    return ConfigError(
        f"[runtime] device 'cuda' needs a GPU; {why} (torch {torch_version}). "
        "Use --runtime.device cpu, or install a CUDA build of torch."
    )


def no_bf16(gpu: str) -> ConfigError:
    """For a precision that the GPU has not."""
    return ConfigError(
        f"bf16 needs a GPU that computes in it; {gpu} does not. Use --runtime.precision fp32"
    )


def only_translates(precision: str, engine: str) -> ConfigError:
    """For a precision or an engine that is not for training."""
    rule, given = ("computes in fp32 or bf16", f"precision {precision}")
    if precision != "int8":
        rule, given = ("validates with headway's own engines", f"engine {engine}")
    return ConfigError(
        f"training {rule}; got runtime.{given}, which is for `headway translate`. Leave it out."
    )


def other_than_fp32(precision: str) -> ConfigError:
    """For a precision that language models are not used in."""
    return ConfigError(
        "a language model scores and writes in fp32, whatever it was trained in: bf16 and int8 are "
        f"the compiled engine's, which translates only; got runtime.precision {precision}. "
        "Leave it out."
    )


def described_type(annotation: Any) -> str:
    """What a value of this type is, in words."""
    described = []
    for option in _options(annotation):
        arguments = typing.get_args(option)
        if typing.get_origin(option) is Literal:
            described.append("one of " + _listed(repr(choice) for choice in arguments))
        elif typing.get_origin(option) is tuple:
            inner = " and ".join(described_type(part) for part in arguments if part is not ...)
            described.append(f"a list, each item {inner}")
        else:
            described.append(_WORDS.get(option, getattr(option, "__name__", str(option))))
    return " or ".join(described)


def _options(annotation: Any) -> Sequence[Any]:
    """The members of a union, or the type itself."""
    union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    return typing.get_args(annotation) if union else (annotation,)


def _suggestion(given: str, known: Iterable[str]) -> str:
    """` Did you mean ..?`, where something known is close."""
    close = difflib.get_close_matches(given, list(known), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def _flag(section: str, key: str) -> str:
    return f"{section}.{key.replace('_', '-')}"


def _listed(names: Iterable[str] | Mapping[str, Any]) -> str:
    return ", ".join(names)
