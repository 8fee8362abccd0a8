"""Why an option of the command line is refused, in words: entered only once one is."""

import difflib
import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from headway.core.errors import ConfigError, RunError
from headway.core.schedules import paper_peak
from headway.core.setting_errors import ELSEWHERE, suggestion


def unknown_verb(given: str, verbs: Iterable[str]) -> ConfigError:
    """For what stands where one of the `verbs` should."""
    if given.startswith("-"):
        return ConfigError(f"a verb comes first; got {given}. Try: headway --help")
    remedy = suggestion(given, verbs) or " Try: headway --help"
    return ConfigError(f"the verbs are {', '.join(verbs)}; got {given!r}.{remedy}")


def no_option(token: str, sections: Sequence[str], options: Iterable[str]) -> ConfigError:
    """For a token of the command line that is no setting, nor one of the command's `options`."""
    if not token.startswith("-"):
        return ConfigError(
            f"a setting is written --section.key VALUE; got {token!r} on its own. "
            "Several values of one setting have commas between: A,B."
        )
    flag = token.partition("=")[0]
    if meant := meant_by(flag, options):
        return ConfigError(
            f"unknown option {flag}; did you mean {meant}? All settings: headway settings"
        )
    return ConfigError(
        f"unknown option {flag}. Settings are written --section.key VALUE, with the sections "
        f"{', '.join(sections)}: see headway settings; --help lists the other options."
    )


def meant_by(flag: str, options: Iterable[str]) -> str:
    """The option, or setting as an option, that somebody means; empty where nobody knows.

    First one whose name, without the section, is just this; then what is called so elsewhere; then
    what is written much like it.
    """
    known = list(dict.fromkeys(options))
    by_key = {name.rpartition(".")[2].strip("-"): name for name in reversed(known)}
    key = flag.strip("-").replace("_", "-").lower()
    elsewhere = ELSEWHERE.get(key.replace("-", "_"), "").replace("_", "-")
    close = difflib.get_close_matches(flag, known, n=1, cutoff=0.7)
    close += [by_key[one] for one in difflib.get_close_matches(key, by_key, n=1, cutoff=0.7)]
    return by_key.get(key) or by_key.get(elsewhere) or next(iter(close), "")


def no_setting(name: str, flags: Iterable[str]) -> ConfigError:
    """For what is neither a section, nor a setting, nor a type of model."""
    meant = meant_by(name, flags)
    remedy = f"did you mean {meant}?" if meant else "headway settings lists all."
    return ConfigError(f"no section, setting or type of model is called {name!r}; {remedy}")


def no_flag(name: str, known: Iterable[str], settings: Iterable[str] = ()) -> ConfigError:
    """For a short name of a setting that there is not; `settings` are written as options."""
    meant = meant_by(name, [*known, *settings]).lstrip("-").replace("-", "_")
    section, _, key = meant.rpartition(".")
    if section:
        meant = f'settings={{"{section}": {{"{key}": ..}}}}'
    remedy = f"did you mean {meant}?" if meant else f"there are {', '.join(known)}."
    return ConfigError(f"{name!r} is no option; {remedy} All settings: headway settings")


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


def two_beginnings() -> ConfigError:
    """For --init-embedding with --init-from."""
    return ConfigError(
        "a model begins with the weights of another run, embeddings among them (--init-from), or "
        "with word vectors (--init-embedding); got both. Leave one of them out."
    )


def no_embedding(model_type: str) -> ConfigError:
    """For --init-embedding where the model is not learned by gradient."""
    return ConfigError(
        "word vectors are what a model of layers begins with; one of the type "
        f"{model_type} is learned in another way. Leave --init-embedding out."
    )


def other_than_fp32(precision: str) -> ConfigError:
    """For a precision that runs are not used in but for translations."""
    return ConfigError(
        "what translates nothing computes in fp32, whatever it was trained in: bf16 and int8 are "
        f"the compiled engine's, which translates only; got runtime.precision {precision}. "
        "Leave it out."
    )


def peak_of_equation_3(training: Any, model: Any, model_type: str, was_set: bool) -> float:
    """The peak that the paper's schedule has; raises ConfigError where it cannot be had, or where
    another `was_set`."""
    remedy = "Choose --training.schedule inverse-square-root, which is the same with a free peak."
    if not hasattr(model, "d_model"):
        raise ConfigError(
            f"the schedule 'paper' scales the rate by d_model, which --model.type {model_type} has "
            f"not. {remedy}"
        )
    peak = paper_peak(model.d_model, training.warmup_steps)
    rate = training.learning_rate if was_set else 0
    if rate and not math.isclose(rate, peak, rel_tol=1e-6):
        raise ConfigError(
            "the schedule 'paper' has no free rate: its peak follows from d_model and "
            f"warmup_steps and is {peak:g}; got learning_rate {rate:g}. {remedy}"
        )
    return peak


def wrong_task(asked: object, task: str, brings: Iterable[str], able: Sequence[str]) -> RunError:
    """For a run, or what else is `asked` about, of a task that does not bring what others are
    `able` to do; what it `brings` is told, by verbs."""
    own = {one.partition(" ")[0] for one in brings} - {"train", "files", "import", "count"}
    if "vectors" in own:  # what several verbs ask for
        own = own - {"vectors"} | {"neighbours", "analogy", "similarity"}
    told = f", which goes with headway {', '.join(sorted(own))}" if own else ""
    return RunError(
        f"this needs a run of the task {' or '.join(able)}; {asked} is one of {task}{told}. "
        f"Train one with: headway train --task {able[0]}"
    )
