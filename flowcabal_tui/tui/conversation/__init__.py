"""The conversation with the book, beside any screen."""
