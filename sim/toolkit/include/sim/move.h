// Filling, gathering and rearranging data within the Unified Buffer.
#pragma once

#include <algorithm>
#include <vector>

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

// What is left of the Unified Buffer behind an address that GetPhyAddr gave.
template <typename T>
LocalTensor<T> TensorAt(uint64_t address, const char *api, sim::Loc loc) {
    sim::Core &core = sim::ThisCore();
    const auto offset = address - reinterpret_cast<uint64_t>(core.Ub());
    if (offset > core.UbBytes()) {
        core.Fail(sim::Check::UbExtent, api, loc, "%#llx is no address of the Unified Buffer",
                  static_cast<unsigned long long>(address));
        throw sim::Violation{"outside of the Unified Buffer"};
    }
    const auto at = static_cast<uint32_t>(offset);
    const auto end = static_cast<uint32_t>(core.UbBytes());
    return LocalTensor<T>(TPosition::VECCALC, at, end - at, end);
}
}  // namespace detail

template <typename T>
void Duplicate(const LocalTensor<T> &dst, const T &value, int32_t count,
               sim::Loc loc = sim::Loc::Here()) {
    static_assert(detail::kMovable<T>, "Duplicate: this architecture does not support the type");
    sim::CountForm("Duplicate", loc, count, [value] { return value; }, dst);
}
template <typename T, bool isSetMask = true, typename M>
void Duplicate(const LocalTensor<T> &dst, const T &value, M mask, uint32_t repeatTime,
               uint16_t dstBlockStride, uint8_t dstRepeatStride, sim::Loc loc = sim::Loc::Here()) {
    static_assert(detail::kMovable<T>, "Duplicate: this architecture does not support the type");
    sim::MaskForm<isSetMask>(
        "Duplicate", loc, mask, repeatTime, [value] { return value; },
        sim::Operand<T>{dst, dstBlockStride, dstRepeatStride, true});
}

template <typename T, bool isSetMask = true, typename M>
void Copy(const LocalTensor<T> &dst, const LocalTensor<T> &src, M mask, uint32_t repeatTime,
          const CopyRepeatParams &p, sim::Loc loc = sim::Loc::Here()) {
    static_assert(detail::kMovable<T>, "Copy: this architecture does not support the type");
    const auto same = [](T x) { return x; };
    if (isSetMask || !sim::ThisCore().counterMode) {
        sim::MaskForm<isSetMask>("Copy", loc, mask, repeatTime, same,
                                 sim::Operand<T>{dst, p.dstStride, p.dstRepeatSize, true},
                                 sim::Operand<T>{src, p.srcStride, p.srcRepeatSize, false});
        return;
    }
    // Unlike elsewhere, the counter counts the elements of one repeat.
    constexpr uint32_t blocks = ONE_REPEAT_BYTE_SIZE / ONE_BLK_SIZE;
    constexpr uint32_t perBlock = ONE_BLK_SIZE / sizeof(T);
    for (uint32_t repeat = 0; repeat < repeatTime; ++repeat) {
        sim::MaskForm<false>("Copy", loc, mask, 0, same,
                             sim::Operand<T>{dst[repeat * p.dstRepeatSize * perBlock], p.dstStride,
                                             p.dstStride * blocks, true},
                             sim::Operand<T>{src[repeat * p.srcRepeatSize * perBlock], p.srcStride,
                                             p.srcStride * blocks, false});
    }
}

