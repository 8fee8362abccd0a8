"""Texts in capitals, which a model that has read few of them would spell letter by letter."""

import re
from collections.abc import Sequence

from headway.core.hypothesis import SearchRequest
from headway.core.subwords import Subwords
from headway.languages.sentences import CODE
from headway.translation.detailed import Translate, Translation

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_MAY_BE_CODE = re.compile(rf"""[^\w\s{CODE}%€£.,;:!?…'’‘"“”„«»()/&–—¿¡-]|_|%\w""")


class InCapitals:
    """Has the model read a text in capitals in small letters, and writes its translation in
    capitals; a `headway.translation.detailed.Processor`."""

    def __init__(self, subwords: Subwords) -> None:
        self.subwords = subwords

    def __call__(
        self, texts: Sequence[str], request: SearchRequest, translate: Translate
    ) -> list[Translation]:
        """Translations of clean texts; of one that is in small letters as it is."""
        read = [self.usual(text) for text in texts]
        found = translate(read, request)
        for i, (text, small) in enumerate(zip(texts, read, strict=True)):
            if small != text:
                written = [
                    one._replace(target=one.target.upper(), written=one.written.upper())
                    for one in found[i].n_best
                ]
                found[i] = found[i]._replace(source=text, n_best=written)
        return found

    def usual(self, text: str) -> str:
        """A text in capitals as it is usually written, so far as the vocabulary shows: each word in
        the form of fewest sub-words, and of these the commonest. Others, texts with codes, and what
        has no more sub-words in capitals stay as they are. Characters keep their places."""
        if not text.isupper() or _MAY_BE_CODE.search(text):
            return text
        small = _WORD.sub(lambda word: self._usual_word(word[0]), text)
        if first := _WORD.search(small):
            at = first.start()
            small = small[:at] + small[at].upper() + small[at + 1 :]
        fewer = len(self.subwords.encode(small)) < len(self.subwords.encode(text))
        return small if fewer else text

    def _usual_word(self, word: str) -> str:
        def rarity(form: str) -> tuple[int, int]:
            ids = self.subwords.encode(f" {form}")
            return len(ids), max(ids)

        forms = word.lower(), word.capitalize(), word
        return min((one for one in forms if len(one) == len(word)), key=rarity)
