"""Drives a stock Firefox by Marionette, its own protocol of WebDriver commands over TCP.

Playwright drives only a Firefox that is built for it.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from magicbyte.platform.broker import free_port

_SECONDS = 60.0
#: The member of an answer that names an element.
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
_PREFERENCES = {
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "toolkit.telemetry.enabled": False,
    "ui.prefersReducedMotion": 1,
}
#: The errors of pages; the browser's own modules report others to the same console.
_PROBLEMS = """
return Services.console.getMessageArray()
  .filter((message) => message instanceof Ci.nsIScriptError && !(message.flags & Ci.nsIScriptError.warningFlag))
  .filter((message) => message.sourceName.startsWith("http"))
  .map((message) => `${message.sourceName}:${message.lineNumber} ${message.errorMessage}`);
"""


class Firefox:
    """A tab of a running Firefox."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._number = 0
        self._read()  # the greeting
        self.command("WebDriver:NewSession", capabilities={"alwaysMatch": {"timeouts": {"script": 60_000}}})

    def command(self, name: str, **parameters: Any) -> Any:
        """Send a command; returns its result.

        Raises:
            RuntimeError: Firefox refused it.
        """
        self._number += 1
        text = json.dumps([0, self._number, name, parameters])
        self._connection.sendall(f"{len(text.encode())}:{text}".encode())
        _, _, error, result = self._read()
        if error:
            raise RuntimeError(f"{name}: {error['error']}: {error['message']}")
        return result

    def open(self, url: str) -> None:
        """Go to a page."""
        self.command("WebDriver:Navigate", url=url)

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page; returns what it returns."""
        return self.command("WebDriver:ExecuteScript", script=script, args=list(arguments))["value"]

    def wait(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page until it returns something true; returns that."""
        end = time.monotonic() + _SECONDS
        while not (value := self.run(script, *arguments)):
            if time.monotonic() > end:
                shown = self.run("return document.body.innerText.slice(0, 2000)")
                raise AssertionError(f"never true: {script} {arguments}; the page shows: {shown}")
            time.sleep(0.05)
        return value

    def shows(self, text: str) -> None:
        """Wait until the page shows a text."""
        self.wait("return document.body.innerText.includes(arguments[0])", text)

    def element(self, selector: str) -> str:
        """Wait for an element; returns its id."""
        self.wait("return document.querySelector(arguments[0]) !== null", selector)
        found = self.command("WebDriver:FindElement", using="css selector", value=selector)
        return str(found["value"][_ELEMENT])

    def click(self, selector: str) -> None:
        """Click an element."""
        self.command("WebDriver:ElementClick", id=self.element(selector))

    def type(self, selector: str, text: str) -> None:
        """Type a text into an element."""
        self.command("WebDriver:ElementSendKeys", id=self.element(selector), text=text)

    def keys(self, text: str) -> None:
        """Press keys, whatever has the focus."""
        actions = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self.command("WebDriver:PerformActions", actions=[{"type": "key", "id": "keyboard", "actions": actions}])

    def problems(self) -> list[str]:
        """The errors of pages since the last call: exceptions, and violations of the policy."""
        self.command("Marionette:SetContext", value="chrome")
        try:
            found: list[str] = self.run(_PROBLEMS)
            self.run("Services.console.reset()")
        finally:
            self.command("Marionette:SetContext", value="content")
        return found

    def _read(self) -> Any:
        """The next message: its length, a colon, and its JSON."""
        size = b""
        while (byte := self._connection.recv(1)) != b":":
            if not byte:
                raise ConnectionError("Firefox has ended")
            size += byte
        body = bytearray()
        while len(body) < int(size):
            body += self._connection.recv(int(size) - len(body))
        return json.loads(body)


def find() -> str | None:
    """The command of Firefox; None if there is none."""
    return shutil.which("firefox-esr") or shutil.which("firefox")


@contextmanager
def firefox() -> Iterator[Firefox]:
    """Run Firefox without a window and with a new profile."""
    command, port = find(), free_port()
    assert command is not None
    with tempfile.TemporaryDirectory(prefix="magicbyte-firefox-") as profile:
        preferences = {**_PREFERENCES, "marionette.port": port}
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in preferences.items()]
        Path(profile, "user.js").write_text("\n".join(lines))
        options = ["--headless", "--no-remote", "--profile", profile, "--marionette", "--remote-allow-system-access"]
        process = subprocess.Popen([command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            with _connected(port, process) as connection:
                yield Firefox(connection)
        finally:
            process.terminate()
            process.wait(30)


def _connected(port: int, process: subprocess.Popen[bytes]) -> socket.socket:
    """The connection to Marionette, which listens some time after the start."""
    end = time.monotonic() + _SECONDS
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=_SECONDS)
        except OSError:
            if process.poll() is not None or time.monotonic() > end:
                raise
            time.sleep(0.1)
