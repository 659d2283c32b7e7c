// Ranges of rows in threads that live as long as the call: none is left behind, none survives a fork.
#pragma once

#include <thread>
#include <vector>

#include "bindings.h"

namespace pegasos {

// How many threads n rows keep busy for longer than it takes to start one.
inline Index parts_of(Index n, Index threads) {
  constexpr Index fewest_rows = 4096;
  const Index worth = n / fewest_rows;
  return threads < 1 || worth < 1 ? 1 : (threads < worth ? threads : worth);
}

// Waits for its threads, whatever happens.
struct Team {
  std::vector<std::thread> threads;
  ~Team() {
    for (std::thread& one : threads) one.join();
  }
};

// Calls f(part, begin, end) for each of `parts` ranges of 0..n, all at the same time; f must not throw. Where the
// system gives no more threads, the ranges are done one after the other: the same results, later.
template <class F>
void in_parts(Index n, Index parts, F&& f) {
  loops();  // finding them may throw, which a thread must not
  const auto begin = [&](Index part) { return n / parts * part + (n % parts) * part / parts; };
  Team others;
  Index started = 1;
  try {
    for (; started < parts; ++started)
      others.threads.emplace_back([&f, &begin, part = started] { f(part, begin(part), begin(part + 1)); });
  } catch (...) {
    for (Index part = started; part < parts; ++part) f(part, begin(part), begin(part + 1));
  }
  f(Index(0), begin(0), begin(1));
}

}  // namespace pegasos
