#include "svmlight.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "decimal.h"

namespace pegasos {

TextCounts count_text(const char* begin, const char* end) {
  // Sums of bytes in blocks that a byte can count, which the compiler makes vectors of.
  Index n_lines = 0, n_colons = 0;
  for (const char* p = begin; p < end;) {
    const char* const stop = p + std::min<std::ptrdiff_t>(end - p, 255);
    unsigned char lines = 0, colons = 0;
    for (; p != stop; ++p) {
      lines += *p == '\n';
      colons += *p == ':';
    }
    n_lines += lines;
    n_colons += colons;
  }
  const bool ends_open = begin != end && end[-1] != '\n';
  return {n_lines + ends_open, n_colons};
}

namespace {

// Sorts the entries of a row by column, in place, by a heap, so that no order of the indices takes long.
template <class Value, class Column>
void sort_entries(Column* columns, Value* values, Index n) {
  const auto swap = [&](Index i, Index j) {
    std::swap(columns[i], columns[j]);
    std::swap(values[i], values[j]);
  };
  const auto sink = [&](Index i, Index size) {
    for (Index child = 2 * i + 1; child < size; i = child, child = 2 * i + 1) {
      if (child + 1 < size && columns[child] < columns[child + 1]) ++child;
      if (columns[i] >= columns[child]) return;
      swap(i, child);
    }
  };
  for (Index i = n / 2; i-- > 0;) sink(i, n);
  for (Index size = n; size-- > 1;) {
    swap(0, size);
    sink(0, size);
  }
}

template <class Value, class Column>
class TextReader {
 public:
  TextReader(const char* begin, const char* end, const TextSettings& settings, const TextRoom<Value, Column>& room)
      : begin_(begin), end_(end), p_(begin), settings_(settings), room_(room) {}

  TextRead read() {
    while (p_ != end_ && line()) continue;
    return found_;
  }

 private:
  // Each of these moves past what it is named after; returns false on a fault, which `refuse` has recorded.
  bool line() {
    skip_blanks();
    if (at_line_end()) return skip_line_end();
    const char* const line = p_;
    if (found_.n_rows == room_.size.n_rows) return refuse(TextFault::no_room, p_);
    if (!label() || !query() || !entries(line)) return false;
    room_.ends[found_.n_rows++] = found_.n_entries;
    return skip_line_end();
  }

  bool label() {
    const char* const place = p_;
    const Decimal number = read_decimal(p_, end_);
    if (!number.end) return refuse(TextFault::label, place);
    p_ = number.end;
    if (!at_break()) {
      const TextFault fault = *p_ == ':' ? TextFault::no_label : *p_ == ',' ? TextFault::many_labels : TextFault::label;
      return refuse(fault, place);
    }
    if (!std::isfinite(number.value))
      return refuse(number.is_word ? TextFault::not_finite : TextFault::too_large, place);
    room_.labels[found_.n_rows] = number.value;
    return true;
  }

  bool query() {
    skip_blanks();
    if (end_ - p_ < 4 || std::memcmp(p_, "qid:", 4) != 0) return true;
    const char* const place = p_;
    p_ += 4;
    if (p_ != end_ && *p_ == '-') ++p_;
    const char* const digits = p_;
    while (p_ != end_ && is_digit(*p_)) ++p_;
    return (p_ != digits && at_break()) || refuse(TextFault::query, place);
  }

  bool entries(const char* line) {
    const Index first = found_.n_entries;
    Index last = -1;
    bool is_sorted = true;
    for (skip_blanks(); !at_line_end(); skip_blanks()) {
      const Index column = entry();
      if (column < 0) return false;
      if (column == last) return refuse(TextFault::repeated, line, column);
      is_sorted &= column > last;
      last = column;
    }
    if (is_sorted) {
      found_.n_features = std::max(found_.n_features, last + 1);
      return true;
    }
    return sort_row(line, first);
  }

