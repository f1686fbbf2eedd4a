"""What the book says of the same subjects and the same kinds of things as a draft, found without a model."""
