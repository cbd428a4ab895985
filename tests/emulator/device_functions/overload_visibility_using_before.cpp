// `using namespace std` before the headers.
#include <type_traits>

using namespace std;

#include "emu/atomics.h"
#include "emu/math.h"
// What a program includes later must not disturb.
#include <algorithm>
#include <complex>
#include <iostream>

#include "overload_visibility.h"

TEST(OverloadVisibility, UsingNamespaceStdBeforeTheHeaders) {
    checkOverloads();
}
