// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A minimal frame for tests that link nothing but the runtime: functions that check expressions.
#ifndef ADJOINT_TEST_RUNTIME_UNIT_H
#define ADJOINT_TEST_RUNTIME_UNIT_H

#include <cstdio>
#include <initializer_list>
#include <string>

namespace unit {

inline int failures = 0;

inline void expect(bool condition, const std::string &text, const char *file, int line) {
  if (condition)
    return;
  ++failures;
  std::fprintf(stderr, "%s:%d: %s\n", file, line, text.c_str());
}

/// Runs the tests, prints `NAME: N run, N failed`, and returns the exit code.
inline int runTests(const char *name, std::initializer_list<void (*)()> tests) {
  int failed = 0;
  for (void (*test)() : tests) {
    int before = failures;
    test();
    failed += failures != before;
  }
  std::printf("%s: %d run, %d failed\n", name, static_cast<int>(tests.size()), failed);
  return failed ? 1 : 0;
}

} // namespace unit

#define EXPECT(CONDITION) unit::expect(CONDITION, #CONDITION, __FILE__, __LINE__)

#endif // ADJOINT_TEST_RUNTIME_UNIT_H
