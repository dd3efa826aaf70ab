// What the kernels of all architectures share: which elements a block has, and how they move.
#pragma once

#include "hifloat8_cast_tiling.h"
#include "kernel_operator.h"

namespace hifloat8_cast {

using namespace AscendC;

constexpr uint32_t kBuffers = 2;

// The elements of one block, and where its tiles end. The first tile is the short one: the vector
// unit waits for it.
struct Share {
    __aicore__ explicit Share(const HiFloat8CastTiling &tiling)
        : begin(GetBlockIdx() * tiling.elementsPerBlock), tileLength(tiling.tileLength) {
        end = begin + tiling.elementsPerBlock;
        end = end < tiling.elements ? end : tiling.elements;
        const uint64_t rest = (end - begin + kGranule - 1) % tileLength;
        firstLength = static_cast<uint32_t>(rest / kGranule + 1) * kGranule;
    }
    // The length of the tile that begins at `offset`.
    __aicore__ uint32_t LengthAt(uint64_t offset) const {
        const uint64_t length = offset == begin ? firstLength : tileLength;
        return static_cast<uint32_t>(length < end - offset ? length : end - offset);
    }
    uint64_t begin;
    uint64_t end;
    uint32_t tileLength;
    uint32_t firstLength;
};

// Fills the last block of 32 bytes up with zeros.
template <typename T>
__aicore__ inline void CopyIn(const LocalTensor<T> &local, const GlobalTensor<T> &global,
                              uint32_t count) {
    constexpr uint32_t perBlock = ONE_BLK_SIZE / sizeof(T);
    const DataCopyExtParams params{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
    const auto filler = static_cast<uint8_t>((perBlock - count % perBlock) % perBlock);
    DataCopyPad(local, global, params, DataCopyPadExtParams<T>{true, 0, filler, 0});
}

template <typename T>
__aicore__ inline void CopyOut(const GlobalTensor<T> &global, const LocalTensor<T> &local,
                               uint32_t count) {
    const DataCopyExtParams params{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
    DataCopyPad(global, local, params);
}

}  // namespace hifloat8_cast
