#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "exponential.h"
#include "kernel_blocks.h"
#include "rows.h"

namespace pegasos::PEGASOS_ISA {

template <class T>
struct KernelRow {
  static constexpr int lanes = simd::vector_bytes / int(sizeof(T));
  using V = simd::Vector<T, lanes>;

  static V power(V x, Index degree) {
    V result = V{} + T(1);
    for (; degree > 0; degree >>= 1, x *= x)
      if (degree & 1) result *= x;
    return result;
  }

  static V value(const KernelFunction& f, V product, T left, V right) {
    if (f.shape == Shape::polynomial) return power(T(f.gamma) * product + T(f.coef0), f.degree) + T(f.plus);
    const V distance = (left + right) - T(2) * product;
    return simd::decayed<lanes>(T(f.gamma) * (distance > T(0) ? distance : V{})) + T(f.plus);
  }

  static void apply(const KernelFunction& f, T* row, Index n, double left, const T* right) {
    Index j = 0;
    for (; j + lanes <= n; j += lanes)
      simd::store<T, lanes>(row + j, value(f, simd::load<T, lanes>(row + j), T(left), simd::load<T, lanes>(right + j)));
    if (j == n) return;
    T products[lanes] = {}, norms[lanes] = {};
    std::memcpy(products, row + j, (n - j) * sizeof(T));
    std::memcpy(norms, right + j, (n - j) * sizeof(T));
    const V last = value(f, simd::load<T, lanes>(products), T(left), simd::load<T, lanes>(norms));
    std::memcpy(row + j, &last, (n - j) * sizeof(T));
  }
};

template <class F>
void visit(const Block& block, F&& f) {
  if (block.scalar == Scalar::float32)
    f(static_cast<float*>(block.data));
  else
    f(static_cast<double*>(block.data));
}

// Products to kernel values, in place; `right` has one squared norm per column, in the type of the block.
inline void apply_kernel(const KernelFunction& f, const Block& block, const double* left, const void* right) {
  visit(block, [&]<class T>(T* values) {
    for (Index i = 0; i < block.n_rows; ++i)
      KernelRow<T>::apply(f, values + i * block.stride, block.n_columns, left[i], static_cast<const T*>(right));
  });
}

// Kernel values of dense rows: products summed feature by feature, in tiles that stay in registers, and the kernel's
// function of a tile while it is there. Every product is the same chain of additions, whatever tile it is part of.
template <class T>
struct DenseKernel {
  static constexpr int lanes = simd::vector_bytes / int(sizeof(T));
  static constexpr Index wide = 2 * lanes;
  static constexpr Index tall = simd::vector_bytes == 64 ? 12 : 6;  // two sums per row: most of the registers
  static constexpr Index block_bytes = 1 << 18;  // bytes of rows that are processed with one panel after the other
  using V = simd::Vector<T, lanes>;

  // The rows of z in panels of `wide`, each feature by feature; the last panel is filled up with zeros.
  static void pack(const Block& z, T* packed) {
    constexpr Index strip = 64;  // features: this much of a panel stays in the nearest cache
    const Index d = z.n_columns;
    for (Index begin = 0; begin < z.n_rows; begin += wide) {
      const Index n = std::min(wide, z.n_rows - begin);
      T* panel = packed + begin * d;
      for (Index first = 0; first < d; first += strip) {
        const Index last = std::min(d, first + strip);
        for (Index c = 0; c < n; ++c) {
          const T* row = static_cast<const T*>(z.data) + (begin + c) * z.stride;
          for (Index k = first; k < last; ++k) panel[k * wide + c] = row[k];
        }
        for (Index k = first; k < last; ++k)
          for (Index c = n; c < wide; ++c) panel[k * wide + c] = T(0);
      }
    }
  }

  // A panel's columns and their squared norms.
  struct Panel {
    const T* values;
    V right[2];
    Index n;  // at most `wide`

    Panel(const T* packed, Index d, const T* norms, Index begin, Index n_columns)
        : values(packed + begin * d), n(std::min(wide, n_columns - begin)) {
      T filled[wide] = {};
      std::memcpy(filled, norms + begin, std::size_t(n) * sizeof(T));
      for (int p = 0; p < 2; ++p) right[p] = simd::load<T, lanes>(filled + p * lanes);
    }
  };

