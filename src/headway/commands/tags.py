"""Which tag goes before the texts that a command translates, said on stderr."""

import sys
from typing import TYPE_CHECKING

from headway.corpora.mixing import chosen_tag

if TYPE_CHECKING:
    from headway.translator import Translator


def announced_tag(translator: "Translator", asked: str | None) -> str:
    """The tag that `chosen_tag` takes; nothing is said of a run that has none.

    Raises:
        ConfigError: as `chosen_tag`.
    """
    known = translator.settings.data.tags
    tag = chosen_tag(asked, known)
    names = ", ".join(name for name in known if name)
    if tag:
        print(f"headway: translated as text with the tag {tag} (of {names})", file=sys.stderr)
    elif known:
        print(f"headway: translated without a tag; the run knows {names}: --tag", file=sys.stderr)
    return tag
