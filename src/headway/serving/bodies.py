"""What `/v1` is sent: each field with its limits and what it means, as the API tells it."""

from functools import lru_cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from headway.core.errors import DataError
from headway.localization.terms.glossary import Glossary, GlossaryRow
from headway.localization.terms.keeping import Terms
from headway.serving.body_errors import said_of
from headway.serving.requests import AUTO, RefusedError, TranslationRequest

MOST_TERMS = 2_000
MOST_EDITS = 5_000

Text = Annotated[str, Field(max_length=200_000)]
Code = Annotated[str, Field(min_length=1, max_length=35)]
Given = TypeVar("Given", bound=BaseModel)


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class GlossaryPair(_Body):
    """A term and how it is translated."""

    source: Annotated[str, Field(min_length=1, max_length=200, description="As texts have it.")]
    target: Annotated[
        str, Field(max_length=2_000, description="Variants parted by `|`; empty: it stays.")
    ] = ""


class TranslateBody(_Body):
    """`POST /v1/translate`."""

    text: Annotated[str | None, Field(description="One text; instead of `texts`.")] = None
    texts: Annotated[
        list[str] | None,
        Field(description="Several texts; how many is the service's `--max-texts`."),
    ] = None
    target: Annotated[Code, Field(description="Code of the language to translate into.")]
    source: Annotated[
        Code, Field(description="Code of the texts' language; `auto` finds each text's own.")
    ] = AUTO
    format: Annotated[
        Literal["text", "html", "xml"], Field(description="Markup that stays in place.")
    ] = "text"
    n_best: Annotated[
        int, Field(ge=1, le=20, description="Translations of each text, best first.")
    ] = 1
    prefix: Annotated[Text | None, Field(description="What every translation begins with.")] = None
    prefixes: Annotated[
        list[Text] | None,
        Field(description="The same for each text; empty for none."),
    ] = None
    beam: Annotated[
        int | None, Field(ge=1, le=32, description="Hypotheses kept after each step.")
    ] = None
    method: Annotated[
        Literal["beam", "greedy", "sampling"] | None,
        Field(description="How translations are searched for; by default as the run has it."),
    ] = None
    temperature: Annotated[
        float | None, Field(gt=0, le=100, description="Of sampling: below 1 takes likelier words.")
    ] = None
    top_k: Annotated[
        int | None, Field(ge=0, le=1_000_000, description="Of sampling: from so many; 0: all.")
    ] = None
    top_p: Annotated[
        float | None, Field(gt=0, le=1, description="Of sampling: from so much probability.")
    ] = None
    seed: Annotated[
        int | None, Field(ge=0, lt=1 << 31, description="Of sampling: the same gives the same.")
    ] = None
    glossary: Annotated[
        list[GlossaryPair] | Literal["none"] | None,
        Field(description="Terms that hold here instead of the run's; `none`, or []: no terms."),
    ] = None
    memory: Annotated[
        bool, Field(description="Take exact translations of corrections and memories first.")
    ] = True
    details: Annotated[bool, Field(description="Also tokens, alignment, confidence and flags.")] = (
        False
    )
    pivot: Annotated[
        str,
        Field(max_length=35, description="A third language to go through; `auto` takes any."),
    ] = ""
    tag: Annotated[str | None, Field(max_length=200, description="One of the run's tags.")] = None
    stream: Annotated[
        bool, Field(description="Server-sent events: a `translation` for each text, then `done`.")
    ] = False

    @model_validator(mode="after")
    def _one_way(self) -> "TranslateBody":
        if (self.text is None) == (self.texts is None):
            raise ValueError('give either "text" or "texts"')
        if self.prefix is not None and self.prefixes is not None:
            raise ValueError('give either "prefix" or "prefixes"')
        if self.prefixes is not None and len(self.prefixes) != len(self.all_texts):
            raise ValueError("there are as many prefixes as texts")
        return self

    @property
    def all_texts(self) -> list[str]:
        return [self.text] if self.text is not None else self.texts or []

    def request(self) -> TranslationRequest:
        """What the service is asked; raises RefusedError for a glossary that contradicts itself."""
        texts = self.all_texts
        settings = ("beam", "method", "temperature", "top_k", "top_p", "seed")
        prefixes = self.prefixes or ([self.prefix] * len(texts) if self.prefix else [])
        given = {name: getattr(self, name) for name in settings}
        return TranslationRequest(
            texts=texts,
            target=self.target,
            source=self.source,
            markup=self.format,
            n_best=self.n_best,
            prefixes=prefixes if any(prefixes) else (),
            terms=terms_of(self.glossary),
            use_memory=self.memory,
            details=self.details,
            pivot=self.pivot,
            tag=self.tag,
            decoding={name: value for name, value in given.items() if value is not None},
        )


