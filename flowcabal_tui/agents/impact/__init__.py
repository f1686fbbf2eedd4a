"""What rests on a change of the book, found by rule."""
