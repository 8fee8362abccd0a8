"""What each address of the service is for, what it takes and what it answers."""

from collections.abc import Mapping, Sequence

from headway.serving.bodies import CorrectBody, DocumentForm, ReviewBody, TranslateBody
from headway.serving.completions import CompletionRequest, DetokenizeRequest, TokenizeRequest
from headway.serving.openapi import Described, Schema
from headway.serving.requests import ServedPair

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
COUNT: Schema = {"type": "integer", "minimum": 0}
FLAG: Schema = {"type": "boolean"}
NOTHING: Schema = {"type": "null"}


def needed(**fields: Schema) -> Schema:
    """An object that has all of these fields, and maybe others."""
    return {"type": "object", "properties": fields, "required": [*fields]}


def with_others(whole: Schema, **fields: Schema) -> Schema:
    """The same with fields that may be absent."""
    return {**whole, "properties": {**whole["properties"], **fields}}


def rows(of: Schema) -> Schema:
    """A list."""
    return {"type": "array", "items": of}


def or_null(one: Schema) -> Schema:
    """One that may be absent as null."""
    return {"anyOf": [one, NOTHING]}


FILE: Schema = {"type": "string", "contentMediaType": "application/octet-stream"}
SAID = needed(error=TEXT)
OPENAI = needed(error=needed(message=TEXT, type=TEXT, param=or_null(TEXT), code=or_null(TEXT)))
DEEPL = with_others(needed(message=TEXT), detail=TEXT)
APERTIUM = needed(status=TEXT, code=COUNT, message=TEXT, explanation=TEXT)

ASKED = (400, 403, 429)
"""Statuses of what is only looked up."""
WORKED = (*ASKED, 408, 413, 456, 503)
"""Of what is worked on."""

GLOSSARY_ROW: Schema = {
    "type": "object",
    "required": ["source_lang", "target_lang", "entries"],
    "properties": {
        "source_lang": {"type": "string", "minLength": 1},
        "target_lang": {"type": "string", "minLength": 1},
        "entries": {"type": "string", "minLength": 1, "description": "a line for each entry"},
        "entries_format": {"description": "tsv or csv"},
    },
}


def refusals(statuses: Sequence[int], said: Schema, *others: int) -> Mapping[int, Schema]:
    """The same words for each."""
    return dict.fromkeys(sorted({*statuses, *others}), said)


def descriptions(pair: ServedPair) -> dict[str, Described]:
    """By method and path; examples are of a pair of languages that is served."""
    return {
        **service(),
        **own(pair),
        **own_files(),
        **libretranslate(pair),
        **libretranslate_files(),
        **apertium(pair),
        **browser_readers(pair),
        **deepl(pair),
        **deepl_documents(),
        **glossaries(pair, "v2"),
        **glossaries(pair, "v3"),
        **language_models(""),
        **language_models("/models/{model}"),
    }


def service() -> dict[str, Described]:
    """Of whoever runs it."""
    tag, busy = "Service", {503: needed(status=TEXT)}
    return {
        "GET /health": Described("It is there", tag, needed(status=TEXT), is_open=True),
        "GET /ready": Described(
            "It takes requests", tag, needed(status=TEXT), errors=busy, is_open=True
        ),
        "GET /metrics": Described(
            "Counts for Prometheus", tag, TEXT, kind="text/plain", errors=refusals((403, 429), SAID)
        ),
        "GET /openapi.json": Described("This document", tag, {"type": "object"}, is_open=True),
        "GET /docs": Described(
            "This document for people", tag, TEXT, kind="text/html", is_open=True
        ),
    }


