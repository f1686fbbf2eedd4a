"""The arguments of `proposals`, `findings`, `check`, `impact`, `names`, `outline`, `ask` and `candidates`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import get_args

from flowcabal_tui.cli.agreeing import add_yes
from flowcabal_tui.cli.argument_types import chapters_between, path, whole
from flowcabal_tui.domain.manuscript import EXPORT_FORMATS
from flowcabal_tui.domain.memory import EntityKind
from flowcabal_tui.domain.proofing import PROOF_RULES
from flowcabal_tui.domain.proposals import SHAPES
from flowcabal_tui.locale import _


def proposals_arguments(listed: argparse.ArgumentParser) -> None:
    """Adds the arguments: the rows to list, and the writer's decisions on some."""
    listed.add_argument("--chapter", type=whole, metavar="N", help=_("only of the chapter at this place"))
    listed.add_argument(
        "--state",
        choices=("open", "waiting", "decided", "all"),
        default="open",
        help=_("list only those in this state"),
    )
    listed.add_argument("--kind", action="append", default=[], choices=tuple(SHAPES), help=_("only of this kind"))
    listed.add_argument("--words", default="", metavar=_("WORDS"), help=_("only with these words"))
    listed.add_argument("--offset", type=int, default=0, metavar="N", help=_("leave out the first N"))
    listed.add_argument("--limit", type=whole, default=100, metavar="N", help=_("at most N rows"))
    listed.add_argument(
        "--confirm", nargs="+", default=[], metavar="ID", help=_("confirm these: they then count as yours")
    )
    listed.add_argument(
        "--drop", nargs="+", default=[], metavar="ID", help=_("drop these: agents do not propose them again")
    )
    listed.add_argument("--correct", metavar="ID", help=_("correct this one with --set"))
    changed = _("a field for --correct: a text, or with NAME:=JSON another value")
    listed.add_argument("--set", action="append", default=[], metavar="NAME=TEXT", help=changed)
    listed.add_argument("--undo", action="store_true", help=_("undo the last decision first"))
    listed.add_argument("--json", action="store_true", help=_("print JSON, for programs"))


def findings_arguments(found: argparse.ArgumentParser) -> None:
    """Adds the arguments: the findings to list, and the writer's decisions on some."""
    _chapters(found)
    states = ("new", "later", "decided", "resolved", "all")
    found.add_argument("--state", choices=states, default="new", help=_("list only those in this state"))
    found.add_argument("--check", action="append", default=[], metavar=_("NAME"), help=_("only of this rule or angle"))
    found.add_argument("--words", default="", metavar=_("WORDS"), help=_("only with these words"))
    found.add_argument("--unfold", action="store_true", help=_("also those past the first five of a chapter"))
    found.add_argument("--newest", action="store_true", help=_("the newest first"))
    found.add_argument("--offset", type=int, default=0, metavar="N", help=_("leave out the first N"))
    found.add_argument("--limit", type=whole, default=100, metavar="N", help=_("at most N rows"))
    words = _("mark them as intended; later checks read the --reason")
    found.add_argument("--intended", nargs="+", default=[], metavar="ID", help=words)
    found.add_argument("--reason", metavar=_("WORDS"), help=_("with --intended"))
    words = _("these are not useful, which counts against their check")
    found.add_argument("--not-useful", nargs="+", default=[], metavar="ID", help=words)
    found.add_argument("--later", nargs="+", default=[], metavar="ID", help=_("put these aside"))
    found.add_argument("--again", nargs="+", default=[], metavar="ID", help=_("put these back on the list"))
    words = _("the story changes there: record the chapter's statement as a fact from that chapter on")
    found.add_argument("--changed", metavar="ID", help=words)
    changed = _("a field of that fact: a text, or with NAME:=JSON another value")
    found.add_argument("--set", action="append", default=[], metavar="NAME=TEXT", help=changed)
    found.add_argument("--rule-off", metavar="NAME", help=_("switch a rule off for this book"))
    found.add_argument("--rule-on", metavar="NAME", help=_("switch a rule on again"))
    found.add_argument("--undo", action="store_true", help=_("undo the last decision first"))
    found.add_argument("--json", action="store_true", help=_("print JSON, for programs"))


