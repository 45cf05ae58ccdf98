// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// MLIR's parser has one message for an unknown operation. A dialect has no hook to change it without parsing
// the operation itself. So the text of the diagnostic is completed before it is printed.

#include "adjoint/Support/ParserHints.h"

#include "adjoint/Support/Printable.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

static constexpr llvm::StringLiteral kPrefix = "ad.";

// The names of our operations in NumPy, JAX, PyTorch and other dialects.
static StringRef nameHere(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Cases({"matmul", "mm", "bmm", "mv", "einsum", "dot_general", "contract", "matvec"}, "dot")
      .Cases({"linear", "addmm", "fully_connected"}, "gemm")
      .Cases({"scaled_dot_product_attention", "dot_product_attention", "sdpa", "flash_attention",
              "multi_head_attention"},
             "attention")
      .Cases({"sum", "reduce_add"}, "reduce_sum")
      .Cases({"mean", "avg", "average"}, "reduce_mean")
      .Cases({"prod", "product"}, "reduce_prod")
      .Cases({"amax", "maximum_reduce"}, "reduce_max")
      .Cases({"amin", "minimum_reduce"}, "reduce_min")
      .Cases({"maximum", "maximumf", "maxsi"}, "max")
      .Cases({"minimum", "minimumf", "minsi"}, "min")
      .Cases({"subtract", "subf", "subi"}, "sub")
      .Cases({"multiply", "mulf", "muli"}, "mul")
      .Cases({"divide", "divf", "true_divide"}, "div")
      .Cases({"addf", "addi"}, "add")
      .Cases({"negate", "negf", "negative"}, "neg")
      .Cases({"power", "powf"}, "pow")
      .Cases({"absolute", "absf", "fabs"}, "abs")
      .Cases({"logistic", "expit"}, "sigmoid")
      .Cases({"swish"}, "silu")
      .Cases({"where", "if_then_else"}, "select")
      .Cases({"permute", "swapaxes", "t"}, "transpose")
      .Cases({"view", "flatten", "squeeze", "unsqueeze", "expand_dims", "collapse_shape"}, "reshape")
      .Cases({"expand", "broadcast_to", "broadcast_in_dim", "tile"}, "broadcast")
      .Cases({"cat", "concatenate", "stack"}, "concat")
      .Cases({"arange", "range"}, "iota")
      .Cases({"zeros", "ones", "splat", "fill"}, "full")
      .Cases({"const", "literal"}, "constant")
      .Cases({"astype", "to", "extf", "truncf"}, "cast")
      .Cases({"grad", "gradient", "value_and_gradient", "backward", "jacobian"}, "value_and_grad")
      .Cases({"pullback", "reverse_diff"}, "vjp")
      .Cases({"detach", "stop_grad"}, "stop_gradient")
      .Cases({"rope", "rotary", "apply_rotary_pos_emb"}, "rotary_embedding")
      .Cases({"batch_norm_training"}, "batch_norm")
      .Cases({"scan", "prefix_sum", "cumulative_sum"}, "cumsum")
      .Cases({"cumulative_prod"}, "cumprod")
      .Cases({"bitcast_convert", "bitcast_convert_type", "reinterpret_cast"}, "bitcast")
      .Cases({"cumulative_max", "running_max"}, "cummax")
      .Cases({"cumulative_min", "running_min"}, "cummin")
      .Cases({"lse"}, "logsumexp")
      .Cases({"instance_norm"}, "group_norm")
      .Cases({"modulo", "fmod", "mod", "remainder"}, "rem")
      .Cases({"round", "rint"}, "round_even")
      .Cases({"flip"}, "reverse")
      .Cases({"equal", "less", "greater", "cmp", "cmpf", "eq", "lt", "gt"}, "compare")
      .Default("");
}

// The operation whose name only differs in underscores, e.g. for `layernorm`.
static StringRef nameWithUnderscores(StringRef name, ArrayRef<RegisteredOperationName> operations) {
  auto letters = [](StringRef text) { return llvm::join(llvm::split(text, '_'), ""); };
  for (RegisteredOperationName operation : operations)
    if (StringRef candidate = operation.getStringRef().drop_front(kPrefix.size());
        letters(candidate) == letters(name))
      return candidate;
  return "";
}

// The operation with the most similar spelling, if at most a third of the letters differ.
static StringRef nearestName(StringRef name, ArrayRef<RegisteredOperationName> operations) {
  StringRef best;
  unsigned distance = name.size() / 3 + 2;
  for (RegisteredOperationName operation : operations) {
    StringRef candidate = operation.getStringRef().drop_front(kPrefix.size());
    unsigned current = name.edit_distance(candidate, /*AllowReplacements=*/true, distance);
    if (current < distance) {
      distance = current;
      best = candidate;
    }
  }
  return best;
}

