"""Print what makes a shell complete `everflow`: subcommands, their options, and files.

source <(everflow completion bash)                       in ~/.bashrc
source <(everflow completion zsh)                        in ~/.zshrc
everflow completion fish > ~/.config/fish/completions/everflow.fish
"""

from __future__ import annotations

import argparse

from everflow import cli

USAGE = "everflow completion (bash | zsh | fish)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=sorted(_SHELLS), help="the shell to print for")


def _options() -> dict[str, list[tuple[str, str]]]:
    """{subcommand: [(option or word, what it does)]}, as the parsers have them."""
    parser = cli.parser_of(cli.COMMANDS)
    commands = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction)).choices
    found: dict[str, list[tuple[str, str]]] = {}
    for name, command in commands.items():
        found[name] = []
        for action in command._actions:
            for word in action.option_strings or (action.choices or ()):
                found[name].append((str(word), (action.help or "").replace("\n", " ")))
    return found


def _bash(options: dict[str, list[tuple[str, str]]]) -> str:
    cases = "\n".join(f'        {name}) words="{" ".join(w for w, _ in words)}" ;;' for name, words in options.items())
    return f"""_everflow() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" words=""
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "{" ".join(options)} --help --version" -- "$word"))
        return
    fi
    case "${{COMP_WORDS[1]}}" in
{cases}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$word") $(compgen -f -- "$word"))
}}
complete -o filenames -F _everflow everflow"""


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _zsh(options: dict[str, list[tuple[str, str]]]) -> str:
    def described(rows) -> str:
        return " ".join(_quoted(f"{word.replace(':', chr(92) + ':')}:{what}") for word, what in rows)

    cases = "\n".join(f"        {name}) options=({described(words)}) ;;" for name, words in options.items())
    return f"""#compdef everflow
_everflow() {{
    local -a options commands
    commands=({described((name, cli.COMMANDS[name]) for name in options)})
    if (( CURRENT == 2 )); then
        _describe 'command' commands
        return
    fi
    case "$words[2]" in
{cases}
    esac
    _describe 'option' options
    _files
}}
compdef _everflow everflow"""


def _fish(options: dict[str, list[tuple[str, str]]]) -> str:
    lines = [
        f"complete -c everflow -n __fish_use_subcommand -f -a {name} -d {_quoted(cli.COMMANDS[name])}"
        for name in options
    ]
    for name, words in options.items():
        seen = f"complete -c everflow -n '__fish_seen_subcommand_from {name}'"
        for word, what in words:
            kind = f"-l {word[2:]}" if word[:2] == "--" else f"-s {word[1:]}" if word[:1] == "-" else f"-a {word}"
            lines.append(f"{seen} {kind} -d {_quoted(what)}")
    return "\n".join(lines)


_SHELLS = {"bash": _bash, "zsh": _zsh, "fish": _fish}


def main(args: argparse.Namespace) -> int:
    print(_SHELLS[args.shell](_options()))
    return 0
