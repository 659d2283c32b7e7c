// Aliases and tags shared by the whole core.
#pragma once

#include <cstdint>

// Everything that holds a loop is compiled once per instruction set, each time into a namespace of
// its own, so that the linker can never hand code for one processor to another.
#ifndef PEGASOS_ISA
#define PEGASOS_ISA baseline
#endif

namespace pegasos {

using Index = std::int64_t;     // counts and positions
using RowNumber = std::uint32_t;  // a row inside an order: half the memory of Index

enum class Scalar { float32, float64 };
enum class Layout { dense, csr, gram };
enum class IndexType { int32, int64 };
enum class Sampling { sequential, shuffle, uniform, balanced };

}  // namespace pegasos