def check_chapters_arguments(check: argparse.ArgumentParser) -> None:
    """Adds the arguments: the chapters to check, and whether a model checks them too."""
    _chapters(check)
    check.add_argument("--model", action="store_true", help=_("also with the agents' model; costs money"))
    add_yes(check)
    check.add_argument("--json", action="store_true", help=_("print JSON, for programs"))


def impact_arguments(impact: argparse.ArgumentParser) -> None:
    """Adds the arguments: the change to examine, and whether it is applied."""
    one = impact.add_mutually_exclusive_group(required=True)
    one.add_argument("--name", metavar=_("OLD"), help=_("rename this name; needs --to"))
    one.add_argument("--chapter", type=whole, metavar="N", help=_("the edited chapter at this place"))
    words = _("the chapter at place N goes to place M")
    one.add_argument("--move", type=whole, nargs=2, metavar=("N", "M"), help=words)
    one.add_argument("--fact", metavar="ID", help=_("change the text of this record; needs --to"))
    one.add_argument("--undo", action="store_true", help=_("undo the last applied change"))
    impact.add_argument("--to", metavar=_("NEW"), help=_("the new name, or the new text of the record"))
    words = _("a further name and its new form: OLD=NEW; repeatable")
    impact.add_argument("--alias", action="append", default=[], metavar="OLD=NEW", help=words)
    impact.add_argument("--since", type=whole, metavar="V", help=_("compare with this version, not the one before"))
    impact.add_argument("--apply", action="store_true", help=_("apply the ticked places, all at once"))
    impact.add_argument("--leave", nargs="+", default=[], metavar="ID", help=_("do not apply these places"))
    words = _("apply these places too; those without a patch become findings")
    impact.add_argument("--take", nargs="+", default=[], metavar="ID", help=words)
    words = _("these places still hold: they are not listed again until they or the value change; with --apply")
    impact.add_argument("--holds", nargs="+", default=[], metavar="ID", help=words)
    words = _("list these places again, which you had settled; with --apply")
    impact.add_argument("--again", nargs="+", default=[], metavar="ID", help=words)
    impact.add_argument("--settled", action="store_true", help=_("list the places that you have settled"))
    words = _("ask the model for patches of these places (none named: of all that no rule can patch)")
    impact.add_argument("--patch", nargs="*", metavar="ID", help=words)
    add_yes(impact)
    impact.add_argument("--limit", type=whole, default=100, metavar="N", help=_("list at most this many places"))
    impact.add_argument("--json", action="store_true", help=_("print JSON, for programs"))


def names_command(
    add: Callable[[str, str], argparse.ArgumentParser], project: Callable[[argparse.ArgumentParser], None]
) -> None:
    """Adds `names`."""
    names = add("names", _("people, places and things with their kinds and fields, or the card of one; 1: no match"))
    project(names)
    names.add_argument("--kind", metavar=_("KIND"), help=_("only of this kind, one of yours or of the program"))
    names.add_argument("--words", default="", metavar=_("WORDS"), help=_("only with these words"))
    names.add_argument("--card", metavar=_("NAME"), help=_("show everything known about this name"))
    names.add_argument("--chapter", type=whole, metavar="N", help=_("with --card: as of the chapter at this place"))
    names.add_argument("--edit", metavar=_("NAME"), help=_("change this name: --as, --field"))
    names.add_argument("--as", dest="as_kind", metavar=_("KIND"), help=_("with --edit: its kind"))
    words = _("with --edit: a field and its value, repeatable; empty value: none")
    names.add_argument("--field", action="append", default=[], metavar="FIELD=TEXT", help=words)
    names.add_argument("--define", metavar=_("KIND"), help=_("a kind of your own, or one of the program: --fields"))
    names.add_argument(
        "--base", choices=get_args(EntityKind), help=_("with --define: agents treat its names as this kind")
    )
    words = _("with --define: the fields of the kind, separated by commas")
    names.add_argument("--fields", metavar="A,B", help=words)
    names.add_argument("--undefine", metavar=_("KIND"), help=_("remove a kind; its names keep their notes"))
    names.add_argument("--json", action="store_true")


