// What host and kernel share: the work of one launch, and the shape of the lookup tables.
#pragma once

#include <cstdint>

struct HiFloat8CastTiling {
    uint64_t elements;          // of the whole tensor
    uint64_t elementsPerBlock;  // a multiple of hifloat8_cast::kGranule
    uint32_t tileLength;        // elements that one step moves; a multiple of kGranule
    bool saturate;              // finite values beyond the greatest; encoding without a table
};

namespace hifloat8_cast {

// Tiles start at multiples of it, so that both sides are aligned to 512 bytes in global memory.
constexpr uint32_t kGranule = 512;
// Encode: one code for each bfloat16 value without its low three mantissa bits, which cannot change
// the code: HiFloat8 keeps at most three mantissa bits and rounds by the fourth.
constexpr uint32_t kEncodeTableLength = 65536 >> 3;
// Decode: one 16-bit value for each code.
constexpr uint32_t kDecodeTableLength = 256;

// The Unified Buffer that a kernel takes: fixed, and for each element of a tile.
struct Budget {
    uint32_t fixedBytes;
    uint32_t bytesPerElement;
};
// What the kernels of one architecture need from the host.
struct Needs {
    Budget encode;
    Budget decode;
    bool tables;
};

}  // namespace hifloat8_cast
