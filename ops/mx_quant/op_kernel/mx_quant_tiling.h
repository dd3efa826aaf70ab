// What host and kernel share: the work of one launch, and the Unified Buffer that it takes.
//
// UB budget, T = TileLength(): elements of a tile, its rows padded.
//
//   values    2 * 2T            double buffer: float16 or bfloat16
//   codes     2 * T or 2 * T/2  double buffer: FP8, or FP4 two in a byte
//   scales    2 * T/32          double buffer, each rounded up to 128
//   factors   T/16              one bfloat16 for each MX block, rounded up to 256
//
// Quantising reads values and writes codes and scales; dequantising goes the other way.
#pragma once

#include <cstdint>

struct MxQuantTiling {
    uint64_t rows;
    uint64_t columns;         // elements of a row
    uint64_t tiles;           // of the whole tensor, row by row
    uint64_t tilesPerBlock;   // tiles that one block of the launch has
    uint32_t rowsPerTile;     // 1 where a row has several tiles
    uint32_t columnsPerTile;  // all, or a multiple of mx_quant::kGroup
    uint32_t roundMode;       // mx_quant::RoundModes
};

namespace mx_quant {

constexpr uint32_t kMxBlock = 32;          // elements that share a scale
constexpr uint32_t kGroup = 2 * kMxBlock;  // the scales of a row come in pairs
// A step of the kernels; tiles are whole steps long.
constexpr uint32_t kStep = 256;
constexpr uint32_t kMaxRowsPerTile = 4095;  // what one DataCopyPad moves

enum RoundModes : uint32_t { kRint, kRound, kFloor };

template <typename U>
constexpr U CeilDiv(U value, U unit) {
    return (value + unit - 1) / unit;
}
template <typename U>
constexpr U RoundUp(U value, U unit) {
    return CeilDiv(value, unit) * unit;
}

constexpr uint32_t TileLength(const MxQuantTiling &tiling) {
    return RoundUp(tiling.rowsPerTile * RoundUp(tiling.columnsPerTile, kGroup), kStep);
}

constexpr uint32_t ScaleBytes(uint32_t tileLength) { return RoundUp(tileLength / kMxBlock, 128U); }
constexpr uint32_t FactorBytes(uint32_t tileLength) { return RoundUp(tileLength / 16, 256U); }
constexpr uint64_t UbBytes(uint32_t tileLength, bool fp4) {
    return uint64_t{2} * (2 * tileLength + tileLength / (fp4 ? 2 : 1) + ScaleBytes(tileLength)) +
           FactorBytes(tileLength);
}

}  // namespace mx_quant
