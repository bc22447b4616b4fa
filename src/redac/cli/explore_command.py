"""``redac explore``: the page of a data set on this machine, with fits as one asks for them."""

from __future__ import annotations

import argparse
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from redac.cli import fitting
from redac.cli.fit import add_settings, model_of
from redac.cli.inputs import WorkFailedError, about_rows, command_line, read_data
from redac.cli.results import answer

if TYPE_CHECKING:
    from redac.explore.server import ExplorerServer

# What the page begins with.
_COMPONENTS, _CARDINALITY = 3, 10
_LARGEST_PORT = 65_535


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "explore",
        help="look at a data set in the browser, with sliders",
        description="Serve a page on this machine that fits as one moves its sliders. It reads "
        "nothing but DATA, writes nothing, and nobody without its address can open it. Ctrl-C "
        "ends it.",
    )
    add_settings(parser)
    parser.add_argument(
        "--port", type=int, default=0, metavar="N", help="where to listen (default: a free port)"
    )
    parser.add_argument(
        "--no-browser", action="store_true", help="say the address, but do not open it"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, fit once, serve until Ctrl-C."""
    from redac.cli import terminal

    if not 0 <= options.port <= _LARGEST_PORT:
        raise ValueError(f"--port {options.port} is not between 0 and {_LARGEST_PORT}")
    server, caught = _server(options)
    terminal.notes(caught)
    with server:
        with suppress(WorkFailedError):  # nobody reads it
            said = [f"redac explore: {server.address}", "Ctrl-C ends it."]
            answer(options, lambda: terminal.sentences(said), lambda: {"address": server.address})
        if not options.no_browser:
            import webbrowser

            webbrowser.open(server.address)
        with suppress(KeyboardInterrupt):
            server.serve_forever(poll_interval=0.2)
    return 0


def _server(options: argparse.Namespace) -> tuple[ExplorerServer, Any]:
    """The server, which has fitted once: what the data are not fit for is said now."""
    from redac.cli import terminal
    from redac.explore.answers import Exploration
    from redac.explore.server import ExplorerServer

    table, is_covariance = read_data(options)
    d = table.values.shape[1]
    if isinstance(options.cardinality, (list, float)) or options.l1_bound is not None:
        raise ValueError("redac explore takes one whole number as --cardinality, and no --l1-bound")
    if options.components is None:
        options.components = min(_COMPONENTS, d)
    if options.cardinality is None:
        options.cardinality = max(1, min(_CARDINALITY, -(-d // 3)))
    exploration = Exploration(
        table.values,
        model_of(options, d).get_params(deep=False),
        is_covariance=is_covariance,
        n_samples=fitting.sample_count(options) if is_covariance else None,
        feature_names=table.feature_names,
        **{name: value for name, value in about_rows(table, is_covariance).items() if name != "X"},
        title=options.data,
        command=command_line(options),
    )

    def serve() -> ExplorerServer:
        try:
            return ExplorerServer(exploration, options.port)
        except OSError as error:
            reason = error.strerror or error
            raise WorkFailedError(f"--port {options.port}: cannot listen ({reason})") from error

    made = fitting.with_progress(options, table, serve, options.max_iter)
    # After the fit: a call that fails says so in one line, and says nothing else.
    terminal.about_data(table)
    return made
