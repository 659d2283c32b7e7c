#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <vector>

#include "bindings.h"
#include "pegasos/breaks.h"
#include "threads.h"
#include "watch.h"

namespace pegasos {

using MatrixArray = nb::ndarray<nb::ndim<2>, nb::device::cpu>;
using GivenMatrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
using IndexArray = nb::ndarray<Index, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using GivenIndices = nb::ndarray<const Index, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

static void require(bool holds, const char* sentence) {
  if (!holds) throw std::invalid_argument(sentence);
}

template <class Array>
static Block block_of(const Array& array) {
  require(array.shape(1) <= 1 || array.stride(1) == 1, "the rows of a block must be contiguous.");
  // Read-only input is only read.
  return {const_cast<void*>(static_cast<const void*>(array.data())), scalar_of(array.dtype(), "a block"),
          Index(array.shape(0)), Index(array.shape(1)), array.stride(0)};
}

// The least work, in simple operations, for which starting a thread pays off.
constexpr double least_work = 1 << 21;

// Calls f(begin, end) on equal stretches of 0..n, at most n_threads, each a multiple of 16 long but the last. ``each``
// is the work of one index.
template <class F>
static void in_stretches(Index n, double each, Index n_threads, F&& f) {
  const double worthwhile = 1.0 + double(n) * each / least_work;
  if (double(n_threads) > worthwhile) n_threads = Index(worthwhile);
  const Index length = (n / (n_threads > 0 ? n_threads : 1) + 16) / 16 * 16;
  together((n + length - 1) / length,
           [&](Index k) { f(k * length, k * length + length < n ? k * length + length : n); });
}

static Block rows_of(Block block, Index begin, Index end) {
  const Index bytes = block.scalar == Scalar::float32 ? 4 : 8;
  block.data = static_cast<char*>(block.data) + begin * block.stride * bytes;
  block.n_rows = end - begin;
  return block;
}

static KernelFunction function_of(std::string_view shape, double gamma, double coef0, Index degree, double plus) {
  require(shape == "polynomial" || shape == "radial", "shape must be 'polynomial' or 'radial'.");
  return {shape == "radial" ? Shape::radial : Shape::polynomial, gamma, coef0, degree, plus};
}

static void check_norms(const Block& block, const GivenWeights& left, const GivenFloatArray& right) {
  require(left.ndim() == 1 && Index(left.shape(0)) == block.n_rows && Index(right.shape(0)) == block.n_columns,
          "a block needs one squared norm a row and a column.");
  require(scalar_of(right.dtype(), "squared norms") == block.scalar, "squared norms must have the type of the block.");
}

static void apply_kernel(std::string_view shape, double gamma, double coef0, Index degree, double plus,
                         MatrixArray values, GivenWeights left, GivenFloatArray right, Index n_threads) {
  const Block block = block_of(values);
  const KernelFunction f = function_of(shape, gamma, coef0, degree, plus);
  check_norms(block, left, right);
  nb::gil_scoped_release release;
  in_stretches(block.n_rows, 8.0 * double(block.n_columns), n_threads, [&](Index begin, Index end) {
    loops().apply_kernel(f, rows_of(block, begin, end), left.data() + begin, right.data());
  });
}

static Block columns_of(Block block, Index begin, Index end) {
  block.data = static_cast<char*>(block.data) + begin * (block.scalar == Scalar::float32 ? 4 : 8);
  block.n_columns = end - begin;
  return block;
}

// Fewer rows than this of more features than that are not worth packing the others.
constexpr Index few_rows = 8, few_features = 32;

// Bytes of rows that are packed at a time: what stays in the cache while all rows of x meet them.
constexpr Index packed_bytes = 1 << 21;

static void dense_kernel(std::string_view shape, double gamma, double coef0, Index degree, double plus, GivenMatrix x,
                         GivenMatrix z, GivenWeights left, GivenFloatArray right, MatrixArray out, Index n_threads) {
  const Block rows = block_of(x), others = block_of(z), block = block_of(out);
  const KernelFunction f = function_of(shape, gamma, coef0, degree, plus);
  check_norms(block, left, right);
  require(rows.n_rows == block.n_rows && others.n_rows == block.n_columns && rows.n_columns == others.n_columns,
          "the block must be (rows of x, rows of z).");
  require(rows.scalar == block.scalar && others.scalar == block.scalar, "the block must have the type of the rows.");
  const Index bytes = block.scalar == Scalar::float32 ? 4 : 8, d = rows.n_columns;
  const auto norms_from = [&](Index k) { return static_cast<const char*>(right.data()) + k * bytes; };
  if (rows.n_rows < few_rows && d > few_features) {
    nb::gil_scoped_release release;
    in_stretches(others.n_rows, double(rows.n_rows) * double(8 + d / 4), n_threads, [&](Index begin, Index end) {
      loops().few_rows_kernel(f, rows, rows_of(others, begin, end), left.data(), norms_from(begin),
                              columns_of(block, begin, end));
    });
    return;
  }
  const Index width = std::clamp(packed_bytes / bytes / (d + 1) / 64 * 64, Index(64), Index(1) << 14);
  const Index length = loops().packed_length(block.scalar, std::min(width, others.n_rows), d);
  const std::unique_ptr<char[]> packed(new char[std::size_t(length * bytes)]);
  nb::gil_scoped_release release;
  for (Index first = 0; first < others.n_rows; first += width) {
    const Index last = std::min(others.n_rows, first + width);
    loops().pack_rows(rows_of(others, first, last), packed.get());
    const Block part = columns_of(block, first, last);
    in_stretches(block.n_rows, double(last - first) * double(8 + d / 8), n_threads, [&](Index begin, Index end) {
      loops().dense_kernel(f, rows_of(rows, begin, end), packed.get(), left.data() + begin, norms_from(first),
                           rows_of(part, begin, end));
    });
  }
}

static void kernel_sums(std::string_view shape, double gamma, double coef0, Index degree, double plus, GivenMatrix x,
                        GivenMatrix z, GivenWeights left, GivenFloatArray right, GivenWeights factors,
                        WeightArray scores, Index n_threads) {
  const Block rows = block_of(x), others = block_of(z);
  const KernelFunction f = function_of(shape, gamma, coef0, degree, plus);
  check_norms(Block{nullptr, rows.scalar, rows.n_rows, others.n_rows, 0}, left, right);
  require(rows.scalar == others.scalar && rows.n_columns == others.n_columns,
          "the rows must be of one type and length.");
  require(Index(factors.size()) == rows.n_rows && Index(scores.size()) == others.n_rows,
          "one factor a row of x and one score a row of z.");
  const Index bytes = rows.scalar == Scalar::float32 ? 4 : 8, d = rows.n_columns;
  const Index width = std::clamp(packed_bytes / bytes / (d + 1) / 64 * 64, Index(64), Index(1) << 14);
  nb::gil_scoped_release release;
  in_stretches(others.n_rows, double(rows.n_rows) * double(8 + d / 8), n_threads, [&](Index begin, Index end) {
    const Index length = loops().packed_length(rows.scalar, std::min(width, end - begin), d);
    const std::unique_ptr<char[]> packed(new char[std::size_t(length * bytes)]);
    for (Index first = begin; first < end; first += width) {
      const Index last = std::min(end, first + width);
      loops().pack_rows(rows_of(others, first, last), packed.get());
      loops().kernel_sums(f, rows, packed.get(), left.data(), static_cast<const char*>(right.data()) + first * bytes,
                          factors.data(), last - first, scores.data() + first);
    }
  });
}

static void check_places(const GivenIndices& places, Index end) {
  for (std::size_t k = 0; k < places.shape(0); ++k)
    require(places.data()[k] >= 0 && places.data()[k] < end, "a slot or column outside the table.");
}

static void csr_products(const OwnedRows& owned, MatrixArray transposed, MatrixArray out, Index n_threads) {
  const Rows& rows = owned.rows;
  const Block vectors = block_of(transposed), block = block_of(out);
  const Index width = loops().products_width(rows.scalar);
  require(!rows.numbers, "products need all rows, not a view.");
  require(rows.layout == Layout::csr && vectors.scalar == rows.scalar && block.scalar == rows.scalar,
          "products need CSR rows and vectors of one type.");
  require(vectors.n_rows == rows.n_features && vectors.n_columns == width && vectors.stride == width,
          "the vectors must be given as (features, products_width).");
  require(block.n_rows <= width && block.n_columns == rows.n_rows, "the products must be (vectors, rows).");
  nb::gil_scoped_release release;
  in_stretches(rows.n_rows, 16.0 * double(width), n_threads,
               [&](Index begin, Index end) { loops().csr_products(rows, begin, end, vectors.data, block); });
}

static PairTerm term_of(std::string_view word) {
  if (word == "absolute") return PairTerm::absolute;
  if (word == "chi_squared") return PairTerm::chi_squared;
  require(word == "smaller", "a term must be 'absolute', 'chi_squared' or 'smaller'.");
  return PairTerm::smaller;
}

static void pair_sums(std::string_view term, GivenMatrix left, GivenMatrix right, MatrixArray out, Index n_threads) {
  const Block x = block_of(left), z = block_of(right), sums = block_of(out);
  require(x.n_columns == z.n_columns && sums.n_rows == x.n_rows && sums.n_columns == z.n_rows,
          "the sums must be (rows of left, rows of right).");
  require(x.scalar == sums.scalar && z.scalar == sums.scalar, "the sums must have the type of the rows.");
  const PairTerm which = term_of(term);
  nb::gil_scoped_release release;
  in_stretches(sums.n_rows, double(z.n_rows) * double(z.n_columns), n_threads, [&](Index begin, Index end) {
    loops().pair_sums(which, rows_of(x, begin, end), z, rows_of(sums, begin, end));
  });
}

static void swap_columns(MatrixArray table, GivenIndices first, GivenIndices second, Index n_threads) {
  const Block block = block_of(table);
  const Index n = Index(first.shape(0));
  require(Index(second.shape(0)) == n, "columns are exchanged in pairs.");
  check_places(first, block.n_columns);
  check_places(second, block.n_columns);
  nb::gil_scoped_release release;
  in_stretches(block.n_rows, double(n), n_threads, [&](Index begin, Index end) {
    loops().swap_columns(block, first.data(), second.data(), n, begin, end);
  });
}

static void mirror(MatrixArray table, Index old, Index n_threads) {
  const Block block = block_of(table);
  require(old >= 0 && old <= block.n_rows && block.n_rows <= block.n_columns, "a table has a column for each row.");
  nb::gil_scoped_release release;
  in_stretches(old, double(block.n_rows - old), n_threads,
               [&](Index begin, Index end) { loops().mirror(block, old, begin, end); });
}

static void add_columns(MatrixArray table, GivenIndices slots, GivenWeights factors, WeightArray scores,
                        Index n_threads) {
  const Block from = block_of(table);
  const Index n = Index(slots.shape(0));
  require(factors.ndim() == 1 && Index(factors.shape(0)) == n && scores.ndim() == 1 &&
              Index(scores.shape(0)) == from.n_columns,
          "one factor a slot and one score a column.");
  check_places(slots, from.n_rows);
  nb::gil_scoped_release release;
  in_stretches(from.n_columns, double(n), n_threads, [&](Index begin, Index end) {
    loops().add_columns(from, slots.data(), factors.data(), n, begin, end, scores.data());
  });
}

static void add_columns_exactly(MatrixArray table, GivenIndices slots, GivenWeights factors, WeightArray high,
                                WeightArray low, Index n_threads) {
  const Block from = block_of(table);
  const Index n = Index(slots.shape(0));
  require(factors.ndim() == 1 && Index(factors.shape(0)) == n && high.ndim() == 1 && low.ndim() == 1 &&
              Index(high.shape(0)) == from.n_columns && Index(low.shape(0)) == from.n_columns,
          "one factor per slot and two sums per column.");
  check_places(slots, from.n_rows);
  nb::gil_scoped_release release;
  in_stretches(from.n_columns, 2.0 * double(n), n_threads, [&](Index begin, Index end) {
    loops().add_columns_exactly(from, slots.data(), factors.data(), n, begin, end, high.data(), low.data());
  });
}

// How missing columns are computed: from dense rows by a function of their products, or not at all.
using Function = std::tuple<std::string_view, double, double, Index, double>;
using Source = std::tuple<Function, GivenMatrix, GivenMatrix, GivenWeights, GivenFloatArray>;

static void give_source(KernelColumns& columns, const Source& source, Scalar scalar) {
  const auto& [function, rows, transposed, left, right] = source;
  columns.is_computed = true;
  columns.function = std::apply(function_of, function);
  columns.rows = block_of(rows);
  columns.transposed = block_of(transposed);
  const Index n = columns.rows.n_rows, d = columns.rows.n_columns;
  require(columns.transposed.n_rows == d && columns.transposed.n_columns == n,
          "the transposed rows must be (features, rows).");
  require(columns.rows.scalar == scalar && columns.transposed.scalar == scalar,
          "the rows must be of the table's type.");
  check_norms(Block{nullptr, scalar, n, n, n}, left, right);
  columns.left = left.data();
  columns.right = right.data();
}

static std::tuple<Index, double, bool, double, Index> climb(MatrixArray table, IndexArray slot_of,
                                                            std::optional<GivenIndices> place_of, Index n_kept,
                                                            std::optional<Source> source, WeightArray slope,
                                                            WeightArray down, WeightArray up, GivenWeights curvature,
                                                            std::optional<GivenWeights> damping, double unit,
                                                            bool keeps_sum, double dual, double enough, double share,
                                                            Index n_steps, double work) {
  KernelColumns columns{};
  columns.table = block_of(table);
  columns.slot_of = slot_of.data();
  columns.n_kept = n_kept;
  const Index n = columns.table.n_columns;
  require(n_kept >= 0 && n_kept <= columns.table.n_rows && Index(slot_of.shape(0)) == n,
          "the table must have one slot number per row.");
  for (Index k = 0; k < n; ++k) require(slot_of.data()[k] < n_kept, "a slot outside the table.");
  if (place_of) {
    require(Index(place_of->shape(0)) == n, "one place per row.");
    check_places(*place_of, n);
    columns.place_of = place_of->data();
  }
  if (source) {
    give_source(columns, *source, columns.table.scalar);
    require(columns.rows.n_rows == n && !place_of, "columns are computed in the order of the rows.");
  }
  std::unique_ptr<double[]> packed;  // wide enough for either type
  if (source && are_far(columns.rows)) {
    packed.reset(new double[std::size_t(loops().packed_length(columns.rows.scalar, n, columns.rows.n_columns))]);
    loops().pack_rows(columns.rows, packed.get());
    columns.packed = packed.get();
  }
  const auto fits = [&](const auto& array) { return array.ndim() == 1 && Index(array.shape(0)) == n; };
  require(fits(slope) && fits(down) && fits(up) && fits(curvature) && (!damping || fits(*damping)),
          "a slope, bounds and a curvature per row.");
  const double* given = damping ? damping->data() : nullptr;
  DualPoint point{n, slope.data(), down.data(), up.data(), curvature.data(), given, unit, keeps_sum, dual};
  nb::gil_scoped_release release;
  const Ascent result = loops().climb(columns, point, {enough, share, n_steps, work});
  return {result.n_steps, result.gap, result.is_stuck, point.dual, columns.n_kept};
}

// Memory for one call. What a thread needs for small problems is kept for its next call: fits of them are short, and
// the system would have to clear new pages for each.
class Room {
 public:
  explicit Room(std::size_t n) {
    constexpr std::size_t most_kept = std::size_t(1) << 21;
    thread_local std::unique_ptr<double[]> kept;
    thread_local std::size_t n_kept = 0;
    if (n > most_kept) {
      own_.reset(new double[n]);
    } else if (n_kept < n) {
      kept.reset(new double[n]);
      n_kept = n;
    }
    values_ = own_ ? own_.get() : kept.get();
  }
  double* values() const { return values_; }

