"""The truth of a project in one SQLite file: runs, texts, the book and its memory. Only this package knows SQLite."""
