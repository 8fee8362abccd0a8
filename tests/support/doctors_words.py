"""What the doctor says of a small corpus, hostile text included: for tests of report and page."""

from typing import Any

HOSTILE = '<script>alert("1")</script> & <img src=http://example.org/x.png onerror=1> \'"'


def said(**changes: Any) -> dict[str, Any]:
    """What `headway prepare --json` prints."""
    example = {"file": HOSTILE, "line": 7, "source": HOSTILE, "target": HOSTILE, "detail": HOSTILE}
    finding = {
        "name": "misaligned",
        "severity": "look",
        "title": HOSTILE,
        "n": 1_234,
        "of": 10_000,
        "share": 0.1234,
        "meaning": HOSTILE,
        "remedy": HOSTILE,
        "examples": [example] * 7,
    }
    bars = {"width": 10.0, "counts": [1, 5, 2], "above": 1}
    row = {"mean": 10.5, "low_1": 1, "median": 9, "high_99": 70, "longest": 90}
    return {
        "read": 10_000,
        "kept": 9_000,
        "dropped": {"duplicate": 1_000},
        "problems": [HOSTILE],
        "serious": [HOSTILE],
        "files": [HOSTILE],
        "source_language": "en",
        "target_language": None,
        "lengths": {"source_characters": row},
        "valid": {"read": 10, "kept": 9},
        "findings": [
            finding,
            {**finding, "name": "b", "severity": "dropped", "remedy": "Nothing.", "title": "two"},
            {**finding, "name": "c", "severity": "information", "title": "three", "examples": []},
        ],
        "scripts": {"source": {"LATIN": 0.9, "HAN": 0.1}, "target": {}},
        "languages": {"source": {"en": 1.0}, "target": {}},
        "n_sampled": 500,
        "figures": {
            "source_characters": bars,
            "target_characters": bars,
            "target_over_source": bars,
            "alignment": [{"file": HOSTILE, "line": 1, "correlation": 0.9}] * 3,
        },
        "next": f"Next: {HOSTILE}",
        **changes,
    }


def nothing_said() -> dict[str, Any]:
    """The same of a corpus of which no pair was kept."""
    none = {"width": 1.0, "counts": [], "above": 0}
    names = "source_characters", "target_characters", "target_over_source"
    return said(
        read=0,
        kept=0,
        dropped={},
        problems=[],
        serious=[],
        lengths={},
        valid=None,
        findings=[],
        scripts={"source": {}, "target": {}},
        languages={},
        n_sampled=0,
        figures={**dict.fromkeys(names, none), "alignment": []},
    )
