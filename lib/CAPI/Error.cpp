// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Errors of the C API.
#include "Error.h"

using namespace mlir::ad;
using runner::Failure;
using runner::Message;

static_assert(static_cast<int>(Failure::Reason::Options) == ADJOINT_OPTIONS);
static_assert(static_cast<int>(Failure::Reason::Source) == ADJOINT_SOURCE);
static_assert(static_cast<int>(Failure::Reason::Target) == ADJOINT_TARGET);
static_assert(static_cast<int>(Failure::Reason::Program) == ADJOINT_PROGRAM);
static_assert(static_cast<int>(Failure::Reason::Check) == ADJOINT_CHECK);
static_assert(static_cast<int>(Failure::Reason::Host) == ADJOINT_HOST);
static_assert(static_cast<int>(Failure::Reason::Interrupted) == ADJOINT_INTERRUPTED);
static_assert(static_cast<int>(Failure::Reason::Output) == ADJOINT_OUTPUT);
static_assert(static_cast<int>(Failure::Reason::File) == ADJOINT_FILE);

struct AdjointError {
  AdjointReason reason;
  std::vector<Message> messages; ///< notes follow what they explain
  std::string text;
};

static void append(const Message &message, std::vector<Message> &messages) {
  messages.push_back(message);
  for (const Message &note : message.notes)
    append(note, messages);
}

static std::string line(const Message &message) {
  std::string place = message.file;
  if (!place.empty())
    place += ":" + std::to_string(message.line) + ":" + std::to_string(message.column) + ": ";
  return place + message.severity + ": " + message.text;
}

/// The error of a run has a place as text, which may be any location of MLIR.
static Message messageOf(const Failure &failure) {
  std::string operation = failure.operation.empty() ? "" : "'" + failure.operation + "' op ";
  std::string place = failure.location.empty() ? "" : failure.location + ": ";
  return {"error", "", 0, 0, place + operation + failure.message, {}};
}

AdjointError *capi::makeError(Failure failure) {
  auto *error = new AdjointError{static_cast<AdjointReason>(failure.reason), {}, ""};
  if (!failure.message.empty())
    error->messages.push_back(messageOf(failure));
  for (const Message &message : failure.diagnostics)
    append(message, error->messages);
  for (const Message &message : error->messages)
    error->text += (error->text.empty() ? "" : "\n") + line(message);
  return error;
}

AdjointError *capi::makeError(Failure::Reason reason, std::string message) {
  return makeError(Failure{reason, std::move(message), "", "", {}});
}

AdjointError *capi::makeMissing(const char *what) {
  return makeError(Failure::Reason::Options, std::string("the ") + what + " is a null pointer");
}

static AdjointSeverity severityOf(const Message &message) {
  if (message.severity == "warning")
    return ADJOINT_SEVERITY_WARNING;
  if (message.severity == "remark")
    return ADJOINT_SEVERITY_REMARK;
  return message.severity == "note" ? ADJOINT_SEVERITY_NOTE : ADJOINT_SEVERITY_ERROR;
}

AdjointReason adjointErrorGetReason(const AdjointError *error) { return error->reason; }

const char *adjointErrorGetText(const AdjointError *error) { return error->text.c_str(); }

size_t adjointErrorGetNumDiagnostics(const AdjointError *error) { return error->messages.size(); }

AdjointDiagnostic adjointErrorGetDiagnostic(const AdjointError *error, size_t index) {
  const Message &message = error->messages[index];
  return {severityOf(message), message.file.c_str(), message.line, message.column, message.text.c_str()};
}

void adjointErrorDestroy(AdjointError *error) { delete error; }
