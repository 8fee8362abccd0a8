"""Language modelling: how likely a text is, what comes next, and writing on."""

VERBS = {
    "train": "headway.language_models.spec:SPEC",
    "files": "headway.language_models.texts:refuse_unreadable",
    "evaluate": "headway.commands.language_models:evaluate_texts",
    "predict": "headway.language_models.trained:TrainedLanguageModel",
    "score": "headway.language_models.trained:TrainedLanguageModel",
    "generate": "headway.language_models.trained:TrainedLanguageModel",
    "serve": "headway.commands.serve:serve",
    "inspect": "headway.inspection.opened_runs:opened_language_model",
    "embed": "headway.language_models.embedding:embedder",
    "vectors": "headway.language_models.exchange:vectors_of_tokens",
    "compare": "headway.study.compared_language_models:entrant",
    "count": "headway.study.operation_counting:PASS_OF_TEXT",
    "export arpa": "headway.language_models.exchange:export_arpa",
    "export word2vec": "headway.language_models.exchange:export_word2vec",
    "export word2vec-binary": "headway.language_models.exchange:export_word2vec_binary",
    "export glove": "headway.language_models.exchange:export_glove",
    "import arpa": "headway.language_models.exchange:import_arpa",
    "import gpt2": "headway.language_models.gpt2_runs:import_gpt2",
}