def proofing_commands(
    add: Callable[[str, str], argparse.ArgumentParser], project: Callable[[argparse.ArgumentParser], None]
) -> None:
    """Adds `proof`, `scenes` and `words`."""
    proof = add("proof", _("places that rules mark in the text, without a model; 1: something is marked"))
    project(proof)
    _proof(proof)
    scenes = add("scenes", _("the scenes of a chapter; move, name, join or break one"))
    project(scenes)
    _scenes(scenes)
    words = add("words", _("words written per day, by hand and by a model, with the goals"))
    project(words)
    words.add_argument("--days", type=whole, default=30, metavar="N", help=_("the last N days with writing"))
    goal = _("set a goal: book, volume, chapter, day (lengths), until (2027-03-31), day_begins (hour), hand_only")
    words.add_argument("--goal", action="append", default=[], metavar="NAME=VALUE", help=goal)
    words.add_argument("--json", action="store_true", help=_("print JSON, for programs"))


def _proof(proof: argparse.ArgumentParser) -> None:
    """Adds the arguments: the chapters to proof and the rules."""
    _chapters(proof)
    words = _("only these rules, also those that are off; repeatable")
    proof.add_argument("--rule", action="append", choices=PROOF_RULES, default=[], help=words)
    proof.add_argument("--json", action="store_true", help=_("print JSON, for programs"))


def _scenes(scenes: argparse.ArgumentParser) -> None:
    """The chapter, and which of its scenes is changed."""
    scenes.add_argument("chapter", type=whole, metavar="N", help=_("the place of the chapter"))
    one = scenes.add_mutually_exclusive_group()
    one.add_argument("--move", type=whole, nargs=2, metavar=("S", "T"), help=_("scene S becomes number T"))
    one.add_argument("--title", nargs=2, metavar=("S", _("TITLE")), help=_("the title of scene S; empty: none"))
    one.add_argument("--join", type=whole, metavar="S", help=_("remove the break before scene S"))
    one.add_argument("--at", type=int, metavar=_("OFFSET"), help=_("put a break before this character of the chapter"))
    words = _("your own beats of scene S in the outline, from a file, or - for input")
    one.add_argument("--beats", nargs=2, metavar=("S", _("FILE")), help=words)
    scenes.add_argument("--json", action="store_true", help=_("print JSON, for programs"))


def export_arguments(exported: argparse.ArgumentParser) -> None:
    """Adds the arguments: the file, and the layout of a platform."""
    words = _("its suffix gives the format: {formats}").format(formats=" ".join(EXPORT_FORMATS))
    exported.add_argument("target", type=path, metavar=_("FILE"), help=words)
    exported.add_argument("--comments", action="store_true", help=_("with the open comments; not for epub"))
    words = _("in the layout of a platform, such as qidian or royal-road; with a report of what it may refuse")
    exported.add_argument("--platform", metavar=_("NAME"), help=words)
    words = _("only the chapters at these places: 7, 7..9, 7.. or ..9")
    exported.add_argument("--chapter", type=chapters_between, metavar="N..M", help=words)


def _chapters(command: argparse.ArgumentParser) -> None:
    words = _("only the chapters at these places: 7, 7..9, 7.. or ..9")
    command.add_argument("--chapter", type=chapters_between, metavar="N..M", help=words)


