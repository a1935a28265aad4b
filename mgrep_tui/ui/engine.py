"""Moved to `mgrep_tui.explorer.protocol`; here until every import has followed."""

from mgrep_tui.explorer.protocol import *  # noqa: F403
