"""The book: chapters and versions, keeping and purging, and the background work that follows."""
