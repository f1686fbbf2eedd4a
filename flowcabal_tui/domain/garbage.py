"""Settings of Python's garbage collector that exempt objects which live as long as the program.

A walk through all modules and classes takes as long as a key echo may take (10-17 ms), and finds nothing.
"""

from __future__ import annotations

import gc
from typing import Final

YOUNG: Final = 20_000
"""New containers before a collection: a run of a thousand nodes creates several thousand, all of them in use."""


def begin_loading() -> None:
    """Disables collection while modules are loaded and the first screens are built."""
    gc.disable()


def end_loading() -> None:
    """Exempts all loaded objects from collection, and enables it for later ones."""
    if not gc.isenabled():
        gc.freeze()
        gc.set_threshold(YOUNG, 20, 50)
        gc.enable()
