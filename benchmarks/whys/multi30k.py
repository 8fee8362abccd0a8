"""The main questions asked of Multi30k, English to German: `python benchmarks/why.py --data DIR`.

Each model learns for the same wall-clock time (--budget, 20 minutes unless it says otherwise), is
validated as `headway train` does it, and translates test_2016_flickr with a beam of 5.
"""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import record
import runs

from headway import Translator
from headway.core.bleu import bleu_statistics
from headway.core.errors import ConfigError
from headway.metrics.tokenizers import bleu_metric

CORPUS, TEST = runs.CORPORA["multi30k-en-de"], "test_2016_flickr"
LONG = 20
"""Words of the source, above which a sentence is long."""
TINY = ("--preset", "tiny")
ABLATED = ("--preset", "ablated")
RECURRENT = ("--preset", "recurrent")
QUESTIONS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "fixed-vector": {
        "recurrent, one vector": (*RECURRENT, "--model.attention", "none"),
        "recurrent, additive": (*RECURRENT, "--model.attention", "additive"),
        "recurrent, dot": (*RECURRENT, "--model.attention", "dot"),
        "Transformer": TINY,
        "Transformer, one vector": (*ABLATED, "--model.cross", "mean"),
    },
    "scale": {
        "Transformer": TINY,
        "no scale": (*ABLATED, "--no-model.scale"),
        "additive": (*ABLATED, "--model.score", "additive"),
    },
    "heads": {
        "1 head": (*TINY, "--model.heads", "1"),
        "Transformer": TINY,
        "8 heads": (*TINY, "--model.heads", "8"),
    },
    "query-is-key": {
        "Transformer": TINY,
        "W_Q = W_K": (*ABLATED, "--model.query-is-key"),
    },
    "positions": {
        "Transformer": TINY,
        **{
            f"{kind} positions": (*TINY, "--model.positions", kind)
            for kind in ("none", "learned", "relative", "rotary")
        },
    },
    "feed-forward": {
        "Transformer": TINY,
        "no feed-forward": (*ABLATED, "--model.feed-forward", "none"),
        "no ReLU": (*ABLATED, "--model.feed-forward", "linear"),
    },
    "layer-or-batch": {
        "Transformer": TINY,
        "BatchNorm": (*ABLATED, "--model.normalize", "batch"),
        "no norm": (*ABLATED, "--model.normalize", "none"),
    },
}
BUDGET = "20m"


def trainings(names: Sequence[str]) -> dict[str, Sequence[str]]:
    """The flags of each run that the questions need, once; raises ConfigError for a question that
    is not asked of Multi30k."""
    if others := [name for name in names if name not in QUESTIONS]:
        raise ConfigError(
            f"--data asks {', '.join(QUESTIONS)} of Multi30k; got --only {', '.join(others)}. "
            "Leave out --data: then every question is asked of text that is generated."
        )
    return {
        label: flags
        for name, some in QUESTIONS.items()
        if not names or name in names
        for label, flags in some.items()
    }


def measured(run: Path, data: Path) -> dict[str, Any]:
    """BLEU of a finished run: cased, lower-cased over Moses tokens, and that of long sentences."""
    translator = Translator.load(run)
    sources, references = CORPUS.lines(data, TEST)
    search = runs.decodings(translator.settings.decoding)["beam 5"]
    output = runs.translate(translator, sources, search)
    scores = runs.score(CORPUS, TEST, references, output, "beam 5")
    long = [i for i, source in enumerate(sources) if len(source.split()) > LONG]
    metric = bleu_metric("moses", target_language=CORPUS.target, lowercase=True)
    of_long = bleu_statistics([output[i] for i in long], [references[i] for i in long], metric)
    return {
        "bleu": scores.bleu,
        "moses_bleu": scores.moses_bleu,
        "long_moses_bleu": of_long.score(),
        "n_long": len(long),
        "parameters": sum(p.numel() for p in translator.model.parameters()),
        **runs.facts(run),
    }


def ask(asked: Namespace) -> int:
    """Train what is missing, measure all, print one table for each question."""
    out = asked.out or Path(gettempdir()) / "why-multi30k"
    budget, found = asked.budget or BUDGET, {}
    for label, flags in trainings(asked.only).items():
        run = out / label.replace(" ", "-").replace(",", "").replace("=", "is")
        usual = ["--budget", budget, "--runtime.threads", str(asked.threads * asked.jobs)]
        runs.train(CORPUS, asked.data, run, [*flags, *usual, "--runtime.seed", "1"])
        found[label] = measured(run, asked.data)
    for name, some in QUESTIONS.items():
        rows = [
            [
                label,
                f"{one['parameters']:,}",
                f"{one['updates']:,}",
                f"{one['moses_bleu']:.1f}",
                f"{one['long_moses_bleu']:.1f}",
            ]
            for label in some
            if (one := found.get(label))
        ]
        if len(rows) == len(some):
            head = ["model", "parameters", "updates", "BLEU", f"over {LONG} words"]
            print(f"\n{name}\n\n{record.table(head, rows)}")
    record.write(asked.record, "why", seeds=[1], figures={"budget": budget, "runs": found})
    return 0
