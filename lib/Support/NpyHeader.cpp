// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The header of an .npy file: six magic bytes, a version, a length, and the text of a Python dictionary with
// exactly the keys descr, fortran_order and shape. The parser is strict: it only accepts text that NumPy
// writes.
#include "adjoint/Support/CountText.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/Npy.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"

using namespace mlir::ad::runner;
using mlir::ad::countText;

namespace {

constexpr llvm::StringLiteral magic("\x93NUMPY");
constexpr uint64_t maxHeaderBytes = 1 << 20;
constexpr size_t maxRank = 64; // as NumPy 2

/// The text of the dictionary.
class HeaderParser {
public:
  explicit HeaderParser(llvm::StringRef text) : rest(text) {}
  llvm::Error parse(NpyHeader &header);

private:
  void skipSpaces() { rest = rest.ltrim(" \t\r\n"); }
  bool take(char character);
  llvm::Error expect(char character);
  llvm::Error parseString(std::string &value);
  llvm::Error parseEntry(llvm::StringRef key, NpyHeader &header);
  llvm::Error parseBool(bool &value);
  llvm::Error parseShape(NpyHeader &header);
  llvm::Error parseSize(int64_t &size);
  llvm::Error malformed(const llvm::Twine &expected) const;

  llvm::StringRef rest;
};

llvm::Error HeaderParser::malformed(const llvm::Twine &expected) const {
  std::string found = rest.empty() ? "the end" : "'" + rest.take_front(16).str() + "'";
  for (char &character : found)
    if (!llvm::isPrint(character))
      character = '?';
  return usageError("malformed header: expected " + expected + ", found " + found);
}

bool HeaderParser::take(char character) {
  skipSpaces();
  return rest.consume_front(llvm::StringRef(&character, 1));
}

llvm::Error HeaderParser::expect(char character) {
  if (take(character))
    return llvm::Error::success();
  return malformed("'" + llvm::Twine(character) + "'");
}

llvm::Error HeaderParser::parseString(std::string &value) {
  skipSpaces();
  char quote = rest.empty() ? 0 : rest.front();
  if (quote == '[')
    return usageError("structured dtypes are not supported, expected one number per element");
  if (quote != '\'' && quote != '"')
    return malformed("a string");
  size_t end = rest.find(quote, 1);
  if (end == llvm::StringRef::npos)
    return malformed("a closed string");
  value = rest.slice(1, end).str();
  rest = rest.drop_front(end + 1);
  return llvm::Error::success();
}

llvm::Error HeaderParser::parseBool(bool &value) {
  skipSpaces();
  value = rest.consume_front("True");
  if (value || rest.consume_front("False"))
    return llvm::Error::success();
  return malformed("True or False");
}

llvm::Error HeaderParser::parseSize(int64_t &size) {
  skipSpaces();
  uint64_t value = 0;
  if (rest.empty() || !llvm::isDigit(rest.front()))
    return malformed("a size");
  if (rest.consumeInteger(10, value) || value > static_cast<uint64_t>(INT64_MAX))
    return usageError("the shape holds a size beyond 64 bits");
  rest.consume_front("L"); // as Python 2 wrote long integers
  size = static_cast<int64_t>(value);
  return llvm::Error::success();
}

// Spaces before the first size are the room of a stream, whose count grows.
llvm::Error HeaderParser::parseShape(NpyHeader &header) {
  Shape &shape = header.shape;
  if (llvm::Error error = expect('('))
    return error;
  header.isStream = rest.starts_with(" ");
  while (!take(')')) {
    if (shape.size() == maxRank)
      return usageError("the shape has more than " + llvm::Twine(maxRank) + " dimensions");
    int64_t size;
    if (llvm::Error error = parseSize(size))
      return error;
    shape.push_back(size);
    if (take(','))
      continue;
    // (3) without a comma would be a number in Python; anything else ends the tuple.
    return shape.size() == 1 ? malformed("','") : expect(')');
  }
  return llvm::Error::success();
}

llvm::Error HeaderParser::parseEntry(llvm::StringRef key, NpyHeader &header) {
  if (key == "descr")
    return parseString(header.dtype);
  if (key == "fortran_order")
    return parseBool(header.fortranOrder);
  if (key == "shape")
    return parseShape(header);
  return usageError("malformed header: unknown key '" + key.take_front(32) + "'");
}

llvm::Error HeaderParser::parse(NpyHeader &header) {
  if (llvm::Error error = expect('{'))
    return error;
  llvm::SmallVector<std::string, 3> seen;
  while (!take('}')) {
    std::string key;
    if (llvm::Error error = parseString(key))
      return error;
    if (llvm::is_contained(seen, key))
      return usageError("malformed header: key '" + llvm::StringRef(key).take_front(32) + "' is given twice");
    if (llvm::Error error = expect(':'))
      return error;
    if (llvm::Error error = parseEntry(key, header))
      return error;
    seen.push_back(std::move(key));
    if (take(','))
      continue;
    if (llvm::Error error = expect('}'))
      return error;
    break;
  }
  skipSpaces();
  if (!rest.empty())
    return malformed("the end of the header");
  header.isStream &= !header.shape.empty();
  if (seen.size() != 3)
    return usageError("malformed header: expected the keys descr, fortran_order and shape");
  return llvm::Error::success();
}

/// Bytes of an element of `dtype`; 0 for types that programs do not have.
llvm::Expected<int64_t> elementBytes(llvm::StringRef dtype) {
  if (dtype.starts_with(">") && dtype != ">V1" && dtype != ">V2")
    return usageError("big-endian data ('" + dtype +
                      "') is not supported, convert it with .astype(dtype.newbyteorder('<'))");
  if (dtype == "|O")
    return usageError("the array holds Python objects; convert it to numbers before numpy.save, "
                      "for example by array.astype(numpy.float32)");
  int64_t bytes = llvm::StringSwitch<int64_t>(dtype.ltrim("<>=|"))
                      .Cases({"f8", "i8"}, 8)
                      .Cases({"f4", "i4"}, 4)
                      .Cases({"f2", "V2", "bfloat16"}, 2)
                      .Cases({"b1", "i1", "f1", "V1", "?", "float8_e4m3fn", "float8_e5m2"}, 1)
                      .Default(0);
  if (bytes == 0)
    return usageError(
        "dtype '" + dtype.take_front(32) +
        "' is not supported, expected f8, f4, f2, b1, i1, i4, i8, or V2 and V1 for bf16 and f8");
  return bytes;
}

llvm::Error countWholeValues(NpyHeader &header, uint64_t present) {
  int64_t each = header.elementBytes;
  for (int64_t size : llvm::ArrayRef(header.shape).drop_front())
    if (__builtin_mul_overflow(each, size, &each))
      return usageError("the shape has more elements than fit into memory");
  if (each == 0) // the header counts values without elements
    return present == 0 ? llvm::Error::success() : usageError("a stream of values without elements has data");
  header.shape.front() = static_cast<int64_t>(present) / each;
  header.partialBytes = static_cast<int64_t>(present) % each;
  header.dataBytes = static_cast<int64_t>(present) - header.partialBytes;
  return llvm::Error::success();
}

llvm::Error computeSizes(NpyHeader &header, uint64_t fileSize) {
  llvm::Expected<int64_t> width = elementBytes(header.dtype);
  if (!width)
    return width.takeError();
  header.elementBytes = *width;
  if (header.isStream)
    return countWholeValues(header, fileSize - header.dataOffset);
  int64_t bytes = *width;
  for (int64_t size : header.shape)
    if (size != 0 && __builtin_mul_overflow(bytes, size, &bytes))
      return usageError("the shape has more elements than fit into memory");
  header.dataBytes = llvm::is_contained(header.shape, 0) ? 0 : bytes;
  uint64_t present = fileSize - header.dataOffset, announced = static_cast<uint64_t>(header.dataBytes);
  if (present < announced)
    return usageError("truncated: the header announces " + countText(announced, "byte") +
                      " of data, the file holds " + llvm::Twine(present));
  if (present > announced)
    return usageError("the file has " + countText(present - announced, "byte") + " after the " +
                      countText(announced, "byte") +
                      " of data that the header announces; write the file again, with one array");
  return llvm::Error::success();
}

} // namespace

