// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Descriptions of programs and messages as plain Python values.
#ifndef ADJOINT_PYTHON_DESCRIBE_H
#define ADJOINT_PYTHON_DESCRIBE_H

#include "adjoint/Runner/Program.h"

#include <nanobind/nanobind.h>

namespace adjoint_python {

/// {"entry": name, "arguments": [value], "results": [value], "feeds": [value], "receives": [(name,
/// [value])]}. A value is (name, element type, sizes, number of the result that it is donated to). -1 is a
/// dynamic size, or no result.
nanobind::dict describe(const mlir::ad::runner::ProgramInterface &interface);

/// [(severity, file, line, column, text, notes)].
nanobind::list describe(const std::vector<mlir::ad::runner::Message> &messages);

/// The name of a reason, in lower case.
const char *describe(mlir::ad::runner::Failure::Reason reason);

} // namespace adjoint_python

#endif // ADJOINT_PYTHON_DESCRIBE_H
