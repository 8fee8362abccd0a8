"""Which tag of a run stands before what is translated, where it has some."""

from textwrap import shorten
from typing import TYPE_CHECKING

from headway.corpora.mixing import chosen_tag
from headway.runs.task_spec import Say

if TYPE_CHECKING:
    from headway.translator import Translator

MOST_SHOWN = 100  # characters


def announced_tag(translator: "Translator", asked: str | None, say: Say) -> str:
    """The tag that `chosen_tag` takes; nothing is said of a run that has none.

    Raises:
        ConfigError: as `chosen_tag`.
    """
    known = translator.settings.data.tags
    tag = chosen_tag(asked, known)
    names = shorten(", ".join(name for name in known if name), MOST_SHOWN, placeholder=" ..")
    if tag:
        say(f"headway: translated as text with the tag {tag} (of {names})")
    elif known:
        say(f"headway: translated without a tag; the run knows {names}: --tag")
    return tag
