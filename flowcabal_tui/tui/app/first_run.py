"""Four steps at the first start: language, colours, the model, and the start. Esc skips them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.message import Message
from textual.screen import Screen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _, mark, use_language
from flowcabal_tui.settings.screen import ScreenSettings
from flowcabal_tui.tui.app.entry import ModelProposal
from flowcabal_tui.tui.app.themes import theme_words
from flowcabal_tui.tui.shared.lists import MovesList, PickList
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.widgets.role_words import key_words

if TYPE_CHECKING:
    from flowcabal_tui.tui.models.model_form import ModelChoice

_LANGUAGES: Final = (("zh_CN", "中文"), ("en", "English"))
OWN_MODEL: Final = "own"
STEPS: Final = ("language", "theme", "model", "start")


class FirstRunScreen(Screen[None], MovesList):
    """One list at a time; Enter chooses, Backspace goes back, Esc skips."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "skip", mark("Skip"), id="wizard.skip"),
        Binding("backspace,left", "back", mark("Back"), id="wizard.back"),
        Binding("j", "go('cursor_down')", mark("Down"), show=False, id="wizard.down"),
        Binding("k", "go('cursor_up')", mark("Up"), show=False, id="wizard.up"),
    ]

    @dataclass
    class Finished(Message):
        """The wizard has ended. `settings` is None when it was skipped; `start` is "demo", "new", "import" or "".

        `model` is one that was found or entered in the form; None for the offline model, which sends nothing away.
        """

        settings: ScreenSettings | None
        model: ModelProposal | ModelChoice | None
        start: str

    @dataclass
    class ThemeTried(Message):
        """The cursor moved to a theme, which is to be displayed."""

        name: str

    def __init__(self, proposals: tuple[ModelProposal, ...], themes: tuple[str, ...], settings: ScreenSettings) -> None:
        super().__init__()
        self._proposals, self._theme_names = proposals, themes
        self._settings = settings
        self._chosen_model: ModelProposal | ModelChoice | None = None
        self._step = STEPS[0]

    def compose(self) -> ComposeResult:
        """Yields a heading with the step number, a text, and the list of this step."""
        with VerticalScroll(classes="dialog wizard"):
            yield Static("", markup=False, classes="dialog-title", id="wizard-title")
            yield Static("", markup=False, id="wizard-words")
            yield PickList(id="wizard-list")
            yield Static("", markup=False, classes="dialog-keys", id="wizard-keys")

    def on_mount(self) -> None:
        """Shows the first step."""
        self._show_step()

    def _show_step(self) -> None:
        title, words, options, marked = self._step_words()
        place = f"{STEPS.index(self._step) + 1}/{len(STEPS)}"
        self.query_one("#wizard-title", Static).update(f"{_('First steps')} {place}   {title}")
        self.query_one("#wizard-words", Static).update(key_words(words))
        self.query_one("#wizard-keys", Static).update(_("Enter: choose   Backspace: back   Esc: skip all of this"))
        choices = self.query_one("#wizard-list", OptionList)
        choices.clear_options()
        choices.add_options([Option(label, id=key) for key, label in options])
        choices.highlighted = marked
        choices.focus()

    def _step_words(self) -> tuple[str, str, list[tuple[str, str]], int]:
        """Title, words, choices and the proposed choice of the present step."""
        match self._step:
            case "language":
                marked = 0 if self._settings.language.startswith("zh") else 1
                words = "屏幕使用哪种语言？书的语言另行选择。\nThe language of the screen; each book has its own."
                return _("language"), words, list(_LANGUAGES), marked
            case "theme":
                names = list(self._theme_names)
                marked = names.index(self._settings.theme) if self._settings.theme in names else 0
                words = _("Screen colours. Move to preview them.")
                return _("colours"), words, [(name, theme_words(name)) for name in names], marked
            case "model":
                return self._model_words()
            case _:
                options = [
                    ("demo", _("Look at the sample novel (two minutes, offline)")),
                    ("new", _("Start a project of my own")),
                    ("import", _("Start from my manuscript")),
                    ("", _("Go to the start page")),
                ]
                return _("where to start"), _("You can do the others later from the start page."), options, 0

    def _model_words(self) -> tuple[str, str, list[tuple[str, str]], int]:
        found = enumerate(self._proposals)
        options = [(str(number), f"{clean(item.label)}   {clean(item.endpoint)}") for number, item in found]
        options.append((OWN_MODEL, _("Another model: choose a provider, enter the key and prices")))
        options.append(("offline", _("Offline model: built in, free, only for trying out")))
        if self._proposals:
            words = _(
                "These were found on this machine. By choosing one you agree that calls cost what your provider "
                "charges and that the text of your book is sent to that address."
            )
        else:
            words = _(
                "No model was found: no key of a known provider in the environment, no local server. You can begin "
                "with the offline model and choose another later in the settings: `$`."
            )
        return _("model"), words, options, len(options) - 1

    @on(OptionList.OptionHighlighted)
    def try_theme(self, event: OptionList.OptionHighlighted) -> None:
        """Shows the theme under the cursor before it is chosen."""
        if self._step == "theme" and event.option_id:
            self.post_message(self.ThemeTried(event.option_id))

    @on(OptionList.OptionSelected)
    def choose(self, event: OptionList.OptionSelected) -> None:
        """Stores the choice and continues on Enter."""
        chosen = event.option_id or ""
        match self._step:
            case "language":
                self._settings = replace(self._settings, language=chosen)
                use_language(chosen)
            case "theme":
                self._settings = replace(self._settings, theme=chosen)
            case "model" if chosen == OWN_MODEL:
                attempt(self, self._describe_model(), group="model", exclusive=True)
                return
            case "model":
                self._chosen_model = None if chosen == "offline" else self._proposals[int(chosen)]
            case _:
                settled = replace(self._settings, wizard_done=True)
                self.post_message(self.Finished(settled, self._chosen_model, chosen))
                return
        self._go_on()

    async def _describe_model(self) -> None:
        """Opens the form of a model, which asks for consent to its host, and then the next step."""
        from flowcabal_tui.tui.models.model_form import KnownKeys, ModelForm  # not for the first frame

        choice = await self.app.push_screen_wait(ModelForm(_("Writes the book"), None, KnownKeys.now()))
        if choice is not None:
            self._chosen_model = choice
            self._go_on()

    def _go_on(self) -> None:
        self._step = STEPS[STEPS.index(self._step) + 1]
        self._show_step()

    def action_back(self) -> None:
        """Goes to the previous step."""
        self._step = STEPS[max(0, STEPS.index(self._step) - 1)]
        self._show_step()

    def action_skip(self) -> None:
        """Stores nothing; the wizard can be opened again from the start page."""
        self.post_message(self.Finished(None, None, ""))
