"""Calls from Python with an argument of the wrong type, and what is said of each.

    python tests/support/wrong_calls.py RUN_OF_A_LANGUAGE_MODEL PICKLE

prints a JSON object: the name of what each call raised, and its message; and what the translator of
the pickle makes of its texts, without its terms and with them. In a process of its own: the suite
lays a type checker over the package, which a caller has not.
"""

import json
import pickle
import sys
from pathlib import Path

import headway
from headway import TrainedLanguageModel, Translator

TEXT = "The dog ate the apple."
TEXTS = [TEXT, "I love cats."]

WRONG_CALLS = {
    "text for attention": lambda t, m: t.attention([TEXT]),
    "target for attention": lambda t, m: t.attention(TEXT, 5),
    "tag": lambda t, m: t.translate(TEXT, tag=5),
    "glossary": lambda t, m: t.translate(TEXT, glossary=5),
    "glossary in a list": lambda t, m: t.translate(TEXT, glossary=[None]),
    "a prefix for several": lambda t, m: t.translate(TEXTS, prefixes="We"),
    "prefixes for an iterator": lambda t, m: t.translate(iter(TEXTS), prefixes=["We"]),
    "prefixes that are none": lambda t, m: t.translate(TEXTS, prefixes=5),
    "prefixes of numbers": lambda t, m: t.translate(TEXTS, prefixes=[1, 2, 3]),
    "segments": lambda t, m: t.translate_segments(TEXTS),
    "segment": lambda t, m: t.translate_segments(TEXT),
    "run of a translator": lambda t, m: Translator.load(5),
    "no run": lambda t, m: Translator.load(None),
    "nowhere": lambda t, m: headway.train(source="a.en", target="a.zh", out=""),
    "an empty name": lambda t, m: headway.translate_files("demo", ""),
    "run in bytes": lambda t, m: Translator.load(b"demo"),
    "codes": lambda t, m: Translator.load("demo", codes=5),
    "folder to save to": lambda t, m: t.save(5),
    "prompt": lambda t, m: m.next(5),
    "prompts": lambda t, m: next(m.write([TEXT])),
    "files of a language model": lambda t, m: m.evaluate(5),
    "texts for files": lambda t, m: m.evaluate([5]),
    "run of a language model": lambda t, m: TrainedLanguageModel.load(5),
    "source": lambda t, m: headway.train(source=123, target="b", out="o"),
    "texts for pairs": lambda t, m: headway.train(pairs=[(TEXT, TEXT)], out="o"),
    "dict for pairs": lambda t, m: headway.train(pairs={TEXT: TEXT}, out="o"),
    "out": lambda t, m: headway.train(source="a", target="b", out=5),
    "settings": lambda t, m: headway.train(source="a", target="b", out="o", settings=5),
    "section": lambda t, m: headway.train(out="o", settings={"training": 5}),
    "config": lambda t, m: headway.train(source="a", target="b", out="o", config=5),
    "preset": lambda t, m: headway.train(source="a", target="b", out="o", preset=5),
    "text to inspect": lambda t, m: headway.inspect("demo", [TEXT]),
    "target to inspect": lambda t, m: headway.inspect("demo", TEXT, 5),
    "run to inspect": lambda t, m: headway.inspect(5, TEXT),
    "parts off": lambda t, m: headway.inspect("demo", TEXT, off=5),
    "files to fill in": lambda t, m: headway.translate_files("demo", None),
    "files in a list": lambda t, m: headway.translate_files("demo", [5]),
    "out of files": lambda t, m: headway.translate_files("demo", "a.po", out=5),
    "memory": lambda t, m: headway.translate_files("demo", "a.po", memory=[5]),
    "decoding of files": lambda t, m: headway.translate_files("demo", "a.po", decoding=5),
    "run of files": lambda t, m: headway.translate_files(5, "a.po"),
}
"""Of each, what is done with a translator and a language model."""

UNKNOWN_NAMES = {
    "device": lambda t, m: Translator.load("demo", device="gpu"),
    "device of a language model": lambda t, m: TrainedLanguageModel.load(sys.argv[1], device="gpu"),
    "device to inspect on": lambda t, m: headway.inspect("demo", TEXT, device="gpu"),
    "precision": lambda t, m: Translator.load("demo", precision="fp8"),
    "engine": lambda t, m: Translator.load("demo", engine="onnx"),
}
"""The same of names that are none of several."""


def main() -> None:
    """Call each, print what came of it."""
    pickled, terms, texts = pickle.loads(Path(sys.argv[2]).read_bytes())
    translations = [pickled.translate(texts), pickled.translate(texts, glossary=terms)]
    given = Translator.load("demo"), TrainedLanguageModel.load(sys.argv[1])
    found = {}
    for name, call in {**WRONG_CALLS, **UNKNOWN_NAMES}.items():
        try:
            found[name] = ("nothing", repr(call(*given)))
        except Exception as error:
            found[name] = (type(error).__name__, str(error))
    print(json.dumps({"raised": found, "translations": translations}))


if __name__ == "__main__":
    main()
