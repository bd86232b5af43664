# SPDX-License-Identifier: MIT
# The capture agent is not written yet: nothing is built here.
EXTRA_DIST += agent/FORMAT.md agent/README.md
