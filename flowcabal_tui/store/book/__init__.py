"""The book: chapters and versions, keeping and purging, the work that follows."""
