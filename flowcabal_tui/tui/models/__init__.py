"""Models on the screen: trust, and one small call each."""
