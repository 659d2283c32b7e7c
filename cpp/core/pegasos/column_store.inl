#pragma once

#include <algorithm>

#include "decomposition.h"
#include "kernel_blocks.inl"
#include "vector.h"

namespace pegasos::PEGASOS_ISA {

// The columns of the kernel matrix, see KernelColumns.
template <class T>
struct ColumnStore {
  KernelColumns& columns;

  bool has(Index i) const { return columns.slot_of[i] >= 0; }
  // Whether a missing column can be computed.
  bool is_open() const {
    return columns.n_kept < columns.table.n_rows && (columns.larger.n_rows > 0 || columns.is_computed);
  }
  T* slot(Index k) const { return static_cast<T*>(columns.table.data) + k * columns.table.stride; }

  // How many columns are computed together.
  static constexpr Index at_once = DenseKernel<T>::tall;
  bool computes_several() const {
    return columns.packed != nullptr && columns.table.n_rows - columns.n_kept >= at_once;
  }
  // Computes the columns of at most at_once rows that are not kept.
  void compute(const Index* rows, Index n) const {
    const Index d = columns.rows.n_columns;
    Vector<T> lines(std::size_t(at_once * d));
    double left[at_once];
    T* out[at_once];
    for (Index k = 0; k < at_once; ++k) {
      const Index row = rows[k < n ? k : 0];
      std::copy_n(static_cast<const T*>(columns.rows.data) + row * columns.rows.stride, d, lines.data() + k * d);
      left[k] = columns.left[row];
      if (k >= n) continue;
      columns.slot_of[row] = columns.n_kept;
      out[k] = slot(columns.n_kept++);
    }
    DenseKernel<T>::columns(columns.function, lines.data(), n, left, static_cast<const T*>(columns.packed), d,
                            static_cast<const T*>(columns.right), columns.table.n_columns, out);
  }

  // The column of row i; null where it is neither kept nor available.
  const T* column(Index i) const {
    if (has(i)) return slot(columns.slot_of[i]);
    if (columns.half > 0 && i >= columns.half) {
      const T* const found = column(i - columns.half);
      columns.slot_of[i] = columns.slot_of[i - columns.half];
      return found;
    }
    if (!is_open()) return nullptr;
    T* out = slot(columns.n_kept);
    const Index n = columns.table.n_columns;
    if (columns.larger.n_rows > 0) {
      const T* from = static_cast<const T*>(columns.larger.data) + columns.members[i] * columns.larger.stride;
      for (Index j = 0; j < n; ++j) out[j] = from[columns.members[j]];
    } else if (columns.packed != nullptr) {
      compute(&i, 1);
      return out;
    } else {
      DenseKernel<T>::column(columns.function, columns.rows, i, columns.transposed, columns.left[i],
                             static_cast<const T*>(columns.right), out);
      std::copy(out, out + columns.half, out + columns.half);
    }
    columns.slot_of[i] = columns.n_kept++;
    return out;
  }
};

}  // namespace pegasos::PEGASOS_ISA