def own(pair: ServedPair) -> dict[str, Described]:
    """`/v1`."""
    tag = "headway"
    done = with_others(
        needed(text=TEXT, source=TEXT, sureness=or_null(NUMBER), origin=TEXT, n_cut=NUMBER),
        score=or_null(NUMBER),
        alternatives=rows(needed(text=TEXT, score=or_null(NUMBER))),
        confidence=or_null(NUMBER),
    )
    return {
        "POST /v1/translate": Described(
            "Translate texts; with scores, alternatives, alignments and flags",
            tag,
            needed(translations=rows(done)),
            TranslateBody,
            refusals(WORKED, SAID, 404),
            streamed=True,
            example={"text": "Hello.", "source": pair.source, "target": pair.target},
        ),
        "GET /v1/languages": Described(
            "The pairs of languages",
            tag,
            needed(
                pairs=rows(with_others(needed(source=TEXT, target=TEXT), tags=rows(TEXT))),
                corrections=FLAG,
                characters=COUNT,
            ),
            errors=refusals((403, 429), SAID),
        ),
        "POST /v1/correct": Described(
            "Keep a translation as it should have been",
            tag,
            needed(kept=FLAG),
            CorrectBody,
            refusals(WORKED, SAID, 404),
            example={
                "source_text": "Hello.", "target_text": "...",
                "source": pair.source, "target": pair.target,
            },
        ),
    }  # fmt: skip


def own_files() -> dict[str, Described]:
    """Documents, and their units for review."""
    tag, found = "Files", {}
    told = needed(
        id=TEXT, key=TEXT, kind=TEXT, source=TEXT, target=TEXT, sureness=or_null(NUMBER),
        status=TEXT, units=or_null(COUNT), done=COUNT, error=or_null(TEXT),
    )  # fmt: skip
    key = {"x-document-key": {"type": "string", "description": "that the document came with"}}
    form = DocumentForm.model_json_schema()
    form["properties"] = {"file": FILE, **form["properties"]}
    form["required"] = ["file", *form["required"]]
    for name, what in (("documents", "translated"), ("review", "looked at, unit by unit")):
        place = f"/v1/{name}"
        found[f"POST {place}"] = Described(
            f"Send a file to be {what}", tag, told, form, refusals(WORKED, SAID), status=202,
            body_kind="multipart/form-data",
        )  # fmt: skip
        found[f"GET {place}/{{id}}"] = Described(
            "How far it is", tag, told, errors=refusals(WORKED, SAID, 404), headers=key
        )
        found[f"GET {place}/{{id}}/result"] = Described(
            "The translated file", tag, TEXT, errors=refusals(WORKED, SAID, 404), headers=key,
            kind="application/octet-stream",
        )  # fmt: skip
    found["DELETE /v1/documents/{id}"] = Described(
        "Remove it now", tag, errors=refusals(WORKED, SAID, 404), headers=key, status=204
    )
    found["POST /v1/review/{id}"] = Described(
        "Accept units, as they are or changed", tag, needed(units=rows({"type": "object"})),
        ReviewBody, refusals(WORKED, SAID, 404), headers=key,
        example={"units": [{"id": 0, "accepted": True}]},
    )  # fmt: skip
    return found


def libretranslate(pair: ServedPair) -> dict[str, Described]:
    """LibreTranslate's."""
    tag = "LibreTranslate"
    texts = {
        "anyOf": [{"type": "string", "minLength": 1}, {**rows(TEXT), "minItems": 1}],
        "description": "a text, or several",
    }
    heard = needed(confidence=NUMBER, language=TEXT)
    one_or_all = {"anyOf": [TEXT, rows(TEXT)]}
    code = {"type": "string", "minLength": 1}
    asked = with_others(
        needed(q=texts, source={**code, "description": 'a code, or "auto"'}, target=code),
        format={"description": "text or html"},
        alternatives={"description": "how many others"},
        api_key={"description": "where one is needed"},
    )
    return {
        "POST /translate": Described(
            "Translate a text or several", tag,
            with_others(
                needed(translatedText=one_or_all),
                alternatives=rows({}),
                detectedLanguage={"anyOf": [heard, rows(heard)]},
            ),
            asked, refusals(WORKED, SAID),
            example={"q": "Hello.", "source": pair.source, "target": pair.target},
        ),
        "POST /detect": Described(
            "The languages of a text", tag, rows(heard),
            with_others(needed(q=texts), api_key={}), refusals(WORKED, SAID),
            example={"q": "Hello."},
        ),
        "POST /suggest": Described(
            "A better translation, kept where corrections are", tag, needed(success=FLAG),
            needed(q=code, s=code, source=code, target=code), refusals(WORKED, SAID),
            example={"q": "Hello.", "s": "...", "source": pair.source, "target": pair.target},
        ),
        "GET /languages": Described(
            "Languages, and what each is translated into", tag,
            rows(needed(code=TEXT, name=TEXT, targets=rows(TEXT))), is_open=True,
        ),
        "GET /frontend/settings": Described(
            "What a page is to know", tag, {"type": "object"}, is_open=True
        ),
    }  # fmt: skip


