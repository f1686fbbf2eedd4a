"""Every action of the screen in one table: it feeds the bindings, the palette, the footer, the help and docs/keys.md.

Panes and dialogs declare their own keys in their code; `keys_page.py` collects them together with this table.
"""

from __future__ import annotations

import unicodedata
from typing import Final, Literal

from textual.binding import Binding, BindingType

from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _, mark

Where = Literal["app", "home", "workspace"]


@dataclass(frozen=True, slots=True)
class KeyAction:
    """One action of the writer.

    `keys` are Textual key names, comma-separated; `does` is the Textual action, "" where a controller handles the id
    (`on_key`); `show` puts it in the footer; `wins` gives it priority over a text editor with the same key.
    """

    id: str
    keys: str
    label: str
    description: str
    does: str = ""
    show: bool = False
    wins: bool = False
    after: str = ""

    @property
    def where(self) -> Where:
        """The place in which the key works, by the first part of the id."""
        if self.id.startswith("app."):
            return "app"
        return "home" if self.id.startswith("home.") else "workspace"


ACTIONS: Final[tuple[KeyAction, ...]] = (
    KeyAction("app.help", "f1,question_mark", mark("Help"), mark("Explain the focused element and its keys."), "help",
           show=True),
    KeyAction("app.palette", "ctrl+p", mark("Commands"), mark("Find any command by its name."), "command_palette",
           show=True, wins=True),
    KeyAction("app.jump", "ctrl+o", mark("Jump"), mark("Letters over the panes: type one to go there."), "jump",
           wins=True),
    KeyAction("app.leader", "comma,fullwidth_comma", mark("Leader key"),
           mark("Then a letter runs a command of the workspace; wait to see the list."), "leader", wins=True),
    KeyAction("app.notices", "ctrl+b", mark("Notices"), mark("Every notice since the program was started."), "notices",
           wins=True),
    KeyAction("app.conversation", "ctrl+backslash", mark("Conversation"),
           mark("Ask about the book, beside whatever is on the screen; the same key closes it."), "conversation",
           wins=True),
    KeyAction("app.theme", "f12", mark("Theme"), mark("Choose the colours of the screen."), "change_theme"),
    KeyAction("app.picture", "shift+f12", mark("Screenshot"), mark("Save a picture of the screen as an SVG file."),
           "save_picture", wins=True),
    KeyAction("app.guide", "tilde", mark("Guide"),
           mark("The guide's first ten minutes beside the screen, a step at a time; the same key leaves it."), "guide"),
    KeyAction("app.settings", "dollar_sign", mark("Settings"),
           mark("Models, knowledge server, agents, goals, language, colours and keys."), "settings", after="S"),
    KeyAction("app.language", "ctrl+l", mark("中文 / English"), mark("Switch the language of the screen."), "language"),
    KeyAction("app.undo", "shift+f11", mark("Undo from any page"),
           mark("Return to the workspace, and undo the last change of the whole book, or another."), "undo_change",
           wins=True),
    KeyAction("app.quit", "ctrl+q", mark("Quit"), mark("Save drafts, close the project and quit."), "quit", wins=True),
    KeyAction("home.new", "n", mark("New"), mark("Start a new project in a new folder."), "want('new')", show=True),
    KeyAction("home.import", "i", mark("Import"), mark("Start a project from a manuscript: txt, md, docx or epub."),
           "want('import')", show=True),
    KeyAction("home.demo", "d", mark("Sample"), mark("Open a sample novel with the offline model: costs nothing."),
           "want('demo')", show=True),
    KeyAction("home.open", "o", mark("Open folder"), mark("Open a project by its folder."), "want('open')", show=True),
    KeyAction("home.wizard", "w", mark("First steps"), mark("Language, model and sample project, step by step."),
           "want('wizard')"),
    KeyAction("home.forget", "delete", mark("Remove from the list"),
           mark("Remove the book from the list of recent ones; its folder is not changed."), "forget"),
    KeyAction("pane.chapters", "1", mark("Chapters"), mark("Go to the list of chapters."), "pane('chapters')"),
    KeyAction("pane.workflow", "2", mark("Workflow"), mark("Go to the workflow and its nodes."), "pane('workflow')"),
    KeyAction("pane.manuscript", "3", mark("Manuscript"), mark("Go to the text of the chapter."), "pane('manuscript')"),
    KeyAction("pane.output", "4", mark("Output"), mark("Go to what the model wrote."), "pane('output')"),
    KeyAction("pane.prompt", "5", mark("Prompt"), mark("Go to the prompt of the node."), "pane('prompt')"),
    KeyAction("pane.context", "6", mark("Context"), mark("Go to the receipt of what the node was given."),
           "pane('context')"),
    KeyAction("pane.profiles", "7", mark("Profiles"), mark("Go to the book's profiles and summaries."),
           "pane('profiles')"),
    KeyAction("story.names", "8", mark("Names"), mark("Everyone and everything with a name, and their relations."),
           after="n"),
    KeyAction("story.proposals", "shift+f8", mark("Proposals"),
           mark("What agents propose about the book: confirm, correct or drop it."), after="p"),
    KeyAction("story.findings", "L", mark("Findings"), mark("Findings of checks: both passages, decided with one key."),
           after="f"),
    KeyAction("revision.open", "H", mark("Revision"),
           mark("Passes over the book: findings, comments, checklists, locked chapters."), after="v"),
    KeyAction("revision.comments", "semicolon", mark("Comments"),
           mark("What you or a reader noted at passages; resolve it, go there."), after="c"),
    KeyAction("revision.comment", "ctrl+underscore", mark("Comment"),
           mark("Comment on the selected passage, or on the paragraph at the cursor."), wins=True),
    KeyAction("revision.next-comment", "apostrophe,ctrl+circumflex_accent", mark("Next comment"),
           mark("Go to the next passage of the chapter that has a comment; in the editor, Ctrl+^.")),
    KeyAction("story.rename", "ctrl+k", mark("Rename everywhere"),
           mark("Rename in texts, titles, outline and records; shows every place first."), after="r"),
    KeyAction("story.impact", "ctrl+u", mark("What depends on it"),
           mark("Places that depend on the last edit or move of the open chapter."), after="d"),
    KeyAction("story.promises", "9", mark("Promises"), mark("Promises that were planted and are not yet paid.")),
    KeyAction("story.timeline", "0", mark("Timeline"), mark("Story time beside the narrative order.")),
    KeyAction("story.facts", "W", mark("What is true"), mark("The facts of the open chapter, and who knows them."),
           after="t"),
    KeyAction("pane.next", "f6", mark("Next pane"), mark("Go to the next pane."), "cycle(1)", wins=True),
    KeyAction("pane.previous", "shift+f6", mark("Previous pane"), mark("Go to the previous pane."), "cycle(-1)",
           wins=True),
    KeyAction("pane.zoom", "z", mark("Zoom"), mark("Show only the focused pane, or all panes again."), "zoom"),
    KeyAction("run.start", "f5", mark("Run"), mark("Run the workflow for the chapter; shows its cost first."),
           show=True, wins=True),
    KeyAction("run.stop", "f9", mark("Stop"), mark("Stop the run at once; text that has arrived is kept."), wins=True),
    KeyAction("run.advance", "f7", mark("Next level"), mark("Step by step: start the next level of the run.")),
    KeyAction("run.play", "P", mark("Play"), mark("Read the story of the run and answer its questions, on one page."),
           after="P"),
    KeyAction("run.sent", "p", mark("What was sent"), mark("The request of this attempt, beside the template."),
           after="s"),
    KeyAction("run.history", "f3", mark("Runs"), mark("Earlier runs; resume one that was interrupted."), wins=True,
           after="h"),
    KeyAction("decisions.open", "f8", mark("Decisions"), mark("Answer a waiting question."), show=True, wins=True),
    KeyAction("candidates.open", "J", mark("Candidates"),
           mark("Compare the texts of the node without knowing who wrote them, and choose."), after="j"),
    KeyAction("builds.open", "V", mark("Suggested workflows"),
           mark("Review the workflow that the Builder suggests; list all builds."), after="b"),
    KeyAction("document.undo", "ctrl+z", mark("Undo workflow"), mark("Undo the last change to the workflow.")),
    KeyAction("document.redo", "ctrl+y", mark("Redo workflow"), mark("Redo the last undone change to the workflow.")),
    KeyAction("manuscript.edit", "f2", mark("Edit"), mark("Edit the chapter by hand."), show=True, wins=True),
    KeyAction("manuscript.editor", "f4", mark("Editor"), mark("Edit the chapter in your own editor ($EDITOR)."),
           wins=True),
    KeyAction("manuscript.writing", "ctrl+n", mark("Writing view"),
           mark("The text alone; again: only the current paragraph in full colour; again: all panes."), wins=True,
           after="w"),
    KeyAction("manuscript.scene", "ctrl+right_square_bracket", mark("Scene break"),
           mark("Insert a scene break at the cursor of the editor, or remove the one there."), wins=True),
    KeyAction("manuscript.split", "shift+f2", mark("Split the chapter here"),
           mark("Split the chapter at the cursor of the editor: the rest becomes a new chapter."), wins=True),
    KeyAction("manuscript.card", "at,ctrl+j", mark("Card of a name"),
           mark("Who the name at the cursor is, beside the text: last seen, first words, relations; again: "
                "closes it.")),
    KeyAction("manuscript.next-name", "full_stop", mark("Next name"),
           mark("Go to the next name in the text, with its card.")),
    KeyAction("manuscript.previous-name", "colon", mark("Previous name"),
           mark("Go to the previous name in the text, with its card.")),
    KeyAction("book.beats", "ctrl+d", mark("Outline beside the text"),
           mark("The beats of the chapter, and which of their names are in its text; the same key closes it."),
           wins=True),
    KeyAction("book.search", "f11,F", mark("Search"), mark("Find words anywhere in the project; replace them."),
           show=True, after="slash"),
    KeyAction("book.proof", "exclamation_mark", mark("Proof"),
           mark("What rules mark in the text: punctuation, wrong words, echoes; no model."), after="exclamation_mark"),
    KeyAction("book.browser", "M", mark("The manuscript"),
           mark("Volumes, chapters and scenes with lengths, goals, state."), after="m"),
    KeyAction("book.words", "number_sign", mark("Words by day"),
           mark("A calendar of what was written, streak, speed, target date; set the goals."), after="g"),
    KeyAction("book.import", "I", mark("Import"), mark("Add the chapters of a file to the book."), after="i"),
    KeyAction("book.read", "B", mark("Read the import"),
           mark("Have the agents' model read imported chapters (costs money); pause or resume it."), after="B"),
    KeyAction("book.export", "ctrl+e", mark("Export"),
           mark("Write chapters to a file or the clipboard, in a format of files or the layout of a platform."),
           after="e"),
    KeyAction("book.backup", "Z", mark("Back up"), mark("Write the whole project into one file, a backup."), after="z"),
    KeyAction("book.changes", "U", mark("Undo a change"),
           mark("The changes of the whole book: undo the last one, or another."), after="u"),
    KeyAction("book.meta", "O", mark("Outline, style, rules"), mark("Edit the outline, style guide, rules or notes."),
           after="O"),
    KeyAction("memory.queue", "Q", mark("Background work"),
           mark("Every step, its state and reason; retry or cancel it."), after="q"),
    KeyAction("memory.rebuild", "Y", mark("Rebuild the memory"),
           mark("Rebuild the index, summaries, profiles or the knowledge server."), after="y"),
    KeyAction("memory.retry", "R", mark("Retry background work"), mark("Retry failed work on summaries and profiles."),
           after="R"),
    KeyAction("memory.cancel", "shift+f9", mark("Cancel background work"),
           mark("Cancel the remaining steps that may call a model or need vectors, such as summaries."), after="x"),
    KeyAction("memory.knowledge", "ampersand", mark("Knowledge server"),
           mark("The contents of the server for search by meaning: install it, search it, rebuild a part."), after="k"),
    KeyAction("models.check", "shift+f7", mark("Check the models"),
           mark("One small call to each model of the project."), after="C"),
    KeyAction("project.trust", "f10", mark("Trust"),
           mark("See what the project may send, spend and run, and confirm it."), wins=True, after="T"),
    KeyAction("project.close", "ctrl+w", mark("Close project"), mark("Close the project and go to the start page."),
           "app.close_project"),
)  # fmt: skip
WHERE_WORDS: Final[dict[str, str]] = {
    "app": mark("Everywhere"),
    "home": mark("Start page"),
    "workspace": mark("Workspace"),
}


