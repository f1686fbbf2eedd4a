"""The database file: connections, the lock, blobs, small values, and its maintenance."""
