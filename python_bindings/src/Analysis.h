// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Traces of runs, replays, comparisons of traces, and examinations of a run.
#ifndef ADJOINT_PYTHON_ANALYSIS_H
#define ADJOINT_PYTHON_ANALYSIS_H

#include <nanobind/nanobind.h>

namespace adjoint_python {

/// Adds the functions that the module adjoint.diff calls.
void bindAnalysis(nanobind::module_ &module);

} // namespace adjoint_python

#endif // ADJOINT_PYTHON_ANALYSIS_H