class CorrectBody(_Body):
    """`POST /v1/correct`."""

    source_text: Annotated[Text, Field(min_length=1, description="What was translated.")]
    target_text: Annotated[Text, Field(min_length=1, description="How it should be translated.")]
    source: Annotated[Code, Field(description="Code of the source language.")]
    target: Annotated[Code, Field(description="Code of the target language.")]
    tag: Annotated[
        str | None, Field(max_length=50, description="The tag that it was translated with.")
    ] = None


class InspectBody(_Body):
    """`POST /inspector`."""

    text: Annotated[str, Field(min_length=1, max_length=1_000, description="To be looked into.")]
    target: Annotated[Code, Field(description="Code of the language to translate into.")]
    source: Annotated[Code, Field(description="Code of the text's language, or `auto`.")] = AUTO


class UnitEditBody(_Body):
    """What a person says of a unit of a file."""

    id: Annotated[int, Field(ge=0, description="The unit's own.")]
    target: Annotated[
        str | None,
        Field(
            max_length=20_000,
            description="Its text; blank: the unit is left; left out: what was made.",
        ),
    ] = None
    accepted: Annotated[bool, Field(description="false takes back what was said.")] = True


class ReviewBody(_Body):
    """`POST /v1/review/{id}`."""

    units: Annotated[list[UnitEditBody], Field(min_length=1, max_length=MOST_EDITS)]


class DocumentForm(_Body):
    """`POST /v1/documents` and `POST /v1/review`, as a form with a `file`."""

    target: Annotated[Code, Field(description="Code of the language to translate into.")]
    source: Annotated[Code, Field(description="Code of the file's language, or `auto`.")] = AUTO
    overwrite: Annotated[
        Literal["true", "false"],
        Field(description="Also what is translated in the file already is translated anew."),
    ] = "false"
    glossary: Annotated[
        str | None,
        Field(max_length=1_000_000, description="A list of terms as of /v1/translate, as JSON."),
    ] = None
    tag: Annotated[str, Field(max_length=50, description="One of the run's tags.")] = ""


def terms_of(given: list[GlossaryPair] | Literal["none"] | None) -> Terms | Literal["none"] | None:
    """Terms as a service is given them: with an empty translation, or `=`, a term is not to be
    translated.

    Raises RefusedError: they are too many, none is a term, or two contradict each other.
    """
    if given is None:
        return None
    if not given or given == "none":
        return "none"
    if len(given) > MOST_TERMS:
        raise RefusedError("too_long", f"a glossary has at most {MOST_TERMS:,} terms")
    return _compiled(tuple((one.source, one.target) for one in given))


@lru_cache(maxsize=64)
def _compiled(pairs: tuple[tuple[str, str], ...]) -> Terms:
    """Once, however often they come."""
    rows = (
        GlossaryRow(source, target, "", "", f"term {number}")
        for number, (source, target) in enumerate(pairs, start=1)
    )
    try:
        return Terms(Glossary.of(rows, "the request"))
    except DataError as error:
        raise RefusedError("bad", str(error)) from None


def read(model: type[Given], given: Any) -> Given:
    """A body that is as a model says; raises RefusedError that names what is not."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise RefusedError("bad", said_of(error, given, [*model.model_fields])) from None
