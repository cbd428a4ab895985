"""The commands of lab, a module each: add_parser() declares its arguments and names its handler.

A handler takes the parsed arguments, with the options that go to another program in `options`, and
returns the exit status.
"""
