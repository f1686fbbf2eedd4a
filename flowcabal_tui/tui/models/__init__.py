"""Models on the screen: trust, forms, and test calls."""
