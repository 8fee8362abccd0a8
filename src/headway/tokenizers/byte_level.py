"""Byte-level BPE of other toolkits: GPT-2's pieces and merges, in one file or in two.

GPT-2 has one marker, <|endoftext|>, which ends a text and begins the next. For padding, and for
what is unknown, stand the pieces of two bytes that no UTF-8 text has: its ids stay as they are.
"""

import json
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from headway.core.disk import refuse_large
from headway.core.errors import DataError
from headway.core.subword_training import BYTE_CHARACTERS
from headway.core.subwords import MAX_BYTES, MOST_IDS, Subwords

VOCABULARY, MERGES, BOTH = "vocab.json", "merges.txt", "tokenizer.json"
END_OF_TEXT = "<|endoftext|>"
NO_TEXT = (0xFF, 0xFE, 0xFD, 0xFC, 0xFB, 0xFA, 0xF9, 0xF8, 0xF7, 0xF6, 0xF5, 0xC1, 0xC0)
"""Bytes that no UTF-8 has."""


def read_gpt2(folder: Path, n_rows: int) -> Subwords:
    """The sub-words of a GPT-2; a row of weights that has no piece gets one that no text has.

    Raises:
        DataError: a file is missing or damaged, or not of such a model.
    """
    described, place = _described(folder)
    try:
        ids: dict[str, int] = dict(described["model"]["vocab"])
        added = {one["content"]: int(one["id"]) for one in described["added_tokens"]}
        end = {**ids, **added}[END_OF_TEXT]
        merges: list[tuple[str, str]] = []
        for one in described["model"]["merges"]:
            left, right = one.split(" ") if isinstance(one, str) else one
            merges.append((left, right))
        if not merges:
            raise ValueError("there are no merges")
        used = {piece for merge in merges for piece in merge}
        free = [BYTE_CHARACTERS[byte] for byte in NO_TEXT if BYTE_CHARACTERS[byte] not in used]
        free = [piece for piece in free if piece in ids][:2]
        for name, piece in zip(("<pad>", "<unk>"), free, strict=True):
            ids[name] = ids.pop(piece)
        ids.update(added)
        prefixed = bool((described.get("pre_tokenizer") or {}).get("add_prefix_space", False))
        names = {i: piece for piece, i in ids.items()}
        if len(names) != len(ids) or not {*names} <= {*range(min(n_rows, MOST_IDS))}:
            raise ValueError(f"its ids are not those of {n_rows:,} rows of weights")
        ids |= {f"<unused{i}>": i for i in range(n_rows) if i not in names}
        tokenizer = Tokenizer(models.BPE(ids, merges))
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefixed)
        tokenizer.decoder = decoders.ByteLevel()
        markers = ["<pad>", "<unk>", END_OF_TEXT, *added]
        tokenizer.add_special_tokens([AddedToken(one, special=True) for one in markers])
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise _none(place, str(error)[:200]) from None
    except Exception as error:  # the library's own
        raise _none(place, str(error)[:200]) from None
    assert ids[END_OF_TEXT] == end
    return Subwords(tokenizer.to_str(), str(place))


def _described(folder: Path) -> tuple[dict[str, Any], Path]:
    """As a tokenizer.json has it; and the file that it is from."""
    if (file := folder / BOTH).exists():
        found = _json(file)
        kind = found.get("model"), found.get("pre_tokenizer")
        types = [one.get("type") if isinstance(one, dict) else None for one in kind]
        if types != ["BPE", "ByteLevel"]:
            raise _none(file, f"its parts are {types[0]} and {types[1]}, not BPE and ByteLevel")
        return found, file
    lines = _text(folder / MERGES).split("\n")
    merges = [line for line in lines if line and not line.startswith("#version")]
    model = {"vocab": _json(folder / VOCABULARY), "merges": merges}
    return {"model": model, "added_tokens": []}, folder / VOCABULARY


def _text(file: Path) -> str:
    try:
        refuse_large(file, MAX_BYTES)
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise DataError(
            f"the sub-words of a GPT-2 are {BOTH}, or {VOCABULARY} and {MERGES}; cannot read "
            f"{file}: {error.strerror or error}. Take it from a copy."
        ) from None
    except UnicodeDecodeError:
        raise _none(file, "it is no UTF-8") from None


def _json(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(_text(file))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise _none(file, "it is no table in JSON")
    return found


def _none(file: Path, why: str) -> DataError:
    return DataError(
        f"the sub-words of a GPT-2 are byte-level BPE with {END_OF_TEXT}; those of {file} are not: "
        f"{why}. Take it from a copy, or another model."
    )
