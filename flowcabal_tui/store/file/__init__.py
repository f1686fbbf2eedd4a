"""The database file: connections, the lock, blobs, small values, its care."""
