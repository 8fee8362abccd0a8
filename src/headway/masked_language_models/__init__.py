"""Masked language models: some places of a text are hidden, and told from all the others (BERT)."""

VERBS = {
    "train": "headway.masked_language_models.spec:SPEC",
    "files": "headway.masked_language_models.data:refuse_unreadable",
    "predict lines": "headway.masked_language_models.filling:MaskFiller",
    "evaluate": "headway.commands.labelling:evaluate_labelled",
    "evaluate labels": "headway.masked_language_models.evaluation:evaluated",
    "export bert": "headway.masked_language_models.bert_export:export_bert",
    "import bert": "headway.masked_language_models.bert_runs:import_bert",
    "import roberta": "headway.masked_language_models.bert_runs:import_roberta",
    "inspect page": "headway.inspection.opened_labellers:page_of_hidden_words",
    "embed": "headway.masked_language_models.embedding:embedder",
}
