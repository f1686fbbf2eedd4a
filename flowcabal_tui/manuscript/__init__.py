"""Novels as files: import with splitting into chapters, export, and the Markdown mirror of the kept chapters."""
