"""Changes of a workflow document as functions from one value to the next; nothing here knows the screen."""
