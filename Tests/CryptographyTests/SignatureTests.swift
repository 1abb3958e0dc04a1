import Cryptography
import TestSupport
import Testing

@Suite struct SignatureTests {
    /// The order of P-256, with the highest byte first.
    private static let order = bytes("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")

    /// The key of RFC 6979, A.2.5.
    private static func p256() throws -> PrivateKey {
        try PrivateKey(
            pem: pem(
                "EC PRIVATE KEY",
                p256PrivateKey(bytes("C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721"))))
    }

    private static func p256Public() throws -> PublicKey {
        try PublicKey(
            pem: pem(
                "PUBLIC KEY",
                p256PublicKey(
                    bytes("60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6"),
                    bytes("7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299"))))
    }

    /// Of "sample".
    private static let r = bytes("EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716")
    private static let s = bytes("F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8")
    private static let sample = Array("sample".utf8)

    /// The difference of two numbers of equal length with the highest byte first.
    private static func difference(_ a: [UInt8], _ b: [UInt8]) -> [UInt8] {
        var result = a
        var borrow = 0
        for place in a.indices.reversed() {
            let value = Int(a[place]) - Int(b[place]) - borrow
            borrow = value < 0 ? 1 : 0
            result[place] = UInt8(truncatingIfNeeded: value)
        }
        return result
    }

    @Test func `Signatures of RFC 6979 are valid, with either s`() throws {
        let key = try Self.p256Public()
        #expect(key.algorithm == .es256)
        #expect(key.isValid(Self.r + Self.s, of: Self.sample))
        #expect(key.isValid(Self.r + Self.difference(Self.order, Self.s), of: Self.sample))
        let test =
            bytes("F1ABB023518351CD71D881567B1EA663ED3EFCF6C5132B354F28D3B0B7D38367")
            + bytes("019F4113742A2B14BD25926B49C649155F267E60D3814B4C0CC84250E46F0083")
        #expect(key.isValid(test, of: Array("test".utf8)))
        // The public part is calculated.
        #expect(try Self.p256().publicKey.isValid(Self.r + Self.s, of: Self.sample))
    }

