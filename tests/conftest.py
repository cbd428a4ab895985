"""Tests send signals, and wait for what these end: also where whoever runs pytest has told it to ignore
them, as `nohup` does and a script that runs it in the background.

They leave no compiled code in the checkout: lab and the emulator would read there what a full disk has
cut short."""

from __future__ import annotations

import os
import signal
import sys

sys.dont_write_bytecode = True
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"

for number, handler in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, handler)
