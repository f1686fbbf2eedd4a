"""A form for the parameters of any kind of node, made from the kind's JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from pydantic import ValidationError
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.events import DescendantFocus
from textual.widget import Widget
from textual.widgets import Button, Checkbox, Input, Select, Static

from flowcabal_tui.domain.items import canonical
from flowcabal_tui.domain.refusals import refusal
from flowcabal_tui.domain.text import clean
from flowcabal_tui.domain.workflow import Node
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.nodes.base import NodeKind
from flowcabal_tui.tui.editing.starters import resolved
from flowcabal_tui.tui.shared.form import RowsForm, form_keys
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.role_words import facts_words
from flowcabal_tui.tui.widgets.tick import TickBox
from flowcabal_tui.tui.workflows.action_picker import ActionPicker, FindActions
from flowcabal_tui.tui.workflows.data_editor import Check, DataEditor

_NUMBERS = {"integer": int, "number": float}


class ParamsForm(RowsForm[dict[str, Any]]):
    """Returns all parameters, or None. Lists, bodies and bindings are edited as text; the rest in place."""

    help = HelpData(
        mark("Parameters"),
        mark("The parameters of this node. Enter opens one that is edited as text, F4 finds an action. Ctrl+s applies "
             "all, Esc cancels."),
    )  # fmt: skip
    DEFAULT_CSS = """
    ParamsForm Horizontal > Static { width: 18; }
    ParamsForm Button { width: 1fr; content-align: left middle; text-align: left; }
    ParamsForm .about { color: $text-muted; height: auto; max-height: 3; margin-top: 1; }
    ParamsForm .wrong { height: auto; max-height: 6; }
    """
    BINDINGS: ClassVar[list[BindingType]] = form_keys(
        "params",
        Binding("f4", "actions", mark("Actions"), priority=True, id="params.actions",
                tooltip=mark("Find an action by words or by meaning, and choose it.")),
    )  # fmt: skip

    def __init__(self, node: Node, kind: NodeKind, find: FindActions | None = None) -> None:
        """`find` finds the actions that F4 lists."""
        super().__init__()
        self._find = find if node.kind == "action" else None
        schema = kind.params.model_json_schema()
        known = schema.get("$defs", {})
        self._kind, self._heading = kind, facts_words(one_line(node.title), node.kind)
        self._parts: dict[str, Mapping[str, Any]] = {
            name: resolved(part, known) for name, part in schema.get("properties", {}).items()
        }
        self._values: dict[str, Any] = dict(node.params)

    def compose(self) -> ComposeResult:
        """Yields one row per parameter."""
        with VerticalScroll(can_focus=False):
            yield Static(self._heading, markup=False)
            for name, part in self._parts.items():
                yield from self._row(name, part)
            if not self._parts:
                yield Static(_("This kind of node has no parameters."), markup=False)
            yield Static(markup=False, classes="about")
            yield Static(markup=False, classes="wrong")
            yield Static(_("Ctrl+s: apply   Esc: cancel"), markup=False)

    def _row(self, name: str, part: Mapping[str, Any]) -> Iterator[Widget]:
        value = self._values.get(name, part.get("default"))
        known = f"field-{name}"
        field: Widget
        if "enum" in part:
            options = [(str(each), each) for each in part["enum"]]
            field = Select(options, value=value if value in part["enum"] else part["enum"][0], allow_blank=False,
                           id=known, compact=True)  # fmt: skip
        elif part.get("type") == "boolean":
            yield TickBox(name, bool(value), id=known, compact=True)
            return
        elif part.get("type") in ("string", *_NUMBERS) and "\n" not in str(value):
            field = Input("" if value is None else clean(str(value)), id=known, compact=True)
        else:
            field = Button(self._summary(value), id=known, compact=True)
        yield Horizontal(Static(name, markup=False), field)

    def _summary(self, value: Any) -> str:
        if value in (None, [], (), {}):
            return _("(empty)")
        if isinstance(value, dict) and isinstance(nodes := value.get("nodes"), list):
            return ngettext("a graph of {n} node", "a graph of {n} nodes", len(nodes)).format(n=len(nodes))
        return one_line(value if isinstance(value, str) else canonical(value), 60)

    @on(DescendantFocus)
    def explain(self, event: DescendantFocus) -> None:
        """Shows the purpose of a parameter."""
        name = (event.widget.id or "").removeprefix("field-")
        about = self._parts.get(name, {}).get("description", "")
        self.query_one(".about", Static).update(clean(_(about)) if about else "")

    @on(Button.Pressed)
    def edit_as_text(self, event: Button.Pressed) -> None:
        """Edits bodies, lists and bindings as YAML."""
        event.stop()
        name = (event.button.id or "").removeprefix("field-")

        def take(found: tuple[Any] | None) -> None:
            if found is not None:
                self._values[name] = found[0]
                event.button.label = self._summary(found[0])

        value = self._values.get(name, self._parts[name].get("default"))
        self.app.push_screen(DataEditor(facts_words(self._heading, name), value, self._checked(name)), take)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enables F4 for a node that carries out an action."""
        return action != "actions" or self._find is not None

    def action_actions(self) -> None:
        """Finds an action and takes it."""
        if self._find is not None:
            self.app.push_screen(ActionPicker(self._find), self._named)

    def _named(self, chosen: str | None) -> None:
        if chosen is not None:
            self.query_one("#field-action", Input).value = chosen

    def _checked(self, name: str) -> Check:
        def check(value: Any) -> list[str]:
            return [words for field, words in self._wrong({**self._values, name: value}) if field == name]

        return check

    def _wrong(self, values: Mapping[str, Any]) -> list[tuple[str, str]]:
        """The values that the kind cannot read, each with its field."""
        try:
            self._kind.params.model_validate(values)
        except ValidationError as error:
            places = [(".".join(map(str, item["loc"])), refusal(item)) for item in error.errors()]
            return [(place.partition(".")[0], f"{place}: {words}") for place, words in places]
        return []

    def action_take(self) -> None:
        """Returns the parameters if the kind can read them, else shows the errors."""
        values = dict(self._values)
        for name, part in self._parts.items():
            if (typed := self._typed(name, part)) != self._values.get(name, part.get("default")):
                values[name] = typed
        wrong = [words for _field, words in self._wrong(values)]
        if wrong:
            self.query_one(".wrong", Static).update(clean("\n".join(f"! {words}" for words in wrong[:5])))
        else:
            self.dismiss(values)

    def _typed(self, name: str, part: Mapping[str, Any]) -> Any:
        """The value of a field; an invalid number stays as typed, for the kind to refuse."""
        field = self.query_one(f"#field-{name}")
        before = self._values.get(name, part.get("default"))
        if isinstance(field, (Select, Checkbox)):
            return field.value
        if not isinstance(field, Input):
            return before
        text = clean(field.value)
        if text == ("" if before is None else clean(str(before))):
            return before
        if not text.strip() and part.get("type") != "string":
            return None
        try:
            return _NUMBERS.get(str(part.get("type")), str)(text)
        except ValueError:
            return text

    def typed_values(self) -> object:
        """The values of the fields, and of the parts edited as text."""
        return super().typed_values(), dict(self._values)
