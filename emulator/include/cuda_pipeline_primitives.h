#pragma once
#include "cuda_runtime.h"
#include "emu/pipeline.h"
#include "cuda_awbarrier_primitives.h"
