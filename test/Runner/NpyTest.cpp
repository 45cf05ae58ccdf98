// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests of .npy files: every bad file is an error with a reason.
#include "adjoint/Support/Npy.h"
#include "TestUtils.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <csignal>
#include <cstring>
#include <sys/resource.h>
#include <unistd.h>

using namespace mlir::ad::runner;

/// A file with the given dictionary, of format version `version`.
static std::string file(std::string dictionary, size_t dataBytes, char version = 1) {
  dictionary += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += version;
  bytes += '\0';
  for (int byte = 0; byte < (version == 1 ? 2 : 4); ++byte)
    bytes += static_cast<char>(dictionary.size() >> (8 * byte));
  return bytes + dictionary + std::string(dataBytes, '\0');
}

static std::string parse(const std::string &bytes) {
  return unit::text(parseNpy(llvm::ArrayRef<char>(bytes.data(), bytes.size())));
}

static void writeRaw(const std::string &path, llvm::StringRef bytes) {
  std::error_code code;
  llvm::raw_fd_ostream(path, code) << bytes;
}

TEST(Npy, AcceptsWhatNumpyWrites) {
  EXPECT_TEXT(parse(file("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   ", 48)), "ok");
  EXPECT_TEXT(parse(file("{'descr': '<f8', 'fortran_order': False, 'shape': (), }", 8)), "ok");
  EXPECT_TEXT(parse(file("{'descr': '|b1', 'fortran_order': True, 'shape': (0,), }", 0)), "ok");
  EXPECT_TEXT(parse(file("{'shape': (5,), 'fortran_order': False, 'descr': '<V2'}", 10, 2)), "ok");
  EXPECT_TEXT(parse(file("{\"descr\": \"<i8\", \"fortran_order\": False, \"shape\": (2L,), }", 16, 3)), "ok");
}

TEST(Npy, RefusesForeignAndTruncatedFiles) {
  EXPECT_TEXT(parse(""), "2: not an .npy file");
  EXPECT_TEXT(parse("PK\x03\x04 a zip archive"), "not an .npy file");
  EXPECT_TEXT(parse("\x93NUMPY"), "truncated");
  EXPECT_TEXT(parse("\x93NUMPY\x01"), "truncated");
  EXPECT_TEXT(parse(file("{}", 0, 9)), "format version 9 is unknown");
  std::string good = file("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 12);
  for (size_t length = 0; length < good.size(); ++length)
    EXPECT_NE(parse(good.substr(0, length)), "ok");
  EXPECT_TEXT(parse(good.substr(0, good.size() - 1)), "announces 12 bytes of data, the file holds 11");
  EXPECT_TEXT(
      parse(good + "x"),
      "the file has 1 byte after the 12 bytes of data that the header announces; write the file again");
}

TEST(Npy, RefusesBadHeaders) {
  EXPECT_TEXT(parse(file("{'descr': '<f4', 'fortran_order': False, 'shape': (3) }", 12)), "malformed header");
  EXPECT_TEXT(parse(file("{'descr': '<f4', 'fortran_order': False, 'shape': (-3,) }", 12)),
              "expected a size");
  EXPECT_TEXT(parse(file("{'descr': '<f4', 'fortran_order': 1, 'shape': (3,) }", 12)),
              "expected True or False");
  EXPECT_TEXT(parse(file("{'descr': '<f4', 'fortran_order': False}", 12)), "expected the keys");
  EXPECT_TEXT(parse(file("{'descr': '<f4', 'descr': '<f4', 'shape': (3,)}", 12)), "is given twice");
  EXPECT_TEXT(parse(file("{'descr': '<f4', 'evil': __import__('os')}", 12)), "unknown key 'evil'");
  EXPECT_TEXT(parse(file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,)}", 12)),
              "structured");
  EXPECT_TEXT(parse(file("{'descr': '|O', 'fortran_order': False, 'shape': (3,)}", 12)),
              "holds Python objects; convert it");
  EXPECT_TEXT(parse(file("{'descr': '>f4', 'fortran_order': False, 'shape': (3,)}", 12)), "big-endian");
  EXPECT_TEXT(parse(file("{'descr': '<c8', 'fortran_order': False, 'shape': (3,)}", 24)),
              "'<c8' is not supported");
  EXPECT_TEXT(parse(file("garbage", 0)), "expected '{', found 'garbage");
}

TEST(Npy, RefusesHugeShapes) {
  const char *descr = "{'descr': '<f8', 'fortran_order': False, 'shape': ";
  EXPECT_TEXT(parse(file(std::string(descr) + "(4611686018427387904, 4)}", 0)), "more elements than fit");
  EXPECT_TEXT(parse(file(std::string(descr) + "(99999999999999999999999,)}", 0)), "beyond 64 bits");
  EXPECT_TEXT(parse(file(std::string(descr) + "(9223372036854775807,)}", 0)), "more elements than fit");
  EXPECT_TEXT(parse(file(std::string(descr) + "(1000000000000,)}", 0)), "truncated");
  std::string many = "(";
  for (int axis = 0; axis < 100; ++axis)
    many += "1,";
  EXPECT_TEXT(parse(file(descr + many + ")}", 8)), "more than 64 dimensions");
}

