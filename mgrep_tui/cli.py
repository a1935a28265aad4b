"""The command line: arguments in, exit status out. Everything heavy is imported only once the arguments are known to be good.

Exit status: 0 found or done, 1 nothing found, 2 an error, 130 interrupted (as grep and shells have it).
"""

from __future__ import annotations

import argparse
import errno
import io
import logging
import os
import shutil
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from mgrep_tui import __version__
from mgrep_tui.errors import MgrepError

FOUND, NONE, ERROR, INTERRUPTED = 0, 1, 2, 130
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}

COMMANDS = {
    "search": "print the hits of a query",
    "index": "build or refresh the index of a tree, and say what was done",
    "status": "print the state of the index",
    "why": "say whether a file is searched, and what decides",
    "clean": "remove the index of a tree",
    "push": "publish commits to a shared engine",
    "agree": "say what an endpoint of yours would be sent and cost, and agree to it",
    "repos": "list, refresh or remove the repositories that were opened by their address",
}
ENGINE_HELP = "a folder, or http(s)://host:port/database"
HELP_WIDTH = 100
EXAMPLES = """\
  mgrep-tui                                       search this repository
  mgrep-tui ~/api github:owner/name               several places, one list
  vim $(mgrep-tui --print)                        open what was chosen
  mgrep-tui search "where are tokens refreshed"   print path:line:column:text"""
PLACES_HELP = "folders, repositories (github:owner/name[@ref], https://…, git@host:…, file://…) and @workspaces"


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run and exit; the process ends here, at once, whatever threads are left."""
    words = list(sys.argv[1:] if argv is None else argv)
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal of another encoding gets escapes, not a fault
    try:
        _hear_interrupts(True)
        status = run(words)
    except KeyboardInterrupt:
        status = INTERRUPTED
    except BrokenPipeError:
        # The reader has gone: say nothing, and keep the interpreter from flushing into the pipe once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 128 + signal.SIGPIPE if hasattr(signal, "SIGPIPE") else ERROR
    except MgrepError as error:
        _complain(str(error))
        status = ERROR
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _FULL:
            _complain(f"The output cannot be written: {error.strerror}.")
            _leave(ERROR)
        # The last line of defence: the log has the traceback, the person gets a sentence.
        logging.getLogger(__name__).exception("the program ended by a fault")
        _complain("The program met a fault of its own and had to stop. The log has the details.")
        status = ERROR
    _leave(status)


def _open_closed_streams() -> None:
    """What was started with a closed stream (`>&-`) gets one that leads nowhere: else it is None, and the next file that is opened
    becomes it."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            os.set_inheritable(number, True)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8"))


def _hear_interrupts(are_heard: bool) -> None:
    """Have Ctrl+C raise `KeyboardInterrupt`, or end the process without a word; not where somebody has it ignored."""
    quiet, heard = signal.SIG_DFL, signal.default_int_handler
    if signal.getsignal(signal.SIGINT) is (quiet if are_heard else heard):
        signal.signal(signal.SIGINT, heard if are_heard else quiet)


def _leave(status: int) -> NoReturn:
    _hear_interrupts(False)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError) as error:
            if stream is sys.stdout and status != ERROR and isinstance(error, OSError) and error.errno in _FULL:
                _complain(f"The output cannot be written: {error.strerror}.")
            status = ERROR
    # Interpreter teardown takes a quarter of a second with our libraries loaded, and everything of ours is closed by now.
    os._exit(status)


def run(words: list[str]) -> int:
    """The exit status of a command line. Raises `MgrepError`, `KeyboardInterrupt`, `BrokenPipeError`."""
    if words and words[0] in COMMANDS:
        return _run_command(words[0], words[1:])
    arguments = _screen_parser().parse_args(words)
    if arguments.init:
        from mgrep_tui.commands.shell import script

        print(script(arguments.init), end="")
        return FOUND
    from mgrep_tui.commands.screen import open_screen

    return open_screen(arguments)


def _run_command(name: str, words: list[str]) -> int:
    if name == "search":
        arguments = _search_arguments(words)
        if arguments.engine is not None:
            from mgrep_tui.commands.engine import search as search_engine

            return search_engine(arguments)
        from mgrep_tui.commands.search import search

        return search(arguments)
    arguments = _command_parser(name).parse_args(words)
    if name == "push" or (name == "status" and arguments.engine is not None):
        from mgrep_tui.commands import engine

        return engine.push(arguments) if name == "push" else engine.status(arguments)
    if name == "repos":
        from mgrep_tui.commands.repos import repos

        return repos(arguments)
    if name == "agree":
        from mgrep_tui.commands.agree import agree

        return agree(arguments)
    if name == "why":
        arguments.paths = [arguments.path]
    from mgrep_tui.commands import report

    run_one = {"index": report.index, "status": report.status, "why": report.why, "clean": report.clean}[name]
    return run_one(arguments)


