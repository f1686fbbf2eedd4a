"""The conversation with the book: its tools, its rounds, and the citations that support its statements."""
