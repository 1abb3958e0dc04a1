import Cryptography
import Foundation
import Testing

@testable import LecternGateway

/// Tokens that are signed by the right key, and what their texts may be.
@Suite("Forms of tokens", .timeLimit(.minutes(4))) struct TokenFormTests {
    private static let head = #"{"alg":"HS256","typ":"JWT"}"#
    private static let claims = #"{"room":"r","role":"student","exp":1e10}"#

    /// A token of HS256 of texts in Base 64.
    private static func signed(_ head: String, _ claims: String) -> String {
        let text = "\(head).\(claims)"
        return "\(text).\(TokenKey.testSignature(of: text))"
    }

    private static func token(_ head: String = head, _ claims: String = claims) -> String {
        signed(TokenKey.base64URL(head.utf8), TokenKey.base64URL(claims.utf8))
    }

    private static func counts(_ token: String) async throws -> Bool {
        try await TokenKey.test().verify(token) != nil
    }

    @Test(arguments: [
        token(), token(#"{"alg":"HS256"}"#), token(#"{"typ":"at+jwt","alg":"HS256","kid":"1","x":[{"a":1,"b":2}]}"#),
        token(" {\n\"alg\" : \"HS256\" } "), token(#"{"\u0061lg":"HS256"}"#),
        token(head, #"{"room":["r","s"],"role":"student","exp":1e300,"nbf":1.5,"iat":-1,"jti":"a","aud":["x"],"é":1}"#),
        token(head, #"{"room":"*","role":"operator","exp":99999999999.75,"sub":"anybody at all"}"#),
    ])
    func `a token counts whatever else it says`(_ token: String) async throws {
        #expect(try await Self.counts(token))
    }

    @Test(
        "a head that does not name the key's algorithm, once, and nothing that must be understood, is refused",
        arguments: [
            "{}", #"{"alg":"none"}"#, #"{"alg":"hs256"}"#, #"{"alg":"HS512"}"#, #"{"alg":"ES256"}"#, #"{"alg":null}"#,
            #"{"alg":["HS256"]}"#, #"{"alg":"HS256","alg":"HS256"}"#, #"{"alg":"none","alg":"HS256"}"#,
            #"{"alg":"HS256","\u0061lg":"none"}"#, #"{"alg":"HS256","crit":["exp"]}"#, #"{"alg":"HS256","crit":[]}"#,
            #"{"alg":"HS256","b64":false,"crit":["b64"]}"#, #"{"alg":"HS256","crit":null}"#,
            #"{"alg":"HS256","kid":1}"#,
            #"["alg","HS256"]"#, #""HS256""#, "", "null", #"{"alg":"HS256"}}"#, #"{"alg":"HS256"} {}"#,
            #"{"alg":"HS256",}"#,
            "\u{feff}{\"alg\":\"HS256\"}", #"{'alg':'HS256'}"#, #"{"alg":"HS256","x":NaN}"#, "{\"alg\":\"HS256\"}\0",
            #"{"alg":"HS256","x":\#(String(repeating: "[", count: 40) + String(repeating: "]", count: 40))}"#,
        ])
    func heads(_ head: String) async throws {
        #expect(try await !Self.counts(Self.token(head)))
    }

    @Test(arguments: [
        "{}", "[]", #"{"room":"r","role":"student"}"#, #"{"room":"r","role":"student","exp":null}"#,
        #"{"room":"r","role":"student","exp":"9999999999"}"#, #"{"room":"r","role":"student","exp":true}"#,
        #"{"room":"r","role":"student","exp":1e999}"#, #"{"room":"r","role":"student","exp":-1e10}"#,
        #"{"room":"r","role":"student","exp":0}"#, #"{"room":"r","role":"student","exp":1,"exp":1e10}"#,
        #"{"room":"r","role":"student","exp":1e10,"exp":1}"#,
        #"{"room":"r","role":"operator","role":"student","exp":1e10}"#,
        #"{"room":"s","r\u006fom":"r","role":"student","exp":1e10}"#,
        #"{"room":"r","role":"Student","exp":1e10}"#, #"{"room":"r","role":7,"exp":1e10}"#,
        #"{"room":7,"role":"student","exp":1e10}"#, #"{"room":"no name","role":"student","exp":1e10}"#,
        #"{"room":["r",7],"role":"student","exp":1e10}"#, #"{"role":"student","exp":1e10}"#,
        #"{"room":"r","role":"student","exp":1e10,"nbf":"0"}"#,
        #"{"room":"r","role":"student","exp":1e10,"nbf":9e9}"#,
        #"{"room":"r","role":"student","exp":1e10,"jti":1}"#,
        #"{"room":"r","role":"student","exp":1e10,"iat":"0"}"#,
        #"{"room":"r","role":"student","exp":1e10,"cohort":"no name"}"#,
        #"{"room":"r","role":"teacher","exp":1e10,"sub":"no name"}"#, #"{"room":"r","role":"student","exp":+1e10}"#,
        #"{"room":"r","role":"student","exp":01e10}"#, #"{"room":"r","role":"student","exp":1e10}x"#,
    ])
    func `claims of another type, out of range or given twice are refused`(_ claims: String) async throws {
        #expect(try await !Self.counts(Self.token(Self.head, claims)))
    }

    @Test func `JSON that is no UTF-8 is refused`() async throws {
        let head = TokenKey.base64URL(Self.head.utf8)
        let wide = Self.claims.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        let latin = Array(Self.claims.dropLast().utf8) + Array(#","x":""#.utf8) + [0xe9] + Array(#""}"#.utf8)
        for bytes in [wide, [0xff, 0xfe] + wide, latin] {
            #expect(try await !Self.counts(Self.signed(head, TokenKey.base64URL(bytes))))
        }
    }

    @Test func `a part has one way to be written`() async throws {
        // Lengths with one and two bytes beyond a multiple of three: four and two bits at the end that say nothing.
        let heads = [#"{"alg":"HS256"} "#, #"{"alg":"HS256"}  "#].map { TokenKey.base64URL($0.utf8) }
        let claims = TokenKey.base64URL(Self.claims.utf8)
        for head in heads {
            #expect(try await Self.counts(Self.signed(head, claims)))
            let slack = head.dropLast() + (head.hasSuffix("A") ? "B" : head.hasSuffix("g") ? "h" : "9")
            let padded = head + String(repeating: "=", count: 4 - head.count % 4)
            for other in [
                String(slack), padded, head + "=", head + "\n", " " + head, head.prefix(4) + "\n" + head.dropFirst(4),
                head + "A", head + "!", head + "ä",
            ] {
                #expect(try await !Self.counts(Self.signed(other, claims)), "\(other)")
            }
        }
        // The same signature, written otherwise.
        let token = Self.token()
        let characters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        let last = try #require(token.last.flatMap { characters.firstIndex(of: $0) })
        for other in [
            token.dropLast() + String(characters[last ^ 1]), token + "=", token + "A", token + "\n", token + ".",
            token.dropLast(), "." + token, token.replacing(".", with: ".."), String(token.reversed()),
        ] as [any StringProtocol] { #expect(try await !Self.counts(String(other)), "\(other)") }
        // The alphabet that is not for URLs: "?>?>" has - and _ in its text.
        let odd = TokenKey.base64URL(#"{"alg":"HS256","x":"?>?>?>"}"#.utf8)
        #expect(odd.contains("_") || odd.contains("-"))
        #expect(try await Self.counts(Self.signed(odd, claims)))
        let plain = odd.replacing("_", with: "/").replacing("-", with: "+")
        #expect(try await !Self.counts(Self.signed(plain, claims)))
    }

    @Test func `tokens of keys in PEM count with their key alone, in the signature's one form`() async throws {
        let privateFile = """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgWsqwGfFpDTlyP8Ed
            QN/S/SN3K14d9IhQsbcMarzuhfyhRANCAAR3XsDb8kMOIVm9DyeobYPFYZVjKNyR
            hrDaW9Hd14Qe57eNoVWlRR66AvOHpBHHxAsXSyWCpe2XQrnbSHykLphW
            -----END PRIVATE KEY-----

            """
        let publicFile = """
            -----BEGIN PUBLIC KEY-----
            MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEd17A2/JDDiFZvQ8nqG2DxWGVYyjc
            kYaw2lvR3deEHue3jaFVpUUeugLzh6QRx8QLF0slgqXtl0K520h8pC6YVg==
            -----END PUBLIC KEY-----

            """
        let otherFile = """
            -----BEGIN PUBLIC KEY-----
            MCowBQYDK2VwAyEAtiXMObnkA//+kBkuACwShoElw/EmhSxIVOp8LRdRb0g=
            -----END PUBLIC KEY-----

            """
        let key = try await TokenKey.privateKey(file: TokenKey.testFile(privateFile))
        let publicKey = try await TokenKey.publicKey(file: TokenKey.testFile(publicFile))
        let other = try await TokenKey.publicKey(file: TokenKey.testFile(otherFile))
        let claims = TokenClaims(
            rooms: .all, role: .operator, expires: Date(timeIntervalSince1970: 1e10), id: "a", issued: Date())
        let token = try await key.sign(claims)
        #expect(token.hasPrefix(TokenKey.base64URL(#"{"alg":"ES256","typ":"JWT"}"#.utf8) + "."))
        #expect(await publicKey.verify(token)?.id == "a")
        #expect(await key.verify(token)?.id == "a")
        #expect(await other.verify(token) == nil)
        await #expect(throws: TokenKey.Unusable.self) { try await publicKey.sign(claims) }
        // The public key as a secret: what a check that believes the head would take.
        let text = "\(TokenKey.base64URL(Self.head.utf8)).\(TokenKey.base64URL(Self.claims.utf8))"
        let code = HMACSHA256.code(of: Array(text.utf8), key: Array(publicFile.utf8))
        #expect(await publicKey.verify("\(text).\(TokenKey.base64URL(code))") == nil)
        for signature in [[], [UInt8](repeating: 0, count: 64), code + code] {
            let signed = token.split(separator: ".").prefix(2).joined(separator: ".")
            #expect(await publicKey.verify("\(signed).\(TokenKey.base64URL(signature))") == nil)
        }
        for (file, reason) in [(privateFile, "PRIVATE KEY"), ("no key", "block of PEM")] {
            let error = await #expect(throws: TokenKey.Unusable.self) {
                try await TokenKey.publicKey(file: TokenKey.testFile(file))
            }
            #expect(error?.description.contains(reason) == true)
        }
    }

    @Test func `the claims of an unchecked text are read only where it is a token`() throws {
        #expect(TokenIdentity(of: Self.token(Self.head, #"{"jti":"x-1_Y"}"#))?.id == "x-1_Y")
        #expect(TokenIdentity(of: Self.token(Self.head, #"{"role":"operator"}"#)) == TokenIdentity(of: Self.token()))
        for text in [
            "", "jti", "a.b.c", "a.b", "..", String(repeating: "a", count: 5000) + "..",
            Self.token(Self.head, #"{"jti":"a","jti":"b"}"#), Self.token(Self.head, #"{"jti":1}"#),
        ] {
            #expect(TokenIdentity(of: text) == nil)
        }
    }
}
