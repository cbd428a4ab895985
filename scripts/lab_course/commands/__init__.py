"""The commands of courses, as those of lab_cli.commands are."""
