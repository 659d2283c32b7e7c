// Ranges of rows in threads that live as long as the call: none is left behind, none survives a fork.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
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

// Calls f(k) for each k of 0..n, all at the same time and the first of them in this thread. Where the system provides
// no more threads, or no memory for one, the rest runs sequentially: the same results, later. If calls throw, the first
// exception is thrown on here, once all have ended.
template <class F>
void together(Index n, F&& f) {
  std::exception_ptr failure;
  std::atomic_flag has_failed;
  const auto call = [&](Index k) noexcept {
    try {
      f(k);
    } catch (...) {
      if (!has_failed.test_and_set()) failure = std::current_exception();
    }
  };
  {
    Team others;
    Index started = 1;
    try {
      for (; started < n; ++started) others.threads.emplace_back([&call, k = started] { call(k); });
    } catch (...) {
      for (Index k = started; k < n; ++k) call(k);
    }
    call(Index(0));
  }
  if (failure) std::rethrow_exception(failure);
}

// Calls f(part, begin, end) for each of `parts` ranges of 0..n.
template <class F>
void in_parts(Index n, Index parts, F&& f) {
  const auto begin = [&](Index part) { return n / parts * part + (n % parts) * part / parts; };
  together(parts, [&](Index part) { f(part, begin(part), begin(part + 1)); });
}

// Runs work(task, worker) for all tasks; a worker that has finished one takes the next.
template <class Work>
void share(Index n_tasks, Index n_workers, Work&& work) {
  std::atomic<Index> next{0};
  together(n_workers, [&](Index worker) {
    for (Index task = next++; task < n_tasks; task = next++) work(task, worker);
  });
}

inline Index workers_for(Index n_tasks, Index n_threads) {
  return std::clamp(n_tasks, Index(1), std::max(Index(1), n_threads));
}

// The sums of the parts of a pass: each part has its own, the first of them in the caller's array.
struct Sums {
  double* first;
  std::size_t length;
  std::vector<double> others;

  Sums(double* array, Index size, Index parts)
      : first(array), length(std::size_t(size)), others(length * std::size_t(parts - 1)) {}
  double* of(Index part) { return part > 0 ? others.data() + length * std::size_t(part - 1) : first; }
  void combine() {
    for (std::size_t begin = 0; begin < others.size(); begin += length)
      for (std::size_t j = 0; j < length; ++j) first[j] += others[begin + j];
  }
};

}  // namespace pegasos
