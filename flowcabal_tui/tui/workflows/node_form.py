"""A small form for the parameters of a prompt node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Final

from pydantic import ValidationError
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widget import Widget
from textual.widgets import Checkbox, Input, Select, Static

from flowcabal_tui.domain.refusals import refusal
from flowcabal_tui.domain.run import ANGLES
from flowcabal_tui.domain.text import clean
from flowcabal_tui.domain.workflow import PromptParams
from flowcabal_tui.locale import _, mark
from flowcabal_tui.project.words import ANGLES as ANGLE_WORDS
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.form import RowsForm, form_keys
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.tick import TickBox
from flowcabal_tui.tui.workflows.blocks import REVIEWS

_SAMPLING: Final = (
    ("top_p", mark("Likeliest words (top_p)")),
    ("frequency_penalty", mark("Frequency penalty (−2 to 2)")),
    ("presence_penalty", mark("Presence penalty (−2 to 2)")),
    ("stop", mark("Stop texts")),
    ("seed", mark("Seed")),
)
_TYPED: Final = (("temperature", mark("Temperature (0 to 2)")), *_SAMPLING, ("max_tokens", mark("Maximum tokens")))
FormAnswer = tuple[str, dict[str, Any]]


class NodeForm(RowsForm[FormAnswer]):
    """Returns the node's name and the changed parameters, or None. Nothing is returned until it is valid."""

    help = HelpData(
        mark("Parameters"),
        mark("How this node calls the model. F4 lists the models. Ctrl+s applies the form, Esc cancels."),
    )
    DEFAULT_CSS = """
    NodeForm > VerticalScroll { width: 80%; max-width: 76; }
    NodeForm Horizontal > Static { width: 24; }
    NodeForm .wrong { color: $error; }
    """
    BINDINGS: ClassVar[list[BindingType]] = form_keys(
        "form",
        Binding("f4", "models", mark("Models"), priority=True, id="form.models",
                tooltip=mark("List the models that the settings name.")),
    )  # fmt: skip

    def __init__(self, name: str, params: PromptParams, models: Sequence[str] = ()) -> None:
        """`models` are the names that F4 lists; another model of the same provider can be typed."""
        super().__init__()
        self._node_name, self._params, self._models = clean(name), params, models

    def compose(self) -> ComposeResult:
        """Yields one row per parameter."""
        params = self._params
        with VerticalScroll(can_focus=False):
            yield from self._row(_("Name"), Input(self._node_name, id="name", compact=True))
            roles = ((_("model of the writer"), "user"), (_("model of the agents"), "agent"))
            yield from self._row(_("Written by"), Select(roles, value=params.role, allow_blank=False, id="role",
                                                         compact=True))  # fmt: skip
            usual = _("as in the settings")
            yield from self._row(
                _("Another model"),
                Input(params.model or "", placeholder=_("as in the settings; F4 lists them"), id="model", compact=True),
            )
            for name, words in _TYPED:
                value = getattr(params, name)
                shown = ", ".join(value).replace("\n", "\\n") if isinstance(value, tuple) else _number(value)
                yield from self._row(_(words), Input(shown, placeholder=usual, id=name, compact=True))
            reviews = tuple((_(words), key) for key, words in REVIEWS.items())
            yield from self._row(
                _("Review"), Select(reviews, value=params.review, allow_blank=False, id="review", compact=True)
            )
            yield TickBox(_("add what the node must know (context)"), params.context, id="context", compact=True)
            for angle in ANGLES:
                words = _("check: {angle}").format(angle=_(ANGLE_WORDS[angle]))
                yield TickBox(words, angle in params.angles, id=angle, compact=True)
            yield Static(markup=False, classes="wrong")
            yield Static(_("Ctrl+s: apply   Esc: cancel"), markup=False)

    def _row(self, words: str, field: Widget) -> Iterator[Widget]:
        yield Horizontal(Static(words, markup=False), field)

    def action_models(self) -> None:
        """Lists the models that the settings name, and takes one."""
        names = tuple((str(at), each) for at, each in enumerate(self._models))
        if names:
            self.app.push_screen(ChooseScreen(_("Which model?"), names), self._named)

    def _named(self, chosen: str | None) -> None:
        if chosen is not None:
            self.query_one("#model", Input).value = self._models[int(chosen)]

    def action_take(self) -> None:
        """Returns the form if it is valid, else shows the errors."""
        changed: dict[str, Any] = {
            "role": self.query_one("#role", Select).value,
            "model": self._typed("model"),
            "temperature": self._typed("temperature"),
            "max_tokens": self._typed("max_tokens"),
            **{name: self._typed(name) for name, _words in _SAMPLING},
            "stop": _stops(self._typed("stop") or ""),
            "review": self.query_one("#review", Select).value,
            "context": self.query_one("#context", Checkbox).value,
            "angles": [angle for angle in ANGLES if self.query_one(f"#{angle}", Checkbox).value],
        }
        try:
            params = PromptParams.model_validate({name: value for name, value in changed.items() if value is not None})
        except ValidationError as error:
            problems = [f"{item['loc'][0]}: {refusal(item)}" for item in error.errors()]
            self.query_one(".wrong", Static).update("\n".join(problems))
            return
        plain = params.model_dump(mode="json")
        self.dismiss((self._typed("name") or "", {name: plain.get(name) for name in changed}))

    def _typed(self, field: str) -> str | None:
        return clean(self.query_one(f"#{field}", Input).value).strip() or None


def _stops(typed: str) -> list[str] | None:
    """Texts at which an answer ends, between commas; `\\n` is the end of a line."""
    return [each.strip().replace("\\n", "\n") for each in typed.split(",") if each.strip()] or None


def _number(value: float | None) -> str:
    return "" if value is None else str(value)
