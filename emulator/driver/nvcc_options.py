"""All options of nvcc (as `nvcc --help` of CUDA 13.0 has them), and what the cpu back end makes of each."""

import re
from typing import NamedTuple, Optional

# What a value looks like, and how to say so; None: the option takes none.
_KINDS = {
    "-": None,
    "any": (".*", ""),
    "list": (".*", ""),
    "bool": ("true|false", "true or false"),
    "number": ("[0-9]+", "a number"),
    "arch": (
        r"(sm|compute|lto)_\w+|all|all-major|native",
        "an architecture, as in sm_90, or all, all-major or native",
    ),
    "code": (r"\[?((sm|compute|lto)_\w+[],]*)+", "an architecture, as in sm_90"),
    "level": ("[0-3]|s|z|g|fast", "one of 0 1 2 3 s g fast"),
    "cudart": ("none|shared|static", "none, shared or static"),
    "cudadevrt": ("none|static", "none or static"),
    "stream": ("legacy|null|per-thread", "legacy or per-thread"),
    "language": (r"cu|c|c\+\+", "cu, c or c++"),
    "std": (r"(c|gnu)\+\+\w+", "a dialect, as in c++17"),
    "64": ("64", "64"),
    "on": ("on", "on"),
    "fast": ("0|max|mid|min", "0, max, mid or min"),
    "compress": ("default|size|speed|balance|none", "default, size, speed, balance or none"),
}

# Short name, long name ("-": none), kind of value.
_DONE = """
c           compile                 -
dc          device-c                -
dw          device-w                -
link        link                    -
lib         lib                     -
o           output-file             any
odir        output-directory        any
M           generate-dependencies   -
MM          generate-nonsystem-dependencies -
MD          generate-dependencies-with-compile -
MMD         generate-nonsystem-dependencies-with-compile -
MF          dependency-output       any
MT          dependency-target-name  any
MP          generate-dependency-targets -
include     pre-include             list
l           library                 list
D           define-macro            list
U           undefine-macro          list
I           include-path            list
isystem     system-include          list
L           library-path            list
pg          profile                 -
g           debug                   -
G           device-debug            -
dopt        dopt                    on
O           optimize                level
noeh        no-exceptions           -
x           x                       language
std         std                     std
m           machine                 64
m64         m64                     -
ftemplate-backtrace-limit ftemplate-backtrace-limit number
ftemplate-depth ftemplate-depth     number
frandom-seed frandom-seed           any
Xcompiler   compiler-options        any
Xlinker     linker-options          list
dryrun      dryrun                  -
v           verbose                 -
default-stream default-stream       stream
expt-relaxed-constexpr expt-relaxed-constexpr -
w           disable-warnings        -
Wreorder    Wreorder                -
Wno-deprecated-declarations Wno-deprecated-declarations -
h           help                    -
V           version                 -
optf        options-file            list
"""

# Of interest to a GPU, to nvcc's own tools or to Windows; the host compiler and the archiver are
# $CXX, $CC and $AR; nothing is kept, as there are no intermediate files of nvcc's kind.
_IGNORED = """
objtemp     objdir-as-tempdir       -
ccbin       compiler-bindir         any
allow-unsupported-compiler allow-unsupported-compiler -
arbin       archiver-binary         any
cudart      cudart                  cudart
cudadevrt   cudadevrt               cudadevrt
ldir        libdevice-directory     any
target-dir  target-directory        any
use-local-env use-local-env         -
force-cl-env-setup force-cl-env-setup -
lineinfo    generate-line-info      -
opt-info    optimization-info       list
Ofc         Ofast-compile           fast
dlto        dlink-time-opt          -
lto         lto                     -
gen-opt-lto gen-opt-lto             -
nohdinitlist no-host-device-initializer-list -
nohdmoveforward no-host-device-move-forward -
extended-lambda extended-lambda     -
expt-extended-lambda expt-extended-lambda -
Xarchive    archive-options         any
Xptxas      ptxas-options           any
Xnvlink     nvlink-options          any
Xcudafe     -                       any
static-global-template-stub static-global-template-stub bool
device-entity-has-hidden-visibility device-entity-has-hidden-visibility bool
forward-unknown-to-host-compiler forward-unknown-to-host-compiler -
forward-unknown-to-host-linker forward-unknown-to-host-linker -
forward-unknown-opts forward-unknown-opts -
noprof      dont-use-profile        -
t           threads                 number
split-compile split-compile         number
split-compile-extended split-compile-extended number
fdevice-syntax-only fdevice-syntax-only -
keep        keep                    -
keep-dir    keep-dir                any
save-temps  save-temps              -
idp         input-drive-prefix      any
ddp         dependency-drive-prefix any
dp          drive-prefix            any
no-align-double no-align-double     -
nodlink     no-device-link          -
arch        gpu-architecture        arch
code        gpu-code                code
gencode     generate-code           any
rdc         relocatable-device-code bool
e           entries                 any
maxrregcount maxrregcount           number
use_fast_math use_fast_math         -
ftz         ftz                     bool
prec-div    prec-div                bool
prec-sqrt   prec-sqrt               bool
fmad        fmad                    bool
extra-device-vectorization extra-device-vectorization -
keep-device-functions keep-device-functions -
src-in-ptx  source-in-ptx           -
restrict    restrict                -
Wdefault-stream-launch Wdefault-stream-launch -
Wmissing-launch-bounds Wmissing-launch-bounds -
Wext-lambda-captures-this Wext-lambda-captures-this -
Wno-deprecated-gpu-targets Wno-deprecated-gpu-targets -
res-usage   resource-usage          -
ewp         extensible-whole-program -
no-compress no-compress             -
compress-mode compress-mode         compress
qpp-config  qpp-config              any
err-no      display-error-number    -
no-err-no   no-display-error-number -
diag-error  diag-error              list
diag-suppress diag-suppress         list
diag-warn   diag-warn               list
brief-diag  brief-diagnostics       bool
jtd         jump-table-density      number
reloc-ptx   relocatable-ptx         -
device-stack-protector device-stack-protector bool
jobserver   jobserver               -
"""

