"""The arguments of `proposals`, `findings`, `check`, `impact`, `names`, `outline`, `ask` and `candidates`."""

from __future__ import annotations

import argparse
from typing import get_args

from flowcabal_tui.cli.agreeing import add_yes
from flowcabal_tui.cli.argument_types import (
    Commands,
    chapters_option,
    flag,
    json_flag,
    path,
    repeated,
    several,
    whole,
)
from flowcabal_tui.domain.memory import EntityKind
from flowcabal_tui.domain.proofing import PROOF_RULES
from flowcabal_tui.domain.proposals import SHAPES
from flowcabal_tui.locale import _
from flowcabal_tui.manuscript.writer import EXPORT_FORMATS


def proposals_arguments(listed: argparse.ArgumentParser) -> None:
    """Adds the arguments: the rows to list, and the writer's decisions on some."""
    listed.add_argument("--chapter", type=whole, metavar="N", help=_("only of the chapter at this place"))
    listed.add_argument(
        "--state",
        choices=("open", "waiting", "decided", "all"),
        default="open",
        help=_("list only those in this state"),
    )
    repeated(listed, "--kind", _("only of this kind"), choices=tuple(SHAPES))
    listed.add_argument("--words", default="", metavar=_("WORDS"), help=_("only with these words"))
    listed.add_argument("--offset", type=int, default=0, metavar="N", help=_("leave out the first N"))
    listed.add_argument("--limit", type=whole, default=100, metavar="N", help=_("at most N rows"))
    several(listed, "--confirm", _("confirm these: they then count as yours"), metavar="ID")
    several(listed, "--drop", _("drop these: agents do not propose them again"), metavar="ID")
    listed.add_argument("--correct", metavar="ID", help=_("correct this one with --set"))
    repeated(listed, "--set", _("a field for --correct: a text, or with NAME:=JSON another value"), metavar="NAME=TEXT")
    flag(listed, "--undo", _("undo the last decision first"))
    json_flag(listed)


def findings_arguments(found: argparse.ArgumentParser) -> None:
    """Adds the arguments: the findings to list, and the writer's decisions on some."""
    chapters_option(found)
    states = ("new", "later", "decided", "resolved", "all")
    found.add_argument("--state", choices=states, default="new", help=_("list only those in this state"))
    repeated(found, "--check", _("only of this rule or angle"), metavar=_("NAME"))
    found.add_argument("--words", default="", metavar=_("WORDS"), help=_("only with these words"))
    flag(found, "--unfold", _("also those past the first five of a chapter"))
    flag(found, "--newest", _("the newest first"))
    found.add_argument("--offset", type=int, default=0, metavar="N", help=_("leave out the first N"))
    found.add_argument("--limit", type=whole, default=100, metavar="N", help=_("at most N rows"))
    several(found, "--intended", _("mark them as intended; later checks read the --reason"), metavar="ID")
    found.add_argument("--reason", metavar=_("WORDS"), help=_("with --intended"))
    several(found, "--not-useful", _("these are not useful, which counts against their check"), metavar="ID")
    several(found, "--later", _("put these aside"), metavar="ID")
    several(found, "--again", _("put these back on the list"), metavar="ID")
    words = _("the story changes there: record the chapter's statement as a fact from that chapter on")
    found.add_argument("--changed", metavar="ID", help=words)
    repeated(found, "--set", _("a field of that fact: a text, or with NAME:=JSON another value"), metavar="NAME=TEXT")
    found.add_argument("--rule-off", metavar="NAME", help=_("switch a rule off for this book"))
    found.add_argument("--rule-on", metavar="NAME", help=_("switch a rule on again"))
    flag(found, "--undo", _("undo the last decision first"))
    json_flag(found)


def check_chapters_arguments(check: argparse.ArgumentParser) -> None:
    """Adds the arguments: the chapters to check, and whether a model checks them too."""
    chapters_option(check)
    flag(check, "--model", _("also with the agents' model; costs money"))
    add_yes(check)
    json_flag(check)


