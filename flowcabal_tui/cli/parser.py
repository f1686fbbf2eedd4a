"""The commands and arguments of the command line."""

from __future__ import annotations

from typing import get_args

from flowcabal_tui.cli.agreeing import add_yes
from flowcabal_tui.cli.argparse_words import Parser
from flowcabal_tui.cli.argument_types import (
    Commands,
    actions_option,
    embeddings_flag,
    flag,
    json_flag,
    money,
    path,
    repeated,
    whole,
)
from flowcabal_tui.cli.builder_arguments import bench_builder_arguments, build_arguments, builds_arguments
from flowcabal_tui.cli.commands import TRUSTING
from flowcabal_tui.cli.context_arguments import bench_arguments, check_arguments, context_arguments
from flowcabal_tui.cli.revision_arguments import comments_arguments, lock_arguments, passes_arguments, revise_arguments
from flowcabal_tui.cli.run_arguments import inputs_arguments, run_arguments
from flowcabal_tui.cli.screen_arguments import add_demo, add_open, top_parser
from flowcabal_tui.cli.story_arguments import (
    ask_arguments,
    candidate_arguments,
    check_chapters_arguments,
    export_arguments,
    findings_arguments,
    impact_arguments,
    names_command,
    outline_arguments,
    proofing_commands,
    proposals_arguments,
)
from flowcabal_tui.domain.search import SEARCH_KINDS
from flowcabal_tui.locale import _
from flowcabal_tui.protocol.memory import RebuildPart
from flowcabal_tui.viking.install_tools import ToolName


def parser() -> Parser:
    """The parser of the whole command line."""
    top, commands = top_parser()
    _projects(commands)
    _runs(commands)
    _history(commands)
    _documents(commands)
    _looking(commands)
    _upkeep(commands)
    _lists(commands)
    _others(commands)
    _profiles(commands)
    _bench(commands)
    words = _("confirm, this once, everything the project sends, spends and runs; answers no question of a run")
    for name in TRUSTING:
        flag(commands.added.choices[name], "--trust", words)
    return top


def _projects(commands: Commands) -> None:
    add_open(commands)
    new = commands.book("new", _("make a project"))
    new.add_argument("--name", help=_("the book's title (default: the folder's name)"))
    new.add_argument("--language", choices=("zh", "en"), default="en", help=_("language of the book"))
    flag(new, "--offline", _("use the embedded offline model"))
    add_demo(commands)
    imported = commands.book("import", _("read a novel from a file or folder; spends no money"))
    imported.add_argument("source", type=path, metavar=_("SOURCE"))
    imported.add_argument("--first", type=whole, metavar="N", help=_("import only the first N chapters"))
    flag(imported, "--dry-run", _("only show what would be imported"))
    flag(imported, "--json", _("with --dry-run"))
    flag(imported, "--again", _("also chapters that are in the book already"))
    imported.add_argument(
        "--as",
        dest="kind",
        choices=("manuscript", "reference"),
        default="manuscript",
        help=_("a part of your book, or a book to look into"),
    )
    imported.add_argument("--title", metavar=_("TITLE"), help=_("of a reference book (default: the file's name)"))
    read = commands.book("bootstrap", _("have the agents' model read imported chapters; costs money"))
    read.add_argument("--from", dest="first", type=whole, metavar="N", help=_("from the chapter at this place"))
    read.add_argument("--to", dest="last", type=whole, metavar="M", help=_("to the chapter at this place"))
    flag(read, "--drop", _("cancel the rest of a paused reading"))
    add_yes(read)
    read.add_argument("--max-cost", type=money, metavar="X", help=_("start no new call once this much has been spent"))
    books = commands.book("references", _("the reference books besides the book"))
    books.add_argument("book", nargs="?", metavar=_("BOOK"), help=_("one of them, by its id or title: lists its parts"))
    books.add_argument("part", nargs="?", type=whole, metavar="N", help=_("print this part"))
    books.add_argument("--search", metavar=_("WORDS"), help=_("passages that contain any of these words"))
    flag(books, "--remove", _("remove the reference book"))
    json_flag(books)
    export_arguments(commands.book("export", _("write the book to a file")))


