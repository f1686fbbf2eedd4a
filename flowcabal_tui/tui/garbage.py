"""The search for garbage is spared what lives to the end.

A search through all modules and classes takes as long as a key may take to be echoed, and finds nothing.
"""

from __future__ import annotations

import gc


def begin_loading() -> None:
    """Nothing is searched while modules are loaded and the first screens are made."""
    gc.disable()


def end_loading() -> None:
    """What has been loaded is set apart for good, and the search begins for all that comes after it."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
