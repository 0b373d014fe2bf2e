"""The limit on consumer instances, by the limit on open files."""

from __future__ import annotations

import logging
import resource

log = logging.getLogger("rest_proxy")

#: The file descriptors that a librdkafka consumer uses with one broker, and those reserved for everything else.
_DESCRIPTORS_A_CONSUMER = 8
_RESERVED_DESCRIPTORS = 256


def instance_limit(requested: int) -> int:
    """The limit on consumer instances: the requested one, or less if the limit on open files is low; 0 for the most."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    fits = max(1, (soft - _RESERVED_DESCRIPTORS) // _DESCRIPTORS_A_CONSUMER)
    if requested > fits:
        log.warning(
            "consumer.instances.max=%d needs a limit of %d open files (ulimit -n), which is %d: %d instances fit",
            requested,
            requested * _DESCRIPTORS_A_CONSUMER + _RESERVED_DESCRIPTORS,
            soft,
            fits,
            extra={"event": "consumer_instances_limited", "requested": requested, "fits": fits},
        )
    return min(requested, fits) if requested else fits
