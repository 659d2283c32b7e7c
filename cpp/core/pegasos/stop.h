// A stop request, which long loops check. It consists of a function and its argument, so that the core does not depend
// on who makes the request.
#pragma once

#include "types.h"

namespace pegasos {

struct Stop {
  bool (*is_asked)(void*) = nullptr;
  void* about = nullptr;
};

// Checks the request once per some hundred thousand operations: every millisecond or so.
class Patience {
 public:
  explicit Patience(const Stop& stop) : stop_(stop) {}

  // Whether to stop, after this many more operations; once true, it stays true.
  bool ends_after(Index work) {
    left_ -= work;
    if (left_ > 0 || ended_ || stop_.is_asked == nullptr) return ended_;
    left_ = every;
    return ended_ = stop_.is_asked(stop_.about);
  }

 private:
  static constexpr Index every = 1 << 18;
  Stop stop_;
  Index left_ = every;
  bool ended_ = false;
};

}  // namespace pegasos
