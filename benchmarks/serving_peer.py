"""LibreTranslate's way of serving, with the weights of a run: Flask behind waitress, whose threads
translate one text at a time through CTranslate2. Run by `serving.py`, with any Python that has
flask, waitress, ctranslate2 and tokenizers; of headway it needs nothing but an exported model.

What LibreTranslate 1.9.6 does besides (it detects the language, cuts sentences with another model,
limits, counts) is left out, which makes this quicker than that.
"""

import argparse
import sys
from pathlib import Path

import ctranslate2
import waitress
from flask import Flask, jsonify, request
from tokenizers import Tokenizer


def main() -> None:
    """Serve until killed."""
    options = argparse.ArgumentParser()
    options.add_argument("model", type=Path)
    options.add_argument("tokenizer", type=Path)
    options.add_argument("--port", type=int, required=True)
    options.add_argument("--beam", type=int, required=True)
    options.add_argument("--compute", default="int8")
    options.add_argument("--threads", type=int, default=4, help="waitress's; LibreTranslate has 4")
    options.add_argument("--inter", type=int, default=1)
    options.add_argument("--intra", type=int, default=0, help="0: as many as cores, its default")
    asked = options.parse_args()
    translator = ctranslate2.Translator(
        str(asked.model), device="cpu", compute_type=asked.compute,
        inter_threads=asked.inter, intra_threads=asked.intra,
    )  # fmt: skip
    tokenizer = Tokenizer.from_file(str(asked.tokenizer))
    app = Flask("peer")

    @app.post("/translate")
    def translate():  # type: ignore[no-untyped-def]
        given = request.get_json()
        texts = [given["q"]] if isinstance(given["q"], str) else given["q"]
        found = [one(text) for text in texts]
        return jsonify({"translatedText": found[0] if isinstance(given["q"], str) else found})

    def one(text: str) -> str:
        tokens = tokenizer.encode(text, add_special_tokens=False).tokens
        result = translator.translate_batch([tokens], beam_size=asked.beam, length_penalty=1)
        ids = [tokenizer.token_to_id(token) for token in result[0].hypotheses[0]]
        return str(tokenizer.decode(ids))

    print("ready", file=sys.stderr, flush=True)
    waitress.serve(app, host="127.0.0.1", port=asked.port, threads=asked.threads, _quiet=True)


if __name__ == "__main__":
    main()
