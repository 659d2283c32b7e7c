#include <nanobind/ndarray.h>

#include <cstdint>
#include <stdexcept>

#include "bindings.h"
#include "pegasos/small_sums.h"

namespace pegasos {

using GivenIndices = nb::ndarray<const Index, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

static void require(bool holds, const char* text) {
  if (!holds) throw std::invalid_argument(text);
}

// The columns of problem k.
static SmallColumns columns_of(Index k, const GivenIndices& starts, const GivenWeights& sign, const GivenWeights& cost,
                               const GivenWeights& offset, const GivenWeights& scores) {
  const Index begin = starts.data()[k], end = starts.data()[k + 1], n = Index(scores.size());
  require(begin >= 0 && begin <= end && end <= n, "the starts of small problems must not fall.");
  require(Index(sign.size()) == n && Index(cost.size()) == n && Index(offset.size()) == n,
          "small problems need one sign, cost, offset and score per entry.");
  return {sign.data() + begin, cost.data() + begin, offset.data() + begin, scores.data() + begin, end - begin};
}

static void sums(GivenIndices starts, GivenWeights sign, GivenWeights cost, GivenWeights offset, GivenWeights alpha,
                 GivenWeights scores, GivenWeights mu, double largest, bool is_free, WeightArray coefficients,
                 WeightArray out) {
  constexpr Index width = sizeof(SmallTerms) / sizeof(double);
  const Index n_problems = Index(mu.size());
  require(Index(starts.shape(0)) == n_problems + 1 && Index(out.size()) == width * n_problems &&
              alpha.size() == scores.size() && coefficients.size() == scores.size(),
          "small problems need one alpha and coefficient per entry, and seven sums each.");
  for (Index k = 0; k < n_problems; ++k) {
    const SmallColumns rows = columns_of(k, starts, sign, cost, offset, scores);
    const Index begin = starts.data()[k];
    const double own_mu = mu.data()[k];
    const SmallSums all = small_sums(rows, alpha.data() + begin, own_mu, is_free, coefficients.data() + begin);
    const SmallTerms found = with_rounding(all, rows.n, own_mu, largest, is_free);
    std::memcpy(out.data() + k * width, &found, sizeof found);
  }
}

static void reaches(GivenIndices starts, GivenWeights sign, GivenWeights cost, GivenWeights offset, GivenWeights scores,
                    GivenWeights lengths, GivenWeights radii, GivenWeights intercepts, WeightArray out) {
  const Index n_problems = Index(radii.size());
  require(Index(starts.shape(0)) == n_problems + 1 && Index(intercepts.size()) == n_problems &&
              Index(out.size()) == n_problems && lengths.size() == scores.size(),
          "small problems need one length per entry, and one radius and intercept each.");
  for (Index k = 0; k < n_problems; ++k) {
    const SmallColumns rows = columns_of(k, starts, sign, cost, offset, scores);
    out.data()[k] = intercept_reach(rows, lengths.data() + starts.data()[k], radii.data()[k], intercepts.data()[k]);
  }
}

void bind_small_problems(nb::module_& m) {
  m.def("small_sums", sums, nb::arg("starts"), nb::arg("sign"), nb::arg("cost"), nb::arg("offset"), nb::arg("alpha"),
        nb::arg("scores"), nb::arg("mu"), nb::arg("largest"), nb::arg("is_free"), nb::arg("coefficients"),
        nb::arg("sums"),
        "Writes the coefficients of each problem, and a row of what its certificate is made of: SmallTerms of "
        "small_sums.h.");
  m.def("small_reaches", reaches, nb::arg("starts"), nb::arg("sign"), nb::arg("cost"), nb::arg("offset"),
        nb::arg("scores"), nb::arg("lengths"), nb::arg("radii"), nb::arg("intercepts"), nb::arg("reaches"),
        "Writes how far the intercept of an exact solution of each problem may be.");
}

}  // namespace pegasos