def impact_arguments(impact: argparse.ArgumentParser) -> None:
    """Adds the arguments: the change to examine, and whether it is applied."""
    one = impact.add_mutually_exclusive_group(required=True)
    one.add_argument("--name", metavar=_("OLD"), help=_("rename this name; needs --to"))
    one.add_argument("--chapter", type=whole, metavar="N", help=_("the edited chapter at this place"))
    words = _("the chapter at place N goes to place M")
    one.add_argument("--move", type=whole, nargs=2, metavar=("N", "M"), help=words)
    one.add_argument("--fact", metavar="ID", help=_("change the text of this record; needs --to"))
    flag(one, "--undo", _("undo the last applied change"))
    impact.add_argument("--to", metavar=_("NEW"), help=_("the new name, or the new text of the record"))
    repeated(impact, "--alias", _("a further name and its new form: OLD=NEW; repeatable"), metavar="OLD=NEW")
    impact.add_argument("--since", type=whole, metavar="V", help=_("compare with this version, not the one before"))
    flag(impact, "--apply", _("apply the ticked places, all at once"))
    several(impact, "--leave", _("do not apply these places"), metavar="ID")
    several(impact, "--take", _("apply these places too; those without a patch become findings"), metavar="ID")
    words = _("these places still hold: they are not listed again until they or the value change; with --apply")
    several(impact, "--holds", words, metavar="ID")
    several(impact, "--again", _("list these places again, which you had settled; with --apply"), metavar="ID")
    flag(impact, "--settled", _("list the places that you have settled"))
    words = _("ask the model for patches of these places (none named: of all that no rule can patch)")
    impact.add_argument("--patch", nargs="*", metavar="ID", help=words)
    add_yes(impact)
    impact.add_argument("--limit", type=whole, default=100, metavar="N", help=_("list at most this many places"))
    json_flag(impact)


def names_command(commands: Commands) -> None:
    """Adds `names`."""
    names = commands.book(
        "names", _("people, places and things with their kinds and fields, or the card of one; 1: no match")
    )
    names.add_argument("--kind", metavar=_("KIND"), help=_("only of this kind, one of yours or of the program"))
    names.add_argument("--words", default="", metavar=_("WORDS"), help=_("only with these words"))
    names.add_argument("--card", metavar=_("NAME"), help=_("show everything known about this name"))
    names.add_argument("--chapter", type=whole, metavar="N", help=_("with --card: as of the chapter at this place"))
    names.add_argument("--edit", metavar=_("NAME"), help=_("change this name: --as, --field"))
    names.add_argument("--as", dest="as_kind", metavar=_("KIND"), help=_("with --edit: its kind"))
    words = _("with --edit: a field and its value, repeatable; empty value: none")
    repeated(names, "--field", words, metavar="FIELD=TEXT")
    names.add_argument("--define", metavar=_("KIND"), help=_("a kind of your own, or one of the program: --fields"))
    names.add_argument(
        "--base", choices=get_args(EntityKind), help=_("with --define: agents treat its names as this kind")
    )
    names.add_argument("--fields", metavar="A,B", help=_("with --define: the fields of the kind, separated by commas"))
    names.add_argument("--undefine", metavar=_("KIND"), help=_("remove a kind; its names keep their notes"))
    names.add_argument("--json", action="store_true")


def proofing_commands(commands: Commands) -> None:
    """Adds `proof`, `scenes` and `words`."""
    proof = commands.book("proof", _("places that rules mark in the text, without a model; 1: something is marked"))
    _proof(proof)
    scenes = commands.book("scenes", _("the scenes of a chapter; move, name, join or break one"))
    _scenes(scenes)
    words = commands.book("words", _("words written per day, by hand and by a model, with the goals"))
    words.add_argument("--days", type=whole, default=30, metavar="N", help=_("the last N days with writing"))
    goal = _("set a goal: book, volume, chapter, day (lengths), until (2027-03-31), day_begins (hour), hand_only")
    repeated(words, "--goal", goal, metavar="NAME=VALUE")
    json_flag(words)


def _proof(proof: argparse.ArgumentParser) -> None:
    """Adds the arguments: the chapters to proof and the rules."""
    chapters_option(proof)
    repeated(proof, "--rule", _("only these rules, also those that are off; repeatable"), choices=PROOF_RULES)
    json_flag(proof)


