"""Errors that the compiler tells of, where the preprocessor leaves the place in the program."""


def compile_error(message: str) -> str:
    """What to put before the tokens that are wrong; it may stand anywhere in the code."""
    text = message.replace("\\", "\\\\").replace('"', '\\"')
    text = f'GCC error "{text}"'.replace("\\", "\\\\").replace('"', '\\"')
    return f'_Pragma("{text}")'
