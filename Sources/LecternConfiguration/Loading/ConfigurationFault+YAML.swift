internal import Yams

extension ConfigurationFault {
    /// What the YAML parser says of a file, in one line and with the place.
    init(file: String, _ error: any Error) {
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _)?, .parser(_, let problem, let mark, _)?,
            .composer(_, let problem, let mark, _)?:
            self.init(origin: "\(file):\(mark.line):\(mark.column)", complaint: "is not YAML: \(problem)")
        case .duplicatedKeysInMapping(let duplicates, let context)?:
            let keys = duplicates.sorted().joined(separator: ", ")
            self.init(origin: "\(file):\(context.mark.line)", complaint: "has a key more than once: \(keys)")
        default:
            self.init(origin: file, complaint: "is not YAML: \(error)")
        }
    }
}
