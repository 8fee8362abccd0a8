"""Text classification: a text in, its label out."""

VERBS = {
    "train": "headway.classification.spec:SPEC",
    "files": "headway.classification.reading:refuse_unreadable",
    "predict lines": "headway.classification.predicting:TextClassifier",
    "evaluate": "headway.commands.labelling:evaluate_labelled",
    "evaluate labels": "headway.classification.predicting:evaluated",
    "inspect page": "headway.inspection.opened_labellers:page_of_classifier",
    "compare": "headway.study.compared_labellers:classifier",
}
