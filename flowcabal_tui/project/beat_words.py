"""The words for how much of its beats the text of a chapter contains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from flowcabal_tui.domain.beats import Beat, BeatName, BeatState, PartBeats
from flowcabal_tui.locale import _, mark

STATES: Final[Mapping[BeatState, str]] = {
    "found": mark("all names found"),
    "partly": mark("some names found"),
    "missing": mark("no name found"),
    "unnamed": mark("names nobody"),
}


def part_words(part: PartBeats) -> str:
    """The heading of a planned scene; "" for the chapter's own beats."""
    if not part.number:
        return ""
    return part.title or _("Scene {n}").format(n=part.number)


def beat_words(beat: Beat, part: PartBeats, scenes: int) -> str:
    """The names of a beat with the number of their places, then the missing ones.

    Adds the scene that contains them, if the text has several.
    """
    words = [_(", ").join(_name_words(name) for name in beat.names if name.count)]
    if missing := _(", ").join(name.name for name in beat.names if not name.count):
        words.append(_("not found: {names}").format(names=missing))
    if beat.scene and scenes > 1:
        here = _("in scene {n}") if part.scene in (0, beat.scene) else _("in scene {n}, not in scene {planned}")
        words.append(here.format(n=beat.scene, planned=part.scene))
    return _("; ").join(filter(None, words))


def _name_words(name: BeatName) -> str:
    return _("{name} ({n})").format(name=name.name, n=name.count)