def libretranslate_files() -> dict[str, Described]:
    """LibreTranslate's files."""
    tag = "LibreTranslate"
    return {
        "POST /translate_file": Described(
            "Translate a file", tag, needed(translatedFileUrl=TEXT),
            needed(file=FILE, source=TEXT, target=TEXT), refusals(WORKED, SAID),
            body_kind="multipart/form-data",
        ),
        "GET /download_file/{place}": Described(
            "A file that is translated", tag, TEXT, errors=refusals((400, 404, 503), SAID),
            kind="application/octet-stream", is_open=True,
        ),
    }  # fmt: skip


def apertium(pair: ServedPair) -> dict[str, Described]:
    """Apertium APy's."""
    tag = "Apertium"

    def answered(data: Schema) -> Schema:
        return needed(responseData=data, responseDetails=NOTHING, responseStatus=COUNT)

    text = {"type": "string", "minLength": 1}
    langpair = {**text, "description": f"such as {pair.source}|{pair.target}"}
    listed = needed(sourceLanguage=TEXT, targetLanguage=TEXT)
    named = {"languages": TEXT}
    found = {
        "GET /translate": Described(
            "Translate a text", tag, answered(needed(translatedText=TEXT)),
            errors=refusals(WORKED, APERTIUM),
            query={"langpair": {**langpair, "required": True}, "q": {**text, "required": True},
                   "format": TEXT},
        ),
        "GET /identifyLang": Described(
            "The language of a text", tag, {"type": "object", "additionalProperties": NUMBER},
            errors=refusals(WORKED, APERTIUM), query={"q": {**text, "required": True}},
        ),
    }  # fmt: skip
    names: Schema = {"type": "object", "additionalProperties": TEXT}
    large = refusals((400, 408, 413), SAID)
    found["GET /listPairs"] = Described("The pairs", tag, answered(rows(listed)), is_open=True)
    found["GET /listLanguageNames"] = Described(
        "English names of languages", tag, names, query=named, is_open=True
    )
    found["POST /listPairs"] = found["GET /listPairs"]._replace(errors=large)
    found["POST /listLanguageNames"] = found["GET /listLanguageNames"]._replace(errors=large)
    found["POST /identifyLang"] = found["GET /identifyLang"]
    return found


def browser_readers(pair: ServedPair) -> dict[str, Described]:
    """Those of two readers of foreign pages."""
    tag, code = "Browser readers", {"type": "string", "minLength": 1}
    errors = refusals(WORKED, SAID, 401)
    texts = {**rows(TEXT), "minItems": 1}
    kiss: Schema = {
        "type": "object",
        "required": ["from", "to"],
        "properties": {"from": code, "to": code, "text": {}, "texts": texts},
        "anyOf": [
            {"required": ["texts"]},
            {"required": ["text"], "properties": {"text": TEXT}},
        ],
    }
    return {
        "POST /imme": Described(
            "Immersive Translate's", tag,
            needed(translations=rows(needed(detected_source_lang=TEXT, text=TEXT))),
            needed(source_lang=code, target_lang=code, text_list=texts), errors,
            example={"source_lang": "auto", "target_lang": pair.target, "text_list": ["Hello."]},
        ),
        "POST /kiss": Described(
            "KISS Translator's", tag, {"type": "object"}, kiss, errors,
            example={"from": pair.source, "to": pair.target, "text": "Hello."},
        ),
    }  # fmt: skip


