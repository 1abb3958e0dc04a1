import Foundation

/// A block of PEM (RFC 7468).
func pem(_ label: String, _ der: [UInt8]) -> String {
    let text = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
    return "-----BEGIN \(label)-----\n\(text)\n-----END \(label)-----\n"
}

/// A key on P-256 as SubjectPublicKeyInfo, of the coordinates of its point.
func p256PublicKey(_ x: [UInt8], _ y: [UInt8]) -> [UInt8] {
    bytes("3059301306072a8648ce3d020106082a8648ce3d03010703420004") + x + y
}

/// A key on P-256 as SEC 1 has it, without the public part.
func p256PrivateKey(_ d: [UInt8]) -> [UInt8] { bytes("30310201010420") + d + bytes("a00a06082a8648ce3d030107") }

func ed25519PublicKey(_ x: [UInt8]) -> [UInt8] { bytes("302a300506032b6570032100") + x }

/// PKCS #8.
func ed25519PrivateKey(_ d: [UInt8]) -> [UInt8] { bytes("302e020100300506032b657004220420") + d }

func bytes(_ digits: String) -> [UInt8] {
    var digits = digits[...]
    var bytes: [UInt8] = []
    while !digits.isEmpty {
        bytes.append(UInt8(digits.prefix(2), radix: 16) ?? 0)
        digits = digits.dropFirst(2)
    }
    return bytes
}

func bytes(base64URL text: String) -> [UInt8] {
    let padding = String(repeating: "=", count: (4 - text.count % 4) % 4)
    return Array(Data(base64Encoded: text.replacing("-", with: "+").replacing("_", with: "/") + padding) ?? Data())
}

