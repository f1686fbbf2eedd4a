"""Role A, the Context agent: selects the few thousand most useful tokens of a million words, and explains the
selection."""