class _Parser(argparse.ArgumentParser):
    """Names what is wrong without handing an argument's bytes to the terminal: a shell's wildcard makes arguments of file names."""

    def error(self, message: str) -> NoReturn:
        from mgrep_tui.text.sanitize import sanitize

        super().error(sanitize(message))


class _Help(argparse.RawDescriptionHelpFormatter):
    """The help, with room for the options' names, and no wider than is read with ease."""

    def __init__(self, prog: str) -> None:
        width = min(HELP_WIDTH, shutil.get_terminal_size().columns - 2)
        super().__init__(prog, max_help_position=26, width=max(40, width))


def _screen_parser() -> argparse.ArgumentParser:
    listing = "\n".join(f"  {name:<8} {text}" for name, text in COMMANDS.items())
    parser = _Parser(
        prog="mgrep-tui",
        usage="mgrep-tui [PLACE ...] [options]     open the screen\n       mgrep-tui COMMAND [options]         without it; see below",
        description=f"Find code in your own words or by regular expression, while you type.\n\n{EXAMPLES}",
        epilog=f"commands (mgrep-tui COMMAND --help):\n{listing}\n\nOn the screen F1 shows all keys. A folder named like a command is "
        "opened as ./NAME.",
        formatter_class=_Help,
        add_help=False,
    )
    opened = parser.add_argument_group("what to open")
    opened.add_argument("paths", nargs="*", default=[], metavar="PLACE", help=f"{PLACES_HELP} (default: this git root)")
    opened.add_argument("--workspace", default=None, metavar="NAME", help="open this workspace, as @NAME does")
    opened.add_argument("--query", default=None, metavar="TEXT", help="start with this query")
    opened.add_argument("--no-restore", action="store_true", help="do not come back to the last query of this folder")
    opened.add_argument(
        "--print", action="store_true", dest="print_hits", help="on leaving, print the chosen path:line:column"
    )
    searching, rest = parser.add_argument_group("how to search"), parser.add_argument_group("the rest")
    _add_common(searching, rest)
    rest.add_argument(
        "--init", choices=("bash", "zsh", "fish"), help="print the script that binds the screen to keys of this shell"
    )
    rest.add_argument("--version", action="version", version=f"mgrep-tui {__version__}")
    rest.add_argument("-h", "--help", action="help", help="show this help")
    return parser


def _command_parser(name: str) -> argparse.ArgumentParser:
    parser = _Parser(prog=f"mgrep-tui {name}", description=COMMANDS[name].capitalize() + ".", formatter_class=_Help)
    if name == "search":
        parser.add_argument(
            "words", nargs="*", metavar="QUERY [PLACE]", help=f"the query, then {PLACES_HELP} (default: this folder)"
        )
        parser.add_argument(
            "-e", "--query", default=None, metavar="QUERY", help="the query, also where it starts with a dash"
        )
        parser.add_argument("--queries", default=None, metavar="FILE", help="one query a line, instead of QUERY")
        parser.add_argument("--limit", type=_positive, default=None, metavar="N", help="stop after N hits")
        parser.add_argument("--json", action="store_true", help="one object a hit; with --queries one a query")
        parser.add_argument(
            "--tier", choices=("instant", "deep"), default="instant", help="also rescore with the transformer"
        )
        parser.add_argument(
            "--ratio", type=_percent, default=None, metavar="PERCENT", help="share of meaning against words, 0–100"
        )
        parser.add_argument("--explain", action="store_true", help="show what each signal gave to a hit")
        parser.add_argument(
            "--no-index", action="store_true", help="use what is indexed as it is; in regex mode scan the files"
        )
        parser.add_argument("--no-wait", action="store_true", help="answer before every vector is there")
        parser.add_argument(
            "--case", choices=("smart", "yes", "no"), default=None, help="does case count (default: smart)"
        )
        parser.add_argument("--literal", "-F", action="store_true", help="the pattern is plain text")
        parser.add_argument("--word", "-w", action="store_true", help="match whole words only")
        parser.add_argument(
            "--language", action="append", default=[], metavar="NAME", help="only this language; also several times"
        )
        parser.add_argument(
            "--path", action="append", default=[], metavar="PATTERN", help="only these paths; also several times"
        )
        parser.add_argument(
            "--color", "--colour", choices=("auto", "always", "never"), default="auto", help="colours (default: auto)"
        )
        _add_common(parser, parser)
    elif name == "why":
        parser.add_argument("file", metavar="FILE")
        parser.add_argument("path", nargs="?", default="", metavar="PATH", help="the folder that would be searched")
    elif name == "repos":
        parser.add_argument("action", nargs="?", choices=("list", "refresh", "remove"), default="list")
        parser.add_argument("names", nargs="*", metavar="NAME", help="name, owner/name or address (default: all)")
    else:
        parser.add_argument(
            "paths", nargs="*", default=[], metavar="PLACE", help=f"{PLACES_HELP} (default: this git root)"
        )
    if name == "push":
        parser.add_argument(
            "--name", default=None, metavar="NAME", help="call the repository so (default: its remote's)"
        )
        parser.add_argument(
            "--default-branch", action="store_true", help="search this branch of it from now on, where none is named"
        )
        parser.add_argument("--keep", type=_positive, default=None, metavar="N", help="keep N commits of each branch")
        parser.add_argument("--remove", default=None, metavar="NAME", help="forget this repository instead")
    if name == "agree":
        parser.add_argument("--yes", action="store_true", help="remember that it may be sent")
        parser.add_argument("--withdraw", action="store_true", help="send nothing any more")
    if name in ("push", "status", "agree"):
        parser.add_argument(
            "--engine",
            required=name == "push",
            default=None,
            metavar="ADDRESS",
            help=f"the shared engine: {ENGINE_HELP}",
        )
    if name in ("index", "status", "why", "repos", "push"):
        parser.add_argument("--json", action="store_true", help="print one JSON object")
    if name != "search":
        parser.add_argument("--config", default=None, metavar="FILE", help="use this configuration file")
        parser.add_argument(
            "--log-level", default=None, choices=("debug", "info", "warning", "error"), help=argparse.SUPPRESS
        )
    return parser