#if __NPU_ARCH__ == 3510
template <typename T>
void Copy(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint32_t count,
          sim::Loc loc = sim::Loc::Here()) {
    sim::CountForm("Copy", loc, count, [](T x) { return x; }, dst, src);
}
#endif

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
// Lanes that the mask leaves out count too.
template <typename T, typename M>
void CreateVecIndex(const LocalTensor<T> &dst, const T &first, M mask, uint32_t repeatTime,
                    uint16_t dstBlkStride, uint8_t dstRepStride, sim::Loc loc = sim::Loc::Here()) {
    static_assert(sim::kOneOf<T, half, float, int16_t, int32_t>,
                  "CreateVecIndex: this architecture does not support the type");
    constexpr uint32_t lanes = ONE_REPEAT_BYTE_SIZE / sizeof(T);
    const sim::Operand<T> to{dst, dstBlkStride, dstRepStride, true};
    const sim::Steps steps = sim::MaskSteps<true>(mask, repeatTime, lanes, "CreateVecIndex", loc);
    sim::ThisCore().Begin(sim::Pipe::V, "CreateVecIndex", loc);
    sim::CheckSteps(to, steps, lanes, "CreateVecIndex", loc);
    sim::ForEachLane(steps, lanes, [&](uint32_t repeat, uint32_t lane) {
        const auto index = static_cast<int>(repeat * lanes + lane);
        *to.At(repeat, lane) = static_cast<T>(first + static_cast<T>(index));
    });
}

namespace detail {

// Fails unless offsets[i], in bytes from `srcBase` bytes behind src, are elements of src's buffer.
template <typename T>
void CheckGather(const LocalTensor<T> &src, const uint32_t *offsets, uint32_t srcBase,
                 uint32_t count, sim::Loc loc) {
    uint32_t low = ~0U;
    uint32_t high = 0;
    uint32_t together = 0;
    for (uint32_t i = 0; i < count; ++i) {
        low = offsets[i] < low ? offsets[i] : low;
        high = offsets[i] > high ? offsets[i] : high;
        together |= offsets[i];
    }
    if ((together | srcBase) % sizeof(T) != 0) {
        sim::ThisCore().Fail(sim::Check::GatherOffset, "Gather", loc,
                             "an offset is not a multiple of %zu; they count bytes", sizeof(T));
    }
    const uint64_t end = uint64_t{src.Address()} + srcBase + high + sizeof(T);
    if (end > src.End()) {
        sim::ThisCore().Fail(sim::Check::GatherOffset, "Gather", loc,
                             "offset %u reads UB bytes up to %llu, the source's buffer ends at %u",
                             high, static_cast<unsigned long long>(end), src.End());
        if (end > sim::ThisCore().UbBytes()) {
            throw sim::Violation{"outside of the Unified Buffer"};
        }
    }
    const uint64_t first = uint64_t{srcBase} + low;
    const uint64_t bytes = uint64_t{high} - low + sizeof(T);
    if (sim::ThisCore().WrittenUb(static_cast<uint32_t>(src.Address() + first), bytes)) {
        sim::CheckRange(src, first, bytes, false, "Gather", loc);
        return;
    }
    // What nobody wrote may lie between the elements.
    for (uint32_t i = 0; i < count; ++i) {
        sim::CheckRange(src, uint64_t{srcBase} + offsets[i], sizeof(T), false, "Gather", loc);
    }
}

template <typename T>
T Gathered(const LocalTensor<T> &src, uint32_t srcBase, uint32_t offset) {
    T value;
    std::memcpy(static_cast<void *>(&value),
                reinterpret_cast<const uint8_t *>(src.Data()) + srcBase + offset, sizeof(T));
    return value;
}

}  // namespace detail

