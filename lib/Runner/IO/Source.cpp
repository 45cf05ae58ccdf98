// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Sources of values.
#include "adjoint/Runner/IO/Source.h"
#include "adjoint/Numerics/Random.h"
#include "adjoint/Runtime/Host/ThreadPool.h"
#include "adjoint/Support/Elements.h"
#include "adjoint/Support/Error.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"

#include <cmath>
#include <cstring>

using namespace mlir::ad;
using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

//===- The text of a source -----------------------------------------------===//

namespace {

/// A finite number that does not underflow in f64. Other values are probably mistakes.
bool parseScale(StringRef text, std::optional<double> &scale) {
  llvm::APFloat number(llvm::APFloat::IEEEdouble());
  Expected<llvm::APFloat::opStatus> status =
      number.convertFromString(text, llvm::APFloat::rmNearestTiesToEven);
  if (!status) {
    llvm::consumeError(status.takeError());
    return false;
  }
  scale = number.convertToDouble();
  return number.isFinite() && !(*status & llvm::APFloat::opUnderflow);
}

/// KIND:SEED[:SCALE].
Expected<Source> parseRandom(StringRef text, Source source) {
  llvm::SmallVector<StringRef, 4> words;
  text.split(words, ':');
  std::string form = (words[0] + ":SEED[:SCALE]").str();
  if (words.size() != 2 && words.size() != 3)
    return usageError("expected " + form + ", found '" + text + "'");
  if (words[1].getAsInteger(10, source.seed))
    return usageError("expected " + form + " with a SEED from 0 to 18446744073709551615, found '" + text +
                      "'");
  if (words.size() == 3 && !parseScale(words[2], source.scale))
    return usageError("expected " + form + " with a SCALE that f64 has, found '" + text + "'");
  return source;
}

} // namespace

bool mlir::ad::runner::isGeneratedSource(StringRef text) {
  StringRef word = text.split(':').first;
  return text == "zeros" || text == "arange" || word == "normal" || word == "uniform";
}

Source Source::ofFile(StringRef path) {
  Source source;
  source.path = path.str();
  return source;
}

Expected<Source> Source::parse(StringRef text, bool forFeed) {
  Source source;
  if (isGeneratedSource(text)) {
    StringRef word = text.split(':').first;
    source.kind = word == "zeros"    ? Kind::Zeros
                  : word == "arange" ? Kind::Arange
                  : word == "normal" ? Kind::Normal
                                     : Kind::Uniform;
    bool isRandom = source.kind == Kind::Normal || source.kind == Kind::Uniform;
    return isRandom ? parseRandom(text, source) : Expected<Source>(source);
  }
  source.cycle = text.consume_back(",cycle");
  source.path = text.str();
  llvm::sys::fs::file_status status;
  std::error_code code = llvm::sys::fs::status(source.path, status);
  if (code && code != std::errc::no_such_file_or_directory && code != std::errc::not_a_directory)
    return usageError("'" + text + "' cannot be read: " + code.message());
  if (code)
    return usageError("no file '" + text + "', and no source of that name; sources are FILE.npy" +
                      (forFeed ? "[,cycle]" : "") +
                      ", normal:SEED[:SCALE], uniform:SEED[:SCALE], zeros and arange");
  return source;
}

//===- Generated values ---------------------------------------------------===//

