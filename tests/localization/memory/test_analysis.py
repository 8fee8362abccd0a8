from pathlib import Path

from headway.core.cleaning import Pair
from headway.languages.codes import LanguagePair
from headway.localization.memory.analysis import BANDS, analysed, opened, table
from headway.localization.memory.building import memory_of_pairs
from headway.localization.memory.memory import Memories

ROWS = [
    "source\ttarget",
    "Open the door\t",  # exact
    "Close the door now please\t",  # 80%
    "Step 4\t",  # 99%
    "Something else\t",
    "Something else\t",  # repeated
    "Open the door\t",  # exact again, which is better than a repetition
    "Done\tFertig",
    "...\t",
]


def silent(_stage: str, _done: int, _total: int | None) -> None:
    """Show nothing."""


def test_every_unit_is_in_one_band(tmp_path: Path) -> None:
    path = tmp_path / "new.tsv"
    path.write_text("\n".join(ROWS) + "\n", encoding="utf-8")
    memory = memory_of_pairs(
        [
            Pair("Open the door", "Tür auf", "m", 1),
            Pair("Close the door now", "Tür zu", "m", 2),
            Pair("Step 3", "Schritt 3", "m", 3),
        ]
    )
    found = analysed(opened([path], LanguagePair("en", "de")), Memories([memory]), silent)
    counted = {band: (one.units, one.words) for band, one in found.bands().items() if one.units}
    assert counted == {
        "exact": (2, 6),
        "repeated": (1, 2),
        "95-99": (1, 2),
        "75-84": (1, 5),
        "none": (1, 2),
    }
    assert (found.total.units, found.total.words) == (6, 17)
    assert found.left == {"translated": 1, "header": 1, "blank_side": 1}
    assert list(found.as_dict()["bands"]) == list(BANDS)
    assert found.as_dict()["files"] == {str(path): found.as_dict()["bands"]}
    lines = table(found)
    assert lines[-2].split() == ["total", "6", "17", "100.0%"]
    assert [line.split()[0] for line in lines[1:4]] == ["in", "exact", "repetitions"]
