// Lines of svmlight (libsvm) text to rows in CSR.
//
//   line = [ label [ "qid:" number ] { index ":" value } ] [ "#" comment ]
//
// Given: bytes, which begin and end where a line does, and arrays with room for as many rows and entries as
// `count_text` finds. Results: labels, columns = index - base, ascending in each row, and values; or the first fault
// and its place. A number is the nearest double, whatever its digits, and then the nearest number of the type asked
// for. Nothing is read outside the bytes and nothing written outside the room, whatever the bytes are, and even if they
// change meanwhile, as those of a file in memory may.
#pragma once

#include "types.h"

namespace pegasos {

enum class TextFault {
  none,
  label,  // no number where a label should be
  no_label,  // the line begins with a feature
  many_labels,  // "1,2"
  query,  // qid without a number
  entry,  // no index:value
  index,  // of more than 18 digits
  below_base,  // 0 where indices begin with 1
  beyond_features,  // more than there are
  wide,  // does not fit the type of the columns
  repeated,  // the same index twice in a row
  value,  // no number
  not_finite,  // nan or inf, and not allowed
  too_large,  // for the type of the values
  no_room,  // the text has changed since it was counted
};

struct TextCounts {
  Index n_rows, n_entries;  // at most
};

struct TextSettings {
  Index base;  // the index of the first feature: 0 or 1
  Index n_features;  // columns must be below
  bool allows_not_finite;
};

template <class Value, class Column>
struct TextRoom {
  double* labels;
  Index* ends;  // of each row, where the entries of the next begin
  Column* columns;
  Value* values;
  TextCounts size;
};

struct TextRead {
  Index n_rows, n_entries;
  Index n_features;  // the largest column plus 1
  TextFault fault;
  Index place;  // the byte of the fault; of a repeated index: where its line begins
  Index column;  // which the fault is about, -1 for none
};

TextCounts count_text(const char* begin, const char* end);

template <class Value, class Column>
TextRead read_text(const char* begin, const char* end, const TextSettings& settings,
                   const TextRoom<Value, Column>& room);

}  // namespace pegasos
