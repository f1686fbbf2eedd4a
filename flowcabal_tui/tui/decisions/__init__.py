"""Questions of runs that wait for the writer, and their answers."""
