"""Tests send signals, and wait for what these end: also where whoever runs pytest has told it to ignore
them, as `nohup` does and a script that runs it in the background."""

from __future__ import annotations

import signal

for number, handler in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, handler)
