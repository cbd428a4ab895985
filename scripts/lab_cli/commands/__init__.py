"""The commands of lab, a module each: add_parser() declares its arguments and names its handler.

A handler takes the parsed arguments, with the options that go to another program in `options`, and
returns the exit status. A command that can also run as a job on another machine names a check, too,
`beforehand`: it raises LabError for what is wrong on any machine.
"""
