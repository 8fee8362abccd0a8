"""A vocabulary of letters, parts of characters and words with spaces, and terms for it."""

from hypothesis import strategies as st

from headway.text.terms.holding import Spelling, Wanted, Where
from headway.text.terms.writing import Vocabulary

BYTES = [b"\xc3", b"\xa9", b"\xe7", b"\x8b", b"\x97", b" \xe7\x8b"]
WHOLE = ["a", "b", " ", " a", "ab", "ba", " b", "A", "c", " c", "é", "狗", "狗a", ".", "!"]
PIECES = [b""] * 4 + BYTES + [piece.encode() for piece in WHOLE]


def encode(text: str) -> list[int]:
    """Longest piece first."""
    ids, data = [], text.encode()
    while data:
        piece = max((p for p in PIECES if p and data.startswith(p)), key=len)
        ids.append(PIECES.index(piece))
        data = data[len(piece) :]
    return ids


VOCABULARY = Vocabulary(PIECES, encode)
_texts = st.from_regex(r"[abcé狗A]([abcé狗 ]?[abcé狗])?", fullmatch=True)
_spellings = st.builds(
    Spelling, _texts, whole_word=st.sampled_from((True, True, False)),
    open_end=st.sampled_from((False, False, True)),
    where=st.sampled_from((Where.ANYWHERE, Where.ANYWHERE, *Where)),
)  # fmt: skip
WANTED = st.lists(
    st.builds(
        Wanted,
        st.lists(_spellings, min_size=1, max_size=3).map(tuple),
        st.sampled_from((1, 1, 2)),
    ),
    min_size=1, max_size=3,
)  # fmt: skip
"""What one output must hold."""


def written(ids: list[int]) -> str:
    """As a reader sees it."""
    return b"".join(PIECES[i] for i in ids).decode(errors="replace")