  // The kernel of Rows rows with the columns of a panel: calls take(r, line) with the values of each row.
  template <Index Rows, class Take>
  static void tile(const KernelFunction& f, const T* x, Index x_stride, Index d, const double* left, const Panel& panel,
                   const Take& take) {
    V sums[Rows][2] = {};
    for (Index k = 0; k < d; ++k) {
      const V z0 = simd::load<T, lanes>(panel.values + k * wide),
              z1 = simd::load<T, lanes>(panel.values + k * wide + lanes);
      for (Index r = 0; r < Rows; ++r) {
        const T value = x[r * x_stride + k];
        sums[r][0] += value * z0;
        sums[r][1] += value * z1;
      }
    }
    for (Index r = 0; r < Rows; ++r) {
      T line[wide];
      for (int p = 0; p < 2; ++p)
        simd::store<T, lanes>(line + p * lanes, KernelRow<T>::value(f, sums[r][p], T(left[r]), panel.right[p]));
      take(r, line);
    }
  }

  // The kernel of the rows of x with n_columns packed columns, tile by tile: calls take(i, panel, begin, line) with the
  // values of row i and the columns of the panel that starts at `begin`; for each column, the rows come in order.
  template <class Take>
  static void each_tile(const KernelFunction& f, const Block& x, const T* packed, const double* left, const T* right,
                        Index n_columns, const Take& take) {
    const Index d = x.n_columns, rows_at_once = std::max(tall, block_bytes / Index(sizeof(T)) / (d + 1) / tall * tall);
    for (Index first = 0; first < x.n_rows; first += rows_at_once) {
      const Index last = std::min(x.n_rows, first + rows_at_once);
      for (Index begin = 0; begin < n_columns; begin += wide) {
        const Panel panel(packed, d, right, begin, n_columns);
        for (Index i = first; i < last;) {
          const T* row = static_cast<const T*>(x.data) + i * x.stride;
          const auto keep = [&](Index r, const T* line) { take(i + r, panel, begin, line); };
          const Index n = last - i >= tall ? tall : (last - i >= 4 ? 4 : 1);
          if (n == tall)
            tile<tall>(f, row, x.stride, d, left + i, panel, keep);
          else if (n == 4)
            tile<4>(f, row, x.stride, d, left + i, panel, keep);
          else
            tile<1>(f, row, x.stride, d, left + i, panel, keep);
          i += n;
        }
      }
    }
  }

  static void fill(const KernelFunction& f, const Block& x, const T* packed, const double* left, const T* right,
                   const Block& out) {
    T* values = static_cast<T*>(out.data);
    each_tile(f, x, packed, left, right, out.n_columns, [&](Index i, const Panel& panel, Index begin, const T* line) {
      std::memcpy(values + i * out.stride + begin, line, std::size_t(panel.n) * sizeof(T));
    });
  }

  // scores[j] += sum_i factors[i] K(x_i, z_j) over the rows of x, in double and in order; no kernel value is stored.
  static void add_sums(const KernelFunction& f, const Block& x, const T* packed, const double* left, const T* right,
                       const double* factors, Index n_columns, double* scores) {
    each_tile(f, x, packed, left, right, n_columns, [&](Index i, const Panel& panel, Index begin, const T* line) {
      simd::add(factors[i], line, scores + begin, panel.n);
    });
  }

  // The kernel of the rows of x with those of z where x has few rows: packing z would take longer than the products.
  static void fill_few(const KernelFunction& f, const Block& x, const Block& z, const double* left, const T* right,
                       const Block& out) {
    T* values = static_cast<T*>(out.data);
    for (Index j = 0; j < z.n_rows; ++j) {
      const T* column = static_cast<const T*>(z.data) + j * z.stride;
      for (Index i = 0; i < x.n_rows; ++i)
        values[i * out.stride + j] = simd::dot(static_cast<const T*>(x.data) + i * x.stride, column, x.n_columns, T(0));
    }
    for (Index i = 0; i < x.n_rows; ++i) KernelRow<T>::apply(f, values + i * out.stride, z.n_rows, left[i], right);
  }

