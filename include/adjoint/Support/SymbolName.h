/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Symbols of functions. The name of a function in a program may contain any character. Linkers and PTX do not
   accept all of them, such as `@`, quotes and spaces. */
#ifndef ADJOINT_SUPPORT_SYMBOLNAME_H
#define ADJOINT_SUPPORT_SYMBOLNAME_H

#include <string>
#include <string_view>

namespace adrt {

/// Letters, digits and underscores are kept. Every other byte becomes `$` and two hexadecimal digits, so
/// different names have different symbols.
inline std::string symbolName(std::string_view name) {
  constexpr char digits[] = "0123456789abcdef";
  std::string symbol;
  for (char c : name) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    auto byte = static_cast<unsigned char>(c);
    symbol += plain ? std::string{c} : std::string{'$', digits[byte / 16], digits[byte % 16]};
  }
  return symbol;
}

/// The symbol of the entry that a public function becomes.
inline std::string entrySymbol(std::string_view function) { return "adrt_entry_" + symbolName(function); }

} // namespace adrt

#endif // ADJOINT_SUPPORT_SYMBOLNAME_H
