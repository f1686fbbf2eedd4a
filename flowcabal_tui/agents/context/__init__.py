"""Role A, the Context agent: the right few thousand tokens out of a million words, explained."""
