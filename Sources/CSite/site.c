#include "site.h"

// The compiler puts the files into the program as they are: in no time, and again whenever one has changed. A new file needs
// two lines here, but for scripts and styles of pages, which are in bundles; a test compares them with the folder.

#pragma clang diagnostic ignored "-Wc23-extensions"

#if __has_embed("core/board.wasm") == __STDC_EMBED_NOT_FOUND__ || __has_embed("core/bundles/student.js") == __STDC_EMBED_NOT_FOUND__
#error "The core of the site is not built: run `make core`."
#endif

static const unsigned char api_openapi_json[] = {
#embed "../LecternGateway/Site/api/openapi.json"
};
static const unsigned char bundles_clock_css[] = {
#embed "core/bundles/clock.css"
};
static const unsigned char bundles_clock_js[] = {
#embed "core/bundles/clock.js"
};
static const unsigned char bundles_error_css[] = {
#embed "core/bundles/error.css"
};
static const unsigned char bundles_error_js[] = {
#embed "core/bundles/error.js"
};
static const unsigned char bundles_lectern_board_js[] = {
#embed "core/bundles/lectern-board.js"
};
static const unsigned char bundles_lectern_js[] = {
#embed "core/bundles/lectern.js"
};
static const unsigned char bundles_monitor_css[] = {
#embed "core/bundles/monitor.css"
};
static const unsigned char bundles_monitor_js[] = {
#embed "core/bundles/monitor.js"
};
static const unsigned char bundles_start_css[] = {
#embed "core/bundles/start.css"
};
static const unsigned char bundles_start_js[] = {
#embed "core/bundles/start.js"
};
static const unsigned char bundles_student_css[] = {
#embed "core/bundles/student.css"
};
static const unsigned char bundles_student_js[] = {
#embed "core/bundles/student.js"
};
static const unsigned char bundles_teach_css[] = {
#embed "core/bundles/teach.css"
};
static const unsigned char bundles_teach_js[] = {
#embed "core/bundles/teach.js"
};
static const unsigned char lectern_board_entrance_js[] = {
#embed "../LecternGateway/Site/lectern-board.js"
};
static const unsigned char lectern_js[] = {
#embed "../LecternGateway/Site/lectern.js"
};
static const unsigned char board_core[] = {
#embed "core/board.wasm"
};
static const unsigned char board_core_brotli[] = {
#embed "core/board.wasm.br"
};
static const unsigned char lectern_board_element_js[] = {
#embed "../LecternGateway/Site/lectern/board-element.js"
};
static const unsigned char lectern_board_js[] = {
#embed "../LecternGateway/Site/lectern/board.js"
};
static const unsigned char lectern_colour_picker_js[] = {
#embed "../LecternGateway/Site/lectern/colour-picker.js"
};
static const unsigned char lectern_core_board_js[] = {
#embed "../LecternGateway/Site/lectern/core-board.js"
};
static const unsigned char lectern_core_js[] = {
#embed "../LecternGateway/Site/lectern/core.js"
};
static const unsigned char lectern_dom_js[] = {
#embed "../LecternGateway/Site/lectern/dom.js"
};
static const unsigned char lectern_element_js[] = {
#embed "../LecternGateway/Site/lectern/element.js"
};
static const unsigned char lectern_eraser_cursor_js[] = {
#embed "../LecternGateway/Site/lectern/eraser-cursor.js"
};
static const unsigned char lectern_events_js[] = {
#embed "../LecternGateway/Site/lectern/events.js"
};
static const unsigned char lectern_frame_clock_js[] = {
#embed "../LecternGateway/Site/lectern/frame-clock.js"
};
static const unsigned char lectern_gateway_js[] = {
#embed "../LecternGateway/Site/lectern/gateway.js"
};
static const unsigned char lectern_icons_svg[] = {
#embed "../LecternGateway/Site/lectern/icons.svg"
};
static const unsigned char lectern_images_js[] = {
#embed "../LecternGateway/Site/lectern/images.js"
};
static const unsigned char lectern_language_js[] = {
#embed "../LecternGateway/Site/lectern/language.js"
};
static const unsigned char lectern_languages_zh_json[] = {
#embed "../LecternGateway/Site/lectern/languages/zh.json"
};
static const unsigned char core[] = {
#embed "core/lectern.wasm"
};
static const unsigned char core_brotli[] = {
#embed "core/lectern.wasm.br"
};
static const unsigned char lectern_live_clock_js[] = {
#embed "../LecternGateway/Site/lectern/live-clock.js"
};
static const unsigned char lectern_outbox_store_js[] = {
#embed "../LecternGateway/Site/lectern/outbox-store.js"
};
static const unsigned char lectern_own_ink_js[] = {
#embed "../LecternGateway/Site/lectern/own-ink.js"
};
static const unsigned char lectern_painted_canvases_js[] = {
#embed "../LecternGateway/Site/lectern/painted-canvases.js"
};
static const unsigned char lectern_painter_js[] = {
#embed "../LecternGateway/Site/lectern/painter.js"
};
static const unsigned char lectern_pen_js[] = {
#embed "../LecternGateway/Site/lectern/pen.js"
};
static const unsigned char lectern_player_clock_js[] = {
#embed "../LecternGateway/Site/lectern/player-clock.js"
};
static const unsigned char lectern_records_js[] = {
#embed "../LecternGateway/Site/lectern/records.js"
};
static const unsigned char lectern_replay_js[] = {
#embed "../LecternGateway/Site/lectern/replay.js"
};
static const unsigned char lectern_server_clock_js[] = {
#embed "../LecternGateway/Site/lectern/server-clock.js"
};
static const unsigned char lectern_stroke_eraser_js[] = {
#embed "../LecternGateway/Site/lectern/stroke-eraser.js"
};
static const unsigned char lectern_teacher_core_js[] = {
#embed "../LecternGateway/Site/lectern/teacher-core.js"
};
static const unsigned char lectern_teacher_element_js[] = {
#embed "../LecternGateway/Site/lectern/teacher-element.js"
};
static const unsigned char lectern_teacher_session_js[] = {
#embed "../LecternGateway/Site/lectern/teacher-session.js"
};
static const unsigned char lectern_teacher_js[] = {
#embed "../LecternGateway/Site/lectern/teacher.js"
};
static const unsigned char lectern_text_tool_js[] = {
#embed "../LecternGateway/Site/lectern/text-tool.js"
};
static const unsigned char lectern_toolbar_js[] = {
#embed "../LecternGateway/Site/lectern/toolbar.js"
};
static const unsigned char lectern_whep_js[] = {
#embed "../LecternGateway/Site/lectern/whep.js"
};
static const unsigned char lectern_view_hands_js[] = {
#embed "../LecternGateway/Site/lectern/view-hands.js"
};
static const unsigned char lectern_view_js[] = {
#embed "../LecternGateway/Site/lectern/view.js"
};
static const unsigned char lectern_words_js[] = {
#embed "../LecternGateway/Site/lectern/words.js"
};
static const unsigned char pages_clock_html[] = {
#embed "../LecternGateway/Site/pages/clock.html"
};
static const unsigned char pages_error_html[] = {
#embed "../LecternGateway/Site/pages/error.html"
};
static const unsigned char pages_icon_svg[] = {
#embed "../LecternGateway/Site/pages/icon.svg"
};
static const unsigned char pages_monitor_html[] = {
#embed "../LecternGateway/Site/pages/monitor.html"
};
static const unsigned char pages_needs_js[] = {
#embed "../LecternGateway/Site/pages/needs.js"
};
static const unsigned char pages_start_html[] = {
#embed "../LecternGateway/Site/pages/start.html"
};
static const unsigned char pages_student_html[] = {
#embed "../LecternGateway/Site/pages/student.html"
};
static const unsigned char pages_teach_html[] = {
#embed "../LecternGateway/Site/pages/teach.html"
};

