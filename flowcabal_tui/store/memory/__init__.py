"""The memory of the book: names, index, derived texts, records, and views of them."""
