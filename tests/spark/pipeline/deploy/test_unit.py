"""`magicbyte pipeline unit`: the text, what systemd reads in it, and what is refused."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from magicbyte.cli.main import main
from magicbyte.cli.pipeline.deploy.declared import declared
from magicbyte.cli.pipeline.deploy.unit import unit_of
from magicbyte.cli.systemd.unit_text import command, plain, user
from serdes.console.outcome import Ended
from tests.spark.pipeline.deploy.conftest import Options, WriteFile
from tests.spark.pipeline.deploy.unit_reader import read_unit, words

PROGRAM = ["/opt/magicbyte/bin/magicbyte"]
LAKE = Path("/srv/lake")

RUNS_ON = """\
# /etc/systemd/system/magicbyte-flights.service, printed by `magicbyte pipeline unit`.
# /etc/magicbyte/flights.env sets BROKERS (has a default), REGISTRY_PASSWORD; mode 0600.

[Unit]
Description=Magicbyte pipeline flights
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=1d
StartLimitBurst=100

[Service]
Type=exec
User=lake
WorkingDirectory=/srv/lake
EnvironmentFile=/etc/magicbyte/flights.env
ExecStart=/opt/magicbyte/bin/magicbyte pipeline run /srv/lake/flights.yaml --metrics 127.0.0.1:9109
Restart=on-failure
RestartSec=30s
RestartPreventExitStatus=2 100
KillMode=mixed
KillSignal=SIGTERM
TimeoutStopSec=5min
WatchdogSec=1min
WatchdogSignal=SIGKILL
MemoryMax=4096M
CPUQuota=200%
NoNewPrivileges=yes
CapabilityBoundingSet=
ProtectSystem=full
PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native

[Install]
WantedBy=multi-user.target
"""


def _unit(file: Path, options: Options, *rest: str) -> str:
    parsed = options("unit", str(file), "--user", "lake", *rest)
    return unit_of(replace(declared(parsed), file=LAKE / "flights.yaml"), parsed, PROGRAM, LAKE)


def test_the_unit_of_a_pipeline_that_runs_on(options: Options, write_file: WriteFile) -> None:
    file = write_file(
        """
