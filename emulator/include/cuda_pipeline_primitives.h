#pragma once
#include "cuda_awbarrier_primitives.h"
#include "cuda_runtime.h"
#include "emu/pipeline.h"
