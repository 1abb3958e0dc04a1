import CMalloc
import Foundation

/// What this process takes of the machine's memory, in bytes.
struct ProcessMemory {
    /// In use by what it has allocated, the allocator's own bookkeeping for it included.
    let allocated: Int
    /// Resident, free memory of the allocator included.
    let resident: Int

    static var now: ProcessMemory {
        let state = mallinfo2()
        // Pages: all, resident, …
        let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
        return ProcessMemory(
            allocated: Int(state.uordblks) + Int(state.hblkhd),
            resident: (pages.count > 1 ? Int(pages[1]) ?? 0 : 0) * Int(getpagesize()))
    }
}
