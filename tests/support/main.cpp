// The test program's main(): Catch2 2.13 wants it compiled here, 3.x brings it in its library.
#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_MAIN
#include "tests/support/catch.h"
#endif
