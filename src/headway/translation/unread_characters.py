"""Characters that training did not have, read as others that mean the same and that it had."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from headway.core.hypothesis import SearchRequest
from headway.core.subwords import Subwords
from headway.translation.detailed import Translate, Translation

_SIGNS = {
    "’": "'", "‘": "'", "‚": "'", "ʼ": "’'", "´": "’'", "“": '"', "”": '"',
    "„": '"', "«": '“"', "»": '”"', "–": "-", "—": "–-", "‐": "-", "‑": "-", "−": "-", "―": "—–-",
}  # fmt: skip
"""Which signs may stand for a sign, the likest first."""
_SAME = ("<wide>", "<narrow>", "<noBreak>", "<compat>", "<font>")
"""Unicode's names for ways of writing a character that leave its meaning, as <super> does not."""
_RARE = re.compile(r"(?<=[^\W\d_])’(?=[^\W\d_])|[\u00a0\u202f]")


class UnreadCharacters:
    """Has the model read what its vocabulary would spell in bytes as it is usually written: full
    width letters, typographic quotes, no-break spaces; characters that are not seen are left out.
    A `headway.translation.detailed.Processor`."""

    def __init__(self, subwords: Subwords, in_terms: Iterable[str] = ()) -> None:
        """`in_terms` are characters that terms are found by: they stay."""
        self.subwords, self.known = subwords, subwords.characters.union(in_terms)

    def __call__(
        self, texts: Sequence[str], request: SearchRequest, translate: Translate
    ) -> list[Translation]:
        """Translations of clean texts."""
        found = translate([self.usual(text) for text in texts], request)
        return [one._replace(source=text) for text, one in zip(texts, found, strict=True)]

    def usual(self, text: str) -> str:
        """The text as the model reads it. Apostrophes and no-break spaces, which the other language
        may have taught it, are read as the usual ones where that takes fewer sub-words."""
        read = "".join(self.read_as(text))
        plain = _RARE.sub(lambda sign: "'" if sign[0] == "’" else " ", read)
        if plain != read and len(self.subwords.encode(plain)) < len(self.subwords.encode(read)):
            return plain
        return read

    def places(self, text: str) -> list[int]:
        """Which character of the text each of `usual` stands for, and its end."""
        return [i for i, read in enumerate(self.read_as(text)) for _ in read] + [len(text)]

    def read_as(self, text: str) -> list[str]:
        """What stands for each character: itself, another, several, or nothing; a text of which
        nothing would be left stays."""
        instead = {character: self._instead(character) for character in {*text} - self.known}
        found = [instead.get(character, character) for character in text]
        last = ""
        for i, read in enumerate(found):
            if read == last == " ":
                found[i] = ""  # a no-break space beside a space
            last = found[i] or last
        return found if any(map(str.strip, found)) else [*text]

    def _instead(self, character: str) -> str:
        alike = [*_SIGNS.get(character, "")]
        if unicodedata.decomposition(character).startswith(_SAME):
            alike.append(unicodedata.normalize("NFKC", character))
        unseen = "" if unicodedata.category(character) == "Cf" else character
        return next((one for one in alike if self.known.issuperset(one)), unseen)
