"""Training of word vectors: one word, one vector."""

VERBS = {
    "train": "headway.word2vec.spec:SPEC",
    "files": "headway.word2vec.corpus:refuse_unreadable",
    "evaluate": "headway.commands.vector_evaluation:evaluate_vectors",
    "predict": "headway.word2vec.predicting:WordPredictor",
    "predict --context": "headway.word2vec.predicting:WordPredictor",
    "vectors": "headway.word2vec.run_vectors:vectors_of_run",
    "map": "headway.word2vec.predicting:place_in_text",
    "embed": "headway.word2vec.run_vectors:embedder",
    "export word2vec": "headway.word2vec.exchange:export_word2vec",
    "export word2vec-binary": "headway.word2vec.exchange:export_word2vec_binary",
    "export glove": "headway.word2vec.exchange:export_glove",
    "import word2vec": "headway.word2vec.exchange:import_vectors",
    "import word2vec-binary": "headway.word2vec.exchange:import_vectors",
    "import glove": "headway.word2vec.exchange:import_vectors",
}
