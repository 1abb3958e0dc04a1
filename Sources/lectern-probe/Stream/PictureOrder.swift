import CAVFormat
import VideoTiming

/// The pictures of a raw stream are not sent in the order in which they are shown.
struct PictureOrderError: Error, CustomStringConvertible {
    /// The first picture that is shown before the one that was sent before it, from 1.
    let picture: Int

    var description: String {
        """
        picture \(picture) is shown before the one that comes before it: the encoder uses B-frames, and a raw stream \
        does not tell when its pictures are shown. Switch them off (x264 and x265: -bf 0 or -tune zerolatency), or send \
        FLV
        """
    }
}

/// Looks at the order of the pictures of a raw stream: libavcodec's parser reads the order count of each.
final class PictureOrder {
    private var parser: UnsafeMutablePointer<AVCodecParserContext>?
    private var context: UnsafeMutablePointer<AVCodecContext>?
    private var input: [UInt8] = []
    private var pictures = 0
    private var last: Int32?
    /// The last picture with a lower count than the one before it.
    private var fallen: Int?

    /// An encoder may begin to count anew without saying so; two falls so near to one another are no such beginning.
    private static let distance = 16

    init(_ codec: VideoCodec) {
        av_log_set_level(AV_LOG_QUIET)
        let identifier = codec == .h264 ? AV_CODEC_ID_H264 : AV_CODEC_ID_HEVC
        parser = av_parser_init(Int32(bitPattern: identifier.rawValue))
        context = avcodec_alloc_context3(nil)
        context?.pointee.codec_id = identifier
    }

    deinit {
        av_parser_close(parser)
        avcodec_free_context(&context)
    }

    /// Reads what comes next of the stream.
    /// - Throws: when the order of the pictures is not that in which they are shown.
    func read(_ chunk: ArraySlice<UInt8>) throws(PictureOrderError) {
        guard let parser, let context else { return }
        input.removeAll(keepingCapacity: true)
        input += chunk
        input += repeatElement(0, count: Int(AV_INPUT_BUFFER_PADDING_SIZE))
        var start = 0
        while start < chunk.count {
            var size: Int32 = 0
            let taken = input.withUnsafeBufferPointer { buffer in
                var picture: UnsafeMutablePointer<UInt8>?
                return av_parser_parse2(
                    parser, context, &picture, &size, buffer.baseAddress.map { $0 + start },
                    Int32(chunk.count - start), lectern_AV_NOPTS_VALUE, lectern_AV_NOPTS_VALUE, 0)
            }
            guard taken >= 0, taken > 0 || size > 0 else { return }
            start += Int(taken)
            if size > 0 { try take(parser.pointee.output_picture_number, isKey: parser.pointee.key_frame == 1) }
        }
    }

    private func take(_ count: Int32, isKey: Bool) throws(PictureOrderError) {
        pictures += 1
        defer { last = count }
        guard let last, !isKey, count < last else { return }
        if let fallen, pictures - fallen < Self.distance { throw PictureOrderError(picture: fallen) }
        fallen = pictures
    }
}