llvm::Expected<NpyHeader> mlir::ad::runner::parseNpyHeader(llvm::ArrayRef<char> bytes, uint64_t fileSize) {
  llvm::StringRef text(bytes.data(), bytes.size());
  if (!text.starts_with(magic))
    return usageError("not an .npy file, as numpy.save writes it");
  if (text.size() < 10)
    return usageError("truncated: the file ends within the header");
  unsigned version = static_cast<unsigned char>(text[6]);
  if (version < 1 || version > 3)
    return usageError("format version " + llvm::Twine(version) + " is unknown, expected 1, 2 or 3");
  uint64_t start = version == 1 ? 10 : 12;
  if (text.size() < start)
    return usageError("truncated: the file ends within the header");
  uint64_t length = version == 1 ? llvm::support::endian::read16le(text.data() + 8)
                                 : llvm::support::endian::read32le(text.data() + 8);
  if (length > maxHeaderBytes)
    return usageError("the header has " + llvm::Twine(length) + " bytes, expected at most " +
                      llvm::Twine(maxHeaderBytes));
  if (text.size() < start + length || fileSize < start + length)
    return usageError("truncated: the file ends within the header");
  NpyHeader header;
  header.dataOffset = start + length;
  if (llvm::Error error = HeaderParser(text.substr(start, length)).parse(header))
    return std::move(error);
  if (llvm::Error error = computeSizes(header, fileSize))
    return std::move(error);
  return header;
}

