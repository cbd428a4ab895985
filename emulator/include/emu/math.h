// What CUDA offers in device code beyond the C and C++ standard library.
#pragma once

#include "emu/bit_functions.h"
#include "emu/conversions.h"
#include "emu/fast_math.h"
#include "emu/load_store.h"
#include "emu/math_functions.h"
#include "emu/min_max.h"
#include "emu/rounded_arithmetic.h"
#include "emu/thread_functions.h"
