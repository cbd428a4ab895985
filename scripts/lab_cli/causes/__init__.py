"""Why a kernel is slow: causes that its counts and its source show, line by line."""
