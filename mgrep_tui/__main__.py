"""`python -m mgrep_tui` is `mgrep-tui`."""

from mgrep_tui.cli import main

main()
