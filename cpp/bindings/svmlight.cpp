#include "pegasos/svmlight.h"

#include <nanobind/stl/tuple.h>

#include <stdexcept>
#include <tuple>

#include "bindings.h"

namespace pegasos {

using TextArray = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using LabelArray = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using EndArray = nb::ndarray<Index, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ColumnArray = nb::ndarray<nb::ndim<1>, nb::c_contig, nb::device::cpu>;

static const char* characters(const TextArray& text) { return reinterpret_cast<const char*>(text.data()); }

static std::tuple<Index, Index> count(TextArray text) {
  nb::gil_scoped_release release;
  const TextCounts counts = count_text(characters(text), characters(text) + text.shape(0));
  return {counts.n_rows, counts.n_entries};
}

static const char* word_of(TextFault fault) {
  static constexpr const char* words[] = {"",         "label", "no_label",   "many_labels",     "query",
                                          "entry",    "index", "below_base", "beyond_features", "wide",
                                          "repeated", "value", "not_finite", "too_large",       "no_room"};
  return words[int(fault)];
}

template <class Column>
static TextRead read_as(const TextArray& text, const TextSettings& settings, const LabelArray& labels,
                        const EndArray& ends, const ColumnArray& columns, const AnyFloatArray& values) {
  const char* const begin = characters(text);
  const TextCounts size{Index(labels.shape(0)), Index(values.shape(0))};
  Column* const to = static_cast<Column*>(columns.data());
  const bool is_single = scalar_of(values.dtype(), "values") == Scalar::float32;
  nb::gil_scoped_release release;
  if (is_single)
    return read_text<float, Column>(begin, begin + text.shape(0), settings,
                                    {labels.data(), ends.data(), to, static_cast<float*>(values.data()), size});
  return read_text<double, Column>(begin, begin + text.shape(0), settings,
                                   {labels.data(), ends.data(), to, static_cast<double*>(values.data()), size});
}

static std::tuple<Index, Index, Index, const char*, Index, Index> read(TextArray text, Index base, Index n_features,
                                                                       bool allows_not_finite, LabelArray labels,
                                                                       EndArray ends, ColumnArray columns,
                                                                       AnyFloatArray values) {
  if (ends.shape(0) != labels.shape(0) || columns.shape(0) != values.shape(0))
    throw std::invalid_argument("labels and ends, columns and values must be of one length.");
  const bool is_narrow = columns.dtype() == nb::dtype<std::int32_t>();
  if (!is_narrow && columns.dtype() != nb::dtype<std::int64_t>())
    throw std::invalid_argument("columns must be int32 or int64.");
  const TextSettings settings{base, n_features, allows_not_finite};
  const TextRead found = is_narrow ? read_as<std::int32_t>(text, settings, labels, ends, columns, values)
                                   : read_as<std::int64_t>(text, settings, labels, ends, columns, values);
  return {found.n_rows, found.n_entries, found.n_features, word_of(found.fault), found.place, found.column};
}

void bind_svmlight(nb::module_& m) {
  m.def("count_svmlight", count, nb::arg("text"), "At most how many rows and entries the text has.");
  m.def(
      "read_svmlight", read, nb::arg("text"), nb::arg("base"), nb::arg("n_features"), nb::arg("allows_not_finite"),
      nb::arg("labels"), nb::arg("ends"), nb::arg("columns"), nb::arg("values"),
      "Reads lines of text into the arrays; rows, entries, features, and the first fault: its name, place and column.");
}

}  // namespace pegasos
