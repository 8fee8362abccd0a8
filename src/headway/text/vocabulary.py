"""The pieces that mean something to the model itself, and the bytes that spell everything else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headway.errors import DataError

SPECIAL_PIECES = ("<pad>", "<unk>", "<s>", "</s>")
"""Padding, unknown, begin and end, as ids 0, 1, 2 and 3 of every vocabulary trained here."""

_KNOWN_NAMES = {
    "padding": ("<pad>", "[PAD]"),
    "unknown": ("<unk>", "[UNK]"),
    "begin": ("<s>", "[CLS]", "<bos>"),
    "end": ("</s>", "[SEP]", "<eos>"),
}


@dataclass(frozen=True)
class SpecialIds:
    """The ids of the markers: 0, 1, 2, 3 where trained here; a loaded vocabulary keeps its own."""

    padding: int = 0
    unknown: int = 1
    begin: int | None = 2
    """Stands before a text; None in a vocabulary that has no such piece, as Marian's."""
    end: int = 3

    @classmethod
    def of(cls, vocabulary: Mapping[str, int], origin: str) -> "SpecialIds":
        """Find the markers among the pieces of `vocabulary`, which was read from `origin`.

        Raises:
            DataError: one that there must be is absent under every name in use (`<pad>`, `[PAD]`).
        """
        found: dict[str, int | None] = {}
        for role, names in _KNOWN_NAMES.items():
            found[role] = next((vocabulary[name] for name in names if name in vocabulary), None)
            if found[role] is None and role != "begin":
                raise DataError(
                    f"a vocabulary needs a piece for {role}, called {' or '.join(names)}; "
                    f"{origin} has none. Add one, or give a tokenizer trained by headway."
                )
        return cls(**found)  # type: ignore[arg-type]  # only begin may be None

    @property
    def decoder_begin(self) -> int:
        """What a decoder is fed first; without a begin marker it is padding, as in Marian."""
        return self.padding if self.begin is None else self.begin

    @property
    def unwritten(self) -> tuple[int, ...]:
        """What no output may hold: everything but the end."""
        return tuple({self.padding, self.unknown, self.decoder_begin} - {self.end})

    def around(self, ids: Sequence[int]) -> list[int]:
        """A text with its markers, such as `<s> .. </s>` or `[CLS] .. [SEP]`."""
        before = [] if self.begin is None else [self.begin]
        return [*before, *ids, self.end]


def _byte_characters() -> tuple[str, ...]:
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(0x100, 0x200))
    return tuple(chr(byte) if byte in printable else chr(next(others)) for byte in range(256))


BYTE_CHARACTERS = _byte_characters()
"""The printable character that stands for each byte in byte-level BPE (Radford et al. 2019)."""

_BYTE_OF = {character: byte for byte, character in enumerate(BYTE_CHARACTERS)}


def spell(text: str) -> str:
    """Write each UTF-8 byte of `text` as its printable character."""
    return "".join(BYTE_CHARACTERS[byte] for byte in text.encode("utf-8"))


def readable(spelled: str) -> str:
    """Undo `spell` for one piece; bytes that are no whole character are shown as `<0xE6>`.

    A piece that `spell` cannot have written is shown as it is.
    """
    if not all(character in _BYTE_OF for character in spelled):
        return spelled
    data = bytes(_BYTE_OF[character] for character in spelled)
    shown = ""
    while data:
        try:
            return shown + data.decode("utf-8")
        except UnicodeDecodeError as error:
            shown += data[: error.start].decode("utf-8")
            shown += "".join(f"<0x{byte:02X}>" for byte in data[error.start : error.end])
            data = data[error.end :]
    return shown
