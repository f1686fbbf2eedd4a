"""Shell completion, generated from the parser."""

from __future__ import annotations

import argparse

from flowcabal_tui.cli.parser import parser
from flowcabal_tui.cli.terminal import say


def _options() -> dict[str, list[str]]:
    """The commands with their long options."""
    for action in parser()._actions:  # argparse offers no public way to list its sub-commands
        if isinstance(action, argparse._SubParsersAction):
            return {
                name: [option for item in sub._actions for option in item.option_strings if option.startswith("--")]
                for name, sub in action.choices.items()
            }
    return {}


def completion(arguments: argparse.Namespace) -> int:
    """Prints the completion script of a shell."""
    say(script(arguments.shell))
    return 0


def script(shell: str) -> str:
    """The script for bash, zsh or fish, to be sourced."""
    options = _options()
    if shell == "fish":
        lines = [f"complete -c flowcabal-tui -n __fish_use_subcommand -a '{' '.join(options)}'"]
        lines += [
            f"complete -c flowcabal-tui -n '__fish_seen_subcommand_from {name}' -l {option[2:]}"
            for name, found in options.items()
            for option in found
        ]
        return "\n".join(lines)
    cases = "\n".join(f"    {name}) words='{' '.join(found)}' ;;" for name, found in options.items())
    bash = f"""_flowcabal_tui() {{
  local words current="${{COMP_WORDS[COMP_CWORD]}}"
  case "${{COMP_WORDS[1]}}" in
{cases}
    *) words='{" ".join(options)}' ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [ "${{current#-}}" = "$current" ] && [ "$COMP_CWORD" -gt 1 ] && COMPREPLY=($(compgen -f -- "$current"))
}}
complete -F _flowcabal_tui flowcabal-tui"""
    return f"autoload -U +X bashcompinit && bashcompinit\n{bash}" if shell == "zsh" else bash
