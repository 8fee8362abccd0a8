"""The verbs: what each is for, where its function is, and the examples above its help."""

import inspect
import re
from collections.abc import Callable
from dataclasses import is_dataclass
from typing import get_args

from headway.version import __version__

VERBS = {
    "demo": "Train, score and use a translator on generated sentences.",
    "prepare": "The data doctor: what was read, kept, dropped and why.",
    "train": "Train a translator, a language model, a classifier .. on your own data.",
    "translate": "Translate text line by line, or fill in a translation file.",
    "chat": "Talk with a run that was trained on pairs of text and answer.",
    "memory": "Look texts up in translation memories.",
    "evaluate": "Score a run, or finished translations, on files with what is right.",
    "serve": "Translations over HTTP, for the clients that people have already.",
    "bench": "How fast a service answers, by the number of its clients.",
    "inspect": "See a model think: one text, every number of it, as a page.",
    "compare": "Runs side by side: quality, cost, speed, and who may be ranked by what.",
    "corrections": "What a reviewer changed between two versions of a file, as pairs.",
    "score": "How likely each line is under a language model.",
    "predict": "What a run says: a label, tags, a hidden word, what comes next.",
    "generate": "Let a language model write.",
    "neighbours": "The words nearest to a word, by word vectors.",
    "analogy": "What is to one word as a second is to a third, by word vectors.",
    "similarity": "How near two words are, by word vectors.",
    "map": "Chosen words on a plane, by word vectors: a picture or a page.",
    "embed": "A vector for every word of a text, as a model sees it there.",
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
    "neighbours": "vectors",
    "analogy": "vectors",
    "similarity": "vectors",
    "map": "vector_pictures",
    "import": "exchange",
    "export": "exchange",
}
"""The files of those that share one."""


EXAMPLES = {
    "bench": (
        "headway bench runs/en-de --plot speed.svg",
        "headway bench http://127.0.0.1:5000 --clients 1,16 --seconds 5",
    ),
    "serve": ("headway serve runs/en-de runs/de-en", "headway serve demo --port 8000"),
    "demo": ("headway demo", 'headway demo --budget 2m --text "I love learning."'),
    "prepare": (
        "headway prepare --source train.en --target train.de --page report.html",
        "headway prepare --pairs memory.tmx --drop duplicate truncated --out new.tmx",
    ),
    "train": (
        "headway train --source train.en --target train.de --out runs/mine --budget 30m",
        "headway train --pairs memory.tmx --init-from runs/general --out runs/ours",
    ),
    "translate": (
        "headway translate runs/mine new.en --out new.de",
        "headway translate runs/mine po/ --out filled/ --memory old.tmx",
    ),
    "chat": ("headway chat runs/talk", "headway chat runs/talk --turns 3 --temperature 0.6"),
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
        "headway score runs/lm lines.txt --worst 10",
    ),
    "predict": (
        'headway predict runs/lm "The dog"',
        "headway predict runs/topics texts.csv",
    ),
    "generate": (
        'headway generate runs/lm "The dog"',
        "headway generate runs/lm --n 3 --temperature 0.8 --seed 2",
    ),
    "neighbours": (
        "headway neighbours runs/words apple",
        "headway neighbours vectors.txt apple --json",
    ),
    "analogy": (
        "headway analogy runs/words man king woman",
        "headway analogy vectors.txt man king woman --top 3",
    ),
    "similarity": (
        "headway similarity runs/words king queen",
        "headway similarity vectors.txt king queen --json",
    ),
    "map": (
        "headway map runs/words --words words.txt --out map.html",
        "headway map vectors.txt --words words.txt --out map.png",
    ),
    "embed": (
        "headway embed runs/mine text.en --layer 2 --out vectors.safetensors",
        "headway embed runs/lm text.txt --layer mean --json",
    ),
    "distill": (
        "headway distill runs/large --preset tiny --out runs/small",
        "headway distill runs/large --source more.en --out runs/small --budget 30m",
    ),
    "import": (
        "headway import marian opus-mt-en-de/ --out runs/opus",
        "headway import bert bert-base-uncased/ --out runs/bert",
    ),
    "export": (
        "headway export runs/mine exported/ --to ctranslate2",
        "headway export runs/lm vectors.txt --to word2vec",
    ),
    "parameters": (
        "headway parameters paper-base",
        "headway parameters tiny --model.heads 8 --vocabulary 8000",
    ),
    "complexity": ("headway complexity --page report.html", "headway complexity --n 64,128,256"),
    "settings": ("headway settings training", "headway settings learning-rate"),
    "check": ("headway check runs/mine", "headway check runs/mine --measure"),
    "tokenize": (
        'headway tokenize runs/mine "some text"',
        'headway tokenize vocab.txt "some text" --special-tokens',
    ),
}
"""What stands above all in the help of each."""


def unwrap(verb: Callable[..., object]) -> None:
    """What is said of each option on one line, to be wrapped where it is shown."""
    options = [next(iter(get_args(one)), None) for one in verb.__annotations__.values()]
    for one in (verb, *filter(is_dataclass, options)):
        doc = inspect.cleandoc(one.__doc__ or "")
        one.__doc__ = re.sub(
            r"(?m)^    .*(?:\n    .*)+", lambda found: f"    {' '.join(found[0].split())}", doc
        )


def more_of(verb: Callable[..., object]) -> str:
    """What its docstring says behind the first paragraph, and before its parameters."""
    whole = inspect.cleandoc(verb.__doc__ or "").partition("Parameters\n")[0]
    return "".join(f"\n\n{' '.join(one.split())}" for one in whole.split("\n\n")[1:] if one)


def tell_versions() -> None:
    """Print versions, the machine, and what translates on its processor."""
    import platform
    from contextlib import suppress

    import torch

    from headway.core.errors import ConfigError
    from headway.core.runtime import available_cores, cpu_name
    from headway.engine.building import engine_library
    from headway.engine.compiling import NoEngineError
    from headway.engine.packaged import origin
    from headway.exchange import ctranslate2

    try:
        engine = engine_library()
        amx = ", AMX" * engine.has_amx
        translates = f"native ({origin(engine.library)}, {32 * engine.width} bits wide{amx})"
    except NoEngineError as error:
        translates = f"torch: {error}"
    cores = available_cores()
    print(f"headway {__version__}, Python {platform.python_version()}, torch {torch.__version__}")
    print(f"{cpu_name()}, {cores} core{'s'[: cores > 1]}")
    print(f"engine: {translates}")
    with suppress(ConfigError):
        ctranslate2.require()
        print(f"--runtime.engine ctranslate2: CTranslate2 {ctranslate2.version()}")
