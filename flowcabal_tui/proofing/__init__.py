"""Proofing by rule, without a model: pure functions of texts. Word lists are in `words/`."""