def bindings(where: Where) -> list[BindingType]:
    """The key bindings of a place, for its BINDINGS."""
    return [
        Binding(
            with_twins(action.keys), action.does or f"key('{action.id}')", action.label, show=action.show,
            priority=action.wins, id=action.id, tooltip=action.description,
        )
        for action in ACTIONS
        if action.where == where
    ]  # fmt: skip


def with_twins(keys: str) -> str:
    """`keys` with the second name of Shift and a function key: Textual calls it F13 to F24 where a terminal sends
    the old sequences, such as `ESC [17;2~` for Shift+F6.
    """
    names = keys.replace(" ", "").split(",")
    return ",".join(names + [twin for name in names if (twin := _twin(name)) and twin not in names])


def _twin(key: str) -> str:
    number = key.removeprefix("shift+f")
    return f"f{int(number) + 12}" if number != key and number.isdigit() else ""


_SIGNS: Final = {
    "backslash": "\\", "slash": "/", "minus": "-", "plus": "+", "at": "@", "underscore": "_", "escape": "Esc",
    "pageup": "PageUp", "pagedown": "PageDown", "less_than_sign": "<", "greater_than_sign": ">",
}  # fmt: skip
"""Keys whose names are no names of Unicode."""
_WORDS: Final = {"enter": mark("Enter"), "space": mark("Space"), "backspace": mark("Backspace")}
_ARROWS: Final = ("up", "down", "left", "right")


