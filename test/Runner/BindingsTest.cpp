// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests of options, sources and bindings.
#include "adjoint/Runner/IO/Bindings.h"
#include "../../lib/Runner/IO/Print.h"
#include "TestUtils.h"
#include "adjoint/Support/Elements.h"

using namespace mlir::ad::runner;

static llvm::Expected<Options> parse(std::initializer_list<const char *> arguments) {
  return parseOptions(llvm::ArrayRef<const char *>(arguments.begin(), arguments.size()));
}

static Signature signature() {
  Signature result;
  result.entry = "main";
  result.arguments = {{"x", ADRT_F32, {2, dynamicSize}}, {"n", ADRT_I32, {3}}};
  result.feeds = {{"images", ADRT_F32, {2}}};
  return result;
}

static std::string bind(std::initializer_list<const char *> arguments) {
  std::vector<const char *> all = {"p.mlir"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  llvm::Expected<Options> options = parseOptions(all);
  return options ? unit::text(bindSources(signature(), *options)) : unit::text(options.takeError());
}

static std::string print(const Tensor &tensor) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printTensor(os, "t", tensor.view());
  return text;
}

TEST(Options, AcceptBothSpellings) {
  llvm::Expected<Options> options = parse({"p.mlir", "--entry=f", "--target", "reference", "--arg", "x=zeros",
                                           "--dim=x.1=4", "--threads", "2", "-O0", "--numerics=fast,narrow"});
  EXPECT_TRUE(bool(options));
  if (!options)
    return llvm::consumeError(options.takeError());
  EXPECT_EQ(options->entry, "f");
  EXPECT_EQ(options->target, Target::Reference);
  EXPECT_EQ(options->threads, 2);
  EXPECT_FALSE(options->optimize);
  EXPECT_EQ(options->dims.at(0).axis, 1);
  EXPECT_EQ(options->dims.at(0).size, 4);
  EXPECT_EQ(options->arguments.at(0).value, "zeros");
  EXPECT_EQ(options->numericsMode, "fast");
  EXPECT_EQ(options->numericsPermissions.at(0), "narrow");
}

TEST(Options, NameTheNearestSpelling) {
  EXPECT_TEXT(unit::text(parse({"p.mlir", "--thread", "2"})),
              "2: unknown option '--thread', did you mean '--threads'?");
  EXPECT_TEXT(unit::text(parse({"p.mlir", "--numeric=fast"})), "did you mean '--numerics'?");
  EXPECT_TEXT(unit::text(parse({"p.mlir", "--target=refrence"})), "did you mean 'reference'?");
  EXPECT_TEXT(unit::text(parse({"p.mlir", "--numerics=fst"})), "did you mean 'fast'?");
  EXPECT_TEXT(unit::text(parse({"p.mlir", "--numerics=fast,contrct"})), "did you mean 'contract'?");
}

TEST(Options, RefuseBadValues) {
  EXPECT_TEXT(unit::text(parse({})), "2: expected a program");
  EXPECT_TEXT(unit::text(parse({"a.mlir", "b.mlir"})), "found 'a.mlir' and 'b.mlir'");
  EXPECT_TEXT(unit::text(parse({"p.mlir", "--repeat", "0"})), "number from 1 to 10000000, found '0'");
  EXPECT_TEXT(unit::text(parse({"p.mlir", "--threads", "many"})), "found 'many'");
  EXPECT_TEXT(unit::text(parse({"p.mlir", "--entry"})), "option '--entry' expects a value");
  EXPECT_TEXT(unit::text(parse({"p.mlir", "--arg", "x"})), "expected --arg NAME=SOURCE, found 'x'");
  EXPECT_TEXT(unit::text(parse({"p.mlir", "--arg", "x=zeros", "--arg", "x=zeros"})), "given twice");
  EXPECT_TEXT(unit::text(parse({"p.mlir", "--dim", "x=4"})), "expected --dim NAME.AXIS=N");
  EXPECT_TEXT(unit::text(parse({"p.mlir", "--dim", "x.1=-4"})), "expected --dim NAME.AXIS=N");
}

