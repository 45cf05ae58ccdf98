// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The main function of all programs of tests: `ad-foo-unit [--gtest_filter=SUITE.CASE]`. Running no test at
// all is a failure, since a filter that matches nothing proves nothing.
#include "gtest/gtest.h"

#include <cstdio>

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1) {
    std::fprintf(stderr, "%s: unknown argument '%s'; --help lists the options\n", argv[0], argv[1]);
    return 2;
  }
  int code = RUN_ALL_TESTS();
  if (testing::GTEST_FLAG(list_tests) || testing::UnitTest::GetInstance()->test_to_run_count() > 0)
    return code;
  std::fprintf(stderr, "%s: no test matches '%s'\n", argv[0], testing::GTEST_FLAG(filter).c_str());
  return 1;
}
