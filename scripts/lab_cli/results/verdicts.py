"""What stands in the column `check` of an exercise's rows."""

from __future__ import annotations

OK = "ok"
# A kernel that shows a race: one was seen, or none was, which is luck.
RACE, LUCKY = "race", "lucky"
GOOD = {OK, RACE, LUCKY}
WRONG = "WRONG"
