"""The tests of lab_course have the fixtures of those of lab_cli."""

from lab_fixtures import (  # noqa: F401
    exercises,
    fake_tool,
    late,
    own_work,
    pytest_runtest_setup,
)
