// What may end a long native call early: a signal, or a deadline of the calling thread.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <thread>

#include "bindings.h"
#include "pegasos/parallel.h"
#include "pegasos/stop.h"
#include "threads.h"

namespace pegasos {

struct TimeIsUp : std::runtime_error {
  TimeIsUp() : std::runtime_error("the time for this computation is up.") {}
};

using Clock = std::chrono::steady_clock;

// The deadline of this thread; none at first.
inline std::optional<Clock::time_point>& deadline_of_thread() {
  thread_local std::optional<Clock::time_point> deadline;
  return deadline;
}

// Created before the interpreter lock is released, by the thread that will be notified. Any thread may check; the
// creating one polls signals and the clock.
class Watch {
 public:
  Stop stop() { return {&Watch::asked, this}; }

  bool is_asked() {
    if (asked_.load(std::memory_order_relaxed)) return true;
    if (std::this_thread::get_id() != owner_) return false;
    const Clock::time_point now = Clock::now();
    if (now < next_look_) return false;
    next_look_ = now + std::chrono::milliseconds(10);
    if (deadline_ && now >= *deadline_) {
      is_late_ = true;
      asked_.store(true);
      return true;
    }
    nb::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) {
      raised_.emplace();
      asked_.store(true);
    }
    return asked_.load();
  }

  // With the lock held again: raises the exception that ended the call.
  void raise() {
    raise_signal();
    if (is_late_) throw TimeIsUp();
  }

  // The same, if what was computed until the deadline is of use.
  void raise_signal() {
    if (raised_) throw nb::python_error(*raised_);
  }

  bool was_late() const { return is_late_; }

 private:
  static bool asked(void* self) { return static_cast<Watch*>(self)->is_asked(); }

  std::atomic<bool> asked_{false};
  const std::thread::id owner_ = std::this_thread::get_id();
  const std::optional<Clock::time_point> deadline_ = deadline_of_thread();
  Clock::time_point next_look_{};
  bool is_late_ = false;
  std::optional<nb::python_error> raised_;
};

// The threads of some rows for a loop that shares its passes among them, and ends where the watch says so.
inline Parallel threads_of(const Rows& rows, Watch& watch) {
  return {std::max(Index(1), rows.threads),
          [](Index n, Index parts, const Parallel::Task& task) {
            in_parts(n, parts, [&](Index part, Index begin, Index end) { task.call(task.about, part, begin, end); });
          },
          watch.stop()};
}

}  // namespace pegasos
