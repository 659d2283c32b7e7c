"""Print what makes a shell complete the commands, their options and the words these take.

pegasos completion bash > ~/.local/share/bash-completion/completions/pegasos
pegasos completion zsh >> ~/.zshrc
pegasos completion fish > ~/.config/fish/completions/pegasos.fish
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import NamedTuple

_BASH = """\
_pegasos() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words=
  if (( COMP_CWORD == 1 )); then
    words="{commands}"
  else
    case ${{COMP_WORDS[1]}}:$before in
{values}
    esac
    if [[ -z $words && $word == -* ]]; then
      case ${{COMP_WORDS[1]}} in
{options}
      esac
    fi
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _pegasos pegasos
"""
_ZSH = "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"


class _Option(NamedTuple):
    command: str
    names: list[str]
    words: list[str]
    takes_value: bool
    help: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The shell."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))


def run(arguments: argparse.Namespace) -> None:
    """Print the script."""
    print({"bash": _for_bash, "zsh": lambda: _ZSH + _for_bash(), "fish": _for_fish}[arguments.shell](), end="")


def _for_bash() -> str:
    options = list(_options())
    commands = dict.fromkeys(option.command for option in options)
    values = [
        f'      {"|".join(f"{option.command}:{name}" for name in option.names)}) words="{" ".join(option.words)}" ;;'
        for option in options
        if option.words and option.names
    ]
    named = {
        command: [n for option in options if option.command == command for n in option.names] for command in commands
    }
    positional = [
        f'      {option.command}:{option.command}) words="{" ".join(option.words)}" ;;'
        for option in options
        if option.words and not option.names
    ]
    lines = [f'        {command}) words="{" ".join(names)}" ;;' for command, names in named.items()]
    return _BASH.format(commands=" ".join(commands), values="\n".join(values + positional), options="\n".join(lines))


def _for_fish() -> str:
    from pegasos.cli import _commands

    lines = [
        f"complete -c pegasos -n __fish_use_subcommand -f -a {name} -d {_quoted(text)}"
        for name, text in _commands.items()
    ]
    for option in _options():
        names = "".join(f" -l {n[2:]}" if n.startswith("--") else f" -s {n[1:]}" for n in option.names)
        words = f" -x -a {_quoted(' '.join(option.words))}" if option.words else " -r" if option.takes_value else ""
        help_text = f" -d {_quoted(option.help)}" if option.help else ""
        if names or words:
            lines.append(
                f"complete -c pegasos -n '__fish_seen_subcommand_from {option.command}'{names}{words}{help_text}"
            )
    return "\n".join(lines) + "\n"


def _options() -> Iterator[_Option]:
    """The options of all commands, read from their parsers."""
    from pegasos.cli import _commands, command_parser

    for command in _commands:
        for action in command_parser(command)._actions:
            words = list(action.choices or ()) or _words(action.metavar)
            is_option, takes_value = bool(action.option_strings), action.nargs != 0
            help_text = (action.help or "").replace("%%", "%")
            if is_option or words:
                yield _Option(command, list(action.option_strings), list(map(str, words)), takes_value, help_text)


def _words(metavar: object) -> list[str]:
    """The words of a metavar such as {auto,dual}."""
    return metavar[1:-1].split(",") if isinstance(metavar, str) and metavar.startswith("{") else []


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
