"""Translation: pairs of texts in, a translator out."""

VERBS = {
    "train": "headway.translation.spec:SPEC",
    "files": "headway.translation.pairs:refuse_unreadable",
    "translate": "headway.commands.translate:translate",
    "evaluate": "headway.commands.evaluate:evaluate_translations",
    "serve": "headway.commands.serve:serve",
    "bench": "headway.commands.bench:bench",
    "chat": "headway.commands.chat:chat",
    "distill": "headway.commands.distill:distill",
    "inspect": "headway.inspection.opened_runs:opened_translator",
    "compare": "headway.study.compared_translators:entrant",
    "count": "headway.study.operation_counting:PASS_OF_PAIRS",
    "embed": "headway.translation.embedding:embedder",
    "vectors": "headway.translation.embedding:vectors_of_sub_words",
    "check --measure": "headway.translation.run_data:measure_run",
    "export ctranslate2": "headway.translation.exporting:export_ctranslate2",
    "export marian": "headway.translation.exporting:export_marian",
    "export pegasus": "headway.translation.exporting:export_pegasus",
    "import m2m100": "headway.translation.m2m100_runs:import_m2m100",
    "import marian": "headway.translation.marian_runs:import_marian",
}
