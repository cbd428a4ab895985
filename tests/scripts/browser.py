"""A headless Chromium, driven through its own pipe (the Chrome DevTools Protocol): no further package."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

PATIENCE = 120  # seconds: it hangs
# The browser reads what it is told from descriptor 3, and answers to 4.
STARTER = """
import os, sys
for number, there in enumerate(map(int, sys.argv[1:3]), 3):
    os.dup2(there, number)
os.execv(sys.argv[3], sys.argv[3:])
"""
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find() -> str | None:
    """One that starts: Ubuntu has a program of the name that only says where to get it."""
    for path in filter(None, map(shutil.which, NAMES)):
        done = subprocess.run([path, "--version", "--no-sandbox"], capture_output=True, text=True)
        if re.match("(Chromium|Google Chrome) ", done.stdout):
            return path
    return None


def _pipe() -> tuple[int, int]:
    """With other descriptors than the browser's own."""
    low = os.pipe()
    high = [fcntl.fcntl(number, fcntl.F_DUPFD, 10) for number in low]
    for number in low:
        os.close(number)
    return high[0], high[1]


class Browser:
    """One page. `said` has what its console said, `asked` what it wanted to load."""

    def __init__(self, program: str) -> None:
        self._folder = tempfile.TemporaryDirectory(
            prefix="lab-browser-", ignore_cleanup_errors=True
        )
        to_browser, self._out = _pipe()
        self._in, from_browser = _pipe()
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        folder = self._folder.name
        self._process = subprocess.Popen(
            [sys.executable, "-c", STARTER, str(to_browser), str(from_browser), program]
            + [*options, "--remote-debugging-pipe", f"--user-data-dir={folder}", "about:blank"],
            pass_fds=(to_browser, from_browser),
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": folder},
        )
        os.close(to_browser)
        os.close(from_browser)
        self._number = 0
        self._rest = b""
        self._session = ""
        self._loaded = False
        self.said: list[str] = []
        self.asked: list[str] = []
        try:
            self._attach()
        except BaseException:
            self.close()
            raise

    def _attach(self) -> None:
        pages = self.call("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in pages if target["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=page, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()
        os.close(self._out)
        os.close(self._in)
        self._folder.cleanup()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], PATIENCE)
            assert ready, "the browser says nothing"
            data = os.read(self._in, 1 << 16)
            assert data, "the browser has ended"
            self._rest += data
        text, _, self._rest = self._rest.partition(b"\0")
        answer = json.loads(text)
        self._note(answer.get("method", ""), answer.get("params", {}))
        return answer

    def _note(self, method: str, parameters: dict[str, Any]) -> None:
        if method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.said.append(json.dumps(parameters))
        elif method == "Network.requestWillBeSent":
            self.asked.append(parameters["request"]["url"])
        self._loaded |= method == "Page.loadEventFired"

    def open(self, path: Path) -> None:
        self._loaded = False
        self.call("Page.navigate", url=path.as_uri())
        while not self._loaded:
            self._next()

    def look(self, width: int, scheme: str = "light", media: str = "") -> None:
        """The window is so wide, in pixels, and the user likes this colour scheme; or it is paper."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=800, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)

    def value(self, expression: str) -> Any:
        """Of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """A key of the keyboard, by its name: ArrowRight, Enter ..."""
        for kind in ("keyDown", "keyUp"):
            text = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, **text)

    def point_at(self, selector: str) -> None:
        """Moves the mouse there."""
        box = f"document.querySelector({json.dumps(selector)}).getBoundingClientRect()"
        x, y = (self.value(f"{box}.{side} + 4") for side in ("left", "top"))
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def pdf(self, path: Path) -> None:
        printed = self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=False)
        path.write_bytes(base64.b64decode(printed["data"]))