bool mlir::ad::runner::npyTypeFits(llvm::StringRef dtype, adrt_type type) {
  llvm::StringRef name = dtype.ltrim("<>=|");
  switch (type) {
  case ADRT_F64:
    return name == "f8";
  case ADRT_F32:
    return name == "f4";
  case ADRT_F16:
    return name == "f2";
  case ADRT_BF16:
    return name == "V2" || name == "bfloat16";
  case ADRT_F8E4M3FN:
    return name == "V1" || name == "float8_e4m3fn";
  case ADRT_F8E5M2:
    return name == "V1" || name == "float8_e5m2" || name == "f1"; // f1: the str of ml_dtypes' float8_e5m2
  case ADRT_I1:
    return name == "b1" || name == "?";
  case ADRT_I8:
    return name == "i1";
  case ADRT_I32:
    return name == "i4";
  case ADRT_I64:
    return name == "i8";
  }
  return false;
}

// The name of the type in NumPy; the narrow floats are those of the package ml_dtypes.
static llvm::StringRef numpyName(adrt_type type) {
  switch (type) {
  case ADRT_F64:
    return "numpy.float64";
  case ADRT_F32:
    return "numpy.float32";
  case ADRT_F16:
    return "numpy.float16";
  case ADRT_BF16:
    return "ml_dtypes.bfloat16";
  case ADRT_F8E4M3FN:
    return "ml_dtypes.float8_e4m3fn";
  case ADRT_F8E5M2:
    return "ml_dtypes.float8_e5m2";
  case ADRT_I1:
    return "numpy.bool_";
  case ADRT_I8:
    return "numpy.int8";
  case ADRT_I32:
    return "numpy.int32";
  case ADRT_I64:
    return "numpy.int64";
  }
  return "";
}

llvm::Error mlir::ad::runner::npyTypeError(llvm::StringRef path, llvm::StringRef dtype, adrt_type type) {
  return usageError("'" + path + "': expected elements of type " + adrt::typeName(type) + ", found dtype '" +
                    dtype + "'; convert it with .astype(" + numpyName(type) + ")");
}
