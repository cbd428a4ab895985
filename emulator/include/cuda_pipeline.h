// Stands in for NVIDIA's header of this name; of what that declares, the functions in C.
#pragma once
#include "cuda_pipeline_primitives.h"
