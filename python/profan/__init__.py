# SPDX-License-Identifier: MIT
"""Where the time of GPU and machine learning programs goes.

>>> import profan
>>> cap = profan.open("trace.json.gz")
>>> print(cap.gaps().finding)
>>> cap.gaps()["culprits"].to_pandas()
>>> cap.sql("SELECT name, count(*) AS n FROM op GROUP BY name").rows
>>> profan.diff(cap, "after.db").verdict

Nothing is computed here: every call starts the program "profan" and reads what
it prints.  Methods and their parameters are made of the program's own tables
of options (``profan help --format json``).
"""
import os as _os
from typing import Union as _Union

from ._capture import Capture
from ._commands import *  # noqa: F403  functions of commands without database
from ._commands import PROGRAM_VERSION as __version__
from ._program import Error, agent, extension, program
from ._result import Page, Result, Table

from . import _commands

__all__ = ["Capture", "Error", "Page", "Result", "Table", "agent", "extension",
           "open", "program"]
__all__ += _commands.__all__


def open(*sources: _Union[str, "_os.PathLike[str]"]) -> Capture:
    """A trace, several, a folder of them, or a database.

    Traces are read once, into a database beside them, as the commands do.
    """
    return Capture(*sources)