TEST(Npy, TypesNeedTheProgram) {
  EXPECT_TRUE(npyTypeFits("<V2", ADRT_BF16));
  EXPECT_TRUE(npyTypeFits("bfloat16", ADRT_BF16));
  EXPECT_FALSE(npyTypeFits("<f2", ADRT_BF16));
  EXPECT_TRUE(npyTypeFits("|V1", ADRT_F8E4M3FN));
  EXPECT_TRUE(npyTypeFits("<V1", ADRT_F8E5M2));
  EXPECT_TRUE(npyTypeFits("<f1", ADRT_F8E5M2));
  EXPECT_TRUE(npyTypeFits("|i1", ADRT_I8));
  EXPECT_FALSE(npyTypeFits("|b1", ADRT_I8));
  EXPECT_TRUE(npyTypeFits("|b1", ADRT_I1));
  EXPECT_TRUE(npyTypeFits("<i8", ADRT_I64));
  EXPECT_FALSE(npyTypeFits("<i8", ADRT_I32));
  EXPECT_FALSE(npyTypeFits("<f8", ADRT_F32));
}

TEST(Npy, RoundTripOfEveryType) {
  for (int type = ADRT_F64; type <= ADRT_I64; ++type) {
    std::string path = unit::scratch("round.npy");
    Tensor written = unit::tensor(static_cast<adrt_type>(type), {2, 3}, {0, 1, 1, 0, 1, 1});
    EXPECT_TEXT(unit::text(writeNpy(path, written.view())), "ok");
    llvm::Expected<NpyFile> opened = NpyFile::open(path);
    EXPECT_TRUE(bool(opened));
    if (!opened)
      return llvm::consumeError(opened.takeError());
    llvm::Expected<Tensor> read = opened->load(static_cast<adrt_type>(type));
    EXPECT_TRUE(bool(read));
    if (!read)
      return llvm::consumeError(read.takeError());
    EXPECT_EQ(read->getShape(), written.getShape());
    EXPECT_EQ(read->getByteSize(), written.getByteSize());
    EXPECT_EQ(std::memcmp(read->getData(), written.getData(), static_cast<size_t>(read->getByteSize())), 0);
    EXPECT_EQ(opened->getHeader().dataOffset % 64, 0);
  }
}

TEST(Npy, ReadsFortranOrder) {
  std::string bytes =
      file("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }", 0) + std::string("\0\3\1\4\2\5", 6);
  std::string path = unit::scratch("fortran.npy");
  writeRaw(path, bytes);
  llvm::Expected<NpyFile> opened = NpyFile::open(path);
  EXPECT_TRUE(bool(opened));
  Tensor tensor = llvm::cantFail(llvm::cantFail(std::move(opened)).load(ADRT_I8));
  EXPECT_EQ(llvm::StringRef(tensor.getData(), 6), llvm::StringRef("\0\1\2\3\4\5", 6));
}

TEST(Npy, RefusesWhatIsNoFile) {
  EXPECT_TEXT(unit::text(NpyFile::open(unit::scratch("missing.npy"))), "No such file");
  EXPECT_TEXT(unit::text(NpyFile::open("/")), "not a regular file");
  EXPECT_TEXT(unit::text(NpyFile::open("/dev/null")), "not a regular file");
  std::string path = unit::scratch("bool.npy");
  writeRaw(path, file("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", 0) + "\1\2");
  llvm::Expected<NpyFile> opened = NpyFile::open(path);
  EXPECT_TEXT(unit::text(llvm::cantFail(std::move(opened)).load(ADRT_I1)),
              "element 1 of a boolean array is 2");
}

TEST(Npy, WritesLeaveNoHalfFile) {
  std::string path = unit::scratch("limited.npy");
  Tensor old = unit::tensor(ADRT_F64, {1}, {7});
  EXPECT_TEXT(unit::text(writeNpy(path, old.view())), "ok");
  Tensor large = llvm::cantFail(Tensor::create(ADRT_F64, {1 << 16}));
  std::memset(large.getData(), 0, static_cast<size_t>(large.getByteSize()));
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before, limited;
  getrlimit(RLIMIT_FSIZE, &before);
  limited = before;
  limited.rlim_cur = 4096; // has the effect of a full disk
  setrlimit(RLIMIT_FSIZE, &limited);
  std::string failed = unit::text(writeNpy(path, large.view()));
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_TEXT(failed, "cannot write '" + path + "': File too large");
  Tensor kept = llvm::cantFail(llvm::cantFail(NpyFile::open(path)).load(ADRT_F64));
  EXPECT_EQ(kept.getElementCount(), 1);
  std::error_code code;
  int files = 0;
  for (llvm::sys::fs::directory_iterator it(unit::scratch(""), code), end; it != end && !code;
       it.increment(code))
    files += llvm::StringRef(it->path()).contains(".limited.npy.");
  EXPECT_EQ(files, 0);
  std::string nowhere = unit::scratch("missing") + "/x.npy";
  EXPECT_TEXT(unit::text(writeNpy(nowhere, old.view())), "cannot write '" + nowhere + "'");
}

