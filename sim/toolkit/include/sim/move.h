// Filling, gathering and rearranging data within the Unified Buffer.
#pragma once

#include "sim/arithmetic.h"

namespace AscendC {

struct CopyRepeatParams {
    uint16_t dstStride = 1;
    uint16_t srcStride = 1;
    uint16_t dstRepeatSize = 8;
    uint16_t srcRepeatSize = 8;
    CopyRepeatParams() = default;
    CopyRepeatParams(uint16_t dst, uint16_t src, uint16_t dstRepeat, uint16_t srcRepeat)
        : dstStride(dst), srcStride(src), dstRepeatSize(dstRepeat), srcRepeatSize(srcRepeat) {}
};

struct GatherMaskParams {
    uint8_t src0BlockStride = 1;
    uint16_t repeatTimes = 1;
    uint16_t src0RepeatStride = 8;
    uint8_t src1RepeatStride = 0;
    GatherMaskParams() = default;
    GatherMaskParams(uint8_t blockStride, uint16_t repeats, uint16_t repeatStride,
                     uint8_t maskStride)
        : src0BlockStride(blockStride),
          repeatTimes(repeats),
          src0RepeatStride(repeatStride),
          src1RepeatStride(maskStride) {}
};

struct BrcbRepeatParams {
    uint16_t dstBlkStride = 1;
    uint16_t dstRepStride = 8;
    BrcbRepeatParams() = default;
    BrcbRepeatParams(uint16_t blockStride, uint16_t repeatStride)
        : dstBlkStride(blockStride), dstRepStride(repeatStride) {}
};

namespace detail {
#if __NPU_ARCH__ == 3510
template <typename T>
constexpr bool kMovable = true;
#else
template <typename T>
constexpr bool kMovable = sizeof(T) == 2 || sizeof(T) == 4;
#endif
}  // namespace detail

template <typename T>
void Duplicate(const LocalTensor<T> &dst, const T &value, int32_t count,
               sim::Loc loc = sim::Loc::Here()) {
    static_assert(detail::kMovable<T>, "Duplicate: this architecture does not support the type");
    sim::CountForm("Duplicate", loc, count, [value] { return value; }, dst);
}
template <typename T, bool isSetMask = true>
void Duplicate(const LocalTensor<T> &dst, const T &value, uint64_t mask, uint8_t repeatTime,
               uint16_t dstBlockStride, uint8_t dstRepeatStride, sim::Loc loc = sim::Loc::Here()) {
    static_assert(detail::kMovable<T>, "Duplicate: this architecture does not support the type");
    sim::MaskForm<isSetMask>(
        "Duplicate", loc, mask, repeatTime, [value] { return value; },
        sim::Operand<T>{dst, dstBlockStride, dstRepeatStride, true});
}
template <typename T, bool isSetMask = true>
void Duplicate(const LocalTensor<T> &dst, const T &value, const uint64_t mask[], uint8_t repeatTime,
               uint16_t dstBlockStride, uint8_t dstRepeatStride, sim::Loc loc = sim::Loc::Here()) {
    static_assert(detail::kMovable<T>, "Duplicate: this architecture does not support the type");
    sim::MaskForm<isSetMask>(
        "Duplicate", loc, mask, repeatTime, [value] { return value; },
        sim::Operand<T>{dst, dstBlockStride, dstRepeatStride, true});
}

template <typename T, bool isSetMask = true>
void Copy(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint64_t mask, uint8_t repeatTime,
          const CopyRepeatParams &p, sim::Loc loc = sim::Loc::Here()) {
    static_assert(detail::kMovable<T>, "Copy: this architecture does not support the type");
    sim::MaskForm<isSetMask>(
        "Copy", loc, mask, repeatTime, [](T x) { return x; },
        sim::Operand<T>{dst, p.dstStride, p.dstRepeatSize, true},
        sim::Operand<T>{src, p.srcStride, p.srcRepeatSize, false});
}

// first, first + 1, ...
template <typename T>
void CreateVecIndex(const LocalTensor<T> &dst, const T &first, uint32_t count,
                    sim::Loc loc = sim::Loc::Here()) {
    static_assert(sim::kOneOf<T, half, float, int16_t, int32_t>,
                  "CreateVecIndex: this architecture does not support the type");
    sim::CountForm(
        "CreateVecIndex", loc, count,
        [first, i = 0]() mutable { return static_cast<T>(first + static_cast<T>(i++)); }, dst);
}

// dst[i] = the element at byte srcBase + offset[i] of src.
template <typename T>
void Gather(const LocalTensor<T> &dst, const LocalTensor<T> &src,
            const LocalTensor<uint32_t> &offset, uint32_t srcBase, uint32_t count,
            sim::Loc loc = sim::Loc::Here()) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Gather: 16- and 32-bit types");
    sim::ThisCore().Begin(sim::Pipe::V, "Gather", loc);
    sim::CheckAligned(dst, ONE_BLK_SIZE, "Gather", loc);
    sim::CheckAligned(offset, ONE_BLK_SIZE, "Gather", loc);
    sim::CheckRange(offset, 0, uint64_t{count} * sizeof(uint32_t), false, "Gather", loc);
    const uint32_t *offsets = offset.Data();
    uint32_t low = ~0U;
    uint32_t high = 0;
    uint32_t together = 0;
    for (uint32_t i = 0; i < count; ++i) {
        low = offsets[i] < low ? offsets[i] : low;
        high = offsets[i] > high ? offsets[i] : high;
        together |= offsets[i];
    }
    if (count == 0) {
        return;
    }
    const uint64_t end = uint64_t{src.Address()} + srcBase + high + sizeof(T);
    if ((together | srcBase) % sizeof(T) != 0) {
        sim::ThisCore().Fail(sim::Check::GatherOffset, "Gather", loc,
                             "an offset is not a multiple of %zu; they count bytes", sizeof(T));
    }
    if (end > src.End()) {
        sim::ThisCore().Fail(sim::Check::GatherOffset, "Gather", loc,
                             "offset %u reads UB bytes up to %llu, the source's buffer ends at %u",
                             high, static_cast<unsigned long long>(end), src.End());
        if (end > sim::ThisCore().UbBytes()) {
            throw sim::Violation{"outside of the Unified Buffer"};
        }
    }
    sim::CheckRange(src, uint64_t{srcBase} + low, high - low + sizeof(T), false, "Gather", loc);
    sim::CheckRange(dst, 0, uint64_t{count} * sizeof(T), true, "Gather", loc);
    const auto *from = reinterpret_cast<const uint8_t *>(src.Data()) + srcBase;
    T *to = dst.Data();
    for (uint32_t i = 0; i < count; ++i) {
        std::memcpy(&to[i], from + offsets[i], sizeof(T));
    }
}

