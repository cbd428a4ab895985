"""What kernels did: the catalogue of metrics, NVIDIA's profilers, and tables of what they count."""
