"""The command line of `open` and `demo`, parsed without the arguments of other commands, so that the screen appears
sooner."""

from __future__ import annotations

from flowcabal_tui.cli.argparse_words import Parser, use_catalogue
from flowcabal_tui.cli.argument_types import Commands, flag, path
from flowcabal_tui.locale import _


def top_parser() -> tuple[Parser, Commands]:
    """The parser of the program, and the place for its commands."""
    use_catalogue()
    top = Parser(
        prog="flowcabal-tui",
        description=_("Write very long novels with language models, and keep control."),
        epilog=_("Without a command the screen opens. A folder alone is opened as a project."),
    )
    top.add_argument("--version", "-V", action="store_true", help=_("print the version"))
    top.add_argument("--lang", help=_("language of the interface: en or zh"))
    return top, Commands(top, dest="command", metavar=_("COMMAND"))


def add_open(commands: Commands) -> None:
    """Adds `open`."""
    opened = commands.add("open", _("open the screen, with a project or at home"))
    opened.add_argument("project", type=path, nargs="?", metavar=_("PROJECT"))
    flag(opened, "--read-only", _("open the project read-only"))


def add_demo(commands: Commands) -> None:
    """Adds `demo`."""
    demo = commands.add("demo", _("a sample novel with the offline model: no key, no network"))
    demo.add_argument("project", type=path, nargs="?", metavar=_("PROJECT"), help=_("where to create it"))
    demo.add_argument("--language", choices=("zh", "en"), help=_("language of the sample novel"))
    flag(demo, "--fresh", _("start the demo again from the beginning"))


def screen_parser() -> Parser:
    """A parser for `open` and `demo` only."""
    top, commands = top_parser()
    add_open(commands)
    add_demo(commands)
    return top
