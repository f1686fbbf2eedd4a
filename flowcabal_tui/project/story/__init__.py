"""Names, records and proposals."""
