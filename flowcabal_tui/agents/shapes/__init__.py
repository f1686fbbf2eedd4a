"""What models answer with: the shapes of structured answers."""
