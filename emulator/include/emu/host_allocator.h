// For what the engine keeps of a kernel that launches another: allocated where code of the program
// runs, and on the host's heap all the same.
#pragma once

#include <cstddef>
#include <memory>

namespace emu {

// Ends the program where there is no memory.
void* takeHostMemory(size_t bytes, size_t alignment);
// The owner of an object in such memory, at whose end `destroy` gets the object.
std::shared_ptr<const void> ownHostMemory(void* object, void (*destroy)(void* object));

}  // namespace emu
