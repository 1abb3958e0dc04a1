package import StrokeWire

/// User data in the supplemental enhancement information (SEI) of a picture: payload type 5, `user_data_unregistered`.
package struct UserData: Sendable, Equatable {
    package let identifier: UserDataID
    package let payload: [UInt8]

    package init(identifier: UserDataID, payload: [UInt8]) {
        self.identifier = identifier
        self.payload = payload
    }
}

/// Reads and writes SEI messages.
package enum SEIMessages {
    private static let unregistered = 5

    /// Calls `body` with the user data of a coded picture, in order, until it returns false. Only what stands before the
    /// picture's first slice is read, and SEI stands there. Damaged messages are passed over.
    package static func forEachUserData(
        in picture: Span<UInt8>, _ framing: NALFraming, _ codec: VideoCodec, _ body: (UserData) -> Bool
    ) {
        framing.forEachUnit(in: picture) { unit in
            switch codec.kind(ofUnit: picture[unit.lowerBound]) {
            case .slice: return false
            case .information:
                let content = unit.dropFirst(codec.headerSize)
                return forEachUserData(in: EmulationPrevention.unescape(picture, content), body)
            case .other: return true
            }
        }
    }

    private static func forEachUserData(in content: [UInt8], _ body: (UserData) -> Bool) -> Bool {
        var index = 0
        // A number is a run of 0xFF, each worth 255, and a last byte below.
        func number() -> Int? {
            var value = 0
            while index < content.count {
                let byte = content[index]
                index += 1
                value += Int(byte)
                if byte != 0xff { return value }
            }
            return nil
        }
        // The last byte is the trailing bit.
        while index + 2 < content.count {
            guard let type = number(), let size = number(), size <= content.count - index else { return true }
            if type == unregistered, size >= 16 {
                let identifier = UserDataID(bytes: Array(content[index..<index + 16]))
                let data = UserData(identifier: identifier, payload: Array(content[(index + 16)..<(index + size)]))
                if !body(data) { return false }
            }
            index += size
        }
        return true
    }

    /// A NAL unit, without start code or length, of one SEI message.
    ///
    /// - Parameter slice: second byte of the header of the slice that it goes with; H.265 has the temporal layer there.
    package static func unit(_ data: UserData, _ codec: VideoCodec, slice: UInt8) -> [UInt8] {
        var message: [UInt8] = [UInt8(unregistered)]
        var size = 16 + data.payload.count
        while size >= 255 {
            message.append(255)
            size -= 255
        }
        message.append(UInt8(size))
        message += data.identifier.bytes
        message += data.payload
        message.append(0x80)
        let header: [UInt8] = codec == .h264 ? [6] : [39 << 1, slice & 7]
        return header + EmulationPrevention.escape(message)
    }
}

/// Finds the media time of a coded picture in its SEI.
package struct PictureTimeReader: Sendable {
    /// User data with another identifier is passed over.
    package var identifiers: Set<UserDataID>
    /// The member to read where the payload is a JSON object.
    package var key: String

    /// Reads Lectern's stamps and those of MISB ST 0604.
    package init(
        identifiers: Set<UserDataID> = [
            .lectern, .misbMicroseconds, .misbMicrosecondsH265, .misbNanosecondsH265,
        ], key: String = "t"
    ) {
        self.identifiers = identifiers
        self.key = key
    }

    /// The first readable time; nil where there is none.
    package func time(of picture: Span<UInt8>, _ framing: NALFraming, _ codec: VideoCodec) -> MediaTime? {
        var found: MediaTime?
        SEIMessages.forEachUserData(in: picture, framing, codec) { data in
            if identifiers.contains(data.identifier) {
                found = TimeForm.read(data.payload, identifier: data.identifier, key: key)
            }
            return found == nil
        }
        return found
    }
}
