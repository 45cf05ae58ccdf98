// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A minimal frame for tests in C++: named functions that check expressions.
#ifndef ADJOINT_TEST_RUNNER_UNIT_H
#define ADJOINT_TEST_RUNNER_UNIT_H

#include "adjoint/Support/Error.h"
#include "adjoint/Support/Tensor.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace unit {

struct Test {
  const char *name;
  void (*body)();
};

std::vector<Test> &tests();
void fail(const char *file, int line, const std::string &text);
/// A folder of this process, removed at its end.
std::string scratch(llvm::StringRef name);

struct Registration {
  Registration(const char *name, void (*body)()) { tests().push_back({name, body}); }
};

/// The message of an error, and its exit code in front.
inline std::string text(llvm::Error error) {
  auto [code, message] = mlir::ad::runner::consumeExitError(std::move(error));
  return code == 0 ? "ok" : std::to_string(code) + ": " + message;
}
template <typename T> std::string text(llvm::Expected<T> value) {
  return value ? "ok" : text(value.takeError());
}

/// A tensor of `type` with the given elements.
mlir::ad::runner::Tensor tensor(adrt_type type, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> values);

} // namespace unit

#define TEST(NAME)                                                                                           \
  static void NAME();                                                                                        \
  static const unit::Registration registration_##NAME(#NAME, NAME);                                          \
  static void NAME()

#define EXPECT(CONDITION)                                                                                    \
  do {                                                                                                       \
    if (!(CONDITION))                                                                                        \
      unit::fail(__FILE__, __LINE__, #CONDITION);                                                            \
  } while (false)

#define EXPECT_TEXT(GOT, EXPECTED)                                                                           \
  do {                                                                                                       \
    std::string got_ = (GOT), expected_ = (EXPECTED);                                                        \
    if (got_.find(expected_) == std::string::npos)                                                           \
      unit::fail(__FILE__, __LINE__, "got '" + got_ + "', expected '" + expected_ + "'");                    \
  } while (false)

#endif // ADJOINT_TEST_RUNNER_UNIT_H
