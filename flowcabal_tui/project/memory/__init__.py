"""What follows from the book: the work in the background, paid jobs, the knowledge server."""
