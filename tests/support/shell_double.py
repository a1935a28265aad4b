"""What a shell does for one job, for tests of Ctrl+Z: `python -m tests.support.shell_double PROGRAM ARGUMENT...`.

Runs it in the foreground; when it is stopped, says so, gives the terminal's modes back, waits for a line, and brings it to the foreground.
"""

from __future__ import annotations

import os
import signal
import sys
import termios


def main() -> None:
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    modes = termios.tcgetattr(0)
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpgrp())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
    while True:
        _, status = os.waitpid(child, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            break
        os.tcsetpgrp(0, os.getpgrp())
        is_plain = termios.tcgetattr(0)[3] == modes[3]
        print(f"STOPPED, the modes are {'as before' if is_plain else 'changed'}", flush=True)
        sys.stdin.readline()
        os.tcsetpgrp(0, child)
        os.killpg(child, signal.SIGCONT)
    sys.exit(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
