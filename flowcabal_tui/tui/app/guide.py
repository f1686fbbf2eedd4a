"""The guide's first ten minutes beside the screen: one step at a time, until its result is reached."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from textual.app import App
from textual.content import Content
from textual.screen import Screen
from textual.timer import Timer

import flowcabal_tui
from flowcabal_tui.locale import _
from flowcabal_tui.tui.app.keymap import key_name
from flowcabal_tui.tui.app.tour import TOUR, AwaitedOutcome, BookState
from flowcabal_tui.tui.shared.actions import shown_key
from flowcabal_tui.tui.widgets.facts_text import FactsText
from flowcabal_tui.tui.widgets.roles import role_style

ROOMY: Final = 132
"""Columns of a terminal in which the guide fits at the side."""
_STEP: Final = re.compile(r"^\d+\. ")
_PICTURE: Final = re.compile(r"!\[[^\]\n]*\]\([^)\n]*\)")
_LINK: Final = re.compile(r" ?\(\[[^\]\n]*\]\([^)\n]*\)\)|（\[[^\]\n]*\]\([^)\n]*\)）")
_CODE: Final = re.compile(r"`([^`\n]+)`")


@dataclass(frozen=True, slots=True)
class GuideStep:
    """A step of the guide: its text, and the keys that it names, in order."""

    words: str
    keys: tuple[str, ...]


def guide_text(language: str) -> str:
    """The guide for writers, as Markdown: of the installed package, or of a source checkout. Raises OSError."""
    package = Path(flowcabal_tui.__file__).parent
    folder = package / "guide" if (package / "guide").is_dir() else package.parent / "docs" / "guide"
    return (folder / f"{'zh' if language.startswith('zh') else 'en'}.md").read_text(encoding="utf-8")


def steps_of(text: str) -> tuple[GuideStep, ...]:
    """The numbered steps of the guide's first section."""
    section = text.split("\n## ")[1] if "\n## " in text else ""
    found: list[list[str]] = []
    for line in section.splitlines():
        if _STEP.match(line):
            found.append([_STEP.sub("", line)])
        elif found and line.startswith("   "):
            found[-1].append(line.strip())
        elif found and line.strip():
            break
    return tuple(_step("\n".join(lines)) for lines in found)


def _step(text: str) -> GuideStep:
    plain = _LINK.sub("", _PICTURE.sub("", text))
    keys = tuple(key for named in _CODE.findall(plain) if (key := key_name(named)))
    joined = re.sub(r"(?<=[^\x00-\x7f])\n(?=[^\x00-\x7f])", "", plain).replace("\n", " ")
    return GuideStep(_CODE.sub(r"\1", joined).strip(), keys)


class GuidePanel(FactsText):
    """Shows the current step; at the right if it fits, else at the top of the screen."""

    DEFAULT_CSS = """
    GuidePanel { dock: top; width: 1fr; height: auto; max-height: 7; padding: 0 1; background: $surface; }
    GuidePanel.-beside { dock: right; width: 40; height: 1fr; max-height: 100%; }
    """


_LOOK: Final = 0.5
"""Interval in seconds for checking the progress of the steps."""


class Guide:
    """Shows the steps on top of every screen until the last one is done, or until it is closed. It captures no keys."""

    def __init__(self, app: App[Any], seen: Callable[[], BookState | None]) -> None:
        """`seen` returns the state of the open book; None while there is none."""
        self._app, self._seen = app, seen
        self._steps: tuple[GuideStep, ...] = ()
        self._at, self._left = 0, list[AwaitedOutcome]()
        self._began: BookState | None = None
        self._timer: Timer | None = None

    def toggle(self, language: str) -> None:
        """Starts with the first step, or closes the guide."""
        if self._steps:
            self._end()
            return
        self._steps = steps_of(guide_text(language))
        self._timer = self._app.set_interval(_LOOK, self.look)
        self._go_to(0)

    def _end(self) -> None:
        self._steps = ()
        if self._timer is not None:
            self._timer.stop()
        self._show_soon()

    def look(self) -> None:
        """Moves on when the result that the step waits for is reached."""
        seen = self._seen() if self._steps else None
        if seen is None:
            return
        self._began = self._began or seen
        if not self._left[0].holds(seen, self._began):
            return
        del self._left[0]
        if self._left:
            self._show_soon()
        elif self._at + 1 < len(self._steps):
            self._go_to(self._at + 1)
        else:
            self._end()
            self._app.notify(_("That was the guide's first ten minutes. F1 explains what has the focus."))

    def screen_changed(self, _screen: Screen[Any]) -> None:
        """Shows the step on the new topmost screen."""
        if self._steps:
            self._show_soon()

    def _go_to(self, step: int) -> None:
        self._at, self._left = step, list(TOUR[step])
        self._began = self._seen()
        self._show_soon()

    def _show_soon(self) -> None:
        self._app.call_after_refresh(self._show)

    def _show(self) -> None:
        if not self._app.screen_stack:  # the application closes
            return
        top = self._app.screen
        is_beside = bool(self._steps) and self._app.size.width >= ROOMY
        for screen in self._app.screen_stack:
            screen.set_class(is_beside, "-guided")
            for panel in screen.query(GuidePanel):
                if screen is not top or not self._steps:
                    panel.remove()
        if not self._steps or not top.is_mounted:
            return
        shown = next(iter(top.query(GuidePanel)), None)
        if shown is None:
            top.mount(shown := GuidePanel())
        shown.set_class(is_beside, "-beside")
        shown.show(self._words())

    def _words(self) -> Content:
        place = _("First ten minutes {n}/{total}").format(n=self._at + 1, total=len(self._steps))
        keys = "  ".join(map(shown_key, self._steps[self._at].keys))
        awaited = _("Waits until {outcome}: {keys}").format(outcome=_(self._left[0].words), keys=keys)
        return Content.assemble(
            (f"{place}\n", "bold"), self._steps[self._at].words, "\n", (awaited, role_style("key")), "  ",
            (_("~ leaves the guide"), role_style("secondary")),
        )  # fmt: skip
