"""Role A, the Context agent: selects the most useful few thousand tokens of a book, and explains the selection."""
