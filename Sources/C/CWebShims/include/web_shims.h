/// What the core imports from the page that runs it.

#ifndef LECTERN_WEB_SHIMS_H
#define LECTERN_WEB_SHIMS_H

#ifdef __wasm__
/// Milliseconds on the page's steady clock.
__attribute__((import_module("page"), import_name("now"))) double page_now(void);
#else
/// Outside of a browser only tests run these functions: they set the time.
double page_now(void);
void set_page_time(double milliseconds);
#endif

#endif
