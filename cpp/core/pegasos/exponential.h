// exp on vectors, for decaying quantities.
#pragma once

#include <cstdint>

#include "simd.h"

namespace pegasos::PEGASOS_ISA::simd {

// Below this, exp(-x) of `decayed` is 0: the product of two such numbers is never subnormal, which some processors
// compute a hundred times slower.
inline constexpr double smallest = 0x1p-500;
inline constexpr double largest_exponent = 346.5;  // 500 log 2 is 346.57

// exp(-x) for x >= 0, to two units in the last place; 0 where x exceeds largest_exponent, infinity included.
template <int Lanes>
inline Vector<double, Lanes> decayed(Vector<double, Lanes> x) {
  using V = Vector<double, Lanes>;
  using I = Vector<std::int64_t, Lanes>;
  const I kept = (I)(x <= largest_exponent);
  const V y = -(V)((I)x & kept);
  // y = n log 2 + r. Added to 1.5 2^52, a number is rounded to a whole one that stands in the last bits of the sum.
  constexpr double shift = 0x1.8p52;
  const V shifted = y * 0x1.71547652b82fep0 + shift;
  const V n = shifted - shift;
  const V r = (y - n * 0x1.62e42fefa0000p-1) - n * 0x1.cf79abc9e3b3ap-40;
  V p = V{} + 1.0 / 6227020800.0;  // 1/13!: the rest of the series is below 4e-18 for |r| <= log(2)/2
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  return (V)(((I)p + ((I)shifted << 52)) & kept);
}

// The same in single precision; 0 where x exceeds 87, about where the smallest normal number is.
template <int Lanes>
inline Vector<float, Lanes> decayed(Vector<float, Lanes> x) {
  using V = Vector<float, Lanes>;
  using I = Vector<std::int32_t, Lanes>;
  const I kept = (I)(x <= 87.0f);
  const V y = -(V)((I)x & kept);
  constexpr float shift = 0x1.8p23f;
  const V shifted = y * 1.44269504f + shift;
  const V n = shifted - shift;
  const V r = (y - n * 0.693359375f) + n * 2.12194440e-4f;
  V p = V{} + 1.0f / 5040.0f;  // 1/7!: the rest is below 6e-9
  p = p * r + 1.0f / 720.0f;
  p = p * r + 1.0f / 120.0f;
  p = p * r + 1.0f / 24.0f;
  p = p * r + 1.0f / 6.0f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  return (V)(((I)p + ((I)shifted << 23)) & kept);
}

}  // namespace pegasos::PEGASOS_ISA::simd