@dataclass(frozen=True, slots=True)
class KeyRow:
    """One line of the keys page: the id for `[keys]` in the settings, the keys, their effect, and the place."""

    place: str
    id: str
    keys: tuple[str, ...]
    words: str
    wins: bool = False


def shown_key(key: str) -> str:
    """A key as the language of the screen writes it: `?` for question_mark, F5 for f5, Ctrl+p for ctrl+p, 回车 for
    enter.
    """
    if key[0] == "f" and key[1:].isdigit() and int(key[1:]) > 12:
        return f"Shift+F{int(key[1:]) - 12}"
    return "+".join(map(_key_words, key.split("+"))) if len(key) > 1 else key


def binding_key(binding: Binding) -> str:
    """The key of a binding as hints show it."""
    return _(binding.key_display) if binding.key_display else shown_key(binding.key.split(",")[0])


def _key_words(part: str) -> str:
    if len(part) == 1 or part in _SIGNS:
        return _SIGNS.get(part, part)
    if part in _WORDS:
        return _(_WORDS[part])
    if part in _ARROWS:
        return _("Up Down Left Right").split()[_ARROWS.index(part)]
    if part[0] == "f" and part[1:].isdigit():
        return part.upper()
    try:
        sign = unicodedata.lookup(part.replace("_", " "))
    except KeyError:
        sign = ""
    return sign if sign.isprintable() and sign else part.capitalize()
