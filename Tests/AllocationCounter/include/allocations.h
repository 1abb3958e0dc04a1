#include <stdint.h>

// Memory blocks that the calling thread has allocated since it began. Stays 0 where the allocator cannot be counted.
uint64_t allocation_count(void);
