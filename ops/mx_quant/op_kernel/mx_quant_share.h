// What quantising and dequantising share: which tiles a block has, and how they move.
#pragma once

#include "kernel_operator.h"
#include "mx_quant_tiling.h"

namespace mx_quant {

using namespace AscendC;

constexpr uint32_t kBuffers = 2;

template <typename Q>
constexpr bool kFp4 = IsSameType<Q, fp4x2_e2m1_t>::value;
// Bytes of the codes of so many elements.
template <typename Q, typename U>
__aicore__ constexpr U CodeBytes(U elements) {
    return kFp4<Q> ? elements / 2 : elements;
}

// One tile. In the Unified Buffer its rows are padded to `width` elements, zeros that make the
// tile one sequence of MX blocks: the padding scales and codes are zeros too, and scales of
// padded rows lie there as they lie in global memory.
struct Tile {
    __aicore__ Tile(const MxQuantTiling &tiling, uint64_t index) {
        const uint64_t tilesPerRow = CeilDiv(tiling.columns, uint64_t{tiling.columnsPerTile});
        const uint64_t row = index / tilesPerRow * tiling.rowsPerTile;
        const uint64_t column = index % tilesPerRow * tiling.columnsPerTile;
        rows = static_cast<uint32_t>(Least(tiling.rowsPerTile, tiling.rows - row));
        columns = static_cast<uint32_t>(Least(tiling.columnsPerTile, tiling.columns - column));
        width = RoundUp(columns, kGroup);
        element = row * tiling.columns + column;
        scale = (row * RoundUp(tiling.columns, uint64_t{kGroup}) + column) / kMxBlock;
    }
    __aicore__ uint32_t Elements() const { return rows * width; }
    __aicore__ uint32_t Scales() const { return Elements() / kMxBlock; }

    uint64_t element;  // the first one, in the tensor
    uint64_t scale;
    uint32_t rows;
    uint32_t columns;
    uint32_t width;

private:
    __aicore__ static uint64_t Least(uint64_t a, uint64_t b) { return a < b ? a : b; }
};

// Calls f(tile) for each tile of this block.
template <typename F>
__aicore__ inline void ForTiles(const MxQuantTiling &tiling, F f) {
    const uint64_t begin = GetBlockIdx() * tiling.tilesPerBlock;
    uint64_t end = begin + tiling.tilesPerBlock;
    end = end < tiling.tiles ? end : tiling.tiles;
    for (uint64_t index = begin; index < end; ++index) {
        f(Tile(tiling, index));
    }
}

__simd_vf__ inline void ZeroTails(__ubuf__ uint32_t *tails, uint32_t stride, uint32_t words,
                                  uint16_t rows) {
    Reg::RegTensor<uint32_t> zero;
    Reg::MaskReg lanes = Reg::UpdateMask<uint32_t>(words);
    Reg::Duplicate(zero, 0U);
    for (uint16_t i = 0; i < rows; ++i) {
        Reg::StoreAlign(tails + i * stride, zero, lanes);
    }
}

// Rows of `count` elements, `width` apart in the Unified Buffer. Zeros fill the last block of 32
// bytes up; ZeroPadding() does the blocks behind it.
template <typename T>
__aicore__ inline void CopyRowsIn(const LocalTensor<T> &local, const GlobalTensor<T> &global,
                                  uint32_t rows, uint32_t count, uint32_t width) {
    constexpr uint32_t perBlock = ONE_BLK_SIZE / sizeof(T);
    const uint32_t gap = width / perBlock - CeilDiv(count, perBlock);
    const auto filler = static_cast<uint8_t>(RoundUp(count, perBlock) - count);
    const DataCopyExtParams params{static_cast<uint16_t>(rows),
                                   static_cast<uint32_t>(count * sizeof(T)), 0, gap, 0};
    DataCopyPad(local, global, params, DataCopyPadExtParams<T>{true, 0, filler, 0});
}
template <typename T>
__aicore__ inline void ZeroPadding(const LocalTensor<T> &local, uint32_t rows, uint32_t count,
                                   uint32_t width) {
    const uint32_t from = RoundUp(static_cast<uint32_t>(count * sizeof(T)), ONE_BLK_SIZE);
    const uint32_t bytes = width * sizeof(T);
    if (from < bytes) {
        asc_vf_call<ZeroTails>(reinterpret_cast<__ubuf__ uint32_t *>(local.GetPhyAddr()) + from / 4,
                               bytes / 4, (bytes - from) / 4, static_cast<uint16_t>(rows));
    }
}
template <typename T>
__aicore__ inline void CopyRowsOut(const GlobalTensor<T> &global, const LocalTensor<T> &local,
                                   uint32_t rows, uint32_t count, uint32_t width) {
    constexpr uint32_t perBlock = ONE_BLK_SIZE / sizeof(T);
    const uint32_t gap = width / perBlock - CeilDiv(count, perBlock);
    const DataCopyExtParams params{static_cast<uint16_t>(rows),
                                   static_cast<uint32_t>(count * sizeof(T)), gap, 0, 0};
    DataCopyPad(global, local, params);
}

// Each cast's own SatMode decides while it lives, whatever the mode that the launch finds.
class OwnSaturation {
public:
    __aicore__ inline OwnSaturation() : before_(GetCtrlSpr<60, 60>()) { SetCtrlSpr<60, 60>(0); }
    __aicore__ inline ~OwnSaturation() { SetCtrlSpr<60, 60>(before_); }

private:
    int64_t before_;
};

template <Reg::RegLayout layout, Reg::SatMode saturation, RoundMode round>
constexpr Reg::CastTrait kTrait{layout, saturation, Reg::MaskMergeMode::ZEROING, round};
template <Reg::RegLayout layout>
constexpr Reg::CastTrait kWiden{layout, Reg::SatMode::UNKNOWN, Reg::MaskMergeMode::ZEROING,
                                RoundMode::UNKNOWN};

// The register with lanes of another type.
template <typename To, typename From>
__simd_callee__ inline Reg::RegTensor<To> &As(Reg::RegTensor<From> &reg) {
    return (Reg::RegTensor<To> &)reg;
}

template <typename T>
__aicore__ inline __ubuf__ T *Address(const LocalTensor<uint8_t> &local) {
    return reinterpret_cast<__ubuf__ T *>(local.GetPhyAddr());
}
__aicore__ inline uint16_t Steps(uint32_t count, uint32_t step) {
    return static_cast<uint16_t>(CeilDiv(count, step));
}

}  // namespace mx_quant
