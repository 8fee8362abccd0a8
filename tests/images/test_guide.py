"""What docs/uses/images.md shows of vectors in the place of ids runs, and learns."""

import re
from pathlib import Path
from typing import Any

GUIDE = Path(__file__).parents[2] / "docs" / "uses" / "images.md"


def test_frames_of_a_sound_enter_the_trunk_and_are_learned(capsys):
    [code] = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(code, str(GUIDE), "exec"), names)
    assert names["right"].float().mean() > 0.95
    assert capsys.readouterr().out.endswith("%\n")
