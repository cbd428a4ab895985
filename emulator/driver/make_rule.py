"""Rules for make: what a file is made from."""

import re


def quoted(path: str) -> str:
    """A file as a rule names it. (make has no way to name one with a line break.)"""
    return re.sub(r"([ \t#])", r"\\\1", path).replace("$", "$$")


def rule(target: str, inputs: list[str], for_headers: bool = False) -> str:
    """The text of a rule. The target stands in it as it is. With `for_headers` those behind the first of
    the inputs have rules, too, so that make goes on where one of them is gone."""
    names = list(dict.fromkeys(map(quoted, inputs)))
    text = f"{target}: " + " \\\n  ".join(names) + "\n"
    return text + "".join(f"{name}:\n" for name in names[1:] if for_headers)


def inputs_of(text: str) -> list[str]:
    """The names behind the target of a compiler's rule."""
    words = re.findall(r"(?:\\[^\n]|[^\\\s])+", text.replace("\\\n", " ").split("\n")[0])
    for i, word in enumerate(words):
        if word.endswith(":"):
            return [
                re.sub(r"\\([ \t#])", r"\1", name).replace("$$", "$") for name in words[i + 1 :]
            ]
    return []
