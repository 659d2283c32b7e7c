// A decimal number of a text as the nearest double.
//
// Up to 2^53 and 10^22 both the digits and the power of ten are doubles, so that one division or product rounds once:
// W. D. Clinger, How to read floating point numbers accurately, PLDI 1990. std::from_chars does the others.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

namespace pegasos {

struct Decimal {
  const char* end;  // after the number; null when there is none
  double value;     // infinite when a finite number is too large
  bool is_word;     // "nan" or "inf"
};

inline bool is_digit(char c) { return unsigned(c - '0') < 10u; }

// The number in [begin, end), as `digits`: without its sign. Where the power of ten is out of range, from_chars says so
// but not on which side: the place of the first digit that counts decides.
inline double slow_decimal(const char* begin, const char* end, std::int64_t exponent) {
  double value = 0.0;
  if (std::from_chars(begin, end, value).ec != std::errc::result_out_of_range) return value;
  const char* p = begin;
  while (p != end && (*p == '0' || *p == '.')) ++p;
  for (; p != end && (is_digit(*p) || *p == '.'); ++p) exponent += *p != '.';
  return exponent > 0 ? std::numeric_limits<double>::infinity() : 0.0;
}

inline bool skip_word(const char*& p, const char* end, std::string_view word) {
  if (end - p < std::ptrdiff_t(word.size())) return false;
  for (std::size_t i = 0; i < word.size(); ++i)
    if ((p[i] | 0x20) != word[i]) return false;
  p += word.size();
  return true;
}

inline Decimal word_decimal(const char* p, const char* end) {
  if (skip_word(p, end, "nan")) return {p, std::numeric_limits<double>::quiet_NaN(), true};
  if (!skip_word(p, end, "inf")) return {nullptr, 0.0, false};
  skip_word(p, end, "inity");
  return {p, std::numeric_limits<double>::infinity(), true};
}

// Moves past an exponent such as e-3 and returns it, cut off at where every double is 0 or infinite; past nothing when
// there is none. A mark without digits is left standing.
inline std::int64_t skip_exponent(const char*& p, const char* end) {
  const char* q = p + 1;
  const bool is_negative = q != end && *q == '-';
  if (q != end && (*q == '-' || *q == '+')) ++q;
  if (q == end || !is_digit(*q)) return 0;
  constexpr std::int64_t enough = 1'000'000'000'000;
  std::int64_t exponent = 0;
  for (; q != end && is_digit(*q); ++q) exponent = exponent < enough ? 10 * exponent + (*q - '0') : exponent;
  p = q;
  return is_negative ? -exponent : exponent;
}

// The longest number that begins at p: [+-] digits [. digits] [e [+-] digits], or nan, inf, infinity.
inline Decimal read_decimal(const char* p, const char* end) {
  static constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const bool is_negative = p != end && *p == '-';
  if (p != end && (*p == '-' || *p == '+')) ++p;
  const char* const begin = p;
  std::uint64_t digits = 0;  // wraps around after 19, which their number tells
  for (; p != end && is_digit(*p); ++p) digits = 10 * digits + std::uint64_t(*p - '0');
  std::int64_t n_digits = p - begin, exponent = 0;
  if (p != end && *p == '.') {
    const char* const fraction = ++p;
    for (; p != end && is_digit(*p); ++p) digits = 10 * digits + std::uint64_t(*p - '0');
    exponent = fraction - p;
    n_digits -= exponent;
  }
  Decimal number{p, 0.0, false};
  if (n_digits == 0) {
    number = word_decimal(begin, end);
  } else {
    const std::int64_t written = p != end && (*p | 0x20) == 'e' ? skip_exponent(p, end) : 0;
    exponent += written;
    number.end = p;
    if (n_digits <= 19 && digits <= (std::uint64_t(1) << 53) && exponent >= -22 && exponent <= 22)
      number.value = exponent < 0 ? double(digits) / powers[-exponent] : double(digits) * powers[exponent];
    else
      number.value = slow_decimal(begin, p, exponent);
  }
  if (is_negative) number.value = -number.value;
  return number;
}

}  // namespace pegasos