// dst[i] = the element at byte srcBase + offset[i] of src.
template <typename T>
void Gather(const LocalTensor<T> &dst, const LocalTensor<T> &src,
            const LocalTensor<uint32_t> &offset, uint32_t srcBase, uint32_t count,
            sim::Loc loc = sim::Loc::Here()) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Gather: 16- and 32-bit types");
    sim::ThisCore().Begin(sim::Pipe::V, "Gather", loc);
    sim::CheckAligned(dst, ONE_BLK_SIZE, "Gather", loc);
    sim::CheckAligned(offset, ONE_BLK_SIZE, "Gather", loc);
    if (count == 0) {
        return;
    }
    sim::TakesLanes<T>(count);
    sim::CheckRange(offset, 0, uint64_t{count} * sizeof(uint32_t), false, "Gather", loc);
    detail::CheckGather(src, offset.Data(), srcBase, count, loc);
    sim::CheckRange(dst, 0, uint64_t{count} * sizeof(T), true, "Gather", loc);
    for (uint32_t i = 0; i < count; ++i) {
        dst.Data()[i] = detail::Gathered(src, srcBase, offset.Data()[i]);
    }
}
// Each repeat takes one offset for each of its lanes, active or not.
template <typename T, typename M>
void Gather(const LocalTensor<T> &dst, const LocalTensor<T> &src,
            const LocalTensor<uint32_t> &offset, uint32_t srcBase, M mask, uint32_t repeatTime,
            uint16_t dstRepStride, sim::Loc loc = sim::Loc::Here()) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Gather: 16- and 32-bit types");
    constexpr uint32_t lanes = ONE_REPEAT_BYTE_SIZE / sizeof(T);
    const sim::Operand<T> to{dst, 1, dstRepStride, true};
    const sim::Steps steps = sim::MaskSteps<true>(mask, repeatTime, lanes, "Gather", loc);
    sim::ThisCore().Begin(sim::Pipe::V, "Gather", loc);
    sim::Takes<T>(steps.repeats + (steps.tail != 0 ? 1 : 0));
    sim::CheckAligned(offset, ONE_BLK_SIZE, "Gather", loc);
    sim::CheckSteps(to, steps, lanes, "Gather", loc);
    sim::ForEachLane(steps, lanes, [&](uint32_t repeat, uint32_t lane) {
        const uint32_t i = repeat * lanes + lane;
        sim::CheckRange(offset, uint64_t{i} * sizeof(uint32_t), sizeof(uint32_t), false, "Gather",
                        loc);
        detail::CheckGather(src, offset.Data() + i, srcBase, 1, loc);
        *to.At(repeat, lane) = detail::Gathered(src, srcBase, offset.Data()[i]);
    });
}

namespace detail {

// Packs the elements for which selects(repeat, lane); keeps their number.
template <typename T, typename Selects>
void PackSelected(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint32_t lanes,
                  const GatherMaskParams &p, uint64_t &kept, Selects selects, sim::Loc loc) {
    const sim::Operand<T> from{src, p.src0BlockStride, p.src0RepeatStride, false};
    sim::TakesLanes<T>(uint64_t{p.repeatTimes} * lanes);
    kept = 0;
    for (uint32_t repeat = 0; repeat < p.repeatTimes; ++repeat) {
        for (uint32_t lane = 0; lane < lanes; ++lane) {
            if (selects(repeat, lane)) {
                sim::CheckRange(src, from.Offset(repeat, lane), sizeof(T), false, "GatherMask",
                                loc);
                sim::CheckRange(dst, kept * sizeof(T), sizeof(T), true, "GatherMask", loc);
                dst.Data()[kept++] = *from.At(repeat, lane);
            }
        }
    }
    sim::ThisCore().special.gathered = kept;
    sim::ThisCore().counterMode = false;
}

template <typename T>
uint32_t LanesOfGatherMask(const LocalTensor<T> &dst, const LocalTensor<T> &src, bool reduceMode,
                           uint32_t mask, sim::Loc loc) {
    static_assert(kMovable<T>, "GatherMask: this architecture does not support the type");
    sim::ThisCore().Begin(sim::Pipe::V, "GatherMask", loc);
    sim::CheckAligned(dst, ONE_BLK_SIZE, "GatherMask", loc);
    sim::CheckAligned(src, ONE_BLK_SIZE, "GatherMask", loc);
    return reduceMode ? mask : ONE_REPEAT_BYTE_SIZE / static_cast<uint32_t>(sizeof(T));
}

}  // namespace detail

enum class GatherMaskMode : uint8_t { VERSION_V1, VERSION_V2 };
constexpr GatherMaskMode defaultGatherMaskMode = GatherMaskMode::VERSION_V2;

