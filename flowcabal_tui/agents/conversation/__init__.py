"""The conversation with the book: its tools, its rounds, and the places that bear its statements out."""
