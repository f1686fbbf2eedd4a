"""EPUB books: read and written with zipfile and lxml."""
