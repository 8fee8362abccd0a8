"""Tagging: a label for each word of a text, such as named entities."""

VERBS = {
    "train": "headway.tagging.spec:SPEC",
    "files": "headway.tagging.reading:refuse_unreadable",
    "predict lines": "headway.tagging.predicting:WordTagger",
    "evaluate": "headway.commands.labelling:evaluate_labelled",
    "evaluate labels": "headway.tagging.predicting:evaluated",
    "inspect page": "headway.inspection.opened_labellers:page_of_tagger",
    "compare": "headway.study.compared_labellers:tagger",
}
