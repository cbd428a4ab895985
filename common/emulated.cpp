// A file of its own: a program that has a kEmulated already takes no other from the library.
#include "device.cuh"

namespace lab {

#ifdef __CUDA_EMULATOR__
const bool kEmulated = true;
#else
const bool kEmulated = false;
#endif

}  // namespace lab
