// What the page calls: plain C functions on numbers and on memory that lives here. There is one run at a time.
#include <memory>
#include <random>

#include "run.h"

using namespace pegasos::playground;
using pegasos::Index;

#define EXPORT(name) __attribute__((export_name(name)))

namespace {

Values points;
std::vector<std::int32_t> classes;
std::unique_ptr<Run> run;
Values grid, norms;

// What RandomState(seed).randint(2**31 - 1) of numpy draws, which is how a fit draws the seed of its loops.
std::uint32_t first_draw(std::uint32_t seed) {
  std::mt19937 random(seed);
  for (;;) {
    const std::uint32_t value = std::uint32_t(random()) & 0x7fffffffu;
    if (value < 0x7fffffffu) return value;
  }
}

}  // namespace

extern "C" {

EXPORT("points") double* room_for_points(int n) {
  points.assign(std::size_t(2 * n), 0.0);
  return points.data();
}

EXPORT("classes") std::int32_t* room_for_classes(int n) {
  classes.assign(std::size_t(n), 0);
  return classes.data();
}

EXPORT("begin")
void begin(int n_classes, int algorithm, int kernel, int sampling, double lam, double gamma, int degree, int batch_size,
           double size, double bias, unsigned seed) {
  const pegasos::Sampling samplings[] = {pegasos::Sampling::shuffle, pegasos::Sampling::uniform,
                                         pegasos::Sampling::sequential};
  const Choice choice{
      Algorithm(algorithm), KernelKind(kernel), samplings[sampling], lam, gamma, degree, batch_size, size, bias,
      first_draw(seed)};
  run = std::make_unique<Run>(points, std::vector<Index>(classes.begin(), classes.end()), n_classes, choice);
}

EXPORT("advance") void advance(int n_steps) { run->advance(n_steps); }
EXPORT("look") void look() { run->look(); }

EXPORT("step") double step() { return double(run->step()); }
EXPORT("eta") double eta() { return run->eta(); }
EXPORT("largest_norm") double largest_norm() { return run->largest_norm(); }
EXPORT("n_drawn") int n_drawn() { return int(run->drawn().size()); }
EXPORT("drawn") const std::int32_t* drawn() { return run->drawn().data(); }

EXPORT("margins") const double* margins(int k) { return run->problem(k).margins.data(); }
EXPORT("violated") const std::int32_t* violated(int k) { return run->problem(k).violated.data(); }
EXPORT("weights") const double* weights(int k) { return run->problem(k).shown.weights.data(); }
EXPORT("coefficients") const double* coefficients(int k) { return run->problem(k).shown.coefficients.data(); }
EXPORT("alpha") const double* alpha(int k) { return run->problem(k).shown.alpha.data(); }
EXPORT("primal") double primal(int k) { return run->problem(k).primal_now; }
EXPORT("dual") double dual(int k) { return run->problem(k).dual_now; }
EXPORT("best_primal") double best_primal(int k) { return run->problem(k).primal.value; }
EXPORT("best_dual") double best_dual(int k) { return run->problem(k).dual_bound.value; }
EXPORT("radius") double radius(int k) { return run->problem(k).ball.radius; }

// Scores of the point that is shown, or of the center of the ball, on a grid.
EXPORT("scores") const double* scores(int k, int of_center, int size, double reach) {
  grid.resize(std::size_t(size * size));
  const auto& mine = run->problem(k);
  const auto& weights = of_center ? mine.ball.weights : mine.shown.weights;
  const auto& coefficients = of_center ? mine.ball.coefficients : mine.shown.coefficients;
  run->scores_on_grid(weights, coefficients, size, reach, grid.data());
  return grid.data();
}

// |phi(x)| on the same grid: how far a score can move when the weights move by 1.
EXPORT("norms") const double* norms_on_grid(int size, double reach) {
  norms.resize(std::size_t(size * size));
  for (int b = 0; b < size; ++b)
    for (int a = 0; a < size; ++a)
      norms[std::size_t(b * size + a)] = std::sqrt(
          run->squared_norm_at(reach * (2.0 * a / (size - 1) - 1.0), reach * (2.0 * b / (size - 1) - 1.0)));
  return norms.data();
}
}
