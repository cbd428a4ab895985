"""Functions of the C and C++ libraries that programs call by their bare names: `using namespace
std`, or an argument of a type of std, is enough. A program may have overloads of its own."""

LIBRARY_NAMES = set(
    # <algorithm>, <numeric>, <iterator>, <utility>, <memory>, <functional>, <tuple>
    "accumulate adjacent_difference adjacent_find advance all_of any_of apply back_inserter "
    "begin binary_search bind cbegin cend clamp copy copy_backward copy_if copy_n count "
    "count_if data declval destroy distance empty end equal equal_range exchange exclusive_scan "
    "fill fill_n find find_end find_first_of find_if find_if_not for_each for_each_n forward "
    "gcd generate generate_n get includes inclusive_scan inner_product inplace_merge invoke "
    "iota is_heap is_partitioned is_permutation is_sorted iter_swap lcm lexicographical_compare "
    "lower_bound make_heap make_pair make_shared make_tuple make_unique max max_element mem_fn "
    "merge midpoint min min_element minmax minmax_element mismatch move next next_permutation "
    "none_of nth_element partial_sort partial_sum partition partition_copy partition_point "
    "pop_heap prev prev_permutation push_heap rbegin reduce ref remove remove_copy remove_if "
    "rend replace replace_copy replace_if reverse reverse_copy rotate rotate_copy sample search "
    "search_n set_difference set_intersection set_union shift_left shift_right shuffle size "
    "sort sort_heap stable_partition stable_sort swap swap_ranges tie transform "
    "transform_exclusive_scan transform_inclusive_scan transform_reduce tuple_cat unique "
    "unique_copy upper_bound "
    # <string>, <iostream>, <chrono>, <thread>
    "async flush getline hash hex quoted setprecision setw stod stof stoi stol stoul to_string "
    # <cmath>, <complex>, <cstdlib>
    "abort abs acos acosh arg asin asinh assoc_laguerre atan atan2 atanh atexit atof atoi atol "
    "beta bsearch calloc cbrt ceil conj copysign cos cosh div drand48 erf erfc exit exp exp2 "
    "expint expm1 fabs fdim floor fma fmax fmin fmod fpclassify free frexp gamma getenv hermite "
    "hypot ilogb imag isfinite isgreater isinf isless isnan isnormal j0 j1 jn labs laguerre "
    "ldexp legendre lerp lgamma llabs llrint llround log log10 log1p log2 logb lrint lround "
    "malloc modf nan nearbyint nextafter norm polar pow proj qsort rand rand_r random real "
    "realloc remainder remquo rint round scalbn signbit sin sinh sqrt srand srandom system tan "
    "tanh tgamma trunc y0 y1 yn "
    # CUDA's, which macros declare
    "cyl_bessel_i0 cyl_bessel_i1 erfcinv erfinv sincos sincospi "
    # <cstdio>, <cstring>, <cctype>, <ctime>, <cassert>, <unistd.h>
    "accept assert basename clock close connect difftime fclose fflush fgets fopen fprintf "
    "fputs fread fscanf fwrite getc getchar gets index isalpha isdigit islower isspace isupper "
    "kill link listen memchr memcmp memcpy memmove memset open pause perror pipe printf putchar "
    "puts read rename rewind rindex scanf select send signal sleep snprintf sprintf sscanf stat "
    "strcat strchr strcmp strcpy strlen strncmp strncpy strstr strtol sync time time_point "
    "tolower toupper truncate usleep wait write".split()
)
