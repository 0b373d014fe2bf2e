from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = {"compat", "magicbyte", "registry", "rest_proxy", "serdes", "spark_avro"}

PAGE = "magicbyte/ui/page/"


def test_the_wheel_holds_the_packages_and_nothing_else(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        of_page = {item.filename: item.compress_size for item in archive.infolist() if item.filename.startswith(PAGE)}
    top_level = {name.partition("/")[0] for name in names}
    assert {name for name in top_level if not name.endswith(".dist-info")} == PACKAGES
    assert "magicbyte/openapi/registry.yaml" in names
    assert "magicbyte/openapi/rest-proxy-v2.yaml" in names
    assert "magicbyte/openapi/rest-proxy-v3.yaml" in names
    assert "magicbyte/openapi/ui.yaml" in names
    assert set(of_page) == {str(path.relative_to(ROOT)) for path in (ROOT / PAGE).rglob("*") if path.is_file()}
    assert f"{PAGE}vendor/LICENSES.txt" in of_page
    assert {name for name in names if name.startswith("tests/") or "node_modules" in name} == set()
    # The page's budget in the wheel.
    assert sum(of_page.values()) < 900_000
    assert "magicbyte/platform/jars/broker-4.3.1.lock" in names
