// main() of the programs of unit tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

int main(int argc, char** argv) {
    // A test that ends its process does so in a new one, which has no threads of tests before it.
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    testing::InitGoogleMock(&argc, argv);
    return RUN_ALL_TESTS();
}
