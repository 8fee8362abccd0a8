"""Why pairs are dropped, and what is mended or noticed in them, in words."""

REASONS = {
    "blank_side": "nothing on one side or both",
    "line_too_long": "a line of more than 1 MiB, which was never read whole",
    "too_long": "more characters than data.max_characters",
    "length_ratio": "one side is absurdly longer than the other (data.max_ratio)",
    "duplicate": "the same source and target were there before",
    "leakage": "its source or target is in the validation set",
    "no_tokens": "no sub-word is left of one side",
    "too_many_tokens": "more sub-words than data.max_length",
    "held_out": "set aside for validation",
    "header": "a first row that names the columns",
    "one_column": "a TSV row without a tab",
    "not_json": "a JSONL line that is no JSON object",
    "missing_language": "nothing in one of the two languages",
    "untranslated": "no translation yet, or not of every plural form",
    "do_not_translate": "marked as not to be translated",
    "noted": "a note beside it holds words of data.skip_notes",
    "fuzzy": "a translation that nobody has gone over yet (fuzzy, machine-made, needs review)",
}
"""Why a pair is dropped, in words."""

MENDED = {
    "byte_order_mark": "a byte order mark removed",
    "crlf": "a Windows line end (CRLF) read as a line end",
    "nul": "NUL bytes removed",
    "line_separator": "an odd line separator (lone CR, VT, FF, NEL, U+2028, U+2029) made a space",
    "tab": "a tab made a space",
    "control_character": "control characters removed",
    "lone_surrogate": "half a surrogate pair removed",
    "not_nfc": "characters composed (Unicode NFC)",
    "doubled_space": "several spaces between words made one",
    "outer_space": "white space around the text removed",
}
"""What is put right in a line, in words."""

NOTICED = {
    "copy": "source and target are the same text",
    "doubtful_note": "a note says that the translation is not good",
    "extra_columns": "a TSV row with more than two columns, of which the first two are used",
}
"""What is counted and left as it is."""
