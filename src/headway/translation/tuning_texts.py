"""The texts that another run learned from: what they are, and whether they are still there."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from headway.core.disk import write_text
from headway.core.errors import HeadwayError
from headway.core.run_folder import RunFolder
from headway.core.settings import Settings
from headway.corpora.cache import cache_root, made_once, read_sealed, sealed_folder, silent
from headway.operations.shipped import SHIPPED
from headway.runs.own_files import why_not_read
from headway.tasks import task_spec
from headway.translation.pairs import TranslationData


def settings_of(folder: RunFolder) -> Settings:
    """The settings of a run; the texts of the one that comes with headway are written once more."""
    settings = Settings.of_run(folder, task_spec("translation"))
    if folder.path != SHIPPED:
        return settings
    from headway.demo import DEMO_SEED, DEMO_SIZES, generate, split  # a grammar that few need

    place = cache_root() / f"demo-texts-{DEMO_SEED}-of-2026-11-24"

    def make(_work: Path) -> None:
        _, n_valid, n_test = DEMO_SIZES
        written = split(generate(sum(DEMO_SIZES), DEMO_SEED), n_valid=n_valid, n_test=n_test)
        with sealed_folder(place) as (part, _):
            for name, found in (("train", written.train), ("valid", written.valid)):
                for side, texts in zip(("en", "zh"), zip(*found, strict=True), strict=True):
                    write_text(part / f"{name}.{side}", "".join(f"{text}\n" for text in texts))

    made_once(place, lambda: read_sealed(place), make, silent)
    files = {
        f"{prefix}{side}": (place / f"{name}.{suffix}",)
        for prefix, name in (("", "train"), ("valid_", "valid"))
        for side, suffix in (("source", "en"), ("target", "zh"))
    }
    return replace(settings, data=replace(settings.data, **files))


def missing(folder: RunFolder) -> str:
    """Why what a run learned from cannot be read again, in words; nothing if it can."""
    if not folder.config.exists():
        return f"{folder.path} is gone"
    try:
        settings = settings_of(folder)
    except HeadwayError as error:
        return str(error)
    files = list(_files(settings.data))
    if not files:
        return f"{folder.path} was imported, and does not say what it learned from"
    if folder.path != SHIPPED and (why := why_not_read(folder, files)):
        return why
    return missing(RunFolder(Path(settings.data.old_run))) if settings.data.old_run else ""


def _files(data: TranslationData) -> Iterator[Path]:
    for corpus in (data.corpus(), data.validation()):
        yield from corpus.files if corpus else ()
