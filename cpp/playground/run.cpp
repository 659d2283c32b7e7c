#include "run.h"

#include <cmath>
#include <limits>

namespace pegasos::playground {

static const double one = 1.0, zero = 0.0;

Run::Run(Values points, std::vector<Index> codes, Index n_classes, const Choice& choice)
    : points_(std::move(points)),
      codes_(std::move(codes)),
      choice_(choice),
      n_(Index(codes_.size())),
      deck_(n_, choice.sampling, choice.seed),
      random_(choice.seed),
      position_(n_) {
  const double plus = choice.bias * choice.bias;
  if (has_kernel()) {
    Values norms;
    for (Index i = 0; i < n_; ++i) {
      const double* x = &points_[std::size_t(2 * i)];
      norms.push_back(simd::squared_norm(x, 2));
      for (Index j = 0; j < n_; ++j) matrix_.push_back(simd::dot(x, &points_[std::size_t(2 * j)], 2, 0.0));
    }
    const bool radial = choice.kernel == KernelKind::radial;
    const KernelFunction function{radial ? Shape::radial : Shape::polynomial, choice.gamma, 1.0, choice.degree, plus};
    apply_kernel(function, {matrix_.data(), Scalar::float64, n_, n_, n_}, norms.data(), norms.data());
    rows_ = {Layout::gram, Scalar::float64, IndexType::int32, matrix_.data(), nullptr, nullptr, n_, n_, 0.0};
  } else {
    rows_ = {Layout::dense, Scalar::float64, IndexType::int32, points_.data(), nullptr, nullptr, n_, 2, choice.bias};
  }
  with_rows([&](const auto& rows) {
    for (Index i = 0; i < n_; ++i) squared_norms_.push_back(rows.squared_norm(i));
  });
  const std::size_t n = std::size_t(n_), width = std::size_t(rows_.n_features + 1);
  for (Index i = 0; i < n_; ++i) order_.push_back(RowNumber(i));
  problems_.resize(std::size_t(n_classes == 2 ? 1 : n_classes));
  for (Index k = 0; k < n_problems(); ++k) {
    BinaryProblem& mine = problem(k);
    for (Index code : codes_) mine.sign.push_back(code == (n_problems() == 1 ? 1 : k) ? 1 : -1);
    mine.weights.assign(width, 0.0);
    mine.weight_sums = mine.weights;
    mine.alphas.assign(n, 0.0);
    mine.alpha_sums = mine.coefficients = mine.alphas;
    mine.order = order_;
    mine.pegasos.random = mine.dual.random = choice.seed;
    mine.pegasos.position = n_;
    mine.shown = point_of(mine);
    mine.primal = {std::numeric_limits<double>::infinity(), mine.shown};
    mine.dual_bound = {-std::numeric_limits<double>::infinity(), mine.shown};
  }
  online_weights_.assign(width * problems_.size(), 0.0);
  rho_.assign(problems_.size(), 1.0);
  look();
}

Problem Run::view(const BinaryProblem& mine) const {
  return {rows_, mine.sign.data(), {&one, 0}, {&zero, 0}, choice_.lam, double(n_)};
}

bool Run::is_online() const {
  return choice_.algorithm == Algorithm::perceptron || choice_.algorithm == Algorithm::passive_aggressive ||
         choice_.algorithm == Algorithm::norma;
}

double Run::eta() const {
  if (choice_.algorithm == Algorithm::norma) return choice_.size;
  if (choice_.algorithm == Algorithm::perceptron) return 1.0;
  if (is_online() || choice_.algorithm == Algorithm::dual_ascent) return std::nan("");
  return step_ == 0 ? std::nan("") : 1.0 / (choice_.lam * double(step_));
}

double Run::largest_norm() const {
  double largest = 0.0;
  for (double square : squared_norms_) largest = std::fmax(largest, square);
  return std::sqrt(largest);
}

void Run::advance(Index n_steps) {
  for (Index k = 0; k < n_steps; ++k) {
    const bool observed = k + 1 == n_steps;
    if (is_online())
      step_online();
    else if (choice_.algorithm == Algorithm::dual_ascent)
      step_dual(observed);
    else
      step_pegasos(observed);
  }
  for (BinaryProblem& mine : problems_) mine.shown = point_of(mine);
}

// The rows of the next step of Pegasos: of the deck, or those that a copy of the sampler of the loop draws.
void Run::draw_batch() {
  drawn_.clear();
  if (has_kernel()) {
    for (Index k = 0; k < choice_.batch_size; ++k) drawn_.push_back(std::int32_t(deck_.draw()));
    return;
  }
  const BinaryProblem& first = problems_[0];
  std::vector<RowNumber> order = first.order;
  Sampler sampler{choice_.sampling, order.data(), n_, first.pegasos.position, Random{first.pegasos.random}};
  for (Index k = 0; k < choice_.batch_size; ++k) drawn_.push_back(std::int32_t(sampler.next()));
}

void Run::step_pegasos(bool observed) {
  const bool projects = choice_.algorithm == Algorithm::projected, averages = choice_.algorithm == Algorithm::averaged;
  const PegasosSettings settings{choice_.batch_size, choice_.sampling, projects, averages,
                                 1.0 / std::sqrt(choice_.lam)};
  std::vector<RowNumber> batch(std::size_t(choice_.batch_size));
  Values slopes(batch.size());
  if (observed || has_kernel()) draw_batch();
  std::vector<RowNumber> dealt(drawn_.begin(), drawn_.end());
  for (BinaryProblem& mine : problems_) {
    const Problem problem = view(mine);
    if (observed) {
      mine.margins.clear();
      mine.violated.clear();
      with_rows([&](const auto& rows) {
        for (std::int32_t i : drawn_) {
          mine.margins.push_back(mine.pegasos.scale * rows.dot(i, mine.weights.data()) *
                                 double(mine.sign[std::size_t(i)]));
          mine.violated.push_back(mine.margins.back() < 1.0);
        }
      });
    }
    with_rows([&]<class R>(const R& rows) {
      PegasosCounters& now = mine.pegasos;
      Pegasos<R, double> loop{problem,
                              rows,
                              settings,
                              now,
                              mine.weights.data(),
                              mine.alphas.data(),
                              mine.weight_sums.data(),
                              mine.alpha_sums.data(),
                              batch.data(),
                              slopes.data()};
      if (has_kernel()) {
        Sampler sampler{Sampling::shuffle, dealt.data(), choice_.batch_size, 0, Random{0}};
        loop.step(sampler);
        return;
      }
      Sampler sampler{choice_.sampling, mine.order.data(), n_, now.position, Random{now.random}};
      loop.step(sampler);
      now.position = sampler.position;
      now.random = sampler.random.state;
    });
  }
  ++step_;
}

// Without shrinking: every sweep visits all rows.
void Run::step_dual(bool observed) {
  for (BinaryProblem& mine : problems_) {
    DualCounters& now = mine.dual;
    if (now.position >= now.active) now.position = now.active = 0;
    const Problem problem = view(mine);
    const double scale = choice_.lam * double(n_);
    const Values weights = observed ? mine.weights : Values{}, alphas = observed ? mine.alphas : Values{};
    with_rows([&]<class R>(const R& rows) {
      DualAscent<R, double, true>{problem,
                                  rows,
                                  mine.weights.data(),
                                  mine.alphas.data(),
                                  {{squared_norms_.data(), Scalar::float64}, scale},
                                  mine.order.data(),
                                  1.0 / scale,
                                  now}
          .advance(1);
    });
    if (!observed) continue;
    // A visited row stays where it was in the order, and the next one comes after it.
    const RowNumber i = mine.order[std::size_t(now.position - 1)];
    drawn_.assign(1, std::int32_t(i));
    with_rows([&](const auto& rows) { mine.margins.assign(1, rows.dot(i, weights.data()) * double(mine.sign[i])); });
    mine.violated.assign(1, mine.alphas[i] != alphas[i]);
  }
  ++step_;
}

RowNumber Run::next_of_order() {
  if (choice_.sampling == Sampling::uniform) {
    Random random{random_};
    const RowNumber row = random.below(RowNumber(n_));
    random_ = random.state;
    return row;
  }
  if (position_ == n_) {
    if (choice_.sampling == Sampling::shuffle) random_ = shuffle(order_.data(), n_, random_);
    position_ = 0;
  }
  return order_[std::size_t(position_++)];
}

void Run::step_online() {
  const RowNumber row = next_of_order();
  const StepRule rule = choice_.algorithm == Algorithm::perceptron           ? StepRule::perceptron
                        : choice_.algorithm == Algorithm::passive_aggressive ? StepRule::passive_aggressive_1
                                                                             : StepRule::norma;
  const OnlineSettings settings{rule, choice_.size, choice_.lam, 0.0};
  const OnlineStream stream{rows_, codes_.data(), {&one, 0}, &row, n_problems()};
  Values scores(problems_.size()), moves(problems_.size());
  const OnlineState state{online_weights_.data(), nullptr,      nullptr, rho_.data(),
                          scores.data(),          moves.data(), 1,       &online_};
  with_rows([&](const auto& rows) { return advance_rows(rows, stream, settings, state, {0, 1, 1}); });
  drawn_.assign(1, std::int32_t(row));
  const std::size_t width = std::size_t(rows_.n_features + 1);
  for (std::size_t k = 0; k < problems_.size(); ++k) {
    BinaryProblem& mine = problems_[k];
    for (double& c : mine.coefficients) c *= shrink();
    mine.coefficients[row] += moves[k];
    mine.margins.assign(1, scores[k] * double(mine.sign[row]));
    mine.violated.assign(1, moves[k] != 0.0);
    for (std::size_t j = 0; j < width; ++j) mine.weights[j] = online_.scale * online_weights_[k * width + j];
  }
  ++step_;
}

// What the state stands for. An online learner has a dual point too, which its coefficients are divided by.
Point Run::point_of(const BinaryProblem& mine) const {
  Point point{mine.weights, mine.coefficients, mine.alphas};
  const double unit = 1.0 / (choice_.lam * double(n_));
  if (is_online()) {
    for (std::size_t i = 0; i < point.alpha.size(); ++i)
      point.alpha[i] = mine.coefficients[i] * double(mine.sign[i]) / unit;
    return point;
  }
  const PegasosCounters& now = mine.pegasos;
  if (choice_.algorithm == Algorithm::averaged && now.averaged > 0) {
    const double count = double(now.averaged), mean = now.scale_sum / count;
    for (std::size_t j = 0; j < point.weights.size(); ++j)
      point.weights[j] = mean * mine.weights[j] - mine.weight_sums[j] / count;
    for (std::size_t i = 0; i < point.alpha.size(); ++i)
      point.alpha[i] = mean * mine.alphas[i] - mine.alpha_sums[i] / count;
  } else if (choice_.algorithm != Algorithm::dual_ascent) {
    for (double& w : point.weights) w *= now.scale;
    for (double& a : point.alpha) a *= now.scale;
  }
  for (std::size_t i = 0; i < point.alpha.size(); ++i)
    point.coefficients[i] = point.alpha[i] * double(mine.sign[i]) * unit;
  return point;
}

// <a, b> in the space of the weights.
double Run::product(const Point& a, const Point& b) const {
  if (has_kernel()) return simd::dot(a.coefficients.data(), b.weights.data(), n_, 0.0);
  return simd::dot(a.weights.data(), b.weights.data(), rows_.n_features + 1, 0.0);
}

// The weights of a dual point within its bounds.
Point Run::point_of_dual(const BinaryProblem& mine, const Values& alpha, double& gain) const {
  Point point{Values(mine.weights.size()), Values(alpha.size()), alpha};
  for (std::size_t i = 0; i < alpha.size(); ++i) {
    point.alpha[i] = std::fmin(std::fmax(alpha[i], 0.0), 1.0);
    point.coefficients[i] = point.alpha[i] * double(mine.sign[i]) / (choice_.lam * double(n_));
  }
  gain = dual_sums(view(mine), {point.alpha.data(), Scalar::float64}, point.weights.data(), 0, n_).gain;
  return point;
}

void Run::look() {
  for (BinaryProblem& mine : problems_) {
    const double loss = losses(view(mine), mine.shown.weights.data(), 0, n_).sum;
    mine.primal_now = loss / double(n_) + 0.5 * choice_.lam * product(mine.shown, mine.shown);
    double gain = 0.0;
    Point below = point_of_dual(mine, mine.shown.alpha, gain);
    mine.dual_now = gain / double(n_) - 0.5 * choice_.lam * product(below, below);
    const bool better_above = mine.primal_now<mine.primal.value, better_below = mine.dual_now> mine.dual_bound.value;
    if (better_above) mine.primal = {mine.primal_now, mine.shown};
    if (better_below) mine.dual_bound = {mine.dual_now, std::move(below)};
    if (better_above || better_below) find_ball(mine);
  }
}

// P is strongly convex: lam/2 |w - w*|^2 <= P(w) - P*, and with w(alpha) lam/2 |w(alpha) - w*|^2 <= P* - D(alpha). The
// sum bounds the distance of w* from the middle of the two.
void Run::find_ball(BinaryProblem& mine) {
  const Point &above = mine.primal.point, &below = mine.dual_bound.point;
  const auto middle = [](const Values& a, const Values& b) {
    Values out(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) out[i] = 0.5 * (a[i] + b[i]);
    return out;
  };
  mine.ball.weights = middle(above.weights, below.weights);
  mine.ball.coefficients = middle(above.coefficients, below.coefficients);
  const double apart = product(above, above) - 2.0 * product(above, below) + product(below, below);
  const double square = (mine.primal.value - mine.dual_bound.value) / choice_.lam - 0.25 * apart;
  mine.ball.radius = std::sqrt(std::fmax(square, 0.0));
}

double Run::squared_norm_at(double x, double y) const {
  const double plus = choice_.bias * choice_.bias, square = x * x + y * y;
  if (choice_.kernel == KernelKind::radial) return 1.0 + plus;
  if (choice_.kernel == KernelKind::linear) return square + plus;
  return std::pow(choice_.gamma * square + 1.0, double(choice_.degree)) + plus;
}

static double place(Index k, Index size, double reach) { return reach * (2.0 * double(k) / double(size - 1) - 1.0); }

void Run::scores_on_grid(const Values& weights, const Values& coefficients, Index size, double reach, double* out) {
  if (choice_.kernel == KernelKind::radial) return grid_of_decay(coefficients, size, reach, out);
  if (choice_.kernel == KernelKind::polynomial) return grid_of_monomials(coefficients, size, reach, out);
  for (Index b = 0; b < size; ++b)
    for (Index a = 0; a < size; ++a)
      out[b * size + a] = weights[0] * place(a, size, reach) + weights[1] * place(b, size, reach) +
                          weights[2] * choice_.bias;
}

// exp(-gamma |x - z|^2) is a product of one factor per direction: the grid is a product of two matrices.
void Run::grid_of_decay(const Values& coefficients, Index size, double reach, double* out) {
  if (decay_size_ != size) {
    decay_size_ = size;
    decay_x_.resize(std::size_t(size * n_));
    decay_y_ = decay_x_;
    for (Index a = 0; a < size; ++a)
      for (Index i = 0; i < n_; ++i) {
        const double dx = place(a, size, reach) - points_[std::size_t(2 * i)];
        const double dy = place(a, size, reach) - points_[std::size_t(2 * i + 1)];
        decay_x_[std::size_t(a * n_ + i)] = std::exp(-choice_.gamma * dx * dx);
        decay_y_[std::size_t(a * n_ + i)] = std::exp(-choice_.gamma * dy * dy);
      }
  }
  double sum = 0.0;
  for (double c : coefficients) sum += c;
  Values row(coefficients.size());
  for (Index b = 0; b < size; ++b) {
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = coefficients[i] * decay_y_[std::size_t(b * n_) + i];
    for (Index a = 0; a < size; ++a)
      out[b * size + a] = simd::dot(&decay_x_[std::size_t(a * n_)], row.data(), n_, sum * choice_.bias * choice_.bias);
  }
}

// (gamma <x, z> + 1)^degree written out in the monomials of z: as many terms as the explicit map has features.
void Run::grid_of_monomials(const Values& coefficients, Index size, double reach, double* out) const {
  const Index degree = choice_.degree;
  struct Term {
    Index p, q;
    double weight;
  };
  std::vector<Term> terms;
  for (Index p = 0; p <= degree; ++p)
    for (Index q = 0; p + q <= degree; ++q) {
      const double choose = std::tgamma(double(degree + 1)) / (std::tgamma(double(p + 1)) * std::tgamma(double(q + 1)) *
                                                               std::tgamma(double(degree - p - q + 1)));
      double sum = 0.0;
      for (Index i = 0; i < n_; ++i)
        sum += coefficients[std::size_t(i)] * std::pow(points_[std::size_t(2 * i)], double(p)) *
               std::pow(points_[std::size_t(2 * i + 1)], double(q));
      terms.push_back({p, q, std::round(choose) * std::pow(choice_.gamma, double(p + q)) * sum});
    }
  double constant = 0.0;
  for (double c : coefficients) constant += c * choice_.bias * choice_.bias;
  Values powers(std::size_t(size * (degree + 1)));
  for (Index a = 0; a < size; ++a)
    for (Index p = 0; p <= degree; ++p)
      powers[std::size_t(a * (degree + 1) + p)] = std::pow(place(a, size, reach), double(p));
  for (Index b = 0; b < size; ++b)
    for (Index a = 0; a < size; ++a) {
      double score = constant;
      for (const Term& term : terms)
        score += term.weight * powers[std::size_t(a * (degree + 1) + term.p)] *
                 powers[std::size_t(b * (degree + 1) + term.q)];
      out[b * size + a] = score;
    }
}

}  // namespace pegasos::playground
