// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Builds programs operation by operation, for front ends in other languages. This header includes neither
// LLVM nor MLIR, so that bindings can use it with exceptions and RTTI. Types and attributes are texts as MLIR
// prints them.
#ifndef ADJOINT_BUILDER_PROGRAMBUILDER_H
#define ADJOINT_BUILDER_PROGRAMBUILDER_H

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mlir::ad {

/// A position in the source of the front end, and what a value is called there. Both may be empty.
struct BuilderPlace {
  std::string file;
  unsigned line = 0, column = 0; ///< from 1
  std::string name;
};

/// An operation to be appended.
struct BuilderOperation {
  std::string name; ///< with its dialect: ad.add
  std::vector<uint32_t> operands;
  std::vector<std::pair<std::string, std::string>> attributes; ///< names and texts
  /// Of the results; empty if the operation infers them.
  std::vector<std::string> types;
  unsigned regions = 0; ///< it takes that many of the regions that were ended last
  BuilderPlace place;
};

/// A size: `number` if it is known, else that of an argument of the function that has the value: an index, or
/// the size `dimension` of a tensor. What does not apply is -1.
struct BuilderSize {
  int64_t number = -1, argument = -1, dimension = -1;
};

/// Values are numbers, from 0 on. A function that returns false leaves the reason in `getError`; regions that
/// the operation was to take are gone then. Values of what was given up are refused.
class ProgramBuilder {
public:
  ProgramBuilder();
  ~ProgramBuilder();
  ProgramBuilder(const ProgramBuilder &) = delete;
  ProgramBuilder &operator=(const ProgramBuilder &) = delete;

  /// Begins a function with one argument for each type; operations are appended to it until it ends.
  /// Functions may begin inside of others, which then wait. Entries are public.
  bool beginFunction(const std::string &name, bool isEntry, const std::vector<std::string> &types,
                     const BuilderPlace &place, std::vector<uint32_t> &arguments);
  /// One more argument of the function, after the others.
  bool addArgument(const std::string &type, const BuilderPlace &place, uint32_t &argument);
  /// Attributes of arguments and results of the function, such as `ad.name`. That of a result comes after it
  /// ended.
  bool setArgumentAttribute(const std::string &function, unsigned index, const std::string &name,
                            const std::string &text);
  bool setResultAttribute(const std::string &function, unsigned index, const std::string &name,
                          const std::string &text);
  bool endFunction(const std::vector<uint32_t> &results, const BuilderPlace &place);
  /// Gives up the function, which may have ended.
  void eraseFunction(const std::string &name);

  /// Begins a region of one block for an operation that follows, and ends it with a terminator.
  bool beginRegion(const std::vector<std::string> &types, const BuilderPlace &place,
                   std::vector<uint32_t> &arguments);
  bool endRegion(const BuilderOperation &terminator);
  /// Gives up the region that was begun last, or regions that have ended and that no operation has taken.
  void abandonRegion();
  void dropRegions(unsigned count);

  /// Appends the operation after verifying it.
  bool create(const BuilderOperation &operation, std::vector<uint32_t> &results);

  /// Where a size of a tensor comes from. Operands of elementwise operations broadcast together: the first
  /// origin that is not 1 is the size. False if a size is computed within the function.
  bool findSize(uint32_t value, unsigned axis, std::vector<BuilderSize> &origins) const;

  /// The text of a value's type.
  std::string getType(uint32_t value) const;
  /// The program, with the places as locations or without.
  std::string getText(bool withLocations) const;
  const std::string &getError() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace mlir::ad

#endif // ADJOINT_BUILDER_PROGRAMBUILDER_H
