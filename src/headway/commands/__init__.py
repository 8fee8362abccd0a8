"""One file a verb; each is the function of that name, loaded when the verb is used."""
