# noqa: N999 - the name of Amazon's module
from __future__ import annotations

import base64
import json
import os
import time
from pathlib import Path


def generate_auth_token(region: str) -> tuple[str, int]:
    """A token and its end in milliseconds since 1970; notes the region in the file that MSK_STUB_CALLS names."""
    with Path(os.environ["MSK_STUB_CALLS"]).open("a", encoding="utf-8") as calls:
        calls.write(f"{region}\n")
    now = int(time.time())
    end = now + int(os.environ.get("MSK_STUB_SECONDS", "900"))
    parts = ({"alg": "none"}, {"sub": "msk", "iat": now, "exp": end})
    encoded = (base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts)
    return f"{'.'.join(encoded)}.", end * 1000
