"""Documents of other systems, read into workflows and written from them; every change is told."""