 private:
  std::unique_ptr<double[]> own_;
  double* values_;
};

static bool small_solve(MatrixArray table, std::optional<Source> source, std::optional<GivenMatrix> exact,
                        GivenWeights diagonal, GivenIndices members, GivenIndices starts, GivenWeights target,
                        GivenWeights lower, GivenWeights upper, WeightArray b, WeightArray scores, GivenWeights units,
                        bool keeps_sum, double share, double fine, Index steps_per_row, double work, IndexArray steps,
                        Index n_threads, std::optional<GivenWeights> spent, std::optional<WeightArray> widths) {
  KernelColumns larger{};
  larger.table = larger.larger = block_of(table);
  if (source) {
    larger.larger.n_rows = 0;
    give_source(larger, *source, larger.table.scalar);
  }
  if (exact) {
    const Block rows = block_of(*exact);
    require(source && !spent && larger.table.scalar == Scalar::float32 && rows.scalar == Scalar::float64 &&
                rows.n_rows == larger.rows.n_rows && rows.n_columns == larger.rows.n_columns &&
                rows.stride == rows.n_columns,
            "exact rows are those of a source in single precision.");
    larger.exact = static_cast<const double*>(rows.data);
  }
  const Index n_problems = Index(units.size()), n = Index(members.shape(0));
  require(Index(starts.shape(0)) == n_problems + 1 && Index(steps.shape(0)) == n_problems,
          "small problems need a start each, and one more.");
  const bool is_spent = spent && widths;
  require(!is_spent || (Index(spent->size()) == n_problems && Index(widths->size()) == n_problems && keeps_sum),
          "small problems need a sum and a width each.");
  const auto fits = [&](const auto& array) { return array.ndim() == 1 && Index(array.shape(0)) == n; };
  require(fits(target) && fits(lower) && fits(upper) && fits(b) && fits(scores),
          "small problems need a target and bounds per member.");
  check_places(members, source ? larger.rows.n_rows : larger.table.n_rows);
  require(Index(diagonal.size()) == (source ? larger.rows.n_rows : larger.table.n_rows), "one k(x, x) per row.");
  require(source || larger.table.n_rows == larger.table.n_columns, "the kernel matrix must be square.");
  Index largest = 0;
  for (Index k = 0; k < n_problems; ++k) {
    const Index begin = starts.data()[k], end = starts.data()[k + 1];
    require(begin >= 0 && begin <= end && end <= n, "the starts of small problems must not fall.");
    largest = end - begin > largest ? end - begin : largest;
  }
  const Index workers = workers_for(n_problems, n_threads);
  // A problem alone fills the given table; others have tables of their own, touched only where they are needed.
  const bool is_alone = source && n_problems == 1 && larger.table.n_rows == n && larger.table.n_columns == n;
  const std::size_t others = std::size_t(loops().small_room(largest, source ? larger.rows.n_columns : 0));
  const std::size_t each = others + std::size_t(is_alone ? 0 : largest * largest);
  const Room room(each * std::size_t(workers));  // touched only where it is needed
  Watch watch;
  std::optional<nb::gil_scoped_release> release(std::in_place);
  pegasos::share(n_problems, workers, [&](Index k, Index worker) {
    if (watch.is_asked()) return;  // many tiny problems: none of them looks itself
    const Index begin = starts.data()[k], length = starts.data()[k + 1] - begin;
    double* const own = room.values() + each * std::size_t(worker);
    const SmallProblem problem{
        length,
        is_alone ? larger.table : Block{own + others, larger.table.scalar, length, length, length},
        members.data() + begin,
        diagonal.data(),
        target.data() + begin,
        lower.data() + begin,
        upper.data() + begin,
        b.data() + begin,
        scores.data() + begin,
        units.data()[k],
        keeps_sum,
        {0.0, share, steps_per_row * length, work, watch.stop()},
        fine,
        is_spent ? spent->data()[k] : 0.0,
        is_spent ? widths->data() + k : nullptr};
    steps.data()[k] = loops().small_solve(larger, problem, own);
  });
  release.reset();
  watch.raise_signal();
  return watch.was_late();
}

void bind_kernels(nb::module_& m) {
  m.def("apply_kernel", apply_kernel, nb::arg("shape"), nb::arg("gamma"), nb::arg("coef0"), nb::arg("degree"),
        nb::arg("plus"), nb::arg("values"), nb::arg("left"), nb::arg("right"), nb::arg("n_threads"),
        "Turns a block of products into kernel values plus a constant, in place.");
  m.def("dense_kernel", dense_kernel, nb::arg("shape"), nb::arg("gamma"), nb::arg("coef0"), nb::arg("degree"),
        nb::arg("plus"), nb::arg("x"), nb::arg("z"), nb::arg("left"), nb::arg("right"), nb::arg("out"),
        nb::arg("n_threads"), "Writes the kernel of each row of x with each row of z.");
  m.def("kernel_sums", kernel_sums, nb::arg("shape"), nb::arg("gamma"), nb::arg("coef0"), nb::arg("degree"),
        nb::arg("plus"), nb::arg("x"), nb::arg("z"), nb::arg("left"), nb::arg("right"), nb::arg("factors"),
        nb::arg("scores"), nb::arg("n_threads"),
        "Adds factors[i] times the kernel of row i of x with row j of z to scores[j], in double.");
  m.def(
      "products_width", [](bool single) { return loops().products_width(single ? Scalar::float32 : Scalar::float64); },
      nb::arg("single"), "How many vectors csr_products takes at once.");
  m.def("csr_products", csr_products, nb::arg("rows"), nb::arg("transposed"), nb::arg("out"), nb::arg("n_threads"),
        "Writes the products of CSR rows with the vectors, one row of `out` a vector.");
  m.def("pair_sums", pair_sums, nb::arg("term"), nb::arg("left"), nb::arg("right"), nb::arg("out"),
        nb::arg("n_threads"), "Writes the sum over the features for each pair of dense rows.");
  m.def("swap_columns", swap_columns, nb::arg("table"), nb::arg("first"), nb::arg("second"), nb::arg("n_threads"),
        "Exchanges columns in pairs, one pair after the other.");
  m.def("mirror", mirror, nb::arg("table"), nb::arg("old"), nb::arg("n_threads"),
        "Fills the rows from `old` on, left of column `old`, by symmetry.");
  m.def("add_columns", add_columns, nb::arg("table"), nb::arg("slots"), nb::arg("factors"), nb::arg("scores"),
        nb::arg("n_threads"), "Adds factors[a] * table[slots[a]] to the scores.");
  m.def("add_columns_exactly", add_columns_exactly, nb::arg("table"), nb::arg("slots"), nb::arg("factors"),
        nb::arg("high"), nb::arg("low"), nb::arg("n_threads"),
        "Adds factors[a] * table[slots[a]] to high + low, with about twice the digits of double.");
  m.def("climb", climb, nb::arg("table"), nb::arg("slot_of"), nb::arg("place_of").none(), nb::arg("n_kept"),
        nb::arg("source").none(), nb::arg("slope"), nb::arg("down"), nb::arg("up"), nb::arg("curvature"),
        nb::arg("damping").none(), nb::arg("unit"), nb::arg("keeps_sum"), nb::arg("dual"), nb::arg("enough"),
        nb::arg("share"), nb::arg("n_steps"), nb::arg("work"),
        "Ascent of the dual until its gap is small enough; returns the number of steps, the gap, whether no row with "
        "a column could gain, the objective and how many columns the table holds now.");
  m.def(
      "small_solve", small_solve, nb::arg("table"), nb::arg("source").none(), nb::arg("exact").none(),
      nb::arg("diagonal"), nb::arg("members"), nb::arg("starts"), nb::arg("target"), nb::arg("lower"), nb::arg("upper"),
      nb::arg("b"), nb::arg("scores"), nb::arg("units"), nb::arg("keeps_sum"), nb::arg("share"), nb::arg("fine"),
      nb::arg("steps_per_row"), nb::arg("work"), nb::arg("steps"), nb::arg("n_threads"),
      nb::arg("spent").none() = nb::none(), nb::arg("widths").none() = nb::none(),
      "Solves small problems about some of the rows each, side by side; writes solutions, scores and steps. Where the "
      "sum of each sign is given by `spent`, also writes the width that makes it the solution. Returns whether the "
      "deadline of the thread cut it short.");
}

}  // namespace pegasos
