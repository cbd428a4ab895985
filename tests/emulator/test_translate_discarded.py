"""Tests of which calls of CUDA's API the translator marks for the hazard check: those in host code whose
result the program drops."""

import pytest

KERNEL = "__global__ void k();\n"  # so that the file has CUDA


@pytest.fixture
def translated(translated):
    """translated(source, *options): the text that a file becomes, without that of KERNEL."""

    def translate(source, *options):
        return translated(KERNEL + source, *options).split("\n", 1)[1]

    return translate


CALL = "cudaFree(p);"
MARKED = '::emu::Discarded("cudaFree"), cudaFree(p);'


@pytest.mark.parametrize(
    "before",
    [
        "", "f(); ", "{} ", "if (x) ", "if (x) f(); else ", "else if (f(x)) ",
        "if constexpr (N > 1) ", "for (;;) ", "while (x) ", "do ",
    ],
)  # fmt: skip
def test_calls_whose_result_is_dropped(translated, before):
    body = f"int main() {{ {before}%s }}\n"
    assert translated(body % CALL, "--instrument") == body % MARKED
    assert translated(body % CALL) == body % CALL


@pytest.mark.parametrize(
    "label",
    [
        "case 1:", "case 'a': case E::b: ", "case (x ? 1 : 2): ", "default: ", "f(); again: ",
        "if (x) again: ",
    ],
)  # fmt: skip
def test_behind_a_label(translated, label):
    body = f"int main() {{ switch (x) {{ {label}%s }} }}\n"
    assert translated(body % CALL, "--instrument") == body % f" {MARKED}"


@pytest.mark.parametrize(
    "source",
    [
        "int main() { e = cudaFree(p); }\n",
        "int main() { check(cudaFree(p)); }\n",
        "int main() { cudaFree(p), f(); }\n",
        "int main() { x ? f() : cudaFree(p); }\n",
        "int main() { x ? y ? f() : g : cudaFree(p); }\n",
        "int main() { switch (x) { case 1: x ? f() : cudaFree(p); } }\n",
        "int main() { cudaGetLastError(); }\n",
        "__device__ void f() { cudaFree(p); }\n",
    ],
)
def test_other_calls(translated, source):
    assert translated(source, "--instrument") == source