def _add_common(searching: argparse._ActionsContainer, rest: argparse._ActionsContainer) -> None:
    """What screen and `search` have in common, into these parts of the help."""
    searching.add_argument("--mode", choices=("semantic", "regex"), default=None, help="how the query is read")
    searching.add_argument(
        "--engine", default=None, metavar="ADDRESS", help=f"search what is published on a shared engine: {ENGINE_HELP}"
    )
    searching.add_argument("--hidden", action="store_true", help="also search files whose name starts with a dot")
    searching.add_argument("--no-ignore", action="store_true", help="also search what git ignores")
    searching.add_argument(
        "--no-watch", action="store_true", help="do not watch the tree; check the disk when a search runs"
    )
    rest.add_argument("--config", default=None, metavar="FILE", help="use this configuration file")
    rest.add_argument(
        "--log-level", default=None, choices=("debug", "info", "warning", "error"), help="how much to log"
    )


def _search_arguments(words: list[str]) -> argparse.Namespace:
    """The arguments of `search`. Options may stand between the query and the folder; what follows `--` is never an option.

    argparse would parse intermixed words twice and forget the `--` in between, so that part is kept away from it.
    Raises `MgrepError`, `SystemExit`.
    """
    end = next(
        (at for at, word in enumerate(words) if word == "--" and words[at - 1 : at] not in (["-e"], ["--query"])), None
    )
    arguments = _command_parser("search").parse_intermixed_args(words[:end])
    if end is not None:
        arguments.words = [*arguments.words, *words[end + 1 :]]
    _check_search(arguments)
    return arguments


def _check_search(arguments: argparse.Namespace) -> None:
    """Sort the words of `search` into query and folder. Raises `MgrepError`."""
    if arguments.query == []:
        arguments.query = "--"  # argparse of Python 3.11 drops this one value
    words = list(arguments.words)
    if arguments.queries is None and arguments.query is None:
        if not words:
            raise MgrepError("No query given.", "Try: mgrep-tui search QUERY [PLACE]")
        arguments.query = words.pop(0)
    if len(words) > 1 and not any(os.path.exists(word) or ":" in word or word[:1] in "@~" for word in words):
        raise MgrepError(f"Too many arguments: {words[1]!r}.", "Put a query of several words in quotes.")
    arguments.paths = words
    if arguments.queries is not None and arguments.query is not None:
        raise MgrepError("--queries and a query exclude each other.")


def _positive(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above zero")
    return number


def _percent(text: str) -> float:
    try:
        number = float(text.rstrip("%"))
    except ValueError:
        number = -1.0
    if not 0 <= number <= 100:
        raise argparse.ArgumentTypeError(f"{text!r} is not between 0 and 100")
    return number / 100


def _complain(text: str) -> None:
    # A message can hold a file name, and a file name can hold anything.
    from mgrep_tui.text.sanitize import sanitize

    print(f"mgrep-tui: {sanitize(text)}", file=sys.stderr)
