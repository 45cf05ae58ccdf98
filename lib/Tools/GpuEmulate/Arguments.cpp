// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reads arrays and numbers, describes tensor maps.
#include "Arguments.h"
#include "adjoint/Support/Elements.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/Npy.h"

#include <cmath>
#include <cstring>

using namespace mlir::ad;
using namespace mlir::ad::emulator;
using llvm::StringRef;
using runner::usageError;

namespace {

llvm::Expected<runner::Shape> parseShape(StringRef text) {
  runner::Shape shape;
  llvm::SmallVector<StringRef> parts;
  text.split(parts, 'x');
  for (StringRef part : parts) {
    llvm::Expected<uint64_t> size = parseNumber(part, "a shape", INT64_MAX);
    if (!size)
      return size.takeError();
    shape.push_back(static_cast<int64_t>(*size));
  }
  return shape;
}

llvm::Expected<runner::Tensor> readFile(StringRef path, StringRef typeName) {
  llvm::Expected<runner::NpyFile> file = runner::NpyFile::open(path);
  if (!file)
    return file.takeError();
  if (!typeName.empty()) {
    std::optional<adrt_type> type = runner::parseElementType(typeName);
    return type ? file->load(*type) : usageError("unknown element type '" + typeName + "'");
  }
  for (int type = ADRT_F64; type <= ADRT_I64; ++type)
    if (runner::npyTypeFits(file->getHeader().dtype, static_cast<adrt_type>(type)))
      return file->load(static_cast<adrt_type>(type));
  return usageError("'" + path + "' holds '" + file->getHeader().dtype +
                    "', which is no element type; write TYPE:" + path);
}

template <typename T> void store(unsigned char *bytes, T value) { std::memcpy(bytes, &value, sizeof(value)); }

} // namespace

llvm::Expected<std::unique_ptr<Arguments>> Arguments::create(const ToolOptions &options) {
  auto arguments = std::make_unique<Arguments>();
  for (const std::string &text : options.arguments)
    if (llvm::Error error = arguments->add(text))
      return std::move(error);
  return arguments;
}

llvm::Error Arguments::createOutput(StringRef text, Array &array) {
  auto [typeName, shapeText] = text.split(':');
  std::optional<adrt_type> type = runner::parseElementType(typeName);
  if (!type)
    return usageError("unknown element type '" + typeName + "' in 'out:" + text + "'");
  llvm::Expected<runner::Shape> shape = parseShape(shapeText);
  if (!shape)
    return shape.takeError();
  llvm::Expected<runner::Tensor> tensor = runner::Tensor::create(*type, *shape);
  if (!tensor)
    return tensor.takeError();
  std::memset(tensor->getData(), 0, static_cast<size_t>(tensor->getByteSize()));
  array.tensor = std::move(*tensor);
  return llvm::Error::success();
}

llvm::Expected<Arguments::Array *> Arguments::readArray(StringRef text) {
  auto array = std::make_unique<Array>();
  StringRef rest = text;
  if (rest.consume_front("out:")) {
    array->writable = true;
    if (llvm::Error error = createOutput(rest, *array))
      return std::move(error);
  } else {
    array->writable = rest.consume_front("inout:");
    if (!rest.ends_with(".npy"))
      return nullptr;
    StringRef type = rest.take_until([](char c) { return c == ':'; });
    bool typed = type != rest && runner::parseElementType(type);
    llvm::Expected<runner::Tensor> tensor =
        readFile(typed ? rest.drop_front(type.size() + 1) : rest, typed ? type : "");
    if (!tensor)
      return tensor.takeError();
    array->tensor = std::move(*tensor);
  }
  arrays.push_back(std::move(array));
  return arrays.back().get();
}

// An integer is written as signed or as unsigned. A float that is no infinity must not become one.
static bool isInRange(StringRef type, StringRef text, int64_t integer, double number) {
  unsigned bits = 0;
  type.drop_front().getAsInteger(10, bits);
  if (type.starts_with("i"))
    return bits >= 64 || llvm::isIntN(bits, integer) || (integer >= 0 && llvm::isUIntN(bits, integer));
  bool isInfinite = bits == 32 ? std::isinf(static_cast<float>(number)) : std::isinf(number);
  return !isInfinite || text.find_first_of("0123456789") == StringRef::npos;
}

llvm::Error Arguments::addScalar(StringRef type, StringRef text, Value &value) {
  int64_t integer = 0;
  double number = 0;
  bool isFloat = type.starts_with("f");
  if (isFloat ? text.getAsDouble(number) : text.getAsInteger(10, integer))
    return usageError("'" + text + "' is no number of type " + type);
  if (!isInRange(type, text, integer, number))
    return usageError("'" + text + "' is out of the range of type " + type);
  if (type == "f32")
    store(value.bytes.data(), static_cast<float>(number));
  else if (type == "f64")
    store(value.bytes.data(), number);
  else
    store(value.bytes.data(), integer);
  return llvm::Error::success();
}

