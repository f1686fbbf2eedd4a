"""The shapes of structured answers of models."""
