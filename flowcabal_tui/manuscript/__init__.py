"""Novels as files: import divided into chapters, export, and the Markdown mirror of the kept chapters."""
