#pragma once

#include <cmath>
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

// Products to kernel values, in place; `right` has one squared norm a column, in the type of the block.
inline void apply_kernel(const KernelFunction& f, const Block& block, const double* left, const void* right) {
  visit(block, [&]<class T>(T* values) {
    for (Index i = 0; i < block.n_rows; ++i)
      KernelRow<T>::apply(f, values + i * block.stride, block.n_columns, left[i], static_cast<const T*>(right));
  });
}

// Kernel values of dense rows of few features: products summed feature by feature, in tiles that stay in registers, and
// the kernel's function while a strip of them is in the cache.
template <class T>
struct DenseKernel {
  static constexpr int lanes = simd::vector_bytes / int(sizeof(T));
  static constexpr Index wide = 2 * lanes, strip = 32 * lanes;
  using V = simd::Vector<T, lanes>;

  // out[r, j] = <x_r, z_j> for Rows rows and j < n; column j of `z` is z_j.
  template <int Rows>
  static void products(const T* x, Index x_stride, Index d, const T* z, Index z_stride, T* out, Index stride, Index n) {
    Index j = 0;
    for (; j + wide <= n; j += wide) {
      V sums[Rows][2] = {};
      for (Index f = 0; f < d; ++f) {
        const V z0 = simd::load<T, lanes>(z + f * z_stride + j),
                z1 = simd::load<T, lanes>(z + f * z_stride + j + lanes);
        for (int r = 0; r < Rows; ++r) {
          const T value = x[r * x_stride + f];
          sums[r][0] += value * z0;
          sums[r][1] += value * z1;
        }
      }
      for (int r = 0; r < Rows; ++r)
        for (int p = 0; p < 2; ++p) simd::store<T, lanes>(out + r * stride + j + p * lanes, sums[r][p]);
    }
    for (; j < n; ++j)
      for (int r = 0; r < Rows; ++r) {
        T sum = 0;
        for (Index f = 0; f < d; ++f) sum += x[r * x_stride + f] * z[f * z_stride + j];
        out[r * stride + j] = sum;
      }
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
    if (j == n) return;
    products<1>(row, x.stride, d, columns + j, z.stride, out + j, n, n - j);
    KernelRow<T>::apply(f, out + j, n - j, left, right + j);
  }

  static void fill(const KernelFunction& f, const Block& x, const Block& z, const double* left, const T* right,
                   const Block& out) {
    const T* rows = static_cast<const T*>(x.data);
    for (Index begin = 0; begin < z.n_columns; begin += strip) {
      const Index width = begin + strip < z.n_columns ? strip : z.n_columns - begin;
      const T* columns = static_cast<const T*>(z.data) + begin;
      for (Index i = 0; i < x.n_rows;) {
        const Index n = i + 4 <= x.n_rows ? 4 : 1;
        T* values = static_cast<T*>(out.data) + i * out.stride + begin;
        const auto multiply = n == 4 ? products<4> : products<1>;
        multiply(rows + i * x.stride, x.stride, x.n_columns, columns, z.stride, values, out.stride, width);
        for (Index r = 0; r < n; ++r)
          KernelRow<T>::apply(f, values + r * out.stride, width, left[i + r], right + begin);
        i += n;
      }
    }
  }
};

// The kernel of each row of `x` with each column of `z`, all of one type.
inline void dense_kernel(const KernelFunction& f, const Block& x, const Block& z, const double* left, const void* right,
                         const Block& out) {
  visit(out, [&]<class T>(T*) { DenseKernel<T>::fill(f, x, z, left, static_cast<const T*>(right), out); });
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

// What a kernel of histograms adds up over the features.
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

}  // namespace pegasos::PEGASOS_ISA
