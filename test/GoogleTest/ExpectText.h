// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// An assertion about messages: the text that was got contains the expected one.
#ifndef ADJOINT_TEST_GOOGLETEST_EXPECTTEXT_H
#define ADJOINT_TEST_GOOGLETEST_EXPECTTEXT_H

#include "gtest/gtest.h"

#include <string>

#define EXPECT_TEXT(GOT, EXPECTED)                                                                           \
  EXPECT_PRED_FORMAT2(testing::IsSubstring, std::string(EXPECTED), std::string(GOT))

#endif // ADJOINT_TEST_GOOGLETEST_EXPECTTEXT_H
