"""The bytes that pieces of a tokenizer write."""

import json

from tokenizers import Tokenizer, decoders

from headway.text.subword_training import BYTE_CHARACTERS

_BYTE_OF = {character: byte for byte, character in enumerate(BYTE_CHARACTERS)}


def surfaces(tokenizer: Tokenizer, n_ids: int) -> list[bytes]:
    """What each id adds behind other ids; nothing for special ones and for what cannot be told.

    Byte-level pieces are spelled in bytes; a WordPiece begins a word but for `##`.
    """
    found = [b""] * n_ids
    special = {token.content for token in tokenizer.get_added_tokens_decoder().values()}
    by_bytes = isinstance(tokenizer.decoder, decoders.ByteLevel)
    prefix = json.loads(tokenizer.to_str())["model"].get("continuing_subword_prefix") or "##"
    for piece, i in tokenizer.get_vocab(with_added_tokens=True).items():
        if piece in special:
            found[i] = piece.encode() if "\ue000" <= piece <= "\uf8ff" else b""
        elif not by_bytes:
            ends = piece.startswith(prefix)
            found[i] = piece[len(prefix) :].encode() if ends else f" {piece}".encode()
        elif all(character in _BYTE_OF for character in piece):
            found[i] = bytes(_BYTE_OF[character] for character in piece)
    return found
