#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "bindings.h"

namespace pegasos {

Scalar scalar_of(nb::dlpack::dtype type, const char* name) {
  if (type == nb::dtype<float>()) return Scalar::float32;
  if (type == nb::dtype<double>()) return Scalar::float64;
  throw std::invalid_argument(std::string(name) + " must be float32 or float64.");
}

static void require(bool holds, const char* sentence) {
  if (!holds) throw std::invalid_argument(sentence);
}

static void require_entries(Index found, Index length, const char* name) {
  if (found != length)
    throw std::invalid_argument(std::string(name) + " must have " + std::to_string(length) + " entries, got " +
                                std::to_string(found) + ".");
}

Buffer buffer_of(const AnyFloatArray& array, Index length, const char* name) {
  require_entries(Index(array.shape(0)), length, name);
  return {array.data(), scalar_of(array.dtype(), name)};
}

RowValues row_values(const GivenFloatArray& array, Index length, const char* name) {
  require_entries(Index(array.shape(0)), length, name);
  return {array.data(), scalar_of(array.dtype(), name)};
}

void require_length(const Vector& vector, Index length) {
  require(Index(vector.shape(0)) == length, "a vector has the wrong length.");
}

void require_side(const Matrix& matrix, Index side) {
  require(Index(matrix.shape(0)) == side && Index(matrix.shape(1)) == side, "a matrix has the wrong size.");
}

static OwnedRows whole_rows(Layout layout, InputArray values, double bias) {
  require(values.ndim() == 2, "dense rows must be a matrix.");
  const Index n = Index(values.shape(0)), d = Index(values.shape(1));
  const bool contiguous = n * d == 0 || ((d == 1 || values.stride(1) == 1) && (n == 1 || values.stride(0) == d));
  require(contiguous, "dense rows must be C-contiguous.");
  const Rows rows{
      layout, scalar_of(values.dtype(), "dense rows"), IndexType::int32, values.data(), nullptr, nullptr, n, d, bias};
  return {rows, std::move(values), {}, {}, {}};
}

static OwnedRows dense_rows(InputArray values, double bias) {
  return whole_rows(Layout::dense, std::move(values), bias);
}

static OwnedRows gram_rows(InputArray values) {
  require(values.ndim() == 2 && values.shape(0) == values.shape(1), "a kernel matrix must be square.");
  return whole_rows(Layout::gram, std::move(values), 0.0);
}

// Rows given only by their scores: a loop may test them, but not move along them.
static OwnedRows scored_rows(Index n) {
  return {{Layout::gram, Scalar::float64, IndexType::int32, nullptr, nullptr, nullptr, n, n, 0.0}, {}, {}, {}, {}};
}

static OwnedRows csr_rows(InputArray values, InputArray indices, InputArray starts, Index n_features, double bias) {
  require(values.ndim() == 1 && indices.ndim() == 1 && starts.ndim() == 1, "CSR parts must be vectors.");
  require(values.shape(0) == indices.shape(0), "CSR needs as many column indices as values.");
  require(n_features >= 0, "CSR needs a number of features.");
  require(starts.shape(0) >= 1, "CSR needs one start more than rows.");
  require(indices.dtype() == starts.dtype(), "CSR indices and starts must have one type.");
  const bool wide = indices.dtype() == nb::dtype<std::int64_t>();
  require(wide || indices.dtype() == nb::dtype<std::int32_t>(), "CSR indices must be int32 or int64.");
  for (const InputArray* part : {&values, &indices, &starts})
    require(part->shape(0) <= 1 || part->stride(0) == 1, "CSR parts must be contiguous.");
  const Index n = Index(starts.shape(0)) - 1;
  const Index stored = wide ? static_cast<const std::int64_t*>(starts.data())[n]
                            : static_cast<const std::int32_t*>(starts.data())[n];
  require(stored >= 0 && stored <= Index(values.shape(0)), "CSR starts reach beyond the stored values.");
  const Rows rows{Layout::csr,
                  scalar_of(values.dtype(), "CSR values"),
                  wide ? IndexType::int64 : IndexType::int32,
                  values.data(),
                  indices.data(),
                  starts.data(),
                  n,
                  n_features,
                  bias};
  return {rows, std::move(values), std::move(indices), std::move(starts), {}};
}

// The rows with these numbers among those that `owned` refers to, which may itself be a view.
static OwnedRows view_rows(const OwnedRows& owned, InputArray numbers, Index repeats) {
  require(owned.rows.layout != Layout::gram, "a kernel matrix has no views.");
  require(numbers.ndim() == 1 && numbers.dtype() == nb::dtype<RowNumber>() &&
              (numbers.shape(0) <= 1 || numbers.stride(0) == 1),
          "the row numbers of a view must be a contiguous uint32 vector.");
  const bool sparse = owned.rows.layout == Layout::csr;
  const Index whole = sparse ? Index(owned.starts.shape(0)) - 1 : Index(owned.values.shape(0));
  require(whole <= Index(~RowNumber(0)), "a view is of at most 4294967295 rows.");
  const RowNumber* begin = static_cast<const RowNumber*>(numbers.data());
  const RowNumber* end = begin + numbers.shape(0);
  require(std::all_of(begin, end, [&](RowNumber i) { return Index(i) < whole; }), "a row of a view is out of bounds.");
  OwnedRows view = owned;
  view.rows.n_rows = Index(numbers.shape(0));
  view.rows.numbers = begin;
  const bool are_whole = repeats >= 1 && view.rows.n_rows % repeats == 0;
  require(are_whole && (repeats == 1 || std::equal(begin + view.rows.n_rows / repeats, end, begin)),
          "the rows of a view must repeat as often as is said.");
  view.rows.repeats = repeats;
  view.numbers = std::move(numbers);
  return view;
}

Column column_of(const InputArray& array, Index n, const char* name) {
  if (array.ndim() != 1 || Index(array.shape(0)) != n || array.dtype() != nb::dtype<double>())
    throw std::invalid_argument(std::string(name) + " must be a float64 vector with one entry a row.");
  return {static_cast<const double*>(array.data()), array.stride(0)};
}

static OwnedProblem make_problem(const OwnedRows& rows, InputArray sign, InputArray cost, InputArray offset, double lam,
                                 double total, double cap, double ridge) {
  const Index n = rows.rows.n_rows;
  require(sign.ndim() == 1 && Index(sign.shape(0)) == n && sign.dtype() == nb::dtype<std::int8_t>() &&
              (n <= 1 || sign.stride(0) == 1),
          "sign must be a contiguous int8 vector with one entry a row.");
  require(n < Index(~RowNumber(0)), "a problem in memory holds fewer than 4294967295 rows.");
  require(lam > 0 && total > 0, "lam and the total weight must be positive.");
  require(cap > 0 && ridge >= 0 && std::isfinite(ridge), "cap must be positive, ridge finite and not negative.");
  require(ridge > 0 || std::isfinite(cap), "a loss needs a finite cap or a positive ridge.");
  const Problem problem{rows.rows,
                        static_cast<const std::int8_t*>(sign.data()),
                        column_of(cost, n, "cost"),
                        column_of(offset, n, "offset"),
                        lam,
                        total,
                        cap,
                        ridge};
  return {problem, rows, std::move(sign), std::move(cost), std::move(offset)};
}

template <class I>
static bool is_intact(const Rows& rows) {
  const I* const starts = static_cast<const I*>(rows.starts);
  const I* const indices = static_cast<const I*>(rows.indices);
  const Index end = Index(starts[rows.n_rows]);
  bool all = starts[0] >= 0;
  for (Index i = 0; i < rows.n_rows; ++i) all &= starts[i] <= starts[i + 1];
  for (Index k = all ? Index(starts[0]) : end; k < end; ++k)
    all &= indices[k] >= 0 && Index(indices[k]) < rows.n_features;
  return all;
}

// Whether inspected rows still refer to valid columns; a view refers to rows that others own.
static bool are_intact(const OwnedRows& owned) {
  const Rows& rows = owned.rows;
  if (rows.layout != Layout::csr || rows.numbers) return true;
  nb::gil_scoped_release release;
  return rows.index == IndexType::int32 ? is_intact<std::int32_t>(rows) : is_intact<std::int64_t>(rows);
}

void bind_problem(nb::module_& m) {
  nb::class_<OwnedRows>(m, "Rows", "The user's rows, dense or CSR, or some of them; nothing is copied.")
      .def_prop_ro("n_rows", [](const OwnedRows& r) { return r.rows.n_rows; })
      .def_prop_ro("n_features", [](const OwnedRows& r) { return r.rows.n_features; })
      .def_prop_ro(
          "n_distinct", [](const OwnedRows& r) { return n_distinct(r.rows); },
          "Number of rows before the same ones follow again.")
      .def_prop_rw(
          "threads", [](const OwnedRows& r) { return r.rows.threads; },
          [](OwnedRows& r, Index threads) { r.rows.threads = threads; });
  m.def("dense_rows", dense_rows, nb::arg("values"), nb::arg("bias"));
  m.def("gram_rows", gram_rows, nb::arg("values"));
  m.def("scored_rows", scored_rows, nb::arg("n_rows"));
  m.def("csr_rows", csr_rows, nb::arg("values"), nb::arg("indices"), nb::arg("starts"), nb::arg("n_features"),
        nb::arg("bias"));
  m.def("are_intact", are_intact, nb::arg("rows"),
        "Whether the columns of sparse rows are within the features: another thread may have changed them.");
  m.def("view_rows", view_rows, nb::arg("rows"), nb::arg("numbers"), nb::arg("repeats") = 1,
        "A view of some of the rows, by their numbers among all that `rows` looks into. Where it is said that the same "
        "rows follow one another several times, passes may read each of them once.");
  nb::class_<OwnedProblem>(m, "Problem", "The problem as the loops see it.");
  m.def("make_problem", make_problem, nb::arg("rows"), nb::arg("sign"), nb::arg("cost"), nb::arg("offset"),
        nb::arg("lam"), nb::arg("total"), nb::arg("cap") = 1.0, nb::arg("ridge") = 0.0);
}

}  // namespace pegasos
