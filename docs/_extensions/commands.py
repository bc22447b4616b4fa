"""The directive ``redac-commands``: the command line, written by its own parsers.

A section for each command, with its usage and a definition for each option. What a parser says in
its help is what the page says, so neither can lag behind the other.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from redac.cli import build_parser


def _subparsers(parser: argparse.ArgumentParser) -> argparse._SubParsersAction[Any]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return action
    raise TypeError("redac has no commands")


def _summaries(parser: argparse.ArgumentParser) -> dict[str, str]:
    """What `redac --help` says of each command."""
    return {each.dest: each.help or "" for each in _subparsers(parser)._choices_actions}


def _invocations(action: argparse.Action) -> list[str]:
    """``--components R``: all spellings of an option, each with what follows it."""
    words = argparse.HelpFormatter("")._format_action_invocation(action)
    if not action.option_strings:
        return [words]
    value = words.removeprefix(", ".join(action.option_strings)).strip()
    return [f"{name} {value}".strip() for name in action.option_strings]


def _usage(parser: argparse.ArgumentParser) -> str:
    """What the parser says first; it would otherwise be as wide as the terminal of the build."""
    lines = argparse.HelpFormatter(parser.prog, width=78)
    lines.add_usage(parser.usage, parser._actions, parser._mutually_exclusive_groups)
    return lines.format_help().strip()


def _help(action: argparse.Action, program: str) -> str:
    """The help of an option with its default and program filled in."""
    known = {"prog": program} | {
        k: v for k, v in vars(action).items() if v is not argparse.SUPPRESS
    }
    return (action.help or "") % known


def _options(parser: argparse.ArgumentParser) -> Iterator[argparse._ArgumentGroup]:
    for group in parser._action_groups:
        if any(each.help is not argparse.SUPPRESS for each in group._group_actions):
            yield group


def _definitions(group: argparse._ArgumentGroup, program: str) -> nodes.definition_list:
    items = nodes.definition_list(classes=["options"])
    for action in group._group_actions:
        if action.help is argparse.SUPPRESS:
            continue
        term = nodes.term()
        for place, words in enumerate(_invocations(action)):
            term += [nodes.Text(", ")] if place else []
            term += nodes.literal(words, words)
        text = nodes.paragraph("", _help(action, program))
        items += nodes.definition_list_item("", term, nodes.definition("", text))
    return items


def _section(name: str, title: str) -> nodes.section:
    section = nodes.section(ids=[name], names=[name])
    section += nodes.title("", title)
    return section


class Commands(SphinxDirective):
    """All commands, each in a section of its own."""

    def run(self) -> list[nodes.Node]:
        parser = build_parser()
        said = _summaries(parser)
        found: list[nodes.Node] = []
        for name, command in _subparsers(parser).choices.items():
            section = _section(f"redac-{name}", f"redac {name}")
            summary = command.description or said[name]
            section += nodes.paragraph("", summary)
            section += nodes.literal_block("", _usage(command), language="none")
            for group in _options(command):
                section += nodes.rubric("", (group.title or "").capitalize())
                section += _definitions(group, command.prog)
            self.state.document.note_explicit_target(section)
            found.append(section)
        return found


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this."""
    app.add_directive("redac-commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