namespace {

/// Elements are generated in chunks that fit into the L1 cache.
constexpr int64_t chunkElements = 1024;
/// The approximate time of an element on one thread; it decides how many threads pay off for short tensors.
constexpr int64_t nanosecondsOfElement = 20;

/// Elements `first`, … of the streams of numerics::uniformAt and numerics::normalAt, in the precision of the
/// type; floats other than f64 get the numbers of f32.
void randomValues(const Source &source, adrt_type type, uint64_t first,
                  llvm::MutableArrayRef<double> values) {
  bool wide = type == ADRT_F64;
  if (source.kind == Source::Kind::Normal) {
    numerics::fillNormal(source.seed, first, values.data(), values.size());
    for (double &value : values)
      value = wide ? value : static_cast<float>(value);
    return;
  }
  numerics::fillUniform(source.seed, first, values.data(), values.size());
  // Integers get the f64 numbers: f32 has too few values for large scales.
  if (wide || !isFloat(type))
    return;
  for (double &value : values) // the leading 24 of 53 bits
    value = static_cast<int32_t>(value * 0x1p24) * 0x1p-24;
}

std::string formatNumber(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", value);
  return text;
}

/// Random integers are below the scale.
Error checkIntegerScale(const Source &source, adrt_type type) {
  unsigned bits = type == ADRT_I1 ? 2 : 8 * static_cast<unsigned>(adrt::elementSize(type));
  double largest = std::ldexp(1, static_cast<int>(bits) - 1);
  double scale = source.scale.value_or(largest);
  if (scale >= 1 && scale <= largest && std::floor(scale) == scale)
    return Error::success();
  return usageError(llvm::Twine("random values of type ") + adrt::typeName(type) +
                    " need a SCALE from 1 to " + std::to_string(static_cast<uint64_t>(largest)) +
                    " without a fraction");
}

/// The scale must be in the range of the type; it may lose digits.
Error checkFloatScale(const Source &source, adrt_type type) {
  double scale = std::fabs(source.scale.value_or(1));
  char element[sizeof(double)];
  adrt::storeFromDouble(type, scale, element);
  double kept = adrt::loadAsDouble(type, element);
  if (std::isfinite(kept) && kept >= scale / 2 && kept <= scale * 2)
    return Error::success();
  return usageError("a SCALE of " + formatNumber(scale) + " is too " + (scale < 1 ? "small" : "large") +
                    " for random values of type " + adrt::typeName(type));
}

/// Each element depends on its index alone, so the chunks of a large tensor are distributed over threads.
void fillRandom(const Source &source, int64_t first, const adrt_tensor &destination, int64_t count) {
  auto type = static_cast<adrt_type>(destination.type);
  double scale = source.scale.value_or(type == ADRT_I1 ? 2 : 1);
  auto fillChunks = [&](int64_t begin, int64_t end) {
    double values[chunkElements];
    for (int64_t start = begin * chunkElements; start < std::min(end * chunkElements, count);
         start += chunkElements) {
      llvm::MutableArrayRef<double> chunk(values, std::min(chunkElements, count - start));
      randomValues(source, type, static_cast<uint64_t>(first + start), chunk);
      char *element = static_cast<char *>(destination.data) + start * adrt::elementSize(type);
      for (double value : chunk) {
        adrt::storeFromDouble(type, isFloat(type) ? value * scale : std::floor(value * scale), element);
        element += adrt::elementSize(type);
      }
    }
  };
  using Fill = decltype(fillChunks);
  adrt::ThreadPool &pool = adrt::ThreadPool::get();
  pool.run((count + chunkElements - 1) / chunkElements, count * nanosecondsOfElement, pool.getSize(),
           [](void *fill, int64_t begin, int64_t end) { (*static_cast<Fill *>(fill))(begin, end); },
           &fillChunks);
}

Error generateRandom(const Source &source, int64_t first, const adrt_tensor &destination, int64_t count) {
  auto type = static_cast<adrt_type>(destination.type);
  bool integer = !isFloat(type);
  if (integer && (source.kind == Source::Kind::Normal || (!source.scale && type != ADRT_I1)))
    return usageError(llvm::Twine("random values of type ") + adrt::typeName(type) +
                      " need uniform:SEED:SCALE, which gives integers from 0 to SCALE - 1");
  if (Error error = integer ? checkIntegerScale(source, type) : checkFloatScale(source, type))
    return error;
  fillRandom(source, first, destination, count);
  return Error::success();
}

} // namespace

Error mlir::ad::runner::generate(const Source &source, int64_t first, const adrt_tensor &destination) {
  int64_t bytes = adrt::byteSize(destination.type, destination.rank, destination.shape);
  int64_t width = adrt::elementSize(destination.type);
  if (source.kind == Source::Kind::Zeros) {
    std::memset(destination.data, 0, static_cast<size_t>(bytes));
    return Error::success();
  }
  if (source.kind != Source::Kind::Arange)
    return generateRandom(source, first, destination, bytes / width);
  for (int64_t index = 0; index < bytes / width; ++index)
    adrt::storeFromInteger(destination.type, first + index,
                           static_cast<char *>(destination.data) + index * width);
  return Error::success();
}

static void addWarning(const NpyFile &file, Warnings &warnings) {
  if (std::string warning = file.getWarning(); !warning.empty())
    warnings.push_back(std::move(warning));
}

