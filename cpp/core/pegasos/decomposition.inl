#pragma once

#include "decomposition.h"
#include "kernel_blocks.inl"

namespace pegasos::PEGASOS_ISA {

template <class T>
struct GreedyAscent {
  static constexpr int lanes = simd::vector_bytes / int(sizeof(T));
  using V = simd::Vector<T, lanes>;
  using Mask = decltype(V{} < V{});

  const T* kernel;
  Index stride;
  Index n;
  T* slope;
  T* down;
  T* up;
  const T* step;
  const T* curvature;
  Index spread;  // 1, or 0 when all coordinates share one step: then the first `lanes` entries serve them all

  struct Best {
    T gain;
    Index place;
  };

  // How far coordinate j goes, and what that gains.
  T move_of(Index j) const {
    T m = step[j * spread] * slope[j];
    m = m > down[j] ? m : down[j];
    return m < up[j] ? m : up[j];
  }
  T gain_of(Index j) const {
    const T m = move_of(j);
    return m * (slope[j] - T(0.5) * curvature[j * spread] * m);
  }

  // Subtracts factor * column from the slopes and finds the coordinate that gains most, in one pass.
  Best subtract_and_choose(T factor, const T* column) const {
    V best = V{} - T(1);
    Mask place{}, here{};
    for (int k = 0; k < lanes; ++k) here[k] = k;
    Index j = 0;
    for (; j + lanes <= n; j += lanes, here += lanes) {
      const V h = simd::load<T, lanes>(slope + j) - factor * simd::load<T, lanes>(column + j);
      simd::store<T, lanes>(slope + j, h);
      const V low = simd::load<T, lanes>(down + j), high = simd::load<T, lanes>(up + j);
      V m = simd::load<T, lanes>(step + j * spread) * h;
      m = m > low ? m : low;
      m = m < high ? m : high;
      const V gain = m * (h - T(0.5) * (simd::load<T, lanes>(curvature + j * spread) * m));
      const Mask better = gain > best;
      best = better ? gain : best;
      place = better ? here : place;
    }
    Best found{T(-1), 0};
    for (int k = 0; k < lanes; ++k)
      if (best[k] > found.gain) found = {best[k], Index(place[k])};
    for (; j < n; ++j) {
      slope[j] -= factor * column[j];
      if (const T gain = gain_of(j); gain > found.gain) found = {gain, j};
    }
    return found;
  }

  Index advance(T unit, T enough, Index n_steps) const {
    Best best = subtract_and_choose(T(0), kernel);
    Index done = 0;
    for (; done < n_steps && best.gain > enough; ++done) {
      const Index i = best.place;
      const T m = move_of(i);
      down[i] -= m;
      up[i] -= m;
      best = subtract_and_choose(m * unit, kernel + i * stride);
    }
    return done;
  }
};

inline Index greedy_advance(const WorkingSet& set, double unit, double enough, Index n_steps) {
  Index done = 0;
  visit(set.kernel, [&]<class T>(const T* kernel) {
    done = GreedyAscent<T>{kernel,
                           set.kernel.stride,
                           set.kernel.n_rows,
                           static_cast<T*>(set.slope.data),
                           static_cast<T*>(set.down.data),
                           static_cast<T*>(set.up.data),
                           static_cast<const T*>(set.step.data),
                           static_cast<const T*>(set.curvature.data),
                           set.one_step ? 0 : 1}
               .advance(T(unit), T(enough), n_steps);
  });
  return done;
}

}  // namespace pegasos::PEGASOS_ISA