    @Test func `The token of RFC 7515, A.3 is signed by its key`() throws {
        let key = try PublicKey(
            pem: pem(
                "PUBLIC KEY",
                p256PublicKey(
                    bytes(base64URL: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"),
                    bytes(base64URL: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"))))
        let text = """
            eyJhbGciOiJFUzI1NiJ9.\
            eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ
            """
        let signature = bytes(
            base64URL: "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q")
        #expect(key.isValid(signature, of: Array(text.utf8)))
    }

    @Test func `Ed25519 signs and verifies as in RFC 8037, A.4`() throws {
        let text = Array("eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc".utf8)
        let signature = bytes(
            base64URL: "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg")
        let key = try PrivateKey(
            pem: pem("PRIVATE KEY", ed25519PrivateKey(bytes(base64URL: "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"))))
        #expect(key.algorithm == .ed25519)
        #expect(try key.sign(text) == signature)
        let publicKey = try PublicKey(
            pem: pem("PUBLIC KEY", ed25519PublicKey(bytes(base64URL: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"))))
        #expect(publicKey.isValid(signature, of: text))
        #expect(!publicKey.isValid(signature, of: text + [0]))
    }

    /// L is the order of the group: S + L is the same point (RFC 8032, 8.4).
    @Test func `A signature of Ed25519 cannot be changed to another`() throws {
        let key = try PrivateKey(pem: Files.ed25519)
        let signature = try key.sign(Self.sample)
        var other = signature
        let order = bytes("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")
        var carry = 0
        for (place, digit) in order.enumerated() {
            let sum = Int(other[32 + place]) + Int(digit) + carry
            other[32 + place] = UInt8(truncatingIfNeeded: sum)
            carry = sum >> 8
        }
        #expect(carry == 0 && other != signature)
        #expect(key.publicKey.isValid(signature, of: Self.sample))
        #expect(!key.publicKey.isValid(other, of: Self.sample))
    }

    @Test func `Numbers out of the range of r and s are no signature`() throws {
        let key = try Self.p256Public()
        let zero = [UInt8](repeating: 0, count: 32)
        let one = [UInt8](repeating: 0, count: 31) + [1]
        let most = [UInt8](repeating: 255, count: 32)
        for r in [zero, one, Self.r, Self.order, most] {
            for s in [zero, one, Self.s, Self.order, most] where (r, s) != (Self.r, Self.s) {
                #expect(!key.isValid(r + s, of: Self.sample), "\(r) \(s)")
            }
        }
    }

    @Test func `A signature of another length or in DER is none`() throws {
        let key = try Self.p256Public()
        // 02 is an integer; a first bit that is set has a 0 before it.
        let der = bytes("3046022100") + Self.r + bytes("022100") + Self.s
        let signature = Self.r + Self.s
        for other in [
            [], Array(signature.dropLast()), signature + [0], [0] + signature, der, Self.r, signature + signature,
        ] {
            #expect(!key.isValid(other, of: Self.sample), "\(other.count) bytes")
        }
        #expect(!key.isValid(Self.s + Self.r, of: Self.sample))
    }

    @Test(arguments: [Files.ed25519, Files.sec1, Files.pkcs8])
    func `A key and its public part verify a signature, and none with a changed bit`(_ file: String) throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        let key = try PrivateKey(pem: file)
        let publicKey = try PublicKey(pem: key.algorithm == .es256 ? Files.p256Public : Files.ed25519Public)
        #expect(publicKey.algorithm == key.algorithm)
        for length in [0, 1, 64, 1000] + (0..<40).map({ _ in random.int(0...300) }) {
            let message = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
            let signature = try key.sign(message)
            #expect(signature.count == 64)
            #expect(publicKey.isValid(signature, of: message), "seed \(random.seed)")
            #expect(key.publicKey.isValid(signature, of: message), "seed \(random.seed)")
            var other = signature
            other[random.int(0...63)] ^= 1 << UInt8(random.int(0...7))
            #expect(!publicKey.isValid(other, of: message), "seed \(random.seed)")
            #expect(!publicKey.isValid(signature, of: message + [0]), "seed \(random.seed)")
        }
        let stranger = try PublicKey(pem: key.algorithm == .es256 ? Files.compressed : Files.ed25519Public)
        #expect(stranger.isValid(try key.sign([1]), of: [1]))
        #expect(try !Self.p256Public().isValid(try key.sign([1]), of: [1]))
    }

    @Test func `Many threads use one key`() async throws {
        let key = try PrivateKey(pem: Files.pkcs8)
        let areValid = try await concurrently(0..<8) { number in
            try (0..<50).allSatisfy { step in
                let message: [UInt8] = [UInt8(number), UInt8(step)]
                return key.publicKey.isValid(try key.sign(message), of: message)
            }
        }
        #expect(areValid.allSatisfy { $0 })
    }
}

@Suite struct KeyFileTests {
    private static func fault(_ read: () throws -> Void) -> KeyFault? {
        do {
            try read()
            return nil
        } catch {
            return error as? KeyFault
        }
    }

    @Test(arguments: [
        ("", KeyFault.notPEM), ("no key", .notPEM), ("-----BEGIN PUBLIC KEY-----\n", .notPEM),
        (Files.p256Public + Files.p256Public, .notPEM), (Files.parameters + Files.sec1, .notPEM),
        ("a key:\n" + Files.p256Public, .notPEM), (Files.p256Public + "end", .notPEM),
        (Files.p256Public.replacing("MFkw", with: "MF!w"), .notPEM),
        (Files.pkcs8, .label("PRIVATE KEY")), (Files.encrypted, .encrypted), (Files.encryptedSEC1, .encrypted),
        (Files.p256Public.replacing("PUBLIC KEY", with: "CERTIFICATE"), .label("CERTIFICATE")),
        (Files.rsaPublic, .algorithm), (Files.p384Public, .algorithm), (Files.secp256k1Public, .algorithm),
        (Files.x25519Public, .algorithm), (Files.ed448Public, .algorithm), (Files.explicit, .algorithm),
        (pem("PUBLIC KEY", []), .notPEM), (pem("PUBLIC KEY", [0x30, 0]), .malformed),
        // Bytes behind the key, a point off the curve, a part of one.
        (pem("PUBLIC KEY", ed25519PublicKey([UInt8](repeating: 1, count: 32)) + [0]), .malformed),
        (
            pem("PUBLIC KEY", p256PublicKey([UInt8](repeating: 1, count: 32), [UInt8](repeating: 1, count: 32))),
            .malformed
        ),
        (pem("PUBLIC KEY", ed25519PublicKey([UInt8](repeating: 1, count: 31))), .malformed),
    ]) func `A file that is no public key says why`(_ file: String, _ fault: KeyFault) {
        #expect(Self.fault { _ = try PublicKey(pem: file) } == fault)
    }

    @Test(arguments: [
        ("", KeyFault.notPEM), (Files.p256Public, .label("PUBLIC KEY")), (Files.encrypted, .encrypted),
        (Files.encryptedSEC1, .encrypted), (Files.parameters + Files.sec1, .notPEM), (Files.p384, .algorithm),
        (Files.secp256k1, .algorithm), (pem("PRIVATE KEY", [0x30, 0]), .malformed),
        (pem("PRIVATE KEY", ed25519PrivateKey([UInt8](repeating: 1, count: 32)) + [0]), .malformed),
        // No number of the curve.
        (pem("EC PRIVATE KEY", p256PrivateKey([UInt8](repeating: 0, count: 32))), .malformed),
        (pem("EC PRIVATE KEY", p256PrivateKey([UInt8](repeating: 255, count: 32))), .malformed),
    ]) func `A file that is no private key says why`(_ file: String, _ fault: KeyFault) {
        #expect(Self.fault { _ = try PrivateKey(pem: file) } == fault)
    }

    @Test func `Lines may end as on Windows, and the last line need not`() throws {
        for file in [
            Files.p256Public.replacing("\n", with: "\r\n"), String(Files.p256Public.dropLast()),
            Files.ed25519Public + "\n\n",
        ] {
            _ = try PublicKey(pem: file)
        }
    }
}
