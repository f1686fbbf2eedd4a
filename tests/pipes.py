"""A pipe in the place of a file, for tests of what reads folders."""

from __future__ import annotations

import os
import threading
from pathlib import Path


def pipe(path: Path) -> None:
    """Makes a pipe. Who reads it gets an empty text instead of waiting for ever, so that a test fails and ends."""
    os.mkfifo(path)
    threading.Thread(target=lambda: path.write_bytes(b""), daemon=True).start()
