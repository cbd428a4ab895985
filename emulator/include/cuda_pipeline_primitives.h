#pragma once
#include "cuda_runtime.h"
#include "emu/pipeline.h"