// A setting of a tensor map: box=SHAPE, with axes in the order of the array, swizzle=BYTES, or tf32.
static llvm::Error readMapSetting(StringRef setting, adsim::TensorMapSpec &spec) {
  if (setting.consume_front("swizzle=")) {
    llvm::Expected<uint64_t> bytes = parseNumber(setting, "a swizzle", 128);
    if (!bytes)
      return bytes.takeError();
    spec.swizzleBytes = static_cast<uint32_t>(*bytes);
    return llvm::Error::success();
  }
  if (setting == "tf32") {
    spec.tf32 = true;
    return llvm::Error::success();
  }
  if (!setting.consume_front("box="))
    return usageError("unknown setting '" + setting +
                      "' of a tensor map, expected box=SHAPE, swizzle=BYTES or tf32");
  llvm::Expected<runner::Shape> box = parseShape(setting);
  if (!box)
    return box.takeError();
  if (box->size() != spec.rank)
    return usageError("the box '" + setting + "' does not have the array's axes");
  for (uint32_t axis = 0; axis < spec.rank; ++axis)
    spec.box[axis] = static_cast<uint32_t>((*box)[spec.rank - 1 - axis]);
  return llvm::Error::success();
}

// The axes of the shape are in row-major order; those of a tensor map are in the opposite order.
llvm::Error Arguments::addMap(StringRef text, Value &value) {
  auto [settings, source] = text.split(':');
  llvm::Expected<Array *> array = readArray(source);
  if (!array)
    return array.takeError();
  if (!*array)
    return usageError("expected an array after the settings of 'map:" + text + "'");
  const runner::Tensor &tensor = (*array)->tensor;
  llvm::ArrayRef<int64_t> shape = tensor.getShape();
  adsim::TensorMapSpec spec;
  spec.base = (*array)->tensor.getData();
  spec.elementBytes = static_cast<uint32_t>(adrt::elementSize(tensor.getType()));
  spec.rank = static_cast<uint32_t>(shape.size());
  if (shape.empty() || shape.size() > 5)
    return usageError("tensor maps have one to five axes, '" + source + "' has " + llvm::Twine(shape.size()));
  llvm::SmallVector<StringRef> parts;
  settings.split(parts, ',');
  for (StringRef part : parts)
    if (llvm::Error error = readMapSetting(part, spec))
      return error;
  uint64_t stride = spec.elementBytes;
  for (uint32_t axis = 0; axis < spec.rank; ++axis) {
    spec.sizes[axis] = static_cast<uint64_t>(shape[spec.rank - 1 - axis]);
    spec.strides[axis] = stride;
    stride *= spec.sizes[axis];
  }
  std::string problem = adsim::encodeTensorMap(value.bytes.data(), spec);
  return problem.empty() ? llvm::Error::success() : usageError("'map:" + text + "': " + problem);
}

llvm::Error Arguments::addSame(StringRef text, Value &value) {
  llvm::Expected<uint64_t> index = parseNumber(text, "'same:'", UINT32_MAX);
  if (!index)
    return index.takeError();
  if (*index >= values.size())
    return usageError("'same:" + text + "' does not refer to an earlier argument");
  value = *values[*index];
  return llvm::Error::success();
}

llvm::Error Arguments::add(StringRef text) {
  auto value = std::make_unique<Value>();
  auto [head, tail] = text.split(':');
  llvm::Error error = llvm::Error::success();
  if (head == "map") {
    error = addMap(tail, *value);
  } else if (head == "same") {
    error = addSame(tail, *value);
  } else {
    llvm::Expected<Array *> array = readArray(text);
    if (!array)
      return llvm::joinErrors(std::move(error), array.takeError());
    static constexpr StringRef scalars[] = {"i1", "i8", "i16", "i32", "i64", "f32", "f64"};
    if (*array)
      store(value->bytes.data(), (*array)->tensor.getData());
    else if (llvm::is_contained(scalars, head))
      error = llvm::joinErrors(std::move(error), addScalar(head, tail, *value));
    else
      return llvm::joinErrors(std::move(error), usageError("argument '" + text +
                                                           "' is neither an array nor a number, try --help"));
  }
  values.push_back(std::move(value));
  return error;
}

std::vector<void *> Arguments::pointers() {
  std::vector<void *> result;
  for (const auto &value : values)
    result.push_back(value->bytes.data());
  return result;
}

std::vector<adsim::MemoryRange> Arguments::ranges() const {
  std::vector<adsim::MemoryRange> result;
  for (const auto &array : arrays)
    result.push_back(
        {array->tensor.getData(), static_cast<uint64_t>(array->tensor.getByteSize()), array->writable});
  return result;
}

llvm::Error Arguments::writeOutputs(llvm::ArrayRef<std::string> paths) {
  size_t next = 0;
  for (const auto &array : arrays) {
    if (!array->writable || next == paths.size())
      continue;
    if (llvm::Error error = runner::writeNpy(paths[next++], array->tensor.view()))
      return error;
  }
  return llvm::Error::success();
}
