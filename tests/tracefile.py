# SPDX-License-Identifier: MIT
"""A trace as the checkers in Python read it, apart from profan's reader."""
import gzip
import json
from decimal import Decimal


def load(path, parse_float=Decimal):
    """The top object ({} if there is none) and the list of events."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
        text = f.read().decode("utf-8", "replace")
    top = json.loads(text, strict=False, parse_float=parse_float)
    return (top, top["traceEvents"]) if isinstance(top, dict) else ({}, top)


def ns(value):
    """To the ns, as profan reads: 1 ps is no rounding error."""
    return int((Decimal(str(value)) * 1000).quantize(Decimal(1), "ROUND_HALF_UP"))
