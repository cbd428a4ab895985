"""A kernel around a few statements of a test."""

PARAMETERS = "const float* in, float* out, const int* index, int n"


def kernel(body, above=""):
    """With the variables i, x and y in it. What is `above` stands in lines before it."""
    return (
        f"{above}\n__global__ void k({PARAMETERS}) {{\n"
        "int i = blockIdx.x * blockDim.x + threadIdx.x;\nfloat x = in[i], y = in[i + n];\n"
        f"{body}\n}}\n"
    )
