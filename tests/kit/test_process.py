from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from magicbyte.kit.processes import process
from tests.processes import is_running

#: A parent that starts a child, which starts a grandchild, and makes a temporary folder; it prints their names.
PARENT = """
import os, sys, time
from magicbyte.kit.processes import process
reading, writing = os.pipe()
child = process.start(["/bin/sh", "-c", "trap '{trap}' TERM; sleep 1000 & echo $!; wait; sleep 1000"], log=writing)
print(process.temporary_folder(), child.pid, int(os.read(reading, 20)), flush=True)
{ending}
"""


def wait_until_gone(pids: list[int], folder: Path, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while (any(map(is_running, pids)) or folder.exists()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [pid for pid in pids if is_running(pid)] == []
    assert not folder.exists()


@pytest.mark.parametrize(
    ("trap", "ending"),
    [
        ("exit", "time.sleep(1000)"),
        ("", "time.sleep(1000)"),
        ("exit", "sys.exit(3)"),
        ("exit", "raise RuntimeError"),
        ("exit", "os._exit(1)"),
        ("exit", "import threading; threading.Thread(target=time.sleep, args=(0.1,)).start()"),
    ],
)
def test_children_their_children_and_folders_go_however_the_parent_ends(trap: str, ending: str) -> None:
    code = PARENT.format(trap=trap, ending=ending)
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as parent:
        assert parent.stdout is not None
        folder, *pids = parent.stdout.readline().split()
        if "1000" in ending:
            assert all(is_running(int(pid)) for pid in pids)
            assert Path(folder).is_dir()
            parent.kill()
    wait_until_gone([int(pid) for pid in pids], Path(folder), 60)


def test_a_child_started_in_a_thread_outlives_the_thread() -> None:
    code = """
import threading, time
from magicbyte.kit.processes import process
started = []
thread = threading.Thread(target=lambda: started.append(process.start(["sleep", "1000"])))
thread.start(); thread.join(); time.sleep(0.2)
print(started[0].poll(), process.stop(started[0]))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == f"None {-signal.SIGTERM}\n"


def test_stop_kills_a_process_that_ignores_the_signal() -> None:
    reading, writing = os.pipe()
    child = process.start(["/bin/sh", "-c", "trap '' TERM; echo; sleep 1000"], log=writing)
    assert os.read(reading, 1) == b"\n"
    assert process.stop(child, seconds=0.2) == -signal.SIGKILL
    os.close(reading)
    os.close(writing)


def test_a_forked_process_has_a_guard_of_its_own() -> None:
    code = """
import os
from magicbyte.kit.processes import process
first = process.start(["sleep", "1000"])
if os.fork() == 0:
    second = process.start(["sleep", "1000"])
    print(os.getpgid(second.pid) != os.getpgid(first.pid), flush=True)
    os._exit(0)
os.wait()
print(first.poll(), flush=True)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "True\nNone\n"


def test_a_forked_process_that_outlives_its_parent_does_not_delay_it(tmp_path: Path) -> None:
    code = """
import os, signal
from magicbyte.kit.processes import process
child = process.start(["sleep", "1000"])
forked = os.fork()
if not forked:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1), os.dup2(nowhere, 2)
    signal.pause()
print(child.pid, forked)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    child, forked = map(int, result.stdout.split())
    try:
        wait_until_gone([child], tmp_path / "none", 60)
    finally:
        os.kill(forked, signal.SIGKILL)


def test_children_started_at_the_same_time_have_one_guard() -> None:
    code = """
import os, threading
from concurrent.futures import ThreadPoolExecutor
from magicbyte.kit.processes import process
together = threading.Barrier(8)
def start(_):
    together.wait()
    return os.getpgid(process.start(["sleep", "1000"]).pid)
with ThreadPoolExecutor(8) as threads:
    print(len(set(threads.map(start, range(8)))))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert result.stdout == "1\n"
