/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Makes the message of adrt_fail. Compiled code passes a kind and a few integers, so that it stays small. */
#include "Failure.h"
#include "adjoint/Runtime/Host/Context.h"

using namespace adrt;

namespace {

/// The values of a failure. A value that the program did not pass is 0.
class Values {
public:
  Values(const int64_t *values, int32_t count) : values(values), count(count) {}
  int64_t raw(int32_t index) const { return index < count ? values[index] : 0; }
  std::string operator[](int32_t index) const { return std::to_string(raw(index)); }

private:
  const int64_t *values;
  int32_t count;
};

std::string describeArgument(const Values &v) {
  std::string argument = "argument " + v[0];
  switch (v.raw(1)) {
  case -1:
    return argument + " must have element type " + typeName(static_cast<int32_t>(v.raw(2))) + ", but has " +
           typeName(static_cast<int32_t>(v.raw(3)));
  case -2:
    return argument + " must have rank " + v[2] + ", but has " + v[3];
  default:
    return argument + " must have size " + v[2] + " in dimension " + v[1] + ", but has " + v[3];
  }
}

} // namespace

std::string adrt::describeFailure(int32_t kind, const int64_t *values, int32_t count) {
  Values v(values, count);
  switch (kind) {
  case ADRT_FAIL_BROADCAST:
    return "broadcast: dimension " + v[0] + " has sizes " + v[1] + " and " + v[2] + ", neither is 1";
  case ADRT_FAIL_SAME_SIZE:
    return "dimension " + v[0] + " must have size " + v[1] + ", but has " + v[2];
  case ADRT_FAIL_BOUNDS:
    return "dimension " + v[0] + ": index " + v[1] + " is outside of size " + v[2];
  case ADRT_FAIL_NEGATIVE:
    return "dimension " + v[0] + " has negative size " + v[1];
  case ADRT_FAIL_RESHAPE:
    return "reshape: " + v[0] + " elements cannot become " + v[1];
  case ADRT_FAIL_CARRY:
    return "loop carry " + v[0] + ": dimension " + v[1] + " changes from size " + v[2] + " to " + v[3];
  case ADRT_FAIL_STEP:
    return "requires a positive step, but got " + v[0];
  case ADRT_FAIL_DIVISION:
    return "divides by zero";
  case ADRT_FAIL_CLASS:
    return "class number " + v[0] + " is outside of " + v[1] + " classes";
  case ADRT_FAIL_OPERAND:
    return "operand " + v[0] + " must have size " + v[2] + " in dimension " + v[1] +
           ", like the operands before it that its loop indexes, but has " + v[3];
  case ADRT_FAIL_OPERAND_BOUNDS:
    return "operand " + v[0] + ", dimension " + v[1] + ": index " + v[2] + " of its map is outside of size " +
           v[3];
  case ADRT_FAIL_RESULT:
    return "result " + v[0] + " has size " + v[2] + " in dimension " + v[1] +
           " in the kernel, but 'sizes' says " + v[3];
  case ADRT_FAIL_SHARED_LOOPS:
    return "result " + v[0] + " must have size " + v[2] + " in dimension " + v[1] +
           ", since results of one shape share the loops of their kernel, but has " + v[3] +
           "; compute it in a kernel of its own";
  case ADRT_FAIL_ARGUMENT:
    return describeArgument(v);
  default:
    return "unknown run-time error " + std::to_string(kind);
  }
}
