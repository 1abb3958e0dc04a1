// The sandbox that files are opened in.

#pragma once

#include <stdbool.h>

#if defined(__cplusplus)
extern "C" {
#endif

// Gives up everything but reading open descriptors and writing to them, for good; with `programs`, also but reading files of
// the system, and becoming one of its programs. Ends the process where that cannot be had. Linux only.
void asset_enter_sandbox(bool programs);

#if defined(__cplusplus)
}
#endif