def _runs(commands: Commands) -> None:
    run_arguments(commands.book("run", _("run a workflow and print its progress")))
    run_arguments(
        commands.book(
            "execute",
            _("the same as run; the workflow may also be a document, which is added to the project"),
        )
    )
    keep = commands.book("keep", _("keep an output of a run in the book; without a run, list what is kept"))
    keep.add_argument("run", nargs="?", metavar=_("RUN"))
    keep.add_argument("node", nargs="?", metavar=_("NODE"))
    keep.add_argument("--attempt", type=whole, default=0, metavar="N", help=_("default: the current one"))
    flag(keep, "--partial", _("also keep a text that was cut off, as it is"))
    flag(keep, "--wait", _("wait until background work is done"))
    add_yes(keep)
    words = _("keep it with this tag, repeatable; without a run, list only what has all of them")
    repeated(keep, "--tag", words, metavar=_("TAG"))
    words = _("replace the tags of a kept output, separated by commas; empty: none")
    keep.add_argument("--set-tags", nargs=2, metavar=("ID", _("TAGS")), help=words)
    build_arguments(commands.book("build", _("make a workflow from a request, for you to accept")), updates=False)
    build_arguments(commands.book("update", _("propose a change to a workflow from a request")), updates=True)
    ask_arguments(commands.book("ask", _("ask about the book; the answer names its places; changes nothing")))
    builds_arguments(commands.book("builds", _("list the builds of workflows; show one with its rounds")))
    decide = commands.book("decide", _("answer a waiting question; the run continues here"))
    decide.add_argument("question", metavar=_("QUESTION"))
    decide.add_argument(
        "answer", metavar=_("ANSWER"), help=_("approve[:N], choose:N, reject, retry:NOTE, mend:NOTE or edit:@FILE")
    )
    candidate_arguments(commands.book("candidates", _("compare candidates without knowing who wrote them, and choose")))
    context_arguments(commands.book("context", _("show the context of a node (its receipt), for free")))


def _history(commands: Commands) -> None:
    runs = commands.book("runs", _("the history: what ran, its nodes, tokens and money"))
    runs.add_argument("run", nargs="?", metavar=_("RUN"), help=_("one run, with its nodes"))
    runs.add_argument("--limit", type=whole, default=20, metavar="N", help=_("the newest N runs"))
    json_flag(runs)
    replay = commands.book("replay", _("the events of a run again, without a model"))
    replay.add_argument("run", metavar=_("RUN"))
    flag(replay, "--json", _("one JSON object per line"))
    session = commands.add("session", _("work with a project from another program: JSON lines in and out"))
    session.add_argument("project", type=path, nargs="?", metavar=_("PROJECT"), help=_("the project's folder"))
    flag(session, "--read-only", _("open the project read-only"))
    flag(session, "--describe", _("print all messages and events as JSON Schema"))
    simulate = commands.add("simulate", _("run a workflow with the offline model and simulated actions"))
    simulate.add_argument("document", type=path, metavar=_("FILE"), help=_("a document, or a project's folder"))
    simulate.add_argument("workflow", nargs="?", metavar=_("WORKFLOW"), help=_("id or id@version in the project"))
    actions_option(simulate)
    simulate.add_argument(
        "--simulation", type=path, metavar=_("FILE"), help=_("simulated results of actions: templates by id")
    )
    inputs_arguments(simulate)
    repeated(
        simulate, "--decide", _("answer the questions of that node; others answer themselves"), metavar="NODE=ANSWER"
    )
    simulate.add_argument("--seconds", type=float, default=60, help=_("stop it after this time"))
    flag(simulate, "--json", _("one JSON object per line"))


def _documents(commands: Commands) -> None:
    validate = commands.add("validate", _("check a workflow; 0: it can run, 1: it has errors, 2: it cannot be read"))
    convert = commands.add("convert", _("read a workflow of another system, or write one for it"))
    render = commands.add("render", _("draw a workflow: in the terminal, as SVG, PNG, JPEG or Mermaid"))
    for command in (validate, convert, render):
        command.add_argument("document", type=path, metavar=_("FILE"), help=_("a document, or a project's folder"))
    for command in (validate, render):
        command.add_argument("workflow", nargs="?", metavar=_("WORKFLOW"), help=_("id or id@version in the project"))
    flag(validate, "--fix", _("apply the safe suggestions and show the changes"))
    flag(validate, "--write", _("with --fix: write the corrected document"))
    flag(validate, "--print-normalized", _("print the document in this program's format"))
    json_flag(validate)
    actions_option(validate)
    convert.add_argument("--to", required=True, choices=("ours", "velvetflow", "smarttavern", "flowcabal"))
    convert.add_argument(
        "--form", choices=("map", "python", "template", "workspace"), default="template", help=_("for --to flowcabal")
    )
    render.add_argument("--format", choices=("svg", "png", "jpeg", "mermaid", "rails"))
    flag(render, "--dark", _("light on dark"))
    for command in (convert, render):
        command.add_argument("-o", "--output", type=path, metavar=_("FILE"), help=_("its suffix gives the format"))
    schema = commands.add("schema", _("what a workflow may contain, as JSON Schema or in words"))
    schema.add_argument("kind", nargs="?", metavar=_("KIND"), help=_("a kind of node; default: a whole document"))
    flag(schema, "--words", _("a page of text instead of JSON Schema"))