  // The kernel of row i of `x` with each column of `z`: one row at a time needs more sums side by side.
  static void column(const KernelFunction& f, const Block& x, Index i, const Block& z, double left, const T* right,
                     T* out) {
    constexpr int side = 8;
    const T *row = static_cast<const T*>(x.data) + i * x.stride, *columns = static_cast<const T*>(z.data);
    const Index n = z.n_columns, d = x.n_columns;
    Index j = 0;
    for (; j + side * lanes <= n; j += side * lanes) {
      V sums[side] = {};
      for (Index k = 0; k < d; ++k)
        for (int p = 0; p < side; ++p) sums[p] += row[k] * simd::load<T, lanes>(columns + k * z.stride + j + p * lanes);
      for (int p = 0; p < side; ++p)
        simd::store<T, lanes>(out + j + p * lanes,
                              KernelRow<T>::value(f, sums[p], T(left), simd::load<T, lanes>(right + j + p * lanes)));
    }
    const Index rest = j;
    for (; j + lanes <= n; j += lanes) {
      V sums{};
      for (Index k = 0; k < d; ++k) sums += row[k] * simd::load<T, lanes>(columns + k * z.stride + j);
      simd::store<T, lanes>(out + j, sums);
    }
    for (; j < n; ++j) {
      T sum = 0;
      for (Index k = 0; k < d; ++k) sum += row[k] * columns[k * z.stride + j];
      out[j] = sum;
    }
    KernelRow<T>::apply(f, out + rest, n - rest, left, right + rest);
  }

  // The kernel of the first n of `tall` rows, one after the other, with packed columns, each into an array of its own.
  static void columns(const KernelFunction& f, const T* rows, Index n, const double* left, const T* packed, Index d,
                      const T* right, Index n_columns, T* const* out) {
    for (Index begin = 0; begin < n_columns; begin += wide) {
      const Panel panel(packed, d, right, begin, n_columns);
      tile<tall>(f, rows, d, d, left, panel, [&](Index r, const T* line) {
        if (r < n) std::memcpy(out[r] + begin, line, std::size_t(panel.n) * sizeof(T));
      });
    }
  }
};

// The kernel of each of few rows of `x` with each row of `z`, all of one type.
inline void few_rows_kernel(const KernelFunction& f, const Block& x, const Block& z, const double* left,
                            const void* right, const Block& out) {
  visit(out, [&]<class T>(T*) { DenseKernel<T>::fill_few(f, x, z, left, static_cast<const T*>(right), out); });
}

// Number of entries that this many rows take when they are packed.
inline Index packed_length(Scalar scalar, Index n_rows, Index n_features) {
  const Index wide = scalar == Scalar::float32 ? DenseKernel<float>::wide : DenseKernel<double>::wide;
  return (n_rows + wide - 1) / wide * wide * n_features;
}

inline void pack_rows(const Block& z, void* packed) {
  visit(z, [&]<class T>(T*) { DenseKernel<T>::pack(z, static_cast<T*>(packed)); });
}

// The kernel of each row of `x` with packed rows, all of one type.
inline void dense_kernel(const KernelFunction& f, const Block& x, const void* packed, const double* left,
                         const void* right, const Block& out) {
  visit(out, [&]<class T>(T*) {
    DenseKernel<T>::fill(f, x, static_cast<const T*>(packed), left, static_cast<const T*>(right), out);
  });
}

// scores[j] += sum_i factors[i] K(x_i, z_j) for packed rows z_j.
inline void kernel_sums(const KernelFunction& f, const Block& x, const void* packed, const double* left,
                        const void* right, const double* factors, Index n_columns, double* scores) {
  visit(x, [&]<class T>(T*) {
    DenseKernel<T>::add_sums(f, x, static_cast<const T*>(packed), left, static_cast<const T*>(right), factors,
                             n_columns, scores);
  });
}

// out[a, j] = <z_a, x_j> for begin <= j < end: rows x_j of any layout, and `lanes` columns of the matrix whose rows
// are the z_a, transposed, so that an entry of x_j meets all z_a at once.
template <class T>
struct Products {
  static constexpr Index wide = 4 * simd::vector_bytes / Index(sizeof(T));
  static constexpr int lanes = simd::vector_bytes / int(sizeof(T));
  using V = simd::Vector<T, lanes>;