def _scenes(scenes: argparse.ArgumentParser) -> None:
    """Adds the arguments: the chapter, and the change of one of its scenes."""
    scenes.add_argument("chapter", type=whole, metavar="N", help=_("the place of the chapter"))
    one = scenes.add_mutually_exclusive_group()
    one.add_argument("--move", type=whole, nargs=2, metavar=("S", "T"), help=_("scene S becomes number T"))
    one.add_argument("--title", nargs=2, metavar=("S", _("TITLE")), help=_("the title of scene S; empty: none"))
    one.add_argument("--join", type=whole, metavar="S", help=_("remove the break before scene S"))
    one.add_argument("--at", type=int, metavar=_("OFFSET"), help=_("put a break before this character of the chapter"))
    words = _("your own beats of scene S in the outline, from a file, or - for input")
    one.add_argument("--beats", nargs=2, metavar=("S", _("FILE")), help=words)
    json_flag(scenes)


def export_arguments(exported: argparse.ArgumentParser) -> None:
    """Adds the arguments: the file, and the layout of a platform."""
    words = _("its suffix gives the format: {formats}").format(formats=" ".join(EXPORT_FORMATS))
    exported.add_argument("target", type=path, metavar=_("FILE"), help=words)
    without = ", ".join(name for name, each in EXPORT_FORMATS.items() if not each.takes_comments)
    flag(exported, "--comments", _("with the open comments; not for {formats}").format(formats=without))
    words = _("in the layout of a platform, such as qidian or royal-road; with a report of what it may refuse")
    exported.add_argument("--platform", metavar=_("NAME"), help=words)
    chapters_option(exported)


def outline_arguments(outline: argparse.ArgumentParser) -> None:
    """Adds the arguments: the part or chapter to show or write, and the assignment of parts to chapters."""
    one = outline.add_mutually_exclusive_group()
    one.add_argument("--chapter", type=whole, metavar="N", help=_("the text for the chapter at this place"))
    one.add_argument("--part", metavar=_("PART"), help=_("the text of this part: its number in the list, or its title"))
    one.add_argument("--volume", metavar=_("VOLUME"), help=_("the text for this volume: its number or its name"))
    flag(one, "--whole", _("the whole outline as it is, to be written back with --write"))
    words = _("your own text from a file, or - for input: of --part, --chapter or --volume, or the whole outline")
    change = outline.add_mutually_exclusive_group()
    change.add_argument("--write", type=path, metavar=_("FILE"), help=words)
    words = _("assign this part to the chapter at this place, to `none`, or as its heading suggests: `rules`")
    change.add_argument("--assign", nargs=2, metavar=(_("PART"), _("CHAPTER")), help=words)
    words = _("check by rule which names of the beats occur in the text of --chapter, or count them for each chapter")
    flag(outline, "--progress", words)
    words = _("with --progress and --chapter: also ask the agents' model which beats the text covers; costs money")
    flag(outline, "--model", words)
    add_yes(outline)
    json_flag(outline)


def ask_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments: the question, the texts sent with it, and the conversation that it continues."""
    command.add_argument("question", metavar=_("QUESTION"), help=_("a question about the book, in your own words"))
    repeated(command, "--chapter", _("send the text of this chapter with it; repeatable"), metavar="N", type=whole)
    goes_on = _("continue this conversation; without it a new one begins")
    command.add_argument("--conversation", default="", metavar="ID", help=goes_on)
    json_flag(command)


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
    several(word, "--tie", _("these are equally good; the first of them is used"), metavar="A")
    flag(word, "--none", _("none of them is good enough"))
    several(word, "--take", _("compose a text from these paragraphs: A1, B2 or whole candidates"), metavar="A1")
    word.add_argument(
        "--compose", type=path, metavar="FILE", help=_("choose the text of this file, composed from the candidates")
    )
    flag(word, "--undo", _("undo the choice"))
    word.add_argument("--more", type=whole, metavar="N", help=_("write N more candidates; costs money"))
    flag(word, "--sift", _("check the facts of each candidate by rule"))
    flag(word, "--outcomes", _("how often each prompt and model won, tied and lost"))
    flag(compared, "--model", _("with --sift: also with the agents' model; costs money"))
    words = _(
        "with --take or --compose: have the sentences at the seams changed, which costs money, and print the changes"
    )
    flag(compared, "--seams", words)
    several(compared, "--accept", _("with --seams: apply these changes"), metavar="N", type=whole)
    add_yes(compared)
    json_flag(compared)
