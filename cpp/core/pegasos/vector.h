// Vectors whose code belongs to one instruction set. The code of std::vector<double> has one name wherever it is
// compiled, and the linker keeps one copy of it: perhaps one for a processor that this is not. The allocator puts the
// namespace into the name.
#pragma once

#include <memory>
#include <vector>

namespace pegasos::PEGASOS_ISA {

template <class T>
struct Allocator : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = Allocator<U>;
  };

  Allocator() = default;
  template <class U>
  Allocator(const Allocator<U>&) noexcept {}
};

template <class T>
using Vector = std::vector<T, Allocator<T>>;

}  // namespace pegasos::PEGASOS_ISA
