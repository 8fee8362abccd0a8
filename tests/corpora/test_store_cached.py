from collections.abc import Iterable
from pathlib import Path

from headway.corpora.store import SideEncoder, cached_store

WORDS = {"good": [4, 5], "bad": [6], "": []}
TEXTS = SideEncoder(lambda texts: [WORDS[text] for text in texts], 9)
LABELS = SideEncoder(lambda texts: [[int(text)] for text in texts], 3)


def test_sides_may_have_encoders_of_their_own_and_are_made_once(tmp_path: Path) -> None:
    rows = [("good", "2"), ("bad", "0"), ("", "1")]
    asked = []

    def read() -> Iterable[tuple[str, str]]:
        asked.append(1)
        return iter(rows)

    encoders = {"text": TEXTS, "label": LABELS}
    for _ in range(2):
        store = cached_store(read, encoders, {"checksum": "1"}, root=tmp_path)
        assert store.sides == ("text", "label")
        assert [store["label"][i].tolist() for i in range(2)] == [[2], [0]]
        assert store.content["dropped"] == {"no_tokens": 1, "too_many_tokens": 0}
    assert asked == [1]
    other = cached_store(read, encoders, {"checksum": "2"}, max_length=1, root=tmp_path)
    assert other.rows.tolist() == [1]
    assert asked == [1, 1]
