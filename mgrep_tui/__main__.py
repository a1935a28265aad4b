"""Where the program begins, as `mgrep-tui` and as `python -m mgrep_tui`: until `cli.main` answers Ctrl+C it ends us without a word.

Loading the command line takes a tenth of a second, and Python's own answer to Ctrl+C would be a traceback of its imports.
"""

import signal


def main() -> None:
    """Run and exit."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where somebody had it ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from mgrep_tui.cli import main as run

    run()


if __name__ == "__main__":
    main()
