"""The question before something is paid for, fetched or deleted."""

from __future__ import annotations

import asyncio
import sys

from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.locale import _


async def agreed(nothing: str = "") -> bool:
    """The answer of the person at the terminal. Raises RunError with `nothing` as detail if there is none."""
    if not sys.stdin.isatty():
        raise RunError(_("There is nobody to confirm it."), nothing or _("Nothing was sent."), _("Give --yes."))
    answer = await asyncio.to_thread(input, _("Begin? [y/N]") + " ")
    return answer.strip().lower() in ("y", "yes", "是")