// `name` is the name without the dialect's prefix, which the user may have omitted.
static void suggestOperation(Diagnostic &diagnostic, StringRef name, bool hasPrefix) {
  MLIRContext *context = diagnostic.getLocation()->getContext();
  SmallVector<RegisteredOperationName> operations;
  llvm::copy_if(
      context->getRegisteredOperations(), std::back_inserter(operations),
      [](RegisteredOperationName operation) { return operation.getStringRef().starts_with(kPrefix); });
  bool isExact = llvm::any_of(operations, [&](RegisteredOperationName operation) {
    return operation.getStringRef().drop_front(kPrefix.size()) == name;
  });
  StringRef meant = isExact ? name : nameHere(name);
  if (meant.empty())
    meant = nameWithUnderscores(name, operations);
  if (meant.empty() && hasPrefix)
    meant = nearestName(name, operations);
  if (!meant.empty())
    diagnostic << "; did you mean '" << kPrefix << meant << "'?";
  else if (hasPrefix)
    diagnostic << "; docs/reference lists the operations of the dialect";
}

namespace {
/// A message of the parser and the text to append. `message` is the whole message, or its end if it begins
/// with `'`.
struct Hint {
  StringRef message, hint;
};
} // namespace

static constexpr Hint kHints[] = {
    {"expected ':'", " and a type, for example ': tensor<4xf32>'"},
    {"expected operation name in quotes", ", an operation, or '}' where a region ends"},
    {"expected '->'", " and the type of the result, for example '-> tensor<4xf32>'"},
    {"expected '->' in function type", " and the types of the results, for example '-> tensor<4xf32>'"},
    {"use of undeclared SSA value name",
     "; a value is made before it is used, in the same region or around it, as '%x = …' or as an argument"},
    {"expected '['", " and a list, for example '[1, 0]'"},
    {"expected '('", "; docs/reference shows how each operation is written"},
    {"expected ','", ", as between two operands; docs/reference shows how each operation is written"},
    {"unexpected character",
     "; a program is ASCII outside of strings and comments, and has no byte order mark"},
    {"' expected 'axes'", " and a list, for example 'axes [0]'"},
    {"' expected 'axis'", " and a number, for example 'axis 0'"},
    {"' expected 'strides'",
     " and a list, for example '[8] strides [1]'; the type of the result has the sizes"},
};

static StringRef findHint(StringRef text) {
  for (const Hint &known : kHints)
    if (known.message.starts_with("'") ? text.ends_with(known.message) && text.starts_with("custom op")
                                       : text == known.message)
      return known.hint;
  return "";
}

static void replaceText(Diagnostic &diagnostic, const Twine &text) {
  for (DiagnosticArgument &argument : diagnostic.getArguments())
    argument = DiagnosticArgument(StringRef());
  diagnostic << text;
}

// expected one of [a, b] for SUMMARY, got: word
static void rewriteEnumeration(Diagnostic &diagnostic, StringRef rest) {
  auto [names, tail] = rest.split(']');
  auto [others, last] = names.rsplit(", ");
  std::string given = tail.rsplit(": ").second.str();
  replaceText(diagnostic, "expected " + others + " or " + last + ", but got '" + given + "'");
}

// What a reader does with a program of a dialect that other compilers have.
static StringRef insteadOfDialect(StringRef dialect) {
  return llvm::StringSwitch<StringRef>(dialect)
      .Case("tosa",
            "lower the program with mlir-opt --pass-pipeline='builtin.module(func.func(tosa-to-linalg-named,"
            "tosa-to-linalg,tosa-to-arith,tosa-to-tensor))' first")
      .Case("stablehlo", "lower the program with stablehlo-opt --stablehlo-legalize-to-linalg first")
      .Case("memref", "write tensors, as they are before bufferization")
      .Case("ml_program", "write the value of a global as arith.constant, or pass it as an argument")
      .Default("write operations of ad on tensors, which docs/reference lists");
}

// Dialect `name' not found for custom op 'name.op', and a note about the registration of dialects.
static void rewriteDialect(Diagnostic &diagnostic, StringRef text) {
  auto [name, operation] = text.split("' not found for custom op '");
  std::string dialect = name.str(), unknown = operation.split('\'').first.str();
  replaceText(diagnostic, "dialect '" + dialect + "' is not supported, but got '" + unknown + "'; " +
                              insteadOfDialect(dialect));
  for (Diagnostic &note : diagnostic.getNotes())
    replaceText(note, "programs are written in ad, arith, check, func, linalg, math, scf and tensor");
}

// f32 of tensor<4xf32>
static StringRef elementOf(StringRef tensor) {
  StringRef inside = tensor.drop_back();
  return inside.drop_front(inside.find_last_of("x<") + 1);
}

