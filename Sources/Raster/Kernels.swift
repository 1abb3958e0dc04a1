internal import CLanes

/// The inner loops in C, for the instructions of one kind of processor. The pixels are the same with all of them.
package struct Kernels: Sendable {
    let loops: lanes_kernels

    /// All that run on this processor; the first one runs on every processor.
    package static let all = (0..<Int32(lanes_kernel_sets)).compactMap { set in
        lanes_kernels_for(set).map { Kernels(loops: $0.pointee) }
    }

    /// The fastest of this processor.
    static let fastest = all[all.count - 1]
}
