"""The three agents and the curator: each observes, reasons with a model, and acts within its bounds."""
