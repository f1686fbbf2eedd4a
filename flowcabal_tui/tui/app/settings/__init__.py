"""Settings on the screen: what the user and the book have set, changed row by row, and the keys."""