def _looking(commands: Commands) -> None:
    search = commands.book("search", _("find words anywhere in the project: text, names, story, profiles, rules"))
    search.add_argument("query", metavar=_("QUERY"), help=_("words; Chinese text is found by single characters too"))
    repeated(search, "--kind", _("only this kind"), choices=SEARCH_KINDS)
    search.add_argument("--limit", type=whole, default=20, metavar="N", help=_("at most N of each kind"))
    blame = commands.book("blame", _("where the lines of a chapter come from: version, run, node, sources"))
    blame.add_argument("chapter", type=whole, metavar=_("CHAPTER"), help=_("its place in the story"))
    blame.add_argument("--line", type=whole, metavar="N", help=_("everything known about this line"))
    for command in (search, blame):
        json_flag(command)


def _upkeep(commands: Commands) -> None:
    named = _("a chapter's place in the story or its id, or a kept output's id")
    unasked = _("do it without being asked; also accept what background work after it costs")
    for name, help_text in (
        ("delete", _("remove a chapter or a kept output from the book and its memory; can be undone")),
        ("undelete", _("restore a deleted text")),
    ):
        command = commands.book(name, help_text)
        command.add_argument("text", metavar=_("TEXT"), help=named)
        add_yes(command, unasked)
    changes = commands.book("changes", _("changes of the whole book that can be undone, the newest first"))
    changes.add_argument("--limit", type=whole, default=20, metavar="N", help=_("at most N rows"))
    json_flag(changes)
    undo = commands.book("undo", _("undo the last change of the whole book, or one that `changes` lists"))
    undo.add_argument("change", nargs="?", type=whole, metavar=_("CHANGE"), help=_("its number"))
    add_yes(undo, unasked)
    rebuild = commands.book("rebuild", _("regenerate texts derived from the book; nothing is paid for twice"))
    rebuild.add_argument("--what", choices=get_args(RebuildPart), default="all", help=_("only a part of it"))
    flag(rebuild, "--knowledge", _("start the knowledge server and wait for it"))
    embeddings_flag(rebuild)
    add_yes(rebuild)
    purge = commands.book("purge", _("remove a chapter or a kept output from the project for good"))
    purge.add_argument("text", metavar=_("TEXT"), help=named)
    flag(purge, "--yes", _("do not ask for confirmation"))
    for command in (rebuild, purge):
        flag(command, "--dry-run", _("only show what would be done"))
    backup = commands.book("backup", _("write the whole project into one file, even while it is open elsewhere"))
    backup.add_argument("target", type=path, metavar=_("FILE"))
    restore = commands.add("restore", _("make a project from a backup"))
    restore.add_argument("source", type=path, metavar=_("FILE"))
    restore.add_argument("project", type=path, metavar=_("FOLDER"), help=_("a folder that is new or empty"))
    rescue = commands.book("rescue", _("list the intact texts of a damaged project, and extract them"))
    rescue.add_argument("--to", type=path, metavar=_("FOLDER"), help=_("write it into this folder, new or empty"))
    words = _("read this file of .flowcabal instead of project.db")
    rescue.add_argument("--database", default="project.db", metavar=_("NAME"), help=words)


def _lists(commands: Commands) -> None:
    json_flag(commands.book("status", _("runs, questions, background work and totals")))
    chapters = commands.book("chapters", _("the chapters of the book"))
    json_flag(chapters)
    chapters.add_argument("--add", metavar=_("TITLE"), help=_("add an empty chapter first"))
    chapters.add_argument("--at", type=whole, metavar="N", help=_("with --add: its place (default: the end)"))
    volume = _("with --add: the volume that it belongs to")
    chapters.add_argument("--volume", default="", metavar=_("VOLUME"), help=volume)
    flag(chapters, "--deleted", _("the deleted ones, with their ids"))
    workflows = commands.book("workflows", _("the workflows of a project"))
    json_flag(workflows)
    words = _("store a document of any form, or an example: {names}")
    names = "recursive-polish, five-openings, text-adventure"
    workflows.add_argument("--add", metavar=_("FILE"), help=words.format(names=names))
    actions = commands.book("actions", _("the actions that a project may use"))
    json_flag(actions)
    actions.add_argument("--search", default="", metavar=_("TEXT"), help=_("list only matching actions, best first"))
    models = commands.book("models", _("the models of a project, and models found on this machine"))
    json_flag(models)
    models.add_argument("--use", type=int, metavar="N", help=_("use number N of the models found"))
    flag(models, "--offline", _("use the embedded offline model"))


