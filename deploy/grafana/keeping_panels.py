"""The panels of the dashboards of backups and of mirrors."""

from __future__ import annotations

from panels import BYTES, COUNT, OF, PER_SECOND, SECONDS, Panel, Row, gauge, rate

BACKUPS = (
    Row(
        "Backups",
        (
            Panel(
                "Age of the newest backup",
                SECONDS,
                (("{{file}}", f"time() - magicbyte_backup_last_success_timestamp_seconds{{{OF}}}"),),
                "Over 26 hours, MagicbyteBackupStale fires; a very high value says that there is none.",
            ),
            Panel(
                "Failed rounds",
                COUNT,
                (("{{file}}", f"increase(magicbyte_backup_failures_total{{{OF}}}[1h])"),),
                "In the last hour.",
            ),
            Panel(
                "Versions in the newest backup",
                COUNT,
                gauge("magicbyte_backup_schemas", "{{file}}"),
                "A drop says that versions were deleted for good, or that the client may no longer see some.",
            ),
            Panel("Size of the newest backup", BYTES, gauge("magicbyte_backup_bytes", "{{file}}")),
        ),
    ),
)

MIRRORS = (
    Row(
        "Mirrors",
        (
            Panel(
                "Behind the source",
                SECONDS,
                gauge("magicbyte_mirror_lag_seconds"),
                "Time for which the target has not been what the source is. MagicbyteMirrorLag fires.",
            ),
            Panel("Changes that wait", COUNT, gauge("magicbyte_mirror_lag_changes")),
            Panel(
                "Since both were equal",
                SECONDS,
                (("{{instance}}", f"time() - magicbyte_mirror_last_success_timestamp_seconds{{{OF}}}"),),
            ),
            Panel("Lines written", PER_SECOND, (("{{instance}}", rate("magicbyte_mirror_changes_total")),)),
            Panel(
                "Full comparisons",
                COUNT,
                (("{{instance}}", f"increase(magicbyte_mirror_full_syncs_total{{{OF}}}[1h])"),),
                "In the last hour. Some are regular; many say that the source loses its changes.",
            ),
        ),
    ),
)