Expected<Tensor> mlir::ad::runner::makeArgument(const TensorSpec &spec, const Source &source,
                                                Warnings &warnings) {
  if (source.kind != Source::Kind::File) {
    Expected<Tensor> tensor = Tensor::create(spec.type, spec.shape);
    if (tensor)
      if (Error error = generate(source, 0, tensor->view()))
        return std::move(error);
    return tensor;
  }
  if (source.cycle)
    return usageError("'" + source.path + ",cycle': only feeds can cycle; leave out ',cycle'");
  Expected<NpyFile> file = NpyFile::open(source.path);
  if (!file)
    return file.takeError();
  // Before the data, which may be large, is read.
  if (!shapeFits(file->getHeader().shape, spec.shape))
    return usageError("'" + source.path + "': expected " + formatType(spec) + ", found " +
                      formatType(spec.type, file->getHeader().shape));
  addWarning(*file, warnings);
  return file->load(spec.type);
}

//===- Feeds --------------------------------------------------------------===//

namespace {

class SourceFeed final : public Feed {
public:
  SourceFeed(adrt_type type, Source source) : type(type), source(std::move(source)) {}

  /// Opens the file of the source, if it is one.
  Error open(const TensorSpec &spec, Warnings &warnings);
  Error next(const adrt_tensor &destination) override;
  void rewind() override { position = 0; }

private:
  Error nextFromFile(const adrt_tensor &destination);

  adrt_type type;
  Source source;
  int64_t position = 0;           // values delivered
  std::unique_ptr<NpyFile> file;  // read value by value, or
  std::unique_ptr<Tensor> loaded; // the whole file, when its axes or elements must be converted
  Shape fileShape;
};

Error SourceFeed::open(const TensorSpec &spec, Warnings &warnings) {
  if (source.kind != Source::Kind::File)
    return Error::success();
  Expected<NpyFile> opened = NpyFile::open(source.path);
  if (!opened)
    return opened.takeError();
  const NpyHeader &header = opened->getHeader();
  fileShape = header.shape;
  if (header.shape.empty() || !shapeFits(llvm::ArrayRef(header.shape).drop_front(), spec.shape)) {
    Shape expected{dynamicSize};
    expected.append(spec.shape);
    return usageError("'" + source.path + "': expected " + formatType(spec.type, expected) +
                      " for values of type " + formatType(spec) + ", found " +
                      formatType(spec.type, header.shape));
  }
  if (!npyTypeFits(header.dtype, spec.type))
    return npyTypeError(source.path, header.dtype, spec.type);
  addWarning(*opened, warnings);
  if (!header.fortranOrder && spec.type != ADRT_I1) {
    file = std::make_unique<NpyFile>(std::move(*opened));
    return Error::success();
  }
  Expected<Tensor> tensor = opened->load(spec.type);
  if (!tensor)
    return tensor.takeError();
  loaded = std::make_unique<Tensor>(std::move(*tensor));
  return Error::success();
}

Error SourceFeed::next(const adrt_tensor &destination) {
  if (destination.type != type)
    return usageError(llvm::Twine("the program requests elements of type ") +
                      adrt::typeName(destination.type) + ", expected " + adrt::typeName(type));
  if (source.kind == Source::Kind::File)
    return nextFromFile(destination);
  int64_t bytes = adrt::byteSize(destination.type, destination.rank, destination.shape);
  int64_t count = bytes / adrt::elementSize(destination.type);
  if (Error error = generate(source, position, destination))
    return error;
  position += count;
  return Error::success();
}

Error SourceFeed::nextFromFile(const adrt_tensor &destination) {
  llvm::ArrayRef<int64_t> wanted(destination.shape, destination.rank);
  llvm::ArrayRef<int64_t> value = llvm::ArrayRef(fileShape).drop_front();
  if (wanted != value)
    return usageError("the program requests a " + formatType(type, wanted) + ", '" + source.path +
                      "' holds values of type " + formatType(type, value));
  int64_t count = fileShape.front();
  if (count == 0)
    return usageError("'" + source.path + "' holds no values");
  if (position >= count && !source.cycle)
    return usageError("'" + source.path + "' is used up after " + llvm::Twine(count) +
                      (count == 1 ? " value" : " values") + ", append ',cycle' to start over");
  int64_t bytes = adrt::byteSize(destination.type, destination.rank, destination.shape);
  int64_t offset = position % count * bytes;
  ++position;
  if (file)
    return file->read(offset, static_cast<char *>(destination.data), bytes);
  std::memcpy(destination.data, loaded->getData() + offset, static_cast<size_t>(bytes));
  return Error::success();
}

} // namespace

Expected<std::unique_ptr<Feed>> Feed::create(const TensorSpec &spec, const Source &source,
                                             Warnings &warnings) {
  auto feed = std::make_unique<SourceFeed>(spec.type, source);
  if (Error error = feed->open(spec, warnings))
    return std::move(error);
  return std::move(feed);
}
