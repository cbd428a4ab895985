// No `using namespace std` at all.
#include "emu/math.h"

// Depends on the headers above.
#include "overload_visibility.h"

TEST(OverloadVisibility, WithoutUsingNamespaceStd) {
    checkOverloads();
}
