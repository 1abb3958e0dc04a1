internal import CZlib
internal import Locking
internal import NIOCore

/// Makes pieces of a gzip stream (RFC 1952) of which none refers to another: a reader's stream is the header and then
/// pieces in any selection. So each event is compressed once for all readers, whenever they have come.
///
/// A stream has no end, and so no checksum: it breaks off like the response itself.
final class Deflater {
    /// What a stream begins with.
    static let header: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]

    private let stream: UnsafeMutablePointer<z_stream>

    private init() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let status = deflateInit2_(
            // The fastest level; no zlib header; the usual memory.
            stream, 1, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        precondition(status == Z_OK, "no memory to compress")
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    private static let idle = Locked<[Deflater]>([])
    /// Deflaters that are kept, of about 256 KiB each.
    private static let mostIdle = 8

    /// Compresses bytes to a piece that ends on a byte's border. Safe from any thread.
    static func piece(of bytes: ByteBufferView) -> ByteBuffer {
        let deflater = idle.withLock { $0.popLast() } ?? Deflater()
        defer { idle.withLock { if $0.count < mostIdle { $0.append(deflater) } } }
        return deflater.piece(of: bytes)
    }

    /// Compresses bytes to a whole gzip member, as small as zlib can make it. Safe from any thread.
    static func gzip(_ bytes: [UInt8]) -> [UInt8] {
        var stream = z_stream()
        // The best level; a header of gzip; the most memory.
        let status = deflateInit2_(
            &stream, 9, Z_DEFLATED, MAX_WBITS + 16, 9, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        precondition(status == Z_OK, "no memory to compress")
        defer { deflateEnd(&stream) }
        let bound = Int(deflateBound(&stream, UInt(bytes.count)))
        return bytes.withUnsafeBytes { input in
            [UInt8](unsafeUninitializedCapacity: bound) { output, count in
                stream.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(bound)
                let status = deflate(&stream, Z_FINISH)
                precondition(status == Z_STREAM_END, "a file is larger than its bound")
                count = bound - Int(stream.avail_out)
            }
        }
    }

    private func piece(of bytes: ByteBufferView) -> ByteBuffer {
        deflateReset(stream)
        // The flush ends a block and adds an empty one.
        let bound = Int(deflateBound(stream, UInt(bytes.count))) + 16
        var piece = ByteBufferAllocator().buffer(capacity: bound)
        bytes.withUnsafeBytes { input in
            _ = piece.writeWithUnsafeMutableBytes(minimumWritableBytes: bound) { output in
                // zlib does not write to its input.
                stream.pointee.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
                stream.pointee.avail_in = UInt32(input.count)
                stream.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
                stream.pointee.avail_out = UInt32(output.count)
                let status = deflate(stream, Z_SYNC_FLUSH)
                precondition(status == Z_OK && stream.pointee.avail_out > 0, "a piece is larger than its bound")
                return output.count - Int(stream.pointee.avail_out)
            }
        }
        return piece
    }
}
