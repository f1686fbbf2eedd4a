"""The conversation with the book, on top of any screen."""