def deepl(pair: ServedPair) -> dict[str, Described]:
    """DeepL's texts and languages."""
    tag, code = "DeepL", {"type": "string", "minLength": 1}
    texts = {"anyOf": [TEXT, {**rows(TEXT), "minItems": 1}]}
    asked = with_others(
        needed(text=texts, target_lang=code),
        source_lang={"description": "a code; without it, each text's own is found"},
        tag_handling={"description": "xml or html"},
        ignore_tags={"description": "elements whose text stays"},
        splitting_tags={"description": "elements of xml that are texts of their own"},
        non_splitting_tags={"description": "elements of xml that stand inside of texts"},
        outline_detection={"description": "false: no other element of xml is a text of its own"},
        glossary_id={},
    )
    done = with_others(
        needed(detected_source_language=TEXT, text=TEXT, billed_characters=COUNT),
        model_type_used=TEXT,
    )
    languages = rows(needed(language=TEXT, name=TEXT))
    found = {
        "POST /v2/translate": Described(
            "Translate texts", tag, needed(translations=rows(done)), asked,
            refusals(WORKED, DEEPL, 404),
            example={"text": ["Hello."], "source_lang": pair.source.upper(),
                     "target_lang": pair.target.upper()},
        ),
        "GET /v3/languages": Described(
            "What can be done with each language", tag, rows({"type": "object"}),
            query={"resource": {**TEXT, "required": True}}, errors=refusals(ASKED, DEEPL),
        ),
        "POST /v2/write/{which}": Described(
            "Not here: texts are translated, not rephrased", tag, {"type": "object"},
            errors=refusals(ASKED, DEEPL),
        ),
    }  # fmt: skip
    kind = {"type": {"enum": ["source", "target", ""]}}
    counts = needed(character_count=COUNT, character_limit=COUNT)
    for method in ("GET", "POST"):
        found[f"{method} /v2/languages"] = Described(
            "The languages", tag, languages, errors=refusals(WORKED, DEEPL), query=kind
        )
        found[f"{method} /v2/usage"] = Described(
            "Characters of this month", tag, counts, errors=refusals(ASKED, DEEPL)
        )
    return found


def deepl_documents() -> dict[str, Described]:
    """DeepL's documents."""
    tag, place = "DeepL", "/v2/document/{id}"
    errors = refusals(WORKED, DEEPL, 404)
    body = with_others(
        needed(file=FILE, target_lang=TEXT), source_lang=TEXT, filename=TEXT, output_format=TEXT
    )
    state = with_others(
        needed(document_id=TEXT, status=TEXT), billed_characters=COUNT, error_message=TEXT
    )
    found = {
        "POST /v2/document": Described(
            "Send a file", tag, needed(document_id=TEXT, document_key=TEXT), body, errors,
            body_kind="multipart/form-data",
        ),
    }  # fmt: skip
    key = {"document_key": TEXT}
    told = Described("How far it is", tag, state, errors=errors, query=key)
    done = Described("The translated file", tag, TEXT, errors=errors, query=key)
    for method in ("GET", "POST"):
        found[f"{method} {place}"] = told
        found[f"{method} {place}/result"] = done._replace(kind="application/octet-stream")
    return found