TEST(Npy, AppenderIsValidAtAnyTime) {
  std::string path = unit::scratch("stream.npy");
  auto shape = [&]() { return llvm::cantFail(NpyFile::open(path)).getHeader().shape; };
  Tensor value = unit::tensor(ADRT_F32, {2}, {1, 2});
  {
    std::unique_ptr<NpyAppender> appender = llvm::cantFail(NpyAppender::create(path, ADRT_F32, {2}));
    EXPECT_EQ(shape(), (Shape{0, 2}));
    for (int count = 0; count < 3; ++count)
      EXPECT_TEXT(unit::text(appender->append(value.view())), "ok");
    EXPECT_TEXT(unit::text(appender->flush()), "ok");
    EXPECT_EQ(shape(), (Shape{3, 2}));
    Tensor other = unit::tensor(ADRT_F32, {3}, {1, 2, 3});
    EXPECT_TEXT(unit::text(appender->append(other.view())), "cannot append a tensor<3xf32>");
    EXPECT_TEXT(unit::text(appender->append(value.view())), "ok");
  }
  EXPECT_EQ(shape(), (Shape{4, 2}));
}

TEST(Npy, ReadersTakeTheWholeValuesOfAStream) {
  std::string path = unit::scratch("partial.npy");
  Tensor value = unit::tensor(ADRT_F32, {2}, {1, 2});
  {
    std::unique_ptr<NpyAppender> appender = llvm::cantFail(NpyAppender::create(path, ADRT_F32, {2}));
    for (int count = 0; count < 3; ++count)
      EXPECT_TEXT(unit::text(appender->append(value.view())), "ok");
  }
  uint64_t whole = 0;
  ASSERT_FALSE(llvm::sys::fs::file_size(path, whole));
  // A process that is killed leaves any number of bytes after the values that the header counts.
  for (int more = 0; more < 17; ++more) {
    ASSERT_EQ(truncate(path.c_str(), static_cast<off_t>(whole) - 8 + more), 0);
    NpyFile file = llvm::cantFail(NpyFile::open(path));
    EXPECT_EQ(file.getHeader().shape, (Shape{2 + more / 8, 2}));
    std::string expected = "'" + path + "': the last value is incomplete, since it was being written; " +
                           std::to_string(2 + more / 8) + " whole values before it";
    EXPECT_EQ(file.getWarning(), more % 8 == 0 ? "" : expected);
    EXPECT_TEXT(unit::text(file.load(ADRT_F32)), "ok");
  }
}

TEST(Npy, StreamsReachTheirFilesInTime) {
  std::string path = unit::scratch("in-time.npy");
  Tensor value = unit::tensor(ADRT_F32, {2}, {1, 2});
  std::unique_ptr<NpyAppender> appender = llvm::cantFail(NpyAppender::create(path, ADRT_F32, {2}));
  EXPECT_TEXT(unit::text(appender->append(value.view())), "ok");
  constexpr useconds_t second = 1000 * 1000;
  usleep(second); // without another call
  EXPECT_EQ(llvm::cantFail(NpyFile::open(path)).getHeader().shape, (Shape{1, 2}));
}

TEST(Npy, AppenderKeepsWhatFits) {
  std::string path = unit::scratch("full.npy");
  Tensor value = llvm::cantFail(Tensor::create(ADRT_F32, {100}));
  std::memset(value.getData(), 0, 400);
  std::unique_ptr<NpyAppender> appender = llvm::cantFail(NpyAppender::create(path, ADRT_F32, {100}));
  for (int count = 0; count < 20; ++count)
    EXPECT_TEXT(unit::text(appender->append(value.view())), "ok");
  rlimit before, limited;
  getrlimit(RLIMIT_FSIZE, &before);
  limited = before;
  limited.rlim_cur = 4096;
  setrlimit(RLIMIT_FSIZE, &limited);
  EXPECT_TEXT(unit::text(appender->flush()), "File too large");
  setrlimit(RLIMIT_FSIZE, &before);
  appender.reset();
  EXPECT_EQ(llvm::cantFail(NpyFile::open(path)).getHeader().shape, (Shape{9, 100}));
}
