// `using namespace std` after the headers, as in a program (cuda_runtime.h is included implicitly).
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>

#include "emu/atomics.h"
#include "emu/math.h"

using namespace std;

#include "overload_visibility.h"

TEST(OverloadVisibility, UsingNamespaceStdAfterTheHeaders) {
    checkOverloads();
}
