#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/opt.h>

// Macros that Swift does not see.
static const int lectern_AVERROR_EOF = AVERROR_EOF;
static const int lectern_AVERROR_EXIT = AVERROR_EXIT;
static const int lectern_AVERROR_EAGAIN = AVERROR(EAGAIN);
static const int lectern_AVERROR_HTTP_NOT_FOUND = AVERROR_HTTP_NOT_FOUND;
static const int lectern_AVERROR_INVALIDDATA = AVERROR_INVALIDDATA;
static const int64_t lectern_AV_NOPTS_VALUE = AV_NOPTS_VALUE;
