"""OpenViking as a separate process: a supervised server, our own client, and the book's tree in it."""