// One of seven fixed patterns. With reduceMode the mask is the number of elements of a repeat.
template <typename T, GatherMaskMode mode = defaultGatherMaskMode>
void GatherMask(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint8_t pattern,
                bool reduceMode, uint32_t mask, const GatherMaskParams &p, uint64_t &kept,
                sim::Loc loc = sim::Loc::Here()) {
    static_assert(mode == GatherMaskMode::VERSION_V2, "GatherMask: only the default mode exists");
    const uint32_t lanes = detail::LanesOfGatherMask(dst, src, reduceMode, mask, loc);
    if (pattern < 1 || pattern > 7) {
        sim::ThisCore().Fail(sim::Check::Mask, "GatherMask", loc, "pattern %u, allowed are 1 to 7",
                             pattern);
    }
    const auto selects = [pattern](uint32_t, uint32_t i) {
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
    detail::PackSelected(dst, src, lanes, p, kept, selects, loc);
}
// The bits of a tensor, from its start again for each repeat if src1RepeatStride is 0.
template <typename T, typename U, GatherMaskMode mode = defaultGatherMaskMode>
void GatherMask(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<U> &pattern,
                bool reduceMode, uint32_t mask, const GatherMaskParams &p, uint64_t &kept,
                sim::Loc loc = sim::Loc::Here()) {
    static_assert(mode == GatherMaskMode::VERSION_V2, "GatherMask: only the default mode exists");
    static_assert(sizeof(T) == sizeof(U) && std::is_unsigned_v<U>,
                  "GatherMask: the pattern is unsigned integers of the elements' width");
    const uint32_t lanes = detail::LanesOfGatherMask(dst, src, reduceMode, mask, loc);
    sim::CheckAligned(pattern, ONE_BLK_SIZE, "GatherMask", loc);
    const uint64_t step = uint64_t{p.src1RepeatStride} * ONE_BLK_SIZE;
    for (uint32_t repeat = 0; repeat < p.repeatTimes; ++repeat) {
        sim::CheckRange(pattern, repeat * step, (lanes + 7) / 8, false, "GatherMask", loc);
    }
    const auto *bits = reinterpret_cast<const uint8_t *>(pattern.Data());
    const auto selects = [bits, step](uint32_t repeat, uint32_t i) {
        return (bits[repeat * step + i / 8] >> (i % 8) & 1) != 0;
    };
    detail::PackSelected(dst, src, lanes, p, kept, selects, loc);
}
inline int64_t GetGatherMaskRemainCount() {
    return static_cast<int64_t>(sim::ThisCore().special.gathered);
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
    sim::Takes<T>(repeatTime);
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
    sim::Takes<T>(repeatTime);
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

constexpr int32_t NCHW_CONV_ADDR_LIST_SIZE = 16;

struct TransDataTo5HDParams {
    bool dstHighHalf = false;
    bool srcHighHalf = false;
    uint8_t repeatTimes = 1;
    uint16_t dstRepStride = 0;
    uint16_t srcRepStride = 0;
    constexpr TransDataTo5HDParams() = default;
    constexpr TransDataTo5HDParams(bool dstHigh, bool srcHigh, uint8_t repeats,
                                   uint16_t dstRepeatStride, uint16_t srcRepeatStride)
        : dstHighHalf(dstHigh),
          srcHighHalf(srcHigh),
          repeatTimes(repeats),
          dstRepStride(dstRepeatStride),
          srcRepStride(srcRepeatStride) {}
};

// Transposes: column i of the sixteen blocks of src becomes block i of dst. Columns of 32-bit
// elements fill two blocks, those of bytes half of one.
template <typename T>
void TransDataTo5HD(const LocalTensor<T> (&dst)[NCHW_CONV_ADDR_LIST_SIZE],
                    const LocalTensor<T> (&src)[NCHW_CONV_ADDR_LIST_SIZE],
                    const TransDataTo5HDParams &p, sim::Loc loc = sim::Loc::Here()) {
    static_assert(sizeof(T) <= 4, "TransDataTo5HD: types of 8, 16 and 32 bits");
    constexpr const char *api = "TransDataTo5HD";
    constexpr uint32_t rows = NCHW_CONV_ADDR_LIST_SIZE;
    constexpr uint32_t columns = sizeof(T) == 4 ? 8 : 16;
    sim::Core &core = sim::ThisCore();
    core.Begin(sim::Pipe::V, api, loc);
    if (p.repeatTimes == 1 && (p.dstRepStride != 0 || p.srcRepStride != 0)) {
        core.Fail(sim::Check::Repeat, api, loc,
                  "strides between repeats %u and %u: with one repeat both must be 0",
                  p.dstRepStride, p.srcRepStride);
    }
    // Only bytes fill half a block.
    const uint32_t from = sizeof(T) == 1 && p.srcHighHalf ? columns : 0;
    const uint32_t to = sizeof(T) == 1 && p.dstHighHalf ? rows : 0;
    for (uint32_t row = 0; row < rows; ++row) {
        sim::CheckAligned(src[row], ONE_BLK_SIZE, api, loc);
        sim::CheckAligned(dst[row], ONE_BLK_SIZE, api, loc);
    }
    for (uint64_t repeat = 0; repeat < p.repeatTimes; ++repeat) {
        const uint64_t srcAt = repeat * p.srcRepStride * (ONE_BLK_SIZE / sizeof(T)) + from;
        const uint64_t dstAt = repeat * p.dstRepStride * (ONE_BLK_SIZE / sizeof(T)) + to;
        T block[rows][columns];
        for (uint32_t row = 0; row < rows; ++row) {
            sim::CheckRange(src[row], srcAt * sizeof(T), columns * sizeof(T), false, api, loc);
            std::memcpy(static_cast<void *>(block[row]), src[row].Data() + srcAt,
                        sizeof(block[row]));
        }
        for (uint32_t i = 0; i < rows; ++i) {
            sim::CheckRange(dst[i], dstAt * sizeof(T), columns * sizeof(T), true, api, loc);
            for (uint32_t k = 0; k < columns; ++k) {
                const uint32_t element = i * columns + k;
                dst[i].Data()[dstAt + k] = block[element % rows][element / rows];
            }
        }
    }
}
// The same by addresses, from GetPhyAddr.
template <typename T>
void TransDataTo5HD(uint64_t dst[NCHW_CONV_ADDR_LIST_SIZE], uint64_t src[NCHW_CONV_ADDR_LIST_SIZE],
                    const TransDataTo5HDParams &p, sim::Loc loc = sim::Loc::Here()) {
    LocalTensor<T> to[NCHW_CONV_ADDR_LIST_SIZE];
    LocalTensor<T> from[NCHW_CONV_ADDR_LIST_SIZE];
    for (int i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; ++i) {
        to[i] = detail::TensorAt<T>(dst[i], "TransDataTo5HD", loc);
        from[i] = detail::TensorAt<T>(src[i], "TransDataTo5HD", loc);
    }
    TransDataTo5HD(to, from, p, loc);
}

#if __NPU_ARCH__ == 3510

// The element at byte dstBase + offset[i] of dst becomes src[i]; of two at one place, the later.
template <typename T>
void Scatter(const LocalTensor<T> &dst, const LocalTensor<T> &src,
             const LocalTensor<uint32_t> &offset, uint32_t dstBase, uint32_t count,
             sim::Loc loc = sim::Loc::Here()) {
    static_assert(sizeof(T) <= 4, "Scatter: types of 8, 16 and 32 bits");
    sim::ThisCore().Begin(sim::Pipe::V, "Scatter", loc);
    sim::CheckAligned(src, ONE_BLK_SIZE, "Scatter", loc);
    sim::CheckAligned(offset, ONE_BLK_SIZE, "Scatter", loc);
    sim::CheckRange(src, 0, uint64_t{count} * sizeof(T), false, "Scatter", loc);
    sim::CheckRange(offset, 0, uint64_t{count} * sizeof(uint32_t), false, "Scatter", loc);
    for (uint32_t i = 0; i < count; ++i) {
        const uint64_t at = uint64_t{dstBase} + offset.Data()[i];
        if (at % sizeof(T) != 0 || dst.Address() + at + sizeof(T) > dst.End()) {
            sim::ThisCore().Fail(sim::Check::GatherOffset, "Scatter", loc,
                                 "offset %u is misaligned or outside of the destination; offsets "
                                 "count bytes",
                                 offset.Data()[i]);
        }
        sim::CheckRange(dst, at, sizeof(T), true, "Scatter", loc);
        std::memcpy(reinterpret_cast<uint8_t *>(dst.Data()) + at, &src.Data()[i], sizeof(T));
    }
}

namespace detail {
template <typename T>
void CheckInterleave(const LocalTensor<T> &dst0, const LocalTensor<T> &dst1, uint64_t count,
                     const char *api, sim::Loc loc) {
    static_assert(sizeof(T) <= 4, "Interleave and DeInterleave: types of 8, 16 and 32 bits");
    for (const auto &dst : {dst0, dst1}) {
        sim::CheckAligned(dst, ONE_BLK_SIZE, api, loc);
        sim::CheckRange(dst, 0, count * sizeof(T), true, api, loc);
    }
}
}  // namespace detail

// src0[0], src1[0], src0[1], ...: the first half to dst0, the second to dst1.
template <typename T>
void Interleave(const LocalTensor<T> &dst0, const LocalTensor<T> &dst1, const LocalTensor<T> &src0,
                const LocalTensor<T> &src1, int32_t count, sim::Loc loc = sim::Loc::Here()) {
    const auto n = static_cast<uint32_t>(count < 0 ? 0 : count);
    sim::ThisCore().Begin(sim::Pipe::V, "Interleave", loc);
    sim::CheckRange(src0, 0, uint64_t{n} * sizeof(T), false, "Interleave", loc);
    sim::CheckRange(src1, 0, uint64_t{n} * sizeof(T), false, "Interleave", loc);
    detail::CheckInterleave(dst0, dst1, n, "Interleave", loc);
    std::vector<T> all;
    for (uint32_t i = 0; i < n; ++i) {
        all.push_back(src0.Data()[i]);
        all.push_back(src1.Data()[i]);
    }
    std::copy_n(all.begin(), n, dst0.Data());
    std::copy_n(all.begin() + n, n, dst1.Data());
}
// The elements of src0 and then of src1 with even numbers to dst0, the others to dst1.
template <typename T>
void DeInterleave(const LocalTensor<T> &dst0, const LocalTensor<T> &dst1,
                  const LocalTensor<T> &src0, const LocalTensor<T> &src1, int32_t count,
                  sim::Loc loc = sim::Loc::Here()) {
    const auto n = static_cast<uint32_t>(count < 0 ? 0 : count);
    sim::ThisCore().Begin(sim::Pipe::V, "DeInterleave", loc);
    sim::CheckRange(src0, 0, uint64_t{n} * sizeof(T), false, "DeInterleave", loc);
    sim::CheckRange(src1, 0, uint64_t{n} * sizeof(T), false, "DeInterleave", loc);
    detail::CheckInterleave(dst0, dst1, n, "DeInterleave", loc);
    std::vector<T> all(src0.Data(), src0.Data() + n);
    all.insert(all.end(), src1.Data(), src1.Data() + n);
    for (uint32_t i = 0; i < 2 * n; ++i) {
        (i % 2 == 0 ? dst0 : dst1).Data()[i / 2] = all[i];
    }
}
template <typename T>
void DeInterleave(const LocalTensor<T> &dst0, const LocalTensor<T> &dst1, const LocalTensor<T> &src,
                  int32_t srcCount, sim::Loc loc = sim::Loc::Here()) {
    if (srcCount < 0 || srcCount % 2 != 0) {
        sim::ThisCore().Fail(sim::Check::Mask, "DeInterleave", loc,
                             "%d elements do not make two halves", srcCount);
        return;
    }
    const int32_t half = srcCount / 2;
    DeInterleave(dst0, dst1, src, src[static_cast<uint32_t>(half)], half, loc);
}

#endif  // __NPU_ARCH__ == 3510

}  // namespace AscendC
