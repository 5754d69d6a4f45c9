#pragma once
#include <stdint.h>

namespace cuproof::inject {

/// A name of the driver that is wrapped. Its number in the table is where its real function stands.
struct Hook {
  const char* name;
  void* wrapper;
};

inline constexpr uint32_t kLaunchHooks = 13;  // numbers 0 to 12: launch_hooks.cc
inline constexpr uint32_t kCallHooks = 160;   // room behind them: call_hooks.cc
inline constexpr uint32_t kMaxHooks = kLaunchHooks + kCallHooks + 4;  // and resolve.cc

extern __attribute__((visibility("hidden"))) void* real[kMaxHooks];

const Hook* LaunchHooks();
const Hook* CallHooks(uint32_t* count);

/// Asks the driver for its own words about errors, if it can give them (12.9 and later).
void RegisterLogs(void* callback);

}  // namespace cuproof::inject
