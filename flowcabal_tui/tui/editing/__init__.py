"""Changes of a workflow document as functions from one value to the next, independent of the screen."""
