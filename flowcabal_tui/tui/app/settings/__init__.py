"""Settings on the screen: those of the user and of the book, changed row by row, and the keys."""
