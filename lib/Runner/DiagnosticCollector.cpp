// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Diagnostics as plain data.
#include "DiagnosticCollector.h"
#include "adjoint/Support/Printable.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

using namespace mlir;
using namespace mlir::ad::runner;

namespace {

const char *severityName(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Remark:
    return "remark";
  case DiagnosticSeverity::Note:
    return "note";
  }
  return "error";
}

Message makeMessage(const Diagnostic &diagnostic) {
  Message message;
  message.severity = severityName(diagnostic.getSeverity());
  message.text = ad::printableLines(diagnostic.str());
  if (auto location = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>()) {
    message.file = ad::printable(location.getFilename());
    message.line = location.getLine();
    message.column = location.getColumn();
  }
  for (const Diagnostic &note : diagnostic.getNotes())
    message.notes.push_back(makeMessage(note));
  return message;
}

} // namespace

DiagnosticCollector::DiagnosticCollector(MLIRContext *context, std::vector<Message> &messages,
                                         bool onlyThisThread)
    : handler(context,
              [&messages, onlyThisThread, thread = std::this_thread::get_id()](Diagnostic &diagnostic) {
                if (onlyThisThread && std::this_thread::get_id() != thread)
                  return failure();
                messages.push_back(makeMessage(diagnostic));
                return success();
              }) {}