trigger: {every: 30s}
spark: {spark.driver.memory: 2g, spark.driver.cores: 2, spark.hadoop.fs.s3a.secret.key: s3cr3t}
include: secrets.yaml
"""
    )
    file.with_name("secrets.yaml").write_text('registry: {properties: {password: "${env:REGISTRY_PASSWORD}"}}\n')
    assert _unit(file, options) == RUNS_ON


@pytest.mark.parametrize(
    ("rest", "changed"),
    [
        ("trigger: {every: 30s}", {"EnvironmentFile": "-/etc/magicbyte/flights.env", "MemoryMax": None}),
        ("trigger: {available: now}", {"Type": "oneshot", "Restart": "on-failure", "WatchdogSec": None}),
        ('trigger: {every: "${env:EVERY}"}', {"Type": "exec", "EnvironmentFile": "/etc/magicbyte/flights.env"}),
        ('trigger: {every: "${env:EVERY:-10s}"}', {"Type": "exec", "EnvironmentFile": "-/etc/magicbyte/flights.env"}),
        ('errors: {log: "${env:LOG}"}', {"Type": "oneshot", "EnvironmentFile": "/etc/magicbyte/flights.env"}),
        ("spark: {spark.driver.memory: 10g}", {"MemoryMax": None, "CPUQuota": None}),
        ("spark: {spark.driver.cores: 3}", {"MemoryMax": "3584M", "CPUQuota": "300%"}),
        ('spark: {spark.driver.cores: "${env:CORES}"}', {"MemoryMax": None, "CPUQuota": None}),
        ("spark: {spark.master: local, spark.driver.cores: 3}", {"MemoryMax": "2560M"}),
        ('spark: {spark.master: "${env:MASTER}", spark.driver.cores: 3}', {"MemoryMax": None}),
        ("trigger: {available: now}", {"PrivateTmp": None}),
    ],
)
def test_the_pipeline_file_decides_lines_of_the_unit(
    rest: str, changed: dict[str, str | None], options: Options, write_file: WriteFile
) -> None:
    unit = read_unit(_unit(write_file(rest), options))
    assert {name: unit["Service"].get(name) for name in changed} == changed
    assert ("Install" in unit) == ("every" in rest)
    assert unit["Unit"]["StartLimitIntervalSec"] == ("1d" if "every" in rest else "1h")


@pytest.mark.parametrize(
    ("master", "spark", "limit"),
    [
        ("local", "{}", "2560M"),
        ("local[2]", "{}", "3072M"),
        ("local[2, 4]", "{spark.driver.cores: 9}", "3072M"),
        ("local[*]", "{spark.driver.cores: 2}", "3072M"),
        ("local[*]", "{}", None),
        ("local-cluster[2,1,1024]", "{}", None),
        ("spark://host:7077", "{}", "2048M"),
        ("spark://host:7077", "{spark.driver.memory: 10g}", "14336M"),
        ("spark://host:7077", "{spark.driver.memory: 512m, spark.driver.memoryOverhead: 256}", "768M"),
        ("local[2]", "{spark.driver.memory: 512m, spark.driver.memoryOverhead: 256}", "768M"),
        ("spark://host:7077", "{spark.driver.memory: 8g, spark.driver.memoryOverheadFactor: 0.5}", "12288M"),
        ("local[2]", "{spark.driver.memory: 8g, spark.driver.memoryOverheadFactor: 0.5}", "13312M"),
        ("local[2]", "{spark.memory.offHeap.enabled: true, spark.memory.offHeap.size: 1073741824}", "4096M"),
        ("local[2]", "{spark.memory.offHeap.size: 1g}", "3072M"),
        ("local[2]", '{spark.driver.memory: "${env:V}"}', None),
        ("local[2]", '{spark.driver.memoryOverhead: "${env:V}"}', None),
        ("local[2]", '{spark.driver.memoryOverheadFactor: "${env:V}"}', None),
        ("local[2]", '{spark.memory.offHeap.enabled: "${env:V}"}', None),
        ("local[2]", '{spark.memory.offHeap.size: "${env:V}"}', None),
    ],
)
def test_the_limit_of_memory(
    master: str, spark: str, limit: str | None, options: Options, write_file: WriteFile
) -> None:
    unit = read_unit(_unit(write_file(f"spark: {spark}"), options, "--master", master))
    assert unit["Service"].get("MemoryMax") == limit


@pytest.mark.parametrize(
    ("rest", "words_after_the_file"),
    [
        ((), ["--metrics", "127.0.0.1:9109"]),
        (("--metrics", ":9200"), ["--metrics", ":9200"]),
        (("--master", "spark://host:7077"), ["--master", "spark://host:7077", "--metrics", "127.0.0.1:9109"]),
        (("--unhealthy-after", "2h"), ["--metrics", "127.0.0.1:9109", "--unhealthy-after", "2h"]),
        (
            ("--set", "kafka.sasl.password=${env:KAFKA_PASSWORD}", "--name", "flights"),
            [
                *("--set", "kafka.sasl.password=${env:KAFKA_PASSWORD}", "--name", "flights"),
                *("--metrics", "127.0.0.1:9109"),
            ],
        ),
        (
            ("--set", r'steps=[{where: "name like \"50% \\ $x\""}]'),
            ["--set", r'steps=[{where: "name like \"50% \\ $x\""}]', "--metrics", "127.0.0.1:9109"],
        ),
    ],
)
def test_options_come_back_as_words(
    rest: tuple[str, ...], words_after_the_file: list[str], options: Options, write_file: WriteFile
) -> None:
    service = read_unit(_unit(write_file(""), options, *rest))["Service"]
    assert words(service["ExecStart"]) == [*PROGRAM, "pipeline", "run", "/srv/lake/flights.yaml", *words_after_the_file]
    needs = "KAFKA_PASSWORD" in str(rest)
    assert service["EnvironmentFile"] == ("" if needs else "-") + "/etc/magicbyte/flights.env"


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("plain-word_1.2:3/4=5,6@7+8", "plain-word_1.2:3/4=5,6@7+8"),
        ("two words", '"two words"'),
        ("", '""'),
        ("100%h", "100%%h"),
        ("${HOME}", '"$${HOME}"'),
        ("$HOME", "$$HOME"),
        (";", '";"'),
        ("it's", '"it\'s"'),
        ('a "b" \\ c', '"a \\"b\\" \\\\ c"'),
        ("Zürich", '"Zürich"'),
    ],
)
def test_how_a_word_is_written(word: str, text: str) -> None:
    assert command("/bin/a $b", [word]) == f'"/bin/a $b" {text}'
    assert words(read_unit(f"[Service]\nExecStart={command('/bin/a $b', [word])}")["Service"]["ExecStart"]) == [
        "/bin/a $b",
        word,
    ]


@pytest.mark.parametrize("path", ["/a\nUser=root", "/a\\", " /a", "/a\x7f"])
def test_a_path_that_no_unit_can_hold_is_refused(path: str) -> None:
    with pytest.raises(Ended, match="cannot stand in a systemd unit"):
        plain(path)


@pytest.mark.parametrize("program", ["/it's", '/a"b', "/a\\b", "/a*", "/a[b]", "/a?", "/a\nb"])
def test_a_program_that_systemd_does_not_run_is_refused(program: str) -> None:
    with pytest.raises(Ended):
        command(program, [])


@pytest.mark.parametrize(
    ("rest", "arguments", "message"),
    [
        ("", ("--user", "a b"), "--user: 'a b' is no user's name"),
        ("", ("--set", "kafka.sasl.password=s3cr3t"), "--set kafka.sasl.password: a secret would be readable; write"),
        ("", ("--unhealthy-after", "soon"), "--unhealthy-after: must be a time such as 30m, not 'soon'"),
        ("", ("--environment-file", "/a\nb"), "'/a\\nb' cannot stand in a systemd unit"),
        (
            "spark: {spark.driver.memory: much}",
            ("--master", "local"),
            "spark.driver.memory must be a size such as 2g, not 'much'",
        ),
        ("spark: {spark.driver.cores: 0}", (), "spark.driver.cores must be a whole number of at least 1, not '0'"),
        (
            "spark: {spark.driver.memoryOverheadFactor: x}",
            ("--master", "local"),
            "must be a number such as 0.4, not 'x'",
        ),
        ('errors: {topic: "${env:A B}"}', (), "'A B' is no name of a variable"),
        ("", ("--set", "name=${env:NAME}"), "--set name: name: must not be a placeholder: the output is named by it"),
        ('evolve: {columns: "${env:C}", unknown: 1}', (), "evolve.unknown: no such setting"),
        ("trigger: {every: 30}", (), "trigger.every: must be a duration"),
    ],
)
def test_invalid_units_are_refused(
    rest: str, arguments: tuple[str, ...], message: str, write_file: WriteFile, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["pipeline", "unit", str(write_file(rest)), *arguments]) == 2
    streams = capsys.readouterr()
    assert message in streams.err
    assert streams.out == ""


@pytest.mark.parametrize(
    ("override", "path"),
    [
        ('kafka={sasl.jaas.config: "x required password=\\"s3cr3t\\";"}', "kafka.sasl.jaas.config"),
        ("kafka={sasl.mechanism: PLAIN, sasl.password: s3cr3t}", "kafka.sasl.password"),
        ("kafka.sasl.jaas.config=x required password=${env:P};s3cr3t", "kafka.sasl.jaas.config"),
        ("registry.url=http://u:s3cr3t@r", "registry.url"),
        ("registry={url: 'http://u:s3cr3t@r'}", "registry.url"),
        ("registry.properties={basic.auth.user.info: u:s3cr3t}", "registry.properties.basic.auth.user.info"),
        ("spark={spark.hadoop.fs.s3a.secret.key: s3cr3t}", "spark.spark.hadoop.fs.s3a.secret.key"),
        ("spark.spark.driver.extraJavaOptions=-Dpassword=s3cr3t", "spark.spark.driver.extraJavaOptions"),
        ("sink.jdbc.password=${env:P:-s3cr3t}", "sink.jdbc.password"),
        ("sink={jdbc: {url: 'jdbc:oracle:thin:u/s3cr3t@//host/x', table: t}}", "sink.jdbc.url"),
        ("sink.sql.url=postgresql://host/db?password=s3cr3t", "sink.sql.url"),
        ("sinks=[{kafka: {topic: t, kafka: {ssl.keystore.key: s3cr3t}}}]", "sinks.kafka.kafka.ssl.keystore.key"),
        ("source.options={fs.s3a.secret.key: s3cr3t}", "source.options.fs.s3a.secret.key"),
        ("steps=[{mask: {phone: 'hmac:s3cr3t'}}]", "steps.mask.phone"),
    ],
)
@pytest.mark.parametrize("command", ["unit", "manifest"])
def test_an_override_with_a_secret_is_refused(
    command: str, override: str, path: str, write_file: WriteFile, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["pipeline", command, str(write_file("")), "--set", override]) == 2
    streams = capsys.readouterr()
    assert f"--set {path}: a secret " in streams.err
    assert "s3cr3t" not in streams.err + streams.out


@pytest.mark.parametrize(
    "override",
    [
        "registry.url=http://registry:8081",
        "kafka.sasl.password=${env:P}",
        "kafka={bootstrap.servers: 'k:9092', sasl.password: '${file:/run/secrets/kafka:password}'}",
        "registry.properties.basic.auth.user.info=${env:U}${env:P}",
        "source.key={format: string}",
        "steps=[{key: id}, {mask: {phone: 'hmac:${file:/run/key}'}}]",
        "sink={kafka: {topic: flights, key: [id, day]}}",
        "sink={delta: {path: /srv/lake/flights, mode: {upsert: {key: id}}}}",
    ],
)
def test_an_override_without_a_secret_is_taken(override: str, options: Options, write_file: WriteFile) -> None:
    service = read_unit(_unit(write_file(""), options, "--set", override))["Service"]
    assert override in words(service["ExecStart"])


@pytest.mark.parametrize(
    "rest",
    [
        'steps: [window: {time: at, size: "${env:V}", slide: 1m, aggregate: count(*) as n}]',
        'steps: [sample: {rows: "${env:V}"}]',
        'steps: [explode: "${env:V}"]',
        'steps: [{join: {table: "${env:V}", on: [id], how: "${env:V}"}}]',
        'steps: [mask: {phone: "${env:V}"}]',
        'quality: [{name: late, expect: "a > 1", at-most: "${env:V}"}]',
        'quality: [{name: late, expect: "a > 1", else: "${env:V}"}]',
        'quality: [{name: "${env:V}", expect: "${env:V}"}]',
        'sink: {files: {path: "${env:V}", format: "${env:V}", target: "${env:V}", late: "${env:V}"}}',
        'sink: {delta: {path: /srv/lake/flights, mode: "${env:V}"}}',
        'sink: {jdbc: {url: "${env:V}", table: t}}',
        'sink: {jdbc: {url: "jdbc:${env:V}", table: t}}',
        'sink: {kafka: {topic: "${env:V}", mirror: "${env:V}"}}',
        'source: {topics: "${env:V}", start: "${env:V}", limit: {records: "${env:V}"}}',
        'source: {files: {path: /in, format: "${file:/run/format}", limit: "${env:V}"}}',
        'trigger: {every: "${env:V}m"}',
        'trigger: {available: "${env:V}"}',
        'version: "${env:V}"',
        'audit: "${env:V}"',
    ],
)
def test_a_placeholder_may_stand_for_any_value(
    rest: str, write_file: WriteFile, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_file("")
    setting = rest.partition(":")[0]
    others = [line for line in file.read_text().splitlines() if not line.startswith(f"{setting}:")]
    file.write_text("\n".join([*others, rest]))
    image = "--image=registry.example/magicbyte:1"
    for command_words in (("unit", str(file)), ("manifest", str(file), image)):
        assert main(["pipeline", *command_words]) == 0, capsys.readouterr().err


@pytest.mark.parametrize("account", ["lake", "john.doe", "_x", "1000"])
def test_a_unit_accepts_account_names(account: str) -> None:
    assert user(account) == account


def test_an_account_without_a_name_is_a_number(
    write_file: WriteFile, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # No account has this number.
    monkeypatch.setattr("os.getuid", lambda: 2**31 - 7)
    assert main(["pipeline", "unit", str(write_file(""))]) == 0
    assert "User=2147483641\n" in capsys.readouterr().out


def test_no_value_of_a_placeholder_is_printed(
    write_file: WriteFile, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROKERS", "secret-broker:9092")
    monkeypatch.setenv("HEAP", "123g")
    file = write_file('spark: {spark.driver.memory: "${env:HEAP}"}')
    assert main(["pipeline", "unit", str(file)]) == 0
    text = capsys.readouterr().out
    assert "secret-broker" not in text
    assert "123" not in text
    assert "sets BROKERS (has a default), HEAP; mode 0600." in text


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="this machine has no systemd-analyze")
@pytest.mark.parametrize("folder", ["plain", "100%h of $HOME"])
@pytest.mark.parametrize("trigger", ["every: 30s", "available: now"])
def test_systemd_takes_the_unit(trigger: str, folder: str, options: Options, tmp_path: Path) -> None:
    place = tmp_path / folder
    place.mkdir()
    program = place / "magicbyte"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    file = place / "it's.yaml"
    file.write_text(
        f"""
version: 1
name: flights
checkpoint: {tmp_path}/checkpoint
trigger: {{{trigger}}}
source: {{rate: {{rows-per-second: 1}}}}
sink: {{files: {{path: {tmp_path}/out}}}}
"""
    )
    parsed = options("unit", str(file), "--user", "root", "--set", 'steps=[{where: "1 = 1"}]')
    unit = tmp_path / "magicbyte-flights.service"
    unit.write_text(unit_of(declared(parsed), parsed, [str(program)], place))
    run = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
