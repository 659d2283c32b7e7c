#pragma once

#include <cmath>

#include "linear_pegasos.h"
#include "loss.h"
#include "rows.h"
#include "sampler.h"

namespace pegasos::PEGASOS_ISA {

template <class R, class W>
struct Pegasos {
  const Problem& problem;
  const R& rows;
  const PegasosSettings& settings;
  PegasosCounters& now;
  W* weights;
  W* alphas;
  W* weight_sums;
  W* alpha_sums;
  RowNumber* batch;
  double* slopes;

  static constexpr Index prefetch_distance = 4;

  double margin(RowNumber i) const {
    const double score = now.scale * double(rows.dot(i, weights));
    return double(problem.sign[i]) * (score + at(problem.offset, i));
  }

  // The slope of the loss of a violator.
  double slope(RowNumber i, double r, double weight) const {
    if (std::isfinite(problem.cap)) return loss_slope(problem, r);
    const double rate = double(rows.n_rows) * weight * at(problem.cost, i) / (problem.lam * problem.total);
    return r / (problem.ridge + rate / double(now.step) * rows.squared_norm(i));
  }

  // The violators among the next batch_size rows go to `batch`, and the slopes of their losses; returns their number.
  Index draw(Sampler& sampler) const {
    Index n_violators = 0;
    for (Index k = 0; k < settings.batch_size; ++k) {
      rows.prefetch(sampler.peek(prefetch_distance));
      const RowNumber i = sampler.next();
      const double here = margin(i);
      if (!(here < 1.0)) continue;
      slopes[n_violators] = slope(i, 1.0 - here, sampler.weight(problem.sign[i] < 0));
      batch[n_violators++] = i;
    }
    return n_violators;
  }

  void multiply_all(W value) {
    for (Index j = 0; j <= rows.n_features; ++j) weights[j] *= value;
    for (Index i = 0; i < rows.n_rows; ++i) alphas[i] *= value;
  }

  void shrink() {
    now.scale *= 1.0 - 1.0 / double(now.step);
    if (now.scale == 0.0) {  // the first step discards the initial weights
      multiply_all(W(0));
      now.squared_norm = 0.0;
      now.scale = 1.0;
    } else if (now.scale < 1e-9) {  // keep the scaled values from overflowing
      multiply_all(W(now.scale));
      now.squared_norm *= now.scale * now.scale;
      now.scale_sum /= now.scale;
      now.scale = 1.0;
    }
  }

  // scale_sum * weights - weight_sums loses digits as projections shrink the scale: the product moves into the sums.
  void fold_average() {
    const W folded = W(now.scale_sum);
    for (Index j = 0; j <= rows.n_features; ++j) weight_sums[j] -= folded * weights[j];
    for (Index i = 0; i < rows.n_rows; ++i) alpha_sums[i] -= folded * alphas[i];
    now.scale_sum = 0.0;
  }

  void add(RowNumber i, double slope, double weight) {
    const double n = double(rows.n_rows) * weight;
    const double gain = n / (double(now.step) * double(settings.batch_size)) * at(problem.cost, i) / now.scale * slope;
    const double push = gain * double(problem.sign[i]) / (problem.lam * problem.total);
    if (settings.project) now.squared_norm += push * (2.0 * double(rows.dot(i, weights)) + push * rows.squared_norm(i));
    rows.add(i, W(push), weights);
    alphas[i] += W(gain);
    if (settings.average) {
      rows.add(i, W(push * now.scale_sum), weight_sums);
      alpha_sums[i] += W(gain * now.scale_sum);
    }
  }

  void project() {
    const double norm = now.scale * std::sqrt(now.squared_norm > 0.0 ? now.squared_norm : 0.0);
    if (norm > settings.radius) now.scale *= settings.radius / norm;
  }

  void step(Sampler& sampler) {
    now.step += 1;
    now.averaged += 1;
    now.scale_sum += now.scale;
    if (settings.average && now.scale_sum > 64.0 * now.scale * double(now.averaged)) fold_average();
    const Index n_violators = draw(sampler);
    shrink();
    for (Index k = 0; k < n_violators; ++k) add(batch[k], slopes[k], sampler.weight(problem.sign[batch[k]] < 0));
    if (settings.project) project();
  }
};

inline void pegasos_advance(const Problem& problem, const PegasosSettings& settings, const PegasosState& state,
                            Index n_steps) {
  visit(problem.rows, state.weights.scalar, [&]<class R, class W>(const R& rows, W) {
    PegasosCounters& now = *state.counters;
    Pegasos<R, W> pegasos{problem,
                          rows,
                          settings,
                          now,
                          static_cast<W*>(state.weights.data),
                          static_cast<W*>(state.alphas.data),
                          static_cast<W*>(state.weight_sums.data),
                          static_cast<W*>(state.alpha_sums.data),
                          state.batch,
                          state.slopes};
    Sampler sampler{settings.sampling, state.order, rows.n_rows, now.position, Random{now.random}};
    if (settings.sampling == Sampling::balanced)
      sampler.n_first = size_of_first_group(state.order, problem.sign, rows.n_rows);
    for (Index k = 0; k < n_steps; ++k) pegasos.step(sampler);
    now.position = sampler.position;
    now.random = sampler.random.state;
  });
}

}  // namespace pegasos::PEGASOS_ISA