# By the reason, which follows the option as it was given.
_REFUSED = {
    " makes GPU code, which the cpu back end does not have": """
ptx         ptx                     -
cubin       cubin                   -
fatbin      fatbin                  -
optix-ir    optix-ir                -
ltoir       ltoir                   -
astoolspatch compile-as-tools-patch -
""",
    ": there is no device code to link; link the objects with -o": """
dlink       device-link             -
hls         host-linker-script      any
aug-hls     augment-host-linker-script -
""",
    ": the cpu back end makes programs, no shared libraries; compile with -c, and link the objects into "
    "the program, or make an archive of them with -lib": """
shared      shared                  -
""",
    ": link all objects into the program at once": """
r           relocatable-link        -
""",
    " shows what nvcc makes of a source on the way, which the cpu back end does not make": """
E           preprocess              -
cuda        cuda                    -
""",
    ": run the program yourself once it is made": """
run         run                     -
run-args    run-args                any
""",
    " tells the times of nvcc's phases, which the cpu back end does not have": """
time        time                    any
fdevice-time-trace fdevice-time-trace any
""",
    " removes files; remove them with rm": """
clean       clean-targets           -
""",
    " lists what nvcc can compile for; the cpu back end ignores -arch": """
code-ls     list-gpu-code           -
arch-ls     list-gpu-arch           -
""",
    ": build the program without it and use ./lab check, which finds races, wrong accesses and more": """
sanitize    sanitize                any
""",
}

# -Idir, -O3, -m64, -t4: what may follow the letter. (nvcc takes no -ofile, no -xcu.)
_JOINED = {**dict.fromkeys("DUILl", ".+"), "O": ".*", "m": "[0-9]+", "t": "[0-9]+"}


class Option(NamedTuple):
    """An option of nvcc."""

    name: str  # the short one, without its dash
    kind: str  # of its value
    ignored: bool = False
    refused: str = ""  # why: goes on behind the option's name

    @property
    def takes_value(self) -> bool:
        return _KINDS[self.kind] is not None

    def expected(self, value: str) -> str:
        """What the value should have been; empty if it is right."""
        kind = _KINDS[self.kind]
        return "" if kind is None or re.fullmatch(kind[0], value, re.DOTALL) else kind[1]


def _rows(table: str) -> list[list[str]]:
    return [line.split() for line in table.splitlines() if line]


def _read_tables() -> dict[str, Option]:
    tables = [(_DONE, False, ""), (_IGNORED, True, "")]
    tables += [(table, False, reason) for reason, table in _REFUSED.items()]
    options = {}
    for table, ignored, reason in tables:
        for short, long, kind in _rows(table):
            option = Option(short, kind, ignored, reason)
            options.update({short: option} if long == "-" else {short: option, long: option})
    return options


OPTIONS = _read_tables()  # by their names, short and long


def find(argument: str) -> Optional[tuple[Option, Optional[str]]]:
    """The option that an argument is, and its value if that is in the same argument; None if nvcc does
    not know it. One dash or two make no difference: no two names are the same."""
    words = argument[1:]
    name, equals, value = (words[1:] if words.startswith("-") else words).partition("=")
    if name in OPTIONS:
        return OPTIONS[name], value if equals else None
    letter = words[:1]
    if letter in _JOINED and re.fullmatch(_JOINED[letter], words[1:], re.DOTALL):
        return OPTIONS[letter], words[1:]
    return None


def apart(argument: str) -> str:
    """An option with its value behind it, as nvcc wants it, for an argument that joins the two; empty if
    it is none."""
    words = argument[1:]
    known = [name for name, o in OPTIONS.items() if o.takes_value and words.startswith(name)]
    name = max(known, key=len, default="")
    return f"-{name} {words[len(name) :]}" if name else ""


def names(ignored: bool) -> list[str]:
    """The short names of those that are ignored, or of those that are refused."""
    chosen = {o.name for o in OPTIONS.values() if (o.ignored if ignored else o.refused)}
    return sorted(chosen, key=str.lower)
