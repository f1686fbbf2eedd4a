"""Python's search for garbage, spared what lives to the end.

A walk through all modules and classes takes as long as a key may take to be echoed (10-17 ms), and finds nothing.
"""

from __future__ import annotations

import gc
from typing import Final

YOUNG: Final = 20_000
"""New containers before a search: a run of a thousand nodes makes several thousand, all of them wanted."""


def begin_loading() -> None:
    """Nothing is searched while modules are loaded and the first screens are made."""
    gc.disable()


def end_loading() -> None:
    """What has been loaded is set apart for good; the search begins for all that comes after it."""
    if not gc.isenabled():
        gc.freeze()
        gc.set_threshold(YOUNG, 20, 50)
        gc.enable()
