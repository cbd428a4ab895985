"""What `./lab cc --help` says."""

import shutil
import textwrap

from nvcc_options import names

_USAGE = "usage: lab cc FILE... [-o OUTPUT] [-c] [OPTIONS]"
_ABOUT = """\
Compiles CUDA and C++ sources for the cpu back end and links them. OPTIONS are nvcc's or the C++ \
compiler's: -O0, -g, -std=c++20, -I, -D, -L, -l, -Xcompiler ...; the default is -O2 -g -Wall. The \
compiler is $CXX (C sources: $CC; -lib: $AR), else c++ (cc, ar). -v shows the commands, -dryrun does \
nothing else.

-c makes objects, -lib an archive. -MD and -MMD write what each is made from, for make, and -M and -MM do \
nothing else, as with nvcc: -MF, -MT and -MP, too.

--instrument makes a program for the profiler and the hazard check: without optimisation, so that it does \
what the source says.

Ignored, since it is for a GPU or for nvcc's own tools: {ignored}.

Refused, since the cpu back end has nothing like it: {refused}.
"""


def usage() -> str:
    """The text, as wide as the terminal, but no wider than one reads with ease."""
    width = max(40, min(100, shutil.get_terminal_size().columns))
    lists = {
        "ignored": " ".join(f"-{name}" for name in names(ignored=True)),
        "refused": " ".join(f"-{name}" for name in names(ignored=False)),
    }
    paragraphs = [_USAGE, *_ABOUT.format(**lists).strip().split("\n\n")]
    return (
        "\n\n".join(
            textwrap.fill(paragraph, width, break_on_hyphens=False, break_long_words=False)
            for paragraph in paragraphs
        )
        + "\n"
    )