/// Keys as openssl writes them. They are of nobody.
enum Files {
    static let ed25519 = pem(
        "PRIVATE KEY", bytes(base64URL: "MC4CAQAwBQYDK2VwBCIEIPRC3KeuCAfOkRVh4F3UovMVsdiDxcS7K_UDsz-kNvqc"))
    static let ed25519Public = pem(
        "PUBLIC KEY", bytes(base64URL: "MCowBQYDK2VwAyEAtiXMObnkA__-kBkuACwShoElw_EmhSxIVOp8LRdRb0g"))
    static let sec1 = pem(
        "EC PRIVATE KEY",
        bytes(
            base64URL: """
                MHcCAQEEIFrKsBnxaQ05cj_BHUDf0v0jdyteHfSIULG3DGq87oX8oAoGCCqGSM49AwEHoUQDQgAEd17A2_JDDiFZvQ8nqG2DxWGV\
                YyjckYaw2lvR3deEHue3jaFVpUUeugLzh6QRx8QLF0slgqXtl0K520h8pC6YVg
                """))
    static let pkcs8 = pem(
        "PRIVATE KEY",
        bytes(
            base64URL: """
                MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgWsqwGfFpDTlyP8EdQN_S_SN3K14d9IhQsbcMarzuhfyhRANCAAR3\
                XsDb8kMOIVm9DyeobYPFYZVjKNyRhrDaW9Hd14Qe57eNoVWlRR66AvOHpBHHxAsXSyWCpe2XQrnbSHykLphW
                """))
    static let p256Public = pem(
        "PUBLIC KEY",
        bytes(
            base64URL: """
                MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEd17A2_JDDiFZvQ8nqG2DxWGVYyjckYaw2lvR3deEHue3jaFVpUUeugLzh6QRx8QL\
                F0slgqXtl0K520h8pC6YVg
                """))
    static let compressed = pem(
        "PUBLIC KEY",
        bytes(base64URL: "MDkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDIgACd17A2_JDDiFZvQ8nqG2DxWGVYyjckYaw2lvR3deEHuc"))
    static let explicit = pem(
        "PUBLIC KEY",
        bytes(
            base64URL: """
                MIIBSzCCAQMGByqGSM49AgEwgfcCAQEwLAYHKoZIzj0BAQIhAP____8AAAABAAAAAAAAAAAAAAAA________________MFsEIP__\
                __8AAAABAAAAAAAAAAAAAAAA_______________8BCBaxjXYqjqT57PrvVV2mIa8ZR0GsMxTsPY7zjw-J9JgSwMVAMSdNgiG5wST\
                amZ44ROdJreBn36QBEEEaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpZP40Li_hp_m47n60p8D54WK84zV2sxXs7LtkBo\
                N79R9QIhAP____8AAAAA__________-85vqtpxeehPO5ysL8YyVRAgEBA0IABHdewNvyQw4hWb0PJ6htg8VhlWMo3JGGsNpb0d3X\
                hB7nt42hVaVFHroC84ekEcfECxdLJYKl7ZdCudtIfKQumFY
                """))
    static let p384 = pem(
        "EC PRIVATE KEY",
        bytes(
            base64URL: """
                MIGkAgEBBDBD8KsIIqIQ8staxIAwDHqCxTXAdAeLkgT-NgHKk90tVenLKfI30Id6Al-TPxr0bsqgBwYFK4EEACKhZANiAARF_REq\
                7VWb1syBCNc2UH9kerPHxvFoHI8XPQlPJOl3OV-DUftuVl-0GeauUq-k-9TFXTdqM5GKWzJ9HtSTL5RjaIEBYi8ynGl7-i3scf54\
                UETIX_m_AED7zP1lK7W1uzQ
                """))
    static let p384Public = pem(
        "PUBLIC KEY",
        bytes(
            base64URL: """
                MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAERf0RKu1Vm9bMgQjXNlB_ZHqzx8bxaByPFz0JTyTpdzlfg1H7blZftBnmrlKvpPvUxV03\
                ajORilsyfR7Uky-UY2iBAWIvMpxpe_ot7HH-eFBEyF_5vwBA-8z9ZSu1tbs0
                """))
    static let secp256k1 = pem(
        "EC PRIVATE KEY",
        bytes(
            base64URL: """
                MHQCAQEEIFw7Z36otcx2qqbExKYv7ZWpKTuPgw3PE9wwqP3IAWdVoAcGBSuBBAAKoUQDQgAEjNy2zlwEG0UbBi1gOQ6ceLrMeR7Q\
                8fJ82LH7SOQNh6VhnEpnCfDNm3BiQxjuvUW-PPcQ5IRVyTM-gL-g2unfBQ
                """))
    static let secp256k1Public = pem(
        "PUBLIC KEY",
        bytes(
            base64URL: """
                MFYwEAYHKoZIzj0CAQYFK4EEAAoDQgAEjNy2zlwEG0UbBi1gOQ6ceLrMeR7Q8fJ82LH7SOQNh6VhnEpnCfDNm3BiQxjuvUW-PPcQ\
                5IRVyTM-gL-g2unfBQ
                """))
    static let x25519Public = pem(
        "PUBLIC KEY", bytes(base64URL: "MCowBQYDK2VuAyEA3hHKjatwsZmRjOyzgNMsjY9QqjWJdvM0i8VjrczCPig"))
    static let ed448Public = pem(
        "PUBLIC KEY",
        bytes(base64URL: "MEMwBQYDK2VxAzoATnZ26uOO6EDhyc23yyO_suZ9XPtcxl47Yb0F_FF9Zw215hJ8G3r6GeR114HwriuR4u6NxsdyfooA")
    )
    static let rsaPublic = pem(
        "PUBLIC KEY",
        bytes(
            base64URL: """
                MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDajkTZdv9mxr8X8dLPshWYs6M7V7hdEPIzZhj1pTn7QYrExI8IWfR_CgF47IgW\
                hqMUANhG0TDWLHyJdGMAF7JBAQUxz_p7NZxTZuruuLwC-o37tXjMiPIDyGTImF0gSLLzlkKekzBPUH8HXTQ_SYbdf5zqNBB814vT\
                e4I0GaDaIwIDAQAB
                """))
    static let encrypted = pem(
        "ENCRYPTED PRIVATE KEY",
        bytes(
            base64URL: """
                MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAjZlGogzJo97wICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEAQIE\
                EB-0z0o22jEoemfRAhxYa48EgZAMgdnSVU2tcnCk_HBj_R2HDmVu2bk-LerqBq-hfMsDxYOkgmpVe1ThR--AX_VDKH-qLHCtEgDb\
                ko7h2OMFiRYXxIKr2GvdDFl2_AyL3-IVXH932O_N7pKhM_OE8mcInfKtzd0K2o8VCg3Id1OWTYPBPncaapxCLZFt8QX1NnFUPk52\
                iO-0v4hU15oQjKyuJS8
                """))
    /// Encrypted as before PKCS #8.
    static let encryptedSEC1 = """
        -----BEGIN EC PRIVATE KEY-----
        Proc-Type: 4,ENCRYPTED
        DEK-Info: AES-128-CBC,5F530B6FC4BE47F69020F4D0BE6357E4

        CskafrDcezmy6p+zSH4/BnXn7o9LmeYvEWhTzfZ9N1+kr7g2dklbUMvPJNnsvPrh
        tWQg5Y/UfD7MeIggRpBjxJ/IDSdL1e2omy908h1aBWAHh0/foKRyVZf3p0eUS5kN
        kh7VVDAqvXIIh5cu8SSHJVzNv/VDiHMxaoWU9i0JIRA=
        -----END EC PRIVATE KEY-----
        """
    static let parameters = pem("EC PARAMETERS", bytes("06082a8648ce3d030107"))
}