// Packs the elements that a pattern selects; keeps their number.
template <typename T>
void GatherMask(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint8_t pattern,
                bool reduceMode, uint32_t mask, const GatherMaskParams &p, uint64_t &kept,
                sim::Loc loc = sim::Loc::Here()) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "GatherMask: 16- and 32-bit types");
    sim::ThisCore().Begin(sim::Pipe::V, "GatherMask", loc);
    if (pattern < 1 || pattern > 7) {
        sim::ThisCore().Fail(sim::Check::Mask, "GatherMask", loc, "pattern %u, allowed are 1 to 7",
                             pattern);
    }
    const auto selects = [pattern](uint32_t i) {
        switch (pattern) {
            case 1:
                return i % 2 == 0;
            case 2:
                return i % 2 == 1;
            case 7:
                return true;
            default:
                return i % 4 == pattern - 3U;
        }
    };
    const uint32_t lanes =
        reduceMode ? mask : ONE_REPEAT_BYTE_SIZE / static_cast<uint32_t>(sizeof(T));
    const sim::Operand<T> from{src, p.src0BlockStride, p.src0RepeatStride, false};
    kept = 0;
    for (uint32_t repeat = 0; repeat < p.repeatTimes; ++repeat) {
        for (uint32_t lane = 0; lane < lanes; ++lane) {
            if (selects(lane)) {
                sim::CheckRange(src, from.Offset(repeat, lane), sizeof(T), false, "GatherMask",
                                loc);
                sim::CheckRange(dst, kept * sizeof(T), sizeof(T), true, "GatherMask", loc);
                dst.Data()[kept++] = *from.At(repeat, lane);
            }
        }
    }
}