// The value has another type than the text says: a tensor for its element, the element for a tensor, or a
// tensor whose type differs from that of the other operand.
static void suggestConversion(Diagnostic &diagnostic, StringRef text) {
  StringRef value = text.split('\'').second.split('\'').first;
  auto [expected, given] = text.rsplit(" expects different type than prior uses: ").second.split(" vs ");
  expected = expected.trim('\'');
  given = given.trim('\'');
  bool isTensor = given.starts_with("tensor<"), expectsTensor = expected.starts_with("tensor<");
  if (given == ("tensor<" + expected + ">").str())
    diagnostic << "; take the element with tensor.extract " << value.str() << "[] : " << given.str();
  else if (expectsTensor && !isTensor)
    diagnostic << "; make a tensor of the scalar, with ad.full " << value.str() << " : " << given.str()
               << " -> tensor<" << given.str() << ">";
  else if (expectsTensor && isTensor && elementOf(expected) != elementOf(given))
    diagnostic << "; write its type, or convert it with ad.cast";
  else if (expectsTensor && isTensor)
    diagnostic << "; operands of different types are followed by all their types, for example ': "
               << expected.str() << ", " << given.str() << "'";
}

// Names of unknown operations may hold any bytes.
static void makePrintable(Diagnostic &diagnostic) {
  if (std::string text = diagnostic.str(), shown = ad::printableLines(text); shown != text)
    replaceText(diagnostic, shown);
  for (Diagnostic &note : diagnostic.getNotes())
    makePrintable(note);
}

bool ad::addParserHint(Diagnostic &diagnostic) {
  makePrintable(diagnostic);
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
    return false;
  std::string text = diagnostic.str();
  StringRef rest = text;
  // The message only adds names of C++ to the previous error.
  if (rest.starts_with("failed to parse ") && rest.contains(" parameter '") &&
      rest.contains("' which is to be a `"))
    return true;
  if (StringRef hint = findHint(text); !hint.empty()) {
    diagnostic << hint;
  } else if (rest.consume_front("custom op '") && rest.contains("' is unknown")) {
    StringRef name = rest.take_until([](char c) { return c == '\''; });
    if (bool hasPrefix = name.consume_front(kPrefix); hasPrefix || !name.contains('.'))
      suggestOperation(diagnostic, name, hasPrefix);
  } else if (rest.starts_with("block with no terminator")) {
    diagnostic << "; end a function with 'return', and other regions with the yield of their operation";
  } else if (rest.consume_front("expected one of [") && rest.contains(", got: ")) {
    rewriteEnumeration(diagnostic, rest);
  } else if (rest.consume_front("Dialect `") && rest.contains("' not found for custom op '")) {
    rewriteDialect(diagnostic, rest);
  } else if (rest.starts_with("operation being parsed with an unregistered dialect")) {
    replaceText(diagnostic,
                "the dialect of this operation is not supported; programs are written in ad, arith, check, "
                "func, linalg, math, scf and tensor, and others are lowered to these first (StableHLO: "
                "stablehlo-opt --stablehlo-legalize-to-linalg)");
  } else if (rest.starts_with("use of value '")) {
    suggestConversion(diagnostic, rest);
  } else if (rest.starts_with("'func.call' op '") &&
             rest.ends_with("' does not reference a valid function")) {
    diagnostic << "; define it in the program, as 'func.func private @NAME(…)'";
  }
  return false;
}

static bool isOf(FileLineColLoc location, StringRef input) {
  StringRef file = location.getFilename();
  return file == input || file.starts_with("within split at " + input.str());
}

static void printWithoutSource(const Diagnostic &diagnostic, FileLineColLoc location) {
  static constexpr llvm::SourceMgr::DiagKind kinds[] = {llvm::SourceMgr::DK_Note, llvm::SourceMgr::DK_Warning,
                                                        llvm::SourceMgr::DK_Error,
                                                        llvm::SourceMgr::DK_Remark};
  std::string place;
  llvm::raw_string_ostream(place) << ad::printable(location.getFilename()) << ":" << location.getLine() << ":"
                                  << location.getColumn();
  llvm::SMDiagnostic(place, kinds[static_cast<unsigned>(diagnostic.getSeverity())], diagnostic.str())
      .print(nullptr, ad::printableErrors());
}

bool ad::printOfOtherFile(const Diagnostic &diagnostic, StringRef input) {
  auto location = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>();
  if (!location || isOf(location, input))
    return false;
  printWithoutSource(diagnostic, location);
  for (const Diagnostic &note : diagnostic.getNotes())
    printWithoutSource(note, location);
  return true;
}

void ad::addParserHints(MLIRContext *context) {
  context->getDiagEngine().registerHandler([](Diagnostic &diagnostic) {
    return success(addParserHint(diagnostic)); // other diagnostics go on to the next handler
  });
}