def _others(commands: Commands) -> None:
    trust = commands.book("trust", _("what a project may send, spend and run; confirm or revoke it"))
    answer = trust.add_mutually_exclusive_group()
    flag(answer, "--yes", _("confirm everything it asks for now, keys included"))
    flag(answer, "--revoke", _("delete your answers: the folder opens restricted"))
    json_flag(trust)
    doctor = commands.add("doctor", _("test models, keys, knowledge server, terminal and disk"))
    doctor.add_argument("project", type=path, nargs="?", metavar=_("PROJECT"))
    json_flag(doctor)
    flag(
        doctor,
        "--fetch-vocabulary",
        _("fetch the vocabulary of the project's writing model, for exact token counts, from {host}").format(
            host="openaipublic.blob.core.windows.net"
        ),
    )
    _knowledge(commands)
    config = commands.add("config", _("where settings are stored"))
    config.add_argument("what", choices=("path", "keys"))
    completion = commands.add("completion", _("print a script that completes commands in a shell"))
    completion.add_argument("shell", choices=("bash", "zsh", "fish"))


def _profiles(commands: Commands) -> None:
    profile = commands.book("profile", _("profiles and summaries: show, write by hand, pin, regenerate"))
    profile.add_argument("uri", nargs="?", default="", metavar="URI", help=_("one of them; default: one line for each"))
    profile.add_argument("--level", choices=("L0", "L1"), default="L1", help=_("for --write and --diff"))
    flag(profile, "--history", _("all its states, by their numbers"))
    profile.add_argument("--diff", type=int, nargs=2, metavar="N", help=_("what changed from one state to another"))
    profile.add_argument(
        "--write", type=path, metavar=_("FILE"), help=_("your own text from a file, or - for standard input")
    )
    profile.add_argument("--pin", type=int, metavar="N", help=_("the state that prompts read; 0: the newest again"))
    flag(profile, "--take", _("use the newer generated text instead of your own text or pin"))
    flag(profile, "--regenerate", _("regenerate it; may cost a call"))
    add_yes(profile)
    json_flag(profile)
    outline_arguments(commands.book("outline", _("the outline: its parts, their chapters, and what is not assigned")))
    proposals_arguments(
        commands.book("proposals", _("proposals of agents about the book: list, confirm, correct, drop"))
    )
    findings_arguments(commands.book("findings", _("findings of checks: list them and decide on them")))
    check_chapters_arguments(commands.book("check", _("check kept chapters by rule, or also by the agents' model")))
    impact_arguments(
        commands.book("impact", _("what depends on a change: a new name, an edited or moved chapter, a fact"))
    )
    comments_arguments(commands.book("comments", _("comments at passages: list, add, change, resolve, remove")))
    for name, words in (("lock", _("lock chapters against every change")), ("unlock", _("unlock chapters"))):
        lock_arguments(commands.book(name, words), locks=name == "lock")
    passes_arguments(commands.book("passes", _("passes of a revision: list, change, tick chapters as done")))
    revise_arguments(commands.book("revise", _("rewrite paragraphs or a chapter, and accept the rewrite by paragraph")))
    names_command(commands)
    proofing_commands(commands)


def _bench(commands: Commands) -> None:
    measured = Commands(commands.add("bench", _("measure the program on novels")), dest="what", required=True)
    context = measured.add("context", _("contexts and their scores: for one of your books, or for a file of queries"))
    bench_arguments(context)
    bench_builder_arguments(measured.add("builder", _("workflows for briefs, for a program that scores them")))
    check_arguments(measured.add("check", _("checks: sources shown and findings made for planted contradictions")))
    chronicle = measured.add("chronicle", _("a generated novel with known facts: errors and leaks in contexts"))
    chronicle.add_argument("--words", type=whole, default=100_000, help=_("its length, in words or Chinese characters"))
    chronicle.add_argument("--seed", type=int, default=1, help=_("the same seed produces the same novel"))
    chronicle.add_argument(
        "--contexts", type=whole, default=60, metavar="N", help=_("the number of chapters to assemble a context for")
    )
    chronicle.add_argument("--budget", type=whole, default=25_000, help=_("tokens of a context"))
    chronicle.add_argument("--language", choices=("zh", "en"), default="zh", help=_("its language"))
    flag(chronicle, "--fresh", _("rebuild its memory"))
    json_flag(chronicle)


def _knowledge(commands: Commands) -> None:
    """Adds `knowledge` with its subcommands."""
    knowledge = commands.add("knowledge", _("the knowledge server for search by meaning: install it, remove it"))
    inner = Commands(knowledge, dest="what", required=True, metavar=_("COMMAND"))
    status = inner.add("status", _("the knowledge server in use, and the installed one; 1: none"))
    json_flag(status)
    install = inner.add("install", _("install it into a folder of your own; shows size, licence and host, and asks"))
    words = _("the installer (default: uv if it is installed and you have no settings of pip; else pip)")
    install.add_argument("--with", dest="tool", choices=get_args(ToolName), help=words)
    flag(install, "--again", _("install it again"))
    remove = inner.add("remove", _("delete the installed server; books do not change"))
    for command in (install, remove):
        flag(command, "--yes", _("do not ask for confirmation"))