// Each of eight elements fills one block of 32 bytes.
template <typename T>
void Brcb(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint8_t repeatTime,
          const BrcbRepeatParams &p, sim::Loc loc = sim::Loc::Here()) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Brcb: 16- and 32-bit types");
    sim::ThisCore().Begin(sim::Pipe::V, "Brcb", loc);
    sim::CheckAligned(dst, ONE_BLK_SIZE, "Brcb", loc);
    sim::CheckAligned(src, ONE_BLK_SIZE, "Brcb", loc);
    const uint32_t blockStride = p.dstBlkStride == 0 ? 1 : p.dstBlkStride;
    sim::CheckRange(src, 0, uint64_t{repeatTime} * 8 * sizeof(T), false, "Brcb", loc);
    for (uint32_t repeat = 0; repeat < repeatTime; ++repeat) {
        for (uint32_t i = 0; i < 8; ++i) {
            const uint64_t at =
                (uint64_t{repeat} * p.dstRepStride + uint64_t{i} * blockStride) * ONE_BLK_SIZE;
            sim::CheckRange(dst, at, ONE_BLK_SIZE, true, "Brcb", loc);
            auto *to = reinterpret_cast<T *>(reinterpret_cast<uint8_t *>(dst.Data()) + at);
            for (uint32_t k = 0; k < ONE_BLK_SIZE / sizeof(T); ++k) {
                to[k] = src.Data()[repeat * 8 + i];
            }
        }
    }
}

struct GatherRepeatParams {
    uint8_t dstBlkStride = 1;
    uint16_t dstRepStride = 8;
    GatherRepeatParams() = default;
    GatherRepeatParams(uint8_t blockStride, uint16_t repeatStride)
        : dstBlkStride(blockStride), dstRepStride(repeatStride) {}
};

// One block of 32 bytes for each offset, eight for each repeat; offsets count bytes.
template <typename T>
void Gatherb(const LocalTensor<T> &dst, const LocalTensor<T> &src,
             const LocalTensor<uint32_t> &offset, uint8_t repeatTime, const GatherRepeatParams &p,
             sim::Loc loc = sim::Loc::Here()) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Gatherb: 16- and 32-bit types");
    sim::ThisCore().Begin(sim::Pipe::V, "Gatherb", loc);
    const uint32_t blockStride = p.dstBlkStride == 0 ? 1 : p.dstBlkStride;
    sim::CheckRange(offset, 0, uint64_t{repeatTime} * 8 * sizeof(uint32_t), false, "Gatherb", loc);
    for (uint32_t i = 0; i < repeatTime * 8U; ++i) {
        const uint32_t from = offset.Data()[i];
        if (from % ONE_BLK_SIZE != 0) {
            sim::ThisCore().Fail(sim::Check::GatherOffset, "Gatherb", loc,
                                 "offset %u is not a multiple of 32", from);
        }
        const uint64_t to =
            (uint64_t{i / 8} * p.dstRepStride + uint64_t{i % 8} * blockStride) * ONE_BLK_SIZE;
        sim::CheckRange(src, from, ONE_BLK_SIZE, false, "Gatherb", loc);
        sim::CheckRange(dst, to, ONE_BLK_SIZE, true, "Gatherb", loc);
        std::memmove(reinterpret_cast<uint8_t *>(dst.Data()) + to,
                     reinterpret_cast<const uint8_t *>(src.Data()) + from, ONE_BLK_SIZE);
    }
}

// A matrix of 16 x 16 elements of 16 bits.
template <typename T>
void Transpose(const LocalTensor<T> &dst, const LocalTensor<T> &src,
               sim::Loc loc = sim::Loc::Here()) {
    static_assert(sizeof(T) == 2, "Transpose: 16-bit types");
    constexpr uint32_t side = 16;
    sim::ThisCore().Begin(sim::Pipe::V, "Transpose", loc);
    sim::CheckAligned(dst, ONE_BLK_SIZE, "Transpose", loc);
    sim::CheckAligned(src, ONE_BLK_SIZE, "Transpose", loc);
    sim::CheckRange(src, 0, side * side * sizeof(T), false, "Transpose", loc);
    sim::CheckRange(dst, 0, side * side * sizeof(T), true, "Transpose", loc);
    T copy[side * side];
    std::memcpy(static_cast<void *>(copy), src.Data(), sizeof(copy));
    for (uint32_t i = 0; i < side * side; ++i) {
        dst.Data()[i] = copy[i % side * side + i / side];
    }
}

}  // namespace AscendC
