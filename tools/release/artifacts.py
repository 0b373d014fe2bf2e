"""The steps about the wheel and the sdist: built twice with equal bytes, with nothing in them that does not belong."""

from __future__ import annotations

import hashlib
import shutil
import zipfile
from pathlib import Path

from tools.release.bill import BILLS, PAGE, components, write_bills
from tools.release.step import TOOLS, StepFailed, Work, run


def build(work: Work) -> str:
    """Build the wheel and the sdist twice, with the SBOMs, and compare the bytes."""
    epoch = run("git", "log", "-1", "--format=%ct", folder=work.source).strip()
    bills = work.scratch / "sboms"
    write_bills(work, bills, epoch=epoch)
    for folder in (work.dist, work.scratch / "again"):
        variables = {"SOURCE_DATE_EPOCH": epoch, "MAGICBYTE_SBOM": str(bills)}
        run(TOOLS / "python", "-m", "build", "--outdir", folder, work.source, folder=work.source, **variables)
    different = unequal(work.dist, work.scratch / "again")
    if different:
        raise StepFailed("two builds of the same commit differ:\n" + "\n".join(different))
    return "two builds are equal: " + ", ".join(
        f"{path.name} ({path.stat().st_size / 1e6:.1f} MB, sha256 {_digest(path)[:12]})"
        for path in sorted(work.dist.iterdir())
    )


def unequal(first: Path, second: Path) -> list[str]:
    """Return the archives that differ, and for wheels which of their files do."""
    names = sorted({path.name for folder in (first, second) for path in folder.iterdir()})
    different = []
    for name in names:
        pair = (first / name, second / name)
        if not all(path.exists() for path in pair):
            different.append(f"{name} was built only once")
        elif pair[0].read_bytes() != pair[1].read_bytes():
            different.append(f"{name}: {', '.join(_unequal_files(*pair)[:5]) or 'the order or the times of its files'}")
    return different


def _unequal_files(first: Path, second: Path) -> list[str]:
    if not zipfile.is_zipfile(first):
        return []
    with zipfile.ZipFile(first) as one, zipfile.ZipFile(second) as other:
        sums = [{item.filename: item.CRC for item in archive.infolist()} for archive in (one, other)]
    return sorted(name for name in sums[0].keys() | sums[1].keys() if sums[0].get(name) != sums[1].get(name))


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def contents(work: Work) -> str:
    """Check what the wheel holds, with check-wheel-contents."""
    run(TOOLS / "check-wheel-contents", work.wheel, folder=work.source)
    with zipfile.ZipFile(work.wheel) as archive:
        names = archive.namelist()
    if not any(name.startswith("magicbyte/ui/page/assets/") for name in names):
        raise StepFailed("the wheel has the page's modules, not the built page: npm is missing on PATH")
    return f"{len(names)} files, the built page among them; check-wheel-contents finds nothing"


def sbom(work: Work) -> str:
    """Check that the wheel has its bills of materials."""
    with zipfile.ZipFile(work.wheel) as archive:
        folder = f"magicbyte-{work.version}.dist-info/sboms/"
        bills = {
            name.removeprefix(folder): archive.read(name).decode()
            for name in archive.namelist()
            if name.startswith(folder)
        }
    missing = {*BILLS, PAGE} - bills.keys()
    if missing:
        raise StepFailed(f"the wheel lacks {', '.join(sorted(missing))} in {folder}")
    local = [name for name, text in bills.items() if "file://" in text or str(work.scratch) in text]
    if local:
        raise StepFailed(f"{', '.join(local)} has paths of this machine")
    return ", ".join(f"{name}: {len(components(text))} components" for name, text in sorted(bills.items()))


def copy(work: Work, folder: Path) -> None:
    """Copy the wheel, the sdist and the SBOMs into `folder`, which must be empty or new."""
    for source, target in ((work.dist, folder), (work.scratch / "sboms", folder.with_name(f"{folder.name}-sboms"))):
        target.mkdir(parents=True, exist_ok=True)
        for path in source.iterdir():
            shutil.copy2(path, target / path.name)