TEST(Bindings, NeedEverySource) {
  EXPECT_TEXT(bind({"--arg", "n=zeros"}),
              "argument 'x' of type tensor<2x?xf32> has no source, expected --arg x=SOURCE");
  EXPECT_TEXT(bind({"--arg", "x=zeros", "--arg", "n=zeros", "--dim", "x.1=3"}),
              "feed 'images' of type tensor<2xf32>");
  EXPECT_TEXT(bind({"--arg", "y=zeros"}), "no argument 'y', its arguments are x, n");
  EXPECT_TEXT(bind({"--feed", "y=zeros"}), "no feed 'y', its feeds are images");
  EXPECT_TEXT(bind({"--dim", "q.0=1"}), "--dim names 'q'");
  EXPECT_TEXT(bind({"--arg", "x=zeros", "--arg", "n=zeros"}),
              "leaves dimension 1 open, expected --dim x.1=N");
  EXPECT_TEXT(bind({"--arg", "x=zeros", "--dim", "x.0=5"}), "the program has size 2 there");
  EXPECT_TEXT(bind({"--arg", "x=zeros", "--dim", "x.7=5"}), "has rank 2");
  EXPECT_TEXT(bind({"--arg", "x=normal:x"}),
              "expected normal:SEED[:SCALE] with a SEED from 0 to 18446744073709551615, found 'normal:x'");
  EXPECT_TEXT(bind({"--arg", "x=nonesuch"}), "no file 'nonesuch'");
  EXPECT_TEXT(bind({"--arg", "x=zeros", "--dim", "x.1=3", "--arg", "n=normal:1"}), "need uniform:SEED:SCALE");
  EXPECT_TEXT(bind({"--arg", "x=zeros", "--dim", "x.1=4611686018427387904", "--arg", "n=zeros"}),
              "too large");
  EXPECT_TEXT(
      bind({"--arg", "x=uniform:1", "--dim", "x.1=3", "--arg", "n=uniform:1:10", "--feed", "images=arange"}),
      "ok");
}

TEST(Bindings, RefuseAFeedThatNoOneGave) {
  llvm::Expected<Options> options =
      parse({"p.mlir", "--arg", "x=zeros", "--dim", "x.1=3", "--arg", "n=zeros", "--feed", "images=arange"});
  Bindings bindings = llvm::cantFail(bindSources(signature(), llvm::cantFail(std::move(options))));
  Tensor images = unit::tensor(ADRT_F32, {2}, {5, 5});
  std::string error;
  EXPECT_EQ(bindings.feed("labels", images.view(), error), ADRT_HOST_ERROR);
  EXPECT_TEXT(error, "it has no source");
  EXPECT_EQ(bindings.feed("images", images.view(), error), ADRT_OK);
  EXPECT_TRUE(error.empty());
  EXPECT_TEXT(print(images), "= [0. 1.]");
}

