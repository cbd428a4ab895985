"""The shortest NAME.toml that there can be."""

FACTS = 'order = 10\n[bench]\nruns = [""]\n'
