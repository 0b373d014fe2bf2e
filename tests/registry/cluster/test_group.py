"""Questions to the coordinator of the nodes' group, while it is out of reach and afterwards."""

from __future__ import annotations

import subprocess
import sys
import textwrap

# librdkafka would end the process, so the questions are asked in another one. The broker advertises its own address:
# the relay only keeps the client from it for a while.
ASKING = """
    import socket, sys, threading, time
    from magicbyte.platform.broker import free_port
    from registry.cluster.lead.group import GroupDescriber

    broker, port = int(sys.argv[1]), free_port()
    describer = GroupDescriber({"bootstrap.servers": f"127.0.0.1:{port}", "log_level": 2}, "nodes")
    assert describer.member_count() == 0
    time.sleep(6)  # beyond the time after which the node gives a question up

    listener = socket.create_server(("127.0.0.1", port))

    def pump(source, sink):
        while data := source.recv(65536):
            sink.sendall(data)

    def accept():
        while True:
            client, _ = listener.accept()
            server = socket.create_connection(("127.0.0.1", broker))
            for pair in ((client, server), (server, client)):
                threading.Thread(target=pump, args=pair, daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    while describer.describe() is None:
        pass
    print("answered", describer.describe().members, flush=True)
"""


def test_a_coordinator_that_comes_late_answers_and_the_process_goes_on(kafka: str) -> None:
    port = kafka.rpartition(":")[2]
    asked = subprocess.run(
        [sys.executable, "-P", "-c", textwrap.dedent(ASKING), port], capture_output=True, text=True, check=False
    )
    assert (asked.returncode, asked.stdout) == (0, "answered []\n"), asked.stderr
