// The host API of the CUDA runtime: names, signatures and error codes of CUDA 12 and 13.
// Errors are returned in the cases in which a GPU's runtime returns them. Differences from CUDA are
// said at each function; what is not declared is not supported.
#pragma once

#include "emu/api/device.h"
#include "emu/api/errors.h"
#include "emu/api/events.h"
#include "emu/api/functions.h"
#include "emu/api/graphs.h"
#include "emu/api/launch.h"
#include "emu/api/memory.h"
#include "emu/api/streams.h"
#include "emu/api/symbols.h"
#include "emu/api/textures.h"
#include "emu/runtime_types.h"