#define FILE(path, bytes) {path, bytes, sizeof bytes, NULL, 0}
#define CORE(path, bytes) {path, bytes, sizeof bytes, bytes##_brotli, sizeof bytes##_brotli}

static const struct site_file files[] = {
    FILE("api/openapi.json", api_openapi_json),
    FILE("bundles/clock.css", bundles_clock_css),
    FILE("bundles/clock.js", bundles_clock_js),
    FILE("bundles/error.css", bundles_error_css),
    FILE("bundles/error.js", bundles_error_js),
    FILE("bundles/lectern-board.js", bundles_lectern_board_js),
    FILE("bundles/lectern.js", bundles_lectern_js),
    FILE("bundles/monitor.css", bundles_monitor_css),
    FILE("bundles/monitor.js", bundles_monitor_js),
    FILE("bundles/start.css", bundles_start_css),
    FILE("bundles/start.js", bundles_start_js),
    FILE("bundles/student.css", bundles_student_css),
    FILE("bundles/student.js", bundles_student_js),
    FILE("bundles/teach.css", bundles_teach_css),
    FILE("bundles/teach.js", bundles_teach_js),
    FILE("lectern-board.js", lectern_board_entrance_js),
    FILE("lectern.js", lectern_js),
    CORE("lectern/board.wasm", board_core),
    FILE("lectern/board-element.js", lectern_board_element_js),
    FILE("lectern/board.js", lectern_board_js),
    FILE("lectern/colour-picker.js", lectern_colour_picker_js),
    FILE("lectern/core-board.js", lectern_core_board_js),
    FILE("lectern/core.js", lectern_core_js),
    FILE("lectern/dom.js", lectern_dom_js),
    FILE("lectern/element.js", lectern_element_js),
    FILE("lectern/eraser-cursor.js", lectern_eraser_cursor_js),
    FILE("lectern/events.js", lectern_events_js),
    FILE("lectern/frame-clock.js", lectern_frame_clock_js),
    FILE("lectern/gateway.js", lectern_gateway_js),
    FILE("lectern/icons.svg", lectern_icons_svg),
    FILE("lectern/images.js", lectern_images_js),
    FILE("lectern/language.js", lectern_language_js),
    FILE("lectern/languages/zh.json", lectern_languages_zh_json),
    CORE("lectern/lectern.wasm", core),
    FILE("lectern/live-clock.js", lectern_live_clock_js),
    FILE("lectern/outbox-store.js", lectern_outbox_store_js),
    FILE("lectern/own-ink.js", lectern_own_ink_js),
    FILE("lectern/painted-canvases.js", lectern_painted_canvases_js),
    FILE("lectern/painter.js", lectern_painter_js),
    FILE("lectern/pen.js", lectern_pen_js),
    FILE("lectern/player-clock.js", lectern_player_clock_js),
    FILE("lectern/records.js", lectern_records_js),
    FILE("lectern/replay.js", lectern_replay_js),
    FILE("lectern/server-clock.js", lectern_server_clock_js),
    FILE("lectern/stroke-eraser.js", lectern_stroke_eraser_js),
    FILE("lectern/teacher-core.js", lectern_teacher_core_js),
    FILE("lectern/teacher-element.js", lectern_teacher_element_js),
    FILE("lectern/teacher-session.js", lectern_teacher_session_js),
    FILE("lectern/teacher.js", lectern_teacher_js),
    FILE("lectern/text-tool.js", lectern_text_tool_js),
    FILE("lectern/toolbar.js", lectern_toolbar_js),
    FILE("lectern/whep.js", lectern_whep_js),
    FILE("lectern/view-hands.js", lectern_view_hands_js),
    FILE("lectern/view.js", lectern_view_js),
    FILE("lectern/words.js", lectern_words_js),
    FILE("pages/clock.html", pages_clock_html),
    FILE("pages/error.html", pages_error_html),
    FILE("pages/icon.svg", pages_icon_svg),
    FILE("pages/monitor.html", pages_monitor_html),
    FILE("pages/needs.js", pages_needs_js),
    FILE("pages/start.html", pages_start_html),
    FILE("pages/student.html", pages_student_html),
    FILE("pages/teach.html", pages_teach_html),
};

size_t site_file_count(void) { return sizeof files / sizeof files[0]; }

struct site_file site_file_at(size_t number) { return files[number]; }
