"""What is looked at where no text is given: the notes' sentences, some of the validation set."""

from collections.abc import Iterator
from itertools import islice

from headway.core.errors import ConfigError, DataError, command
from headway.core.run_folder import RunFolder
from headway.demo import EXAMPLES
from headway.inspection.inspected_model import InspectedModel
from headway.runs.own_files import why_not_read

N_TEXTS = 4
_LONGEST = 120
"""Characters of a text that is easy to look at."""
_FAR = 500
"""Lines in which such texts are looked for."""


def texts(inspected: InspectedModel) -> list[str]:
    """The notes' sentences where the model translates them as the notes do, then short ones of its
    own validation files; of its corpus, where validation text was held out of that.

    Raises ConfigError where there is none: the run's files are gone.
    """
    own = [text for text, target in EXAMPLES if inspected.write(text) == target]
    found = list(dict.fromkeys([*own, *islice(filter(_fits, _of_the_run(inspected)), N_TEXTS)]))
    if not found:
        raise ConfigError(
            f"the texts that {inspected.run} was made from are gone, or others now. Say what to "
            "look at: "
            f"{command('inspect', inspected.run, 'a text of your own')}"
        )
    return found


def _fits(line: str) -> bool:
    return bool(line.strip()) and len(line) <= _LONGEST


def _of_the_run(inspected: InspectedModel) -> Iterator[str]:
    try:
        files, lines = inspected.examples()
        if not why_not_read(RunFolder(inspected.run), files):
            yield from islice(lines, _FAR)
    except (ConfigError, DataError):  # the files are gone, or others, or not named
        return
