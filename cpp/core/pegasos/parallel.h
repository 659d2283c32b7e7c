// How a loop shares a range of work among threads, and how it can be stopped early. The core starts no threads itself:
// the caller provides them.
#pragma once

#include "stop.h"
#include "types.h"

namespace pegasos {

struct Parallel {
  // A function of the number of a part and its range.
  struct Task {
    const void* about;
    void (*call)(const void* about, Index part, Index begin, Index end);
  };

  Index parts;                                      // most parts of one range
  void (*run)(Index n, Index parts, const Task&);  // calls the task for `parts` ranges of 0..n
  Stop stop{};

  // Once true, it stays true: what was computed since the last check may be incomplete.
  [[gnu::always_inline]] bool is_stopped() const { return stop.is_asked != nullptr && stop.is_asked(stop.about); }

  // How many parts a range of n items, each worth `work` multiplications, keeps busy for longer than a thread takes to
  // start.
  [[gnu::always_inline]] Index parts_of(Index n, double work) const {
    constexpr double least_work = 1e6;
    const double worth = double(n) * work / least_work;
    return worth < 2.0 ? 1 : (worth < double(parts) ? Index(worth) : parts);
  }

  // Calls f(part, begin, end) for ranges that together are 0..n.
  template <class F>
  void operator()(Index n, double work, const F& f) const {
    const Index shares = parts_of(n, work);
    const auto call = [](const void* about, Index part, Index begin, Index end) {
      (*static_cast<const F*>(about))(part, begin, end);
    };
    if (shares == 1)
      f(Index(0), Index(0), n);
    else
      run(n, shares, {&f, call});
  }
};

}  // namespace pegasos
