"""The consequences of changes of the book: background work, paid jobs, the knowledge server."""
