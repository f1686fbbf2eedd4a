"""`session`: the protocol of an open project as JSON lines over standard input and output (docs/session.md)."""
