#!/usr/bin/python3
"""A WebRTC media server for tests: WHEP by aiortc, with pictures that show the time at which they were made.

Each picture has UTC in milliseconds twice: in 48 squares, white for 1, row by row from the highest bit, and in the header
extension abs-capture-time. What a browser shows can thus be compared with what it says of it.

    whep-peer.py [--port PORT] [--token TOKEN] [--no-capture-time]

Prints `listening on port PORT`. `POST /whep` is the stream; after `POST /hold` it sends no pictures until `POST /play`.
`GET /lesson.webm` is a recording of ten seconds, whose pictures show their own media time.
"""

import argparse
import asyncio
import contextvars
import fractions
import struct
import tempfile
import time

from aiohttp import web
from aiortc import RTCPeerConnection, RTCSessionDescription, VideoStreamTrack, rtcrtpsender, rtp
from aiortc.codecs import HEADER_EXTENSIONS
from aiortc.rtcrtpparameters import RTCRtpHeaderExtensionParameters
import av
import numpy

CAPTURE_TIME = "http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time"
NTP_EPOCH = 2_208_988_800  # seconds from 1900 to 1970
RATE = 30
SQUARE = 40  # pixels
COLUMNS, ROWS = 8, 6

# Set by the track, read by the packets: a sender asks its track and makes its packets in one task.
captured_at = contextvars.ContextVar("captured_at", default=None)


class TimedPacket(rtp.RtpPacket):
    """An RTP packet with the capture time of its picture, UQ32.32 seconds since 1900."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.extensions.capture_time = captured_at.get()


class TimedExtensionsMap(rtp.HeaderExtensionsMap):
    """aiortc 1.4 does not know the extension."""

    capture_time_id = None

    def configure(self, parameters):
        super().configure(parameters)
        for extension in parameters.headerExtensions:
            if extension.uri == CAPTURE_TIME:
                self.capture_time_id = extension.id

    def set(self, values):
        packed = super().set(values)
        if self.capture_time_id is None or values.capture_time is None:
            return packed
        seconds = struct.pack("!Q", int((values.capture_time + NTP_EPOCH) * 2**32))
        return rtp.pack_header_extensions(rtp.unpack_header_extensions(*packed) + [(self.capture_time_id, seconds)])


class Clock(VideoStreamTrack):
    """Pictures of the time, 30 a second."""

    playing = asyncio.Event()

    def __init__(self):
        super().__init__()
        self.begin = time.time()
        self.count = 0

    async def recv(self):
        self.count += 1
        await asyncio.sleep(max(0, self.begin + self.count / RATE - time.time()))
        await Clock.playing.wait()
        now = time.time()
        # After a pause the pictures go on in time.
        self.count = max(self.count, int((now - self.begin) * RATE))
        captured_at.set(now)
        frame = picture(int(now * 1000))
        frame.pts, frame.time_base = int((now - self.begin) * 90_000), fractions.Fraction(1, 90_000)
        return frame


def picture(milliseconds):
    """A frame with a time in squares."""
    bits = numpy.array([milliseconds >> place & 1 for place in range(47, -1, -1)], dtype=numpy.uint8)
    squares = numpy.kron(bits.reshape(ROWS, COLUMNS) * 235, numpy.ones((SQUARE, SQUARE), dtype=numpy.uint8))
    return av.VideoFrame.from_ndarray(squares, format="gray8").reformat(format="yuv420p")


def record(path):
    """Writes a WebM file."""
    with av.open(path, "w") as container:
        stream = container.add_stream("libvpx", rate=20)
        stream.width, stream.height, stream.pix_fmt = COLUMNS * SQUARE, ROWS * SQUARE, "yuv420p"
        stream.options = {"deadline": "realtime", "cpu-used": "8"}
        for number in range(200):
            frame = picture(number * 50)
            frame.pts, frame.time_base = number, fractions.Fraction(1, 20)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


def whep(token, lesson_file):
    sessions = {}

    async def offer(request):
        if token and request.headers.get("Authorization") != f"Bearer {token}":
            return web.Response(status=401)
        peer = RTCPeerConnection()
        await peer.setRemoteDescription(RTCSessionDescription(await request.text(), "offer"))
        for transceiver in peer.getTransceivers():
            if transceiver.kind == "video":
                transceiver.sender.replaceTrack(Clock())
                transceiver.direction = "sendonly"
        await peer.setLocalDescription(await peer.createAnswer())
        name = str(len(sessions))
        sessions[name] = peer
        return web.Response(
            status=201, text=peer.localDescription.sdp, content_type="application/sdp", headers={"Location": f"/sessions/{name}"})

    async def end(request):
        peer = sessions.pop(request.match_info["name"], None)
        if peer:
            await peer.close()
        return web.Response(status=200 if peer else 404)

    async def play(request):
        Clock.playing.set()
        return web.Response()

    async def hold(request):
        Clock.playing.clear()
        return web.Response()

    async def lesson(request):
        return web.FileResponse(lesson_file)

    @web.middleware
    async def cross_origin(request, handler):
        response = web.Response(status=204) if request.method == "OPTIONS" else await handler(request)
        response.headers.update({
            "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Methods": "POST, DELETE",
            "Access-Control-Allow-Headers": "Authorization, Content-Type", "Access-Control-Expose-Headers": "Location"})
        return response

    application = web.Application(middlewares=[cross_origin])
    application.router.add_post("/whep", offer)
    application.router.add_delete("/sessions/{name}", end)
    application.router.add_post("/hold", hold)
    application.router.add_post("/play", play)
    application.router.add_get("/lesson.webm", lesson)
    application.router.add_route("OPTIONS", "/{path:.*}", end)
    return application


async def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--token")
    parser.add_argument("--no-capture-time", action="store_true")
    options = parser.parse_args()
    if not options.no_capture_time:
        used = {extension.id for extension in HEADER_EXTENSIONS["video"]}
        HEADER_EXTENSIONS["video"].append(
            RTCRtpHeaderExtensionParameters(id=min(set(range(1, 15)) - used), uri=CAPTURE_TIME))
        rtcrtpsender.RtpPacket = TimedPacket
        rtp.HeaderExtensionsMap = TimedExtensionsMap
    Clock.playing.set()
    with tempfile.NamedTemporaryFile(suffix=".webm") as lesson:
        record(lesson.name)
        runner = web.AppRunner(whep(options.token, lesson.name))
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", options.port)
        await site.start()
        print(f"listening on port {site._server.sockets[0].getsockname()[1]}", flush=True)
        await asyncio.Event().wait()


asyncio.run(main())
