"""What is known of languages: their scripts, words, sentences, numbers and plurals."""
