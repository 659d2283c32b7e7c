// How a loop shares a range of work among threads, and who may wish that it ends early. The core starts no threads
// itself: the caller says how.
#pragma once

#include <functional>

#include "stop.h"
#include "types.h"

namespace pegasos {

struct Parallel {
  using Task = std::function<void(Index part, Index begin, Index end)>;

  Index parts;                                             // at most, of one range
  std::function<void(Index n, Index parts, const Task&)> run;  // calls the task for `parts` ranges of 0..n
  Stop stop{};

  // Once it is so, it stays so: what was computed since the last answer may be incomplete.
  bool is_stopped() const { return stop.is_asked != nullptr && stop.is_asked(stop.about); }

  // How many parts a range of n items, each worth `work` multiplications, keeps busy for longer than a thread takes to
  // start.
  Index parts_of(Index n, double work) const {
    constexpr double least_work = 1e6;
    const double worth = double(n) * work / least_work;
    return worth < 2.0 ? 1 : (worth < double(parts) ? Index(worth) : parts);
  }
  void operator()(Index n, double work, const Task& task) const {
    const Index shares = parts_of(n, work);
    if (shares == 1)
      task(0, 0, n);
    else
      run(n, shares, task);
  }
};

}  // namespace pegasos