def glossaries(pair: ServedPair, version: str) -> dict[str, Described]:
    """DeepL's: `v2`, of one pair of languages, or `v3`, of several."""
    tag, place = f"DeepL glossaries ({version})", f"/{version}/glossaries"
    looked, changed = refusals(ASKED, DEEPL, 404), refusals(WORKED, DEEPL, 404)
    languages = needed(source_lang=TEXT, target_lang=TEXT)
    dictionary = needed(source_lang=TEXT, target_lang=TEXT, entry_count=COUNT)
    base = needed(glossary_id=TEXT, name=TEXT, creation_time=TEXT)
    name: Schema = {"type": "string", "minLength": 1, "maxLength": 1024}
    short = {"source_lang": pair.source, "target_lang": pair.target, "entries": "Hello\t..."}
    if version == "v2":
        told = with_others(base, **dictionary["properties"], ready=FLAG)
        body: Schema = {**GLOSSARY_ROW, "required": ["name", *GLOSSARY_ROW["required"]],
                "properties": {"name": name, **GLOSSARY_ROW["properties"]}}  # fmt: skip
        example: dict[str, object] = {"name": "mine", **short}
    else:
        told = with_others(base, dictionaries=rows(dictionary))
        several = {**rows(GLOSSARY_ROW), "minItems": 1, "maxItems": 100}
        body = needed(name=name, dictionaries=several)
        example = {"name": "mine", "dictionaries": [short]}
    found = {
        f"GET {place}": Described("All", tag, needed(glossaries=rows(told)), errors=looked),
        f"POST {place}": Described("Make one", tag, told, body, changed, status=201,
                                   example=example),
        f"GET {place}/{{id}}": Described("One", tag, told, errors=looked),
        f"DELETE {place}/{{id}}": Described("Remove it", tag, errors=looked, status=204),
    }  # fmt: skip
    if version == "v2":
        found["GET /v2/glossary-language-pairs"] = Described(
            "Of which languages there can be one",
            tag,
            needed(supported_languages=rows(languages)),
            errors=refusals(ASKED, DEEPL),
        )
        found[f"GET {place}/{{id}}/entries"] = Described(
            "Its entries, a line each", tag, TEXT, errors=looked, kind="text/tab-separated-values"
        )
        return found
    of_two = {"source_lang": {**TEXT, "required": True}, "target_lang": {**TEXT, "required": True}}
    dictionaries = f"{place}/{{id}}/dictionaries"
    found[f"PATCH {place}/{{id}}"] = Described(
        "Another name, more entries",
        tag,
        told,
        {"type": "object", "properties": {"name": name, "dictionaries": rows(GLOSSARY_ROW)}},
        changed,
        example={"name": "ours"},
        needs_body=False,
    )
    found[f"PUT {dictionaries}"] = Described(
        "Replace one dictionary", tag, dictionary, GLOSSARY_ROW, changed, example=short
    )
    found[f"DELETE {dictionaries}"] = Described(
        "Remove one dictionary", tag, errors=looked, query=of_two, status=204
    )
    whole = needed(dictionaries=rows(with_others(languages, entries=TEXT)))
    found[f"GET {place}/{{id}}/entries"] = Described(
        "The entries of one dictionary", tag, whole, errors=looked, query=of_two
    )
    return found


def language_models(place: str) -> dict[str, Described]:
    """OpenAI's completions, and vLLM's tokenizer; at `place`, of the model that it names."""
    tag = "Language models" if not place else "One of several language models"
    errors = refusals(WORKED, OPENAI, 401, 404)
    logprobs = needed(
        tokens=rows(TEXT), token_logprobs=rows(or_null(NUMBER)),
        top_logprobs=rows(or_null({"type": "object"})), text_offset=rows(COUNT),
    )  # fmt: skip
    choice = needed(index=COUNT, text=TEXT, logprobs=or_null(logprobs), finish_reason=or_null(TEXT))
    counts = needed(prompt_tokens=COUNT, completion_tokens=COUNT, total_tokens=COUNT)
    model = needed(id=TEXT, object=TEXT, created=COUNT, owned_by=TEXT)
    found = {
        f"POST {place}/v1/completions": Described(
            "Score texts, and go on with them", tag,
            needed(id=TEXT, object=TEXT, created=COUNT, model=TEXT, choices=rows(choice),
                   usage=counts),
            CompletionRequest, errors, streamed=True,
            example={"prompt": "The", "max_tokens": 8, "temperature": 0, "logprobs": 1},
        ),
        f"GET {place}/tokenizer_info": Described(
            "Its markers", tag, needed(bos_token=TEXT, eos_token=TEXT), errors=errors
        ),
        f"POST {place}/tokenize": Described(
            "The ids of a text", tag, needed(tokens=rows(COUNT), count=COUNT), TokenizeRequest,
            errors, example={"prompt": "The"},
        ),
        f"POST {place}/detokenize": Described(
            "The text of ids", tag, needed(prompt=TEXT), DetokenizeRequest, errors,
            example={"tokens": [4, 5]},
        ),
    }  # fmt: skip
    if not place:
        found["GET /v1/models"] = Described(
            "All of them", tag, needed(object=TEXT, data=rows(model)), errors=errors
        )
        found["GET /v1/models/{model}"] = Described("One of them", tag, model, errors=errors)
    return found
