"""Finds, without a model, the sentences of the book on the same subjects and kinds of things as a draft."""
