import Cryptography
import TestSupport
import Testing

/// The tests of Cryptography compare with published vectors of NIST and the RFCs.
@Suite struct HashTests {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (String(repeating: "a", count: 1_000_000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ]) func `SHA-256 is that of FIPS 180-4`(_ text: String, _ digest: String) {
        #expect(SHA256.hash(Array(text.utf8)).hexadecimal == digest)
    }

    @Test func `The parts in which bytes come do not matter`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        let bytes = (0..<10_000).map { _ in UInt8.random(in: 0...255, using: &random) }
        var hash = SHA256()
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = rest.prefix(random.int(0...200))
            rest = rest.dropFirst(part.count)
            hash.update(Array(part))
        }
        #expect(hash.finalize() == SHA256.hash(bytes), "seed \(random.seed)")
    }

    /// RFC 4231, but for the code that is cut off.
    @Test(arguments: [
        (
            [UInt8](repeating: 0x0b, count: 20), Array("Hi There".utf8),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xaa, count: 20), [UInt8](repeating: 0xdd, count: 50),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
        ),
        (
            Array(1...25), [UInt8](repeating: 0xcd, count: 50),
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
        ),
        (
            [UInt8](repeating: 0xaa, count: 131), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
        (
            [UInt8](repeating: 0xaa, count: 131),
            Array(
                """
                This is a test using a larger than block-size key and a larger than block-size data. The key needs to be \
                hashed before being used by the HMAC algorithm.
                """.utf8),
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
        ),
    ]) func `HMAC is that of RFC 4231`(_ key: [UInt8], _ message: [UInt8], _ code: String) {
        #expect(HMACSHA256.code(of: message, key: key) == bytes(code))
        #expect(HMACSHA256.isValid(bytes(code), of: message, key: key))
    }

    @Test func `The token of RFC 7515, A.1 is signed by its key, and by no other code`() {
        let text = Array(
            """
            eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.\
            eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ
            """.utf8)
        let key = bytes(
            base64URL: "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow")
        let code = bytes(base64URL: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        #expect(HMACSHA256.isValid(code, of: text, key: key))
        for place in code.indices {
            var other = code
            other[place] ^= 1
            #expect(!HMACSHA256.isValid(other, of: text, key: key))
        }
        for other in [[], Array(code.dropLast()), code + [0], [UInt8](repeating: 0, count: 32)] {
            #expect(!HMACSHA256.isValid(other, of: text, key: key))
        }
        #expect(!HMACSHA256.isValid(code, of: text + [0], key: key))
    }

    @Test func `A message and a key may be empty`() {
        #expect(
            HMACSHA256.code(of: [], key: [])
                == bytes("b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"))
    }
}