  template <class I>
  static void add(const CsrRows<T, I>& rows, Index begin, Index end, const T* transposed, Index n, T* out,
                  Index stride) {
    for (Index j = begin; j < end; ++j) {
      V sums[4] = {};
      for (Index k = rows.starts[j]; k < Index(rows.starts[j + 1]); ++k) {
        const T* z = transposed + Index(rows.indices[k]) * wide;
        for (int p = 0; p < 4; ++p) sums[p] += rows.values[k] * simd::load<T, lanes>(z + p * lanes);
      }
      T line[wide];
      for (int p = 0; p < 4; ++p) simd::store<T, lanes>(line + p * lanes, sums[p]);
      for (Index a = 0; a < n; ++a) out[a * stride + j] = line[a];
    }
  }
};

inline Index products_width(Scalar scalar) {
  return scalar == Scalar::float32 ? Products<float>::wide : Products<double>::wide;
}

// Products of CSR rows begin..end with at most products_width vectors, given as the rows of `transposed`' (features x
// products_width); the vectors have the type of the rows.
inline void csr_products(const Rows& any_rows, Index begin, Index end, const void* transposed, const Block& out) {
  visit(any_rows, [&]<class R>(const R& rows) {
    using T = typename R::Value;
    if constexpr (requires { rows.starts; })
      Products<T>::add(rows, begin, end, static_cast<const T*>(transposed), out.n_rows, static_cast<T*>(out.data),
                       out.stride);
  });
}

// The sum of a histogram kernel over the features.
struct AbsoluteDifference {
  template <class V>
  static V of(V x, V z) {
    const V d = x - z;
    return d > -d ? d : -d;
  }
};
struct ChiSquaredDistance {
  template <class V>
  static V of(V x, V z) {
    const V d = x - z, total = x + z;
    const V share = d * d / total;
    return total > V{} ? share : V{};
  }
};
struct Smaller {
  template <class V>
  static V of(V x, V z) {
    return x < z ? x : z;
  }
};

template <class Term, class T>
T pair_sum(const T* x, const T* z, Index n) {
  constexpr int lanes = simd::vector_bytes / int(sizeof(T));
  using V = simd::Vector<T, lanes>;
  V a{}, b{};
  Index k = 0;
  for (; k + 2 * lanes <= n; k += 2 * lanes) {
    a += Term::of(simd::load<T, lanes>(x + k), simd::load<T, lanes>(z + k));
    b += Term::of(simd::load<T, lanes>(x + k + lanes), simd::load<T, lanes>(z + k + lanes));
  }
  for (; k < n; k += lanes) {
    T left[lanes] = {}, right[lanes] = {};
    const Index rest = n - k < lanes ? n - k : lanes;
    std::memcpy(left, x + k, rest * sizeof(T));
    std::memcpy(right, z + k, rest * sizeof(T));
    a += Term::of(simd::load<T, lanes>(left), simd::load<T, lanes>(right));
  }
  return simd::sum<T, lanes>(a + b);
}

// out[i, j] = the sum over the features for row i of `left` and row j of `right`, both dense, of one type.
inline void pair_sums(PairTerm term, const Block& left, const Block& right, const Block& out) {
  visit(out, [&]<class T>(T* sums) {
    const auto fill = [&]<class Term>(Term) {
      for (Index i = 0; i < out.n_rows; ++i)
        for (Index j = 0; j < out.n_columns; ++j)
          sums[i * out.stride + j] = pair_sum<Term>(static_cast<const T*>(left.data) + i * left.stride,
                                                    static_cast<const T*>(right.data) + j * right.stride,
                                                    left.n_columns);
    };
    if (term == PairTerm::absolute) return fill(AbsoluteDifference{});
    if (term == PairTerm::chi_squared) return fill(ChiSquaredDistance{});
    return fill(Smaller{});
  });
}

// Exchanges columns first[k] and second[k], one k after the other, in rows begin..end of the table.
inline void swap_columns(const Block& table, const Index* first, const Index* second, Index n, Index begin, Index end) {
  visit(table, [&]<class T>(T* values) {
    for (Index a = begin; a < end; ++a) {
      T* row = values + a * table.stride;
      for (Index k = 0; k < n; ++k) {
        const T kept = row[first[k]];
        row[first[k]] = row[second[k]];
        row[second[k]] = kept;
      }
    }
  });
}

// table[a, b] = table[b, a] for the rows a in old..table.n_rows and the columns b in begin..end, all of them below
// `old`; in tiles that stay in the cache.
inline void mirror(const Block& table, Index old, Index begin, Index end) {
  constexpr Index tile = 16;
  visit(table, [&]<class T>(T* values) {
    for (Index first = begin; first < end; first += tile) {
      const Index last = first + tile < end ? first + tile : end;
      for (Index a = old; a < table.n_rows; ++a)
        for (Index b = first; b < last; ++b) values[a * table.stride + b] = values[b * table.stride + a];
    }
  });
}

// high + low += a x, see add_columns_exactly.
template <class T>
struct TwiceTheDigits {
  template <int Lanes>
  static simd::Vector<double, Lanes> upper_half(simd::Vector<double, Lanes> x) {
    using Bits = simd::Vector<std::int64_t, Lanes>;
    return (simd::Vector<double, Lanes>)((Bits)x & ~((std::int64_t(1) << 27) - 1));
  }
  template <int Lanes>
  static void step(double a, const T* x, double* high, double* low) {
    using V = simd::Vector<double, Lanes>;
    const V factor = V{} + a, a1 = upper_half<Lanes>(factor), a2 = factor - a1;
    const V value = simd::load<double, Lanes>(x), v1 = upper_half<Lanes>(value), v2 = value - v1;
    const V before = simd::load<double, Lanes>(high), product = a1 * v1, sum = before + product;
    const V added = sum - before, lost = (before - (sum - added)) + (product - added);
    simd::store<double, Lanes>(high, sum);
    simd::store<double, Lanes>(low, simd::load<double, Lanes>(low) + (lost + (a1 * v2 + a2 * value)));
  }
  static void add(double a, const T* x, double* high, double* low, Index n) {
    constexpr int lanes = simd::vector_bytes / int(sizeof(double));
    Index j = 0;
    for (; j + lanes <= n; j += lanes) step<lanes>(a, x + j, high + j, low + j);
    for (; j + 2 <= n; j += 2) step<2>(a, x + j, high + j, low + j);
    if (j == n) return;
    T last[2] = {x[j], T(0)};
    double above[2] = {high[j], 0.0}, below[2] = {low[j], 0.0};
    step<2>(a, last, above, below);
    high[j] = above[0];
    low[j] = below[0];
  }
};

// scores[j] += sum_a factors[a] table[slots[a], j] for begin <= j < end, in double; in strips that stay in the cache.
inline void add_columns(const Block& table, const Index* slots, const double* factors, Index n, Index begin, Index end,
                        double* scores) {
  constexpr Index strip = 1024;
  visit(table, [&]<class T>(const T* values) {
    for (Index j = begin; j < end; j += strip) {
      const Index width = j + strip < end ? strip : end - j;
      for (Index a = 0; a < n; ++a) simd::add(factors[a], values + slots[a] * table.stride + j, scores + j, width);
    }
  });
}

// The same to about twice the digits: sum_a factors[a] table[slots[a], j] is high[j] + low[j]. Both factors of a
// product are cut in two, so that the product of the upper halves is exact, and the error of each addition to `high` is
// computed (Knuth: The Art of Computer Programming 2, section 4.2.2, theorem B). Since that product is exact, a
// compiler may merge it with the addition.
inline void add_columns_exactly(const Block& table, const Index* slots, const double* factors, Index n, Index begin,
                                Index end, double* high, double* low) {
  constexpr Index strip = 1024;
  visit(table, [&]<class T>(const T* values) {
    for (Index j = begin; j < end; j += strip) {
      const Index width = j + strip < end ? strip : end - j;
      for (Index a = 0; a < n; ++a)
        TwiceTheDigits<T>::add(factors[a], values + slots[a] * table.stride + j, high + j, low + j, width);
    }
  });
}

}  // namespace pegasos::PEGASOS_ISA
