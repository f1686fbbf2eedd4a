"""The user's words for the beats of a chapter in its text, as found by rule and by a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from flowcabal_tui.domain.beats import Beat, BeatAdvice, BeatName, BeatState, BeatVerdict, PartBeats
from flowcabal_tui.locale import _, mark

STATES: Final[Mapping[BeatState, str]] = {
    "found": mark("all names found"),
    "partly": mark("some names found"),
    "missing": mark("no name found"),
    "unnamed": mark("names nobody"),
}

VERDICTS: Final[Mapping[BeatVerdict, str]] = {
    "brought": mark("in the text"),
    "not found": mark("not in the text"),
    "not checked": mark("not checked"),
}


def advice_words(advice: BeatAdvice | None) -> str:
    """The advice of a model on a beat; "" for none."""
    if advice is None:
        return ""
    words = _(VERDICTS[advice.verdict])
    return _("{words} (out of date)").format(words=words) if advice.is_stale else words


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
