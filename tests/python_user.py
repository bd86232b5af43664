# SPDX-License-Identifier: MIT
"""A user's file, for tools that check types."""
import pathlib
from typing import Any, Dict, List, Optional

import profan
from profan import Capture, diff, ingest
from profan import torch as profan_torch


def finding(before: Capture, after: "pathlib.Path") -> Optional[str]:
    result = diff(before, after, fail_on=["step_time>5%"])
    failed: bool = result.failed
    rows: List[Dict[str, Any]] = result["rows"].head(3).rows
    return None if failed or not rows else result.finding


with profan.open("trace.json.gz") as cap:
    page: pathlib.Path = cap.report("page.html")
    shown: profan.Page = cap.report(step=range(2, 5)).page()
    made: pathlib.Path = ingest("trace.json", output="made.db")
    said: str = cap.stacks(weight="cpu")
    print(finding(cap, made), cap.gaps(rank=[0, 1]).notes, page.name, shown)
    gate: bool = cap.diff(made, fail_on="step_time>5%").failed
    print(gate, profan.trend(cap, made).verdict, cap.sql("SELECT ?", [1])[0], said)
    handle = profan_torch.handler("runs")
