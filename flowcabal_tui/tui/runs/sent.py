"""The request of an attempt, layer by layer, beside the template from which it was made."""

from __future__ import annotations

from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.text import clean
from flowcabal_tui.domain.versions import SentLayer, VersionTrace
from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.words import length_words, one_line
from flowcabal_tui.tui.widgets.column_rows import Column, ColumnRow, Columns
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.widgets.stream_view import StreamView

KINDS: Final = {
    "blocks": mark("your blocks"),
    "context": mark("from the Context agent"),
    "retry": mark("added by the retry"),
}
ROLES: Final = {"system": mark("system"), "user": mark("user"), "assistant": mark("model")}


class SentScreen(ModalScreen[None]):
    """A list of layers; below, the template on the left and the sent text on the right."""

    help = HelpData(
        mark("What was sent"),
        mark("Each layer of the request in order, with all turns of a retry: the template beside what was sent. "
             "`t` hides the template."),
    )  # fmt: skip
    DEFAULT_CSS = """
    SentScreen { background: $background; }
    SentScreen > .head { height: 1; padding: 0 1; text-style: bold; }
    SentScreen > .exactness { height: auto; max-height: 2; padding: 0 1; color: $text-muted; }
    SentScreen > .exactness.-differs { color: $text-warning; }
    SentScreen > PickList { height: auto; max-height: 35%; }
    SentScreen Horizontal, SentScreen Vertical, SentScreen StreamView { height: 1fr; width: 1fr; }
    SentScreen StreamView { padding: 0 1; }
    SentScreen Vertical > Static { height: 1; padding: 0 1; color: $text-muted; }
    SentScreen.-whole #layer-template { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", mark("Back"), priority=True, id="sent.back"),
        Binding("t", "toggle_template", mark("Template"), tooltip=mark("Show or hide the template."),
                id="sent.template"),
        HELP_KEYS,
    ]  # fmt: skip

    def __init__(self, title: str, trace: VersionTrace) -> None:
        super().__init__()
        self._heading, self._version_trace = title, trace

    def compose(self) -> ComposeResult:
        """Yields a heading that states whether the request is the one sent, the layers, and the two texts."""
        yield Static(one_line(self._heading), markup=False, classes="head")
        differs = "" if self._version_trace.exact or self._version_trace.kept else " -differs"
        yield Static(exactness(self._version_trace), markup=False, classes="exactness" + differs)
        yield PickList()
        with Horizontal():
            with Vertical(id="layer-template"):
                yield Static(_("Template"), markup=False)
                yield StreamView(classes="template")
            with Vertical():
                yield Static(_("As sent") if self._is_sent else _("As it would be sent"), markup=False)
                yield StreamView(classes="sent")
        yield HintLine()

    @property
    def _is_sent(self) -> bool:
        return self._version_trace.exact or self._version_trace.kept

    def on_mount(self) -> None:
        """Selects the first layer."""
        columns = Columns(Column(is_number=True, role="secondary"), Column(), Column(fill=True), Column(is_number=True))
        layers_shown = enumerate(self._version_trace.layers)
        rows = [Option(_row(columns, layer), id=str(number)) for number, layer in layers_shown]
        layers = self.query_one(PickList)
        layers.add_options(rows)
        layers.action_first()
        layers.focus()

    @on(OptionList.OptionHighlighted)
    def show_layer(self, message: OptionList.OptionHighlighted) -> None:
        """Shows the layer under the cursor."""
        message.stop()
        layer = self._version_trace.layers[int(message.option_id or 0)]
        template = layer.template or _("(not from the template)")
        self.query_one(".template", StreamView).set_text(clean(template), follow=False)
        self.query_one(".sent", StreamView).set_text(clean(layer.sent), follow=False)

    def action_toggle_template(self) -> None:
        """Shows or hides the template, so that the sent text has more space."""
        self.toggle_class("-whole")


def exactness(trace: VersionTrace) -> str:
    """A statement whether the words are exactly those sent, and how this is known."""
    if trace.exact:
        return _("As sent: rebuilt, and its digest matches the request that was sent.")
    if trace.kept:
        return _("As sent: kept when it was sent. Rebuilt today, it would differ.")
    return _("Not exactly as sent: the book or the prompts have changed since. This would be sent today.")


def _row(columns: Columns, layer: SentLayer) -> ColumnRow:
    role = _(ROLES.get(layer.role, layer.role))
    return columns.row(f"{layer.turn}", role, _(KINDS[layer.kind]), length_words(layer.sent))