def outline_arguments(outline: argparse.ArgumentParser) -> None:
    """Adds the arguments: the part or chapter to show or write, and the assignment of parts to chapters."""
    one = outline.add_mutually_exclusive_group()
    one.add_argument("--chapter", type=whole, metavar="N", help=_("the text for the chapter at this place"))
    one.add_argument("--part", metavar=_("PART"), help=_("the text of this part: its number in the list, or its title"))
    one.add_argument("--volume", metavar=_("VOLUME"), help=_("the text for this volume: its number or its name"))
    one.add_argument(
        "--whole", action="store_true", help=_("the whole outline as it is, to be written back with --write")
    )
    words = _("your own text from a file, or - for input: of --part, --chapter or --volume, or the whole outline")
    change = outline.add_mutually_exclusive_group()
    change.add_argument("--write", type=path, metavar=_("FILE"), help=words)
    words = _("assign this part to the chapter at this place, to `none`, or as its heading suggests: `rules`")
    change.add_argument("--assign", nargs=2, metavar=(_("PART"), _("CHAPTER")), help=words)
    words = _("check by rule which names of the beats occur in the text of --chapter, or count them for each chapter")
    outline.add_argument("--progress", action="store_true", help=words)
    words = _("with --progress and --chapter: also ask the agents' model which beats the text brings; costs money")
    outline.add_argument("--model", action="store_true", help=words)
    add_yes(outline)
    outline.add_argument("--json", action="store_true", help=_("print JSON, for programs"))


def ask_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments: the question, the texts sent with it, and the conversation that it continues."""
    command.add_argument("project", type=path, metavar=_("PROJECT"), help=_("the project's folder"))
    command.add_argument("question", metavar=_("QUESTION"), help=_("a question about the book, in your own words"))
    chapter = _("send the text of this chapter with it; repeatable")
    command.add_argument("--chapter", type=whole, action="append", default=[], metavar="N", help=chapter)
    goes_on = _("continue this conversation; without it a new one begins")
    command.add_argument("--conversation", default="", metavar="ID", help=goes_on)
    command.add_argument("--json", action="store_true", help=_("print JSON, for programs"))


def candidate_arguments(compared: argparse.ArgumentParser) -> None:
    """Adds the arguments: the candidates to compare, and the writer's decision."""
    words = _("a comparison or a waiting question; without one, what can be compared is listed")
    compared.add_argument("comparison", nargs="?", metavar=_("COMPARISON"), help=words)
    compared.add_argument(
        "--workflow", metavar=_("WORKFLOW"), help=_("with --node: the workflow whose step is compared")
    )
    compared.add_argument("--node", metavar=_("NODE"), help=_("the step whose outputs are compared"))
    compared.add_argument("--chapter", type=whole, metavar="N", help=_("with --node: for the chapter at this place"))
    word = compared.add_mutually_exclusive_group()
    word.add_argument("--choose", metavar="A", help=_("choose this candidate, by its letter"))
    words = _("these are equally good; the first of them is used")
    word.add_argument("--tie", nargs="+", default=[], metavar="A", help=words)
    word.add_argument("--none", action="store_true", help=_("none of them is good enough"))
    words = _("compose a text from these paragraphs: A1, B2 or whole candidates")
    word.add_argument("--take", nargs="+", default=[], metavar="A1", help=words)
    word.add_argument(
        "--compose", type=path, metavar="FILE", help=_("choose the text of this file, composed from the candidates")
    )
    word.add_argument("--undo", action="store_true", help=_("undo the choice"))
    word.add_argument("--more", type=whole, metavar="N", help=_("write N more candidates; costs money"))
    word.add_argument("--sift", action="store_true", help=_("check the facts of each candidate by rule"))
    word.add_argument("--outcomes", action="store_true", help=_("how often each prompt and model won, tied and lost"))
    compared.add_argument(
        "--model", action="store_true", help=_("with --sift: also with the agents' model; costs money")
    )
    words = _(
        "with --take or --compose: have the sentences at the seams changed, which costs money, and print the changes"
    )
    compared.add_argument("--seams", action="store_true", help=words)
    compared.add_argument(
        "--accept", nargs="+", type=whole, default=[], metavar="N", help=_("with --seams: apply these changes")
    )
    add_yes(compared)
    compared.add_argument("--json", action="store_true", help=_("print JSON, for programs"))