static std::string bindAmong(llvm::ArrayRef<std::string> names,
                             std::initializer_list<const char *> arguments) {
  Signature program;
  for (const std::string &name : names)
    program.arguments.push_back({name, ADRT_F32, {dynamicSize}});
  std::vector<const char *> all = {"p.mlir"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  llvm::Expected<Options> options = parseOptions(all);
  return options ? unit::text(bindSources(program, *options)) : unit::text(options.takeError());
}

TEST(Bindings, TakeTheLongestNameBeforeAnEqualsSign) {
  EXPECT_TEXT(bindAmong({"w=b", "w"},
                        {"--arg", "w=b=zeros", "--arg", "w=zeros", "--dim", "w=b.0=2", "--dim", "w.0=2"}),
              "ok");
  EXPECT_TEXT(bindAmong({"w=b", "w"}, {"--arg", "w=b=zeros", "--dim", "w=b.0=2"}), "argument 'w' of type");
  EXPECT_TEXT(bindAmong({"w"}, {"--arg", "w=b=zeros"}), "argument 'w': no file 'b=zeros'");
  EXPECT_TEXT(bindAmong({"w", "w="}, {"--arg", "w=="}), "argument 'w': no file '='");
  EXPECT_TEXT(bindAmong({"w=b"}, {"--arg", "w=zeros"}), "no argument 'w', its arguments are w=b");
  EXPECT_TEXT(bindAmong({"w=b", "w=c"}, {"--arg", "w=b=zeros", "--arg", "w=c=zeros", "--arg", "w=b=arange"}),
              "--arg 'w=b' is given twice");
}

TEST(Bindings, CheckFiles) {
  std::string path = unit::scratch("arg.npy"), argument = "x=" + path;
  llvm::cantFail(writeNpy(path, unit::tensor(ADRT_F32, {3, 4}, {}).view()));
  EXPECT_TEXT(bind({"--arg", argument.c_str()}),
              "argument 'x': '" + path + "': expected tensor<2x?xf32>, found tensor<3x4xf32>");
  llvm::cantFail(writeNpy(path, unit::tensor(ADRT_F64, {2, 4}, {}).view()));
  EXPECT_TEXT(bind({"--arg", argument.c_str()}),
              "expected elements of type f32, found dtype '<f8'; convert it with .astype(numpy.float32)");
}

TEST(Feeds, StreamAlongTheFirstAxis) {
  std::string path = unit::scratch("feed.npy");
  llvm::cantFail(writeNpy(path, unit::tensor(ADRT_F32, {2, 2}, {1, 2, 3, 4}).view()));
  TensorSpec spec{"images", ADRT_F32, {2}};
  Warnings warnings;
  auto open = [&](const TensorSpec &like, const std::string &source) {
    return Feed::create(like, llvm::cantFail(Source::parse(source)), warnings);
  };
  Tensor value = unit::tensor(ADRT_F32, {2}, {0, 0});
  auto next = [&](Feed &feed) { return unit::text(feed.next(value.view())) + " " + print(value); };
  std::unique_ptr<Feed> once = llvm::cantFail(open(spec, path));
  EXPECT_TEXT(next(*once), "ok t: tensor<2xf32> = [1. 2.]");
  EXPECT_TEXT(next(*once), "[3. 4.]");
  EXPECT_TEXT(next(*once), "is used up after 2 values, append ',cycle' to start over");
  std::string none = unit::scratch("none.npy");
  llvm::cantFail(writeNpy(none, unit::tensor(ADRT_F32, {0, 2}, {}).view()));
  std::unique_ptr<Feed> empty = llvm::cantFail(open(spec, none + ",cycle"));
  EXPECT_TEXT(next(*empty), "none.npy' holds no values");
  once->rewind();
  EXPECT_TEXT(next(*once), "ok t: tensor<2xf32> = [1. 2.]");
  std::unique_ptr<Feed> cycle = llvm::cantFail(open(spec, path + ",cycle"));
  for (int count = 0; count < 3; ++count)
    EXPECT_TEXT(next(*cycle), count % 2 ? "[3. 4.]" : "[1. 2.]");
  TensorSpec wrong{"images", ADRT_F32, {3}};
  EXPECT_TEXT(unit::text(open(wrong, path)), "expected tensor<?x3xf32>");
  std::unique_ptr<Feed> arange = llvm::cantFail(open(spec, "arange"));
  EXPECT_TEXT(next(*arange), "[0. 1.]");
  EXPECT_TEXT(next(*arange), "[2. 3.]");
  EXPECT_TRUE(warnings.empty());
}

TEST(Generated, ValuesDependOnSeedAndIndex) {
  auto fill = [](const char *source, int64_t first) {
    Tensor tensor = llvm::cantFail(Tensor::create(ADRT_F32, {4}));
    llvm::cantFail(generate(llvm::cantFail(Source::parse(source)), first, tensor.view()));
    return print(tensor);
  };
  EXPECT_EQ(fill("normal:1", 0), fill("normal:1", 0));
  EXPECT_NE(fill("normal:1", 0), fill("normal:2", 0));
  EXPECT_NE(fill("uniform:7", 0), fill("uniform:7", 4));
  EXPECT_TEXT(fill("arange", 2), "[2. 3. 4. 5.]");
  EXPECT_TEXT(fill("zeros", 2), "[0. 0. 0. 0.]");
}

TEST(Print, LooksLikeNumpy) {
  EXPECT_TEXT(print(unit::tensor(ADRT_F32, {2, 2}, {1, -2.5, 0.1, 1e20})),
              "t: tensor<2x2xf32> =\n[[   1.  -2.5]\n [  0.1 1e+20]]\n");
  EXPECT_TEXT(print(unit::tensor(ADRT_F64, {}, {0.1})), "t: tensor<f64> = 0.1\n");
  EXPECT_TEXT(print(unit::tensor(ADRT_I1, {2}, {1, 0})), "= [ true false]");
  EXPECT_TEXT(print(unit::tensor(ADRT_F16, {2}, {-0.0, 65504})), "= [   -0. 65504.]");
  EXPECT_TEXT(print(unit::tensor(ADRT_I32, {0, 3}, {})), "t: tensor<0x3xi32> =\n[]");
  Tensor large = llvm::cantFail(Tensor::create(ADRT_I32, {2000}));
  llvm::cantFail(generate(llvm::cantFail(Source::parse("arange")), 0, large.view()));
  EXPECT_TEXT(print(large), "[   0    1    2 ... 1997 1998 1999]");
}