  // Its column, or -1.
  Index entry() {
    place_ = p_;
    const Index column = index();
    if (column < 0) return -1;
    const char* const place = p_;
    const Decimal number = read_decimal(p_, end_);
    if (!number.end) return fail(TextFault::value, place, column);
    p_ = number.end;
    if (!at_break()) return fail(TextFault::value, place, column);
    const Value value = Value(number.value);
    if (!std::isfinite(value) && !(number.is_word && settings_.allows_not_finite))
      return fail(number.is_word ? TextFault::not_finite : TextFault::too_large, place, column);
    if (found_.n_entries == room_.size.n_entries) return fail(TextFault::no_room, place_, -1);
    room_.columns[found_.n_entries] = Column(column);
    room_.values[found_.n_entries++] = value;
    return column;
  }

  // The column that "12:" means, or -1.
  Index index() {
    Index number = 0;
    for (; p_ != end_ && is_digit(*p_); ++p_) {
      if (p_ - place_ == 18) return fail(TextFault::index, place_, -1);
      number = 10 * number + (*p_ - '0');
    }
    if (p_ == place_ || p_ == end_ || *p_ != ':') return fail(TextFault::entry, place_, -1);
    ++p_;
    const Index column = number - settings_.base;
    if (column < 0) return fail(TextFault::below_base, place_, column);
    if (column >= settings_.n_features) return fail(TextFault::beyond_features, place_, column);
    if (column >= std::numeric_limits<Column>::max()) return fail(TextFault::wide, place_, column);
    return column;
  }

  bool sort_row(const char* line, Index first) {
    Column* const columns = room_.columns + first;
    const Index n = found_.n_entries - first;
    sort_entries(columns, room_.values + first, n);
    found_.n_features = std::max(found_.n_features, Index(columns[n - 1]) + 1);
    const Column* const twice = std::adjacent_find(columns, columns + n);
    return twice == columns + n || refuse(TextFault::repeated, line, Index(*twice));
  }

  void skip_blanks() {
    while (p_ != end_ && (*p_ == ' ' || *p_ == '\t')) ++p_;
  }

  // At the end of the text, of the line, or of what counts of it. A carriage return is part of "\r\n" or nothing.
  bool at_line_end() const {
    if (p_ == end_ || *p_ == '\n' || *p_ == '#') return true;
    return *p_ == '\r' && (p_ + 1 == end_ || p_[1] == '\n');
  }

  bool at_break() const { return at_line_end() || *p_ == ' ' || *p_ == '\t'; }

  bool skip_line_end() {
    const void* const found = std::memchr(p_, '\n', std::size_t(end_ - p_));
    p_ = found ? static_cast<const char*>(found) + 1 : end_;
    return true;
  }

  bool refuse(TextFault fault, const char* place, Index column = -1) {
    found_.fault = fault;
    found_.place = place - begin_;
    found_.column = column;
    return false;
  }

  Index fail(TextFault fault, const char* place, Index column) {
    refuse(fault, place, column);
    return -1;
  }

  const char *begin_, *end_, *p_, *place_ = nullptr;  // place_: where the entry being read begins
  const TextSettings settings_;
  const TextRoom<Value, Column> room_;
  TextRead found_{0, 0, 0, TextFault::none, -1, -1};
};

}  // namespace

template <class Value, class Column>
TextRead read_text(const char* begin, const char* end, const TextSettings& settings,
                   const TextRoom<Value, Column>& room) {
  return TextReader<Value, Column>(begin, end, settings, room).read();
}

template TextRead read_text(const char*, const char*, const TextSettings&, const TextRoom<float, std::int32_t>&);
template TextRead read_text(const char*, const char*, const TextSettings&, const TextRoom<float, std::int64_t>&);
template TextRead read_text(const char*, const char*, const TextSettings&, const TextRoom<double, std::int32_t>&);
template TextRead read_text(const char*, const char*, const TextSettings&, const TextRoom<double, std::int64_t>&);

}  // namespace pegasos
