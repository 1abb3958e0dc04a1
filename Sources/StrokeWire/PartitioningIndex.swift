extension RandomAccessCollection where Index == Int {
    /// The first index whose element meets `predicate`, as the elements of all later ones do; `endIndex` where none does.
    @inlinable
    package func partitioningIndex(where predicate: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if predicate(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
