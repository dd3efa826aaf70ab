// Comparison to bit masks, and selection by them. Bit i of byte i / 8, lowest first.
#pragma once

#include <algorithm>

#include "sim/arithmetic.h"

namespace AscendC {

enum class CMPMODE : uint8_t { LT, GT, EQ, LE, GE, NE };
enum class SELMODE : uint8_t { VSEL_CMPMASK_SPR, VSEL_TENSOR_SCALAR_MODE, VSEL_TENSOR_TENSOR_MODE };

namespace detail {

template <typename T>
bool Compare(T a, T b, CMPMODE mode) {
    using Wide = std::conditional_t<std::is_integral_v<T>, T, float>;
    const Wide x = a;
    const Wide y = b;
    switch (mode) {
        case CMPMODE::LT:
            return x < y;
        case CMPMODE::GT:
            return x > y;
        case CMPMODE::EQ:
            return x == y;
        case CMPMODE::LE:
            return x <= y;
        case CMPMODE::GE:
            return x >= y;
        // False with a NaN, unlike in C++.
        case CMPMODE::NE:
            return x < y || x > y;
    }
    return false;
}

// What the architecture can compare.
template <typename T>
void CheckComparable(CMPMODE mode, const char *api, sim::Loc loc) {
#if __NPU_ARCH__ == 2201
    static_assert(sim::kOneOf<T, half, float, int32_t>, "Compare: half, float, and int32_t for EQ");
    if (std::is_same_v<T, int32_t> && mode != CMPMODE::EQ) {
        sim::ThisCore().Fail(sim::Check::CastMode, api, loc, "int32_t can only be compared for EQ");
    }
#else
    static_assert(sim::kArithmetic<T>, "Compare: this architecture does not support the type");
    static_cast<void>(mode);
    static_cast<void>(api);
    static_cast<void>(loc);
#endif
}

inline void SetBit(uint8_t *bytes, uint32_t index, bool value) {
    const auto bit = static_cast<uint8_t>(1U << (index % 8));
    bytes[index / 8] =
        static_cast<uint8_t>(value ? bytes[index / 8] | bit : bytes[index / 8] & ~bit);
}
inline bool GetBit(const uint8_t *bytes, uint32_t index) {
    return (bytes[index / 8] >> (index % 8) & 1) != 0;
}

template <typename T, typename U, typename Right>
void CompareCount(const LocalTensor<U> &dst, const LocalTensor<T> &src, Right right, CMPMODE mode,
                  uint32_t count, const char *api, sim::Loc loc) {
    static_assert(sizeof(U) == 1, "the result of a comparison is a tensor of bytes");
    CheckComparable<T>(mode, api, loc);
#if __NPU_ARCH__ == 2201
    if (count * sizeof(T) % ONE_REPEAT_BYTE_SIZE != 0) {
        sim::ThisCore().Fail(sim::Check::Mask, api, loc,
                             "%zu bytes are no multiple of 256, the rest is not compared",
                             count * sizeof(T));
    }
#endif
    sim::CheckAligned(dst, ONE_BLK_SIZE, api, loc);
    sim::CheckAligned(src, ONE_BLK_SIZE, api, loc);
    sim::CheckRange(src, 0, uint64_t{count} * sizeof(T), false, api, loc);
    sim::CheckRange(dst, 0, (count + 7) / 8, true, api, loc);
    auto *bytes = reinterpret_cast<uint8_t *>(dst.Data());
    for (uint32_t i = 0; i < count; ++i) {
        SetBit(bytes, i, Compare(src.Data()[i], right(i), mode));
    }
    sim::ThisCore().LoseMask();
}

// The results of all repeats, packed. On 2201 each repeat is compared as a whole.
template <bool isSetMask, typename T, typename U, typename M, typename CheckRight, typename Right>
void CompareRepeats(const LocalTensor<U> &dst, const sim::Operand<T> &left, CheckRight checkRight,
                    Right right, CMPMODE mode, M mask, uint32_t repeatTime, const char *api,
                    sim::Loc loc) {
    static_assert(sizeof(U) == 1, "the result of a comparison is a tensor of bytes");
    constexpr uint32_t lanes = ONE_REPEAT_BYTE_SIZE / sizeof(T);
    CheckComparable<T>(mode, api, loc);
    sim::Steps steps = sim::MaskSteps<isSetMask>(mask, repeatTime, lanes, api, loc);
#if __NPU_ARCH__ == 2201
    steps.mask = sim::FirstLanes(lanes, lanes, api, loc);
#endif
    sim::CheckAligned(dst, ONE_BLK_SIZE, api, loc);
    sim::CheckSteps(left, steps, lanes, api, loc);
    checkRight(steps);
    const uint32_t bits = (steps.repeats + (steps.tail != 0 ? 1 : 0)) * lanes;
    sim::CheckRange(dst, 0, bits / 8, true, api, loc);
    auto *bytes = reinterpret_cast<uint8_t *>(dst.Data());
    std::memset(bytes, 0, bits / 8);
    sim::ForEachLane(steps, lanes, [&](uint32_t repeat, uint32_t lane) {
        SetBit(bytes, repeat * lanes + lane,
               Compare(*left.At(repeat, lane), right(repeat, lane), mode));
    });
}

}  // namespace detail

template <typename T, typename U>
void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
             CMPMODE mode, uint32_t count, sim::Loc loc = sim::Loc::Here()) {
    sim::ThisCore().Begin(sim::Pipe::V, "Compare", loc);
    sim::CheckAligned(src1, ONE_BLK_SIZE, "Compare", loc);
    sim::CheckRange(src1, 0, uint64_t{count} * sizeof(T), false, "Compare", loc);
    detail::CompareCount(
        dst, src0, [&](uint32_t i) { return src1.Data()[i]; }, mode, count, "Compare", loc);
}
template <typename T, typename U, bool isSetMask = true, typename M>
void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
             CMPMODE mode, M mask, uint32_t repeatTime, const BinaryRepeatParams &p,
             sim::Loc loc = sim::Loc::Here()) {
    sim::ThisCore().Begin(sim::Pipe::V, "Compare", loc);
    constexpr uint32_t lanes = ONE_REPEAT_BYTE_SIZE / sizeof(T);
    const sim::Operand<T> right = sim::Source1(src1, p);
    detail::CompareRepeats<isSetMask>(
        dst, sim::Source0(src0, p),
        [&](const sim::Steps &steps) { sim::CheckSteps(right, steps, lanes, "Compare", loc); },
        [&](uint32_t repeat, uint32_t lane) { return *right.At(repeat, lane); }, mode, mask,
        repeatTime, "Compare", loc);
}
// Into the register CMPMASK: one repeat. Bits of inactive lanes are 0.
template <typename T, bool isSetMask = true, typename M>
void Compare(const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE mode, M mask,
             const BinaryRepeatParams &p, sim::Loc loc = sim::Loc::Here()) {
    constexpr uint32_t lanes = ONE_REPEAT_BYTE_SIZE / sizeof(T);
    sim::ThisCore().Begin(sim::Pipe::V, "Compare", loc);
    detail::CheckComparable<T>(mode, "Compare", loc);
    const sim::Operand<T> left = sim::Source0(src0, p);
    const sim::Operand<T> right = sim::Source1(src1, p);
    const sim::Steps steps = sim::MaskSteps<isSetMask>(mask, 1, lanes, "Compare", loc);
    sim::CheckSteps(left, steps, lanes, "Compare", loc);
    sim::CheckSteps(right, steps, lanes, "Compare", loc);
    auto &bits = sim::ThisCore().special.compare;
    std::memset(bits, 0, sizeof(bits));
    sim::ForEachLane(steps, lanes, [&](uint32_t repeat, uint32_t lane) {
        detail::SetBit(reinterpret_cast<uint8_t *>(bits), lane,
                       detail::Compare(*left.At(repeat, lane), *right.At(repeat, lane), mode));
    });
}
template <typename T>
void GetCmpMask(const LocalTensor<T> &dst, sim::Loc loc = sim::Loc::Here()) {
    const auto &bits = sim::ThisCore().special.compare;
    sim::ThisCore().Begin(sim::Pipe::V, "GetCmpMask", loc);
    sim::CheckAligned(dst, sizeof(bits), "GetCmpMask", loc);
    sim::CheckRange(dst, 0, sizeof(bits), true, "GetCmpMask", loc);
    std::memcpy(static_cast<void *>(dst.Data()), bits, sizeof(bits));
}
template <typename T>
void SetCmpMask(const LocalTensor<T> &src, sim::Loc loc = sim::Loc::Here()) {
    auto &bits = sim::ThisCore().special.compare;
    sim::ThisCore().Begin(sim::Pipe::V, "SetCmpMask", loc);
    sim::CheckAligned(src, sizeof(bits), "SetCmpMask", loc);
    sim::CheckRange(src, 0, sizeof(bits), false, "SetCmpMask", loc);
    std::memcpy(bits, src.Data(), sizeof(bits));
}

// CompareScalar is the older name.
#define SIM_COMPARE_SCALAR(Op)                                                                    \
    template <typename T, typename U>                                                             \
    void Op(const LocalTensor<U> &dst, const LocalTensor<T> &src, T scalar, CMPMODE mode,         \
            uint32_t count, sim::Loc loc = sim::Loc::Here()) {                                    \
        sim::ThisCore().Begin(sim::Pipe::V, #Op, loc);                                            \
        detail::CompareCount(dst, src, [&](uint32_t) { return scalar; }, mode, count, #Op, loc);  \
    }                                                                                             \
    template <typename T, typename U, bool isSetMask = true, typename M>                          \
    void Op(const LocalTensor<U> &dst, const LocalTensor<T> &src, T scalar, CMPMODE mode, M mask, \
            uint32_t repeatTime, const UnaryRepeatParams &p, sim::Loc loc = sim::Loc::Here()) {   \
        sim::ThisCore().Begin(sim::Pipe::V, #Op, loc);                                            \
        detail::CompareRepeats<isSetMask>(                                                        \
            dst, sim::Source(src, p), [](const sim::Steps &) {},                                  \
            [&](uint32_t, uint32_t) { return scalar; }, mode, mask, repeatTime, #Op, loc);        \
    }
SIM_COMPARE_SCALAR(CompareScalar)
SIM_COMPARE_SCALAR(Compares)
#undef SIM_COMPARE_SCALAR

namespace detail {

template <typename T>
void CheckSelectMode([[maybe_unused]] SELMODE mode, [[maybe_unused]] bool scalar,
                     [[maybe_unused]] sim::Loc loc) {
#if __NPU_ARCH__ == 2201
    static_assert(sim::kOneOf<T, half, float>, "Select: half and float");
    if (scalar != (mode == SELMODE::VSEL_TENSOR_SCALAR_MODE)) {
        sim::ThisCore().Fail(sim::Check::Mask, "Select", loc,
                             "VSEL_TENSOR_SCALAR_MODE is the mode with a scalar, and the only one");
    }
#endif
}

// Bits of the selection: the first repeat's for all, or one for each lane of each repeat.
template <typename T>
uint32_t SelectBit(SELMODE mode, uint32_t index) {
    return mode == SELMODE::VSEL_CMPMASK_SPR ? index % (ONE_REPEAT_BYTE_SIZE / sizeof(T)) : index;
}

template <typename T, typename U, typename Other>
void SelectCount(const LocalTensor<T> &dst, const LocalTensor<U> &selection,
                 const LocalTensor<T> &src0, Other other, SELMODE mode, uint32_t count,
                 sim::Loc loc) {
    if (count != 0) {
        const uint32_t last = mode == SELMODE::VSEL_CMPMASK_SPR
                                  ? std::min<uint32_t>(count, ONE_REPEAT_BYTE_SIZE / sizeof(T))
                                  : count;
        sim::CheckRange(selection, 0, (last + 7) / 8, false, "Select", loc);
    }
    sim::CheckAligned(selection, ONE_BLK_SIZE, "Select", loc);
    sim::CheckAligned(src0, ONE_BLK_SIZE, "Select", loc);
    sim::CheckAligned(dst, ONE_BLK_SIZE, "Select", loc);
    sim::CheckRange(src0, 0, uint64_t{count} * sizeof(T), false, "Select", loc);
    sim::CheckRange(dst, 0, uint64_t{count} * sizeof(T), true, "Select", loc);
    const auto *bits = reinterpret_cast<const uint8_t *>(selection.Data());
    for (uint32_t i = 0; i < count; ++i) {
        dst.Data()[i] = GetBit(bits, SelectBit<T>(mode, i)) ? src0.Data()[i] : other(i);
    }
    sim::ThisCore().LoseMask();
}

// dst = bits ? src0 : other(repeat, lane) on the active lanes.
template <typename T, typename Other>
void SelectRepeats(const sim::Operand<T> &dst, const uint8_t *bits, const sim::Operand<T> &src0,
                   Other other, SELMODE mode, const sim::Steps &steps, sim::Loc loc) {
    constexpr uint32_t lanes = ONE_REPEAT_BYTE_SIZE / sizeof(T);
    sim::CheckSteps(src0, steps, lanes, "Select", loc);
    sim::CheckSteps(dst, steps, lanes, "Select", loc);
    sim::ForEachLane(steps, lanes, [&](uint32_t repeat, uint32_t lane) {
        *dst.At(repeat, lane) = GetBit(bits, SelectBit<T>(mode, repeat * lanes + lane))
                                    ? *src0.At(repeat, lane)
                                    : other(repeat, lane);
    });
}

// The bits that the steps need, checked.
template <typename T, typename U>
const uint8_t *SelectionBits(const LocalTensor<U> &selection, SELMODE mode, const sim::Steps &steps,
                             sim::Loc loc) {
    constexpr uint32_t lanes = ONE_REPEAT_BYTE_SIZE / sizeof(T);
    const uint32_t all = steps.repeats * lanes + steps.tail;
    const uint32_t needed = mode == SELMODE::VSEL_CMPMASK_SPR ? std::min(all, lanes) : all;
    sim::CheckRange(selection, 0, (needed + 7) / 8, false, "Select", loc);
    return reinterpret_cast<const uint8_t *>(selection.Data());
}

}  // namespace detail

template <typename T, typename U>
void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selection, const LocalTensor<T> &src0,
            const LocalTensor<T> &src1, SELMODE mode, uint32_t count,
            sim::Loc loc = sim::Loc::Here()) {
    sim::ThisCore().Begin(sim::Pipe::V, "Select", loc);
    detail::CheckSelectMode<T>(mode, false, loc);
    sim::CheckAligned(src1, ONE_BLK_SIZE, "Select", loc);
    sim::CheckRange(src1, 0, uint64_t{count} * sizeof(T), false, "Select", loc);
    detail::SelectCount(
        dst, selection, src0, [&](uint32_t i) { return src1.Data()[i]; }, mode, count, loc);
}
template <typename T, typename U>
void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selection, const LocalTensor<T> &src0,
            T scalar, SELMODE mode, uint32_t count, sim::Loc loc = sim::Loc::Here()) {
    sim::ThisCore().Begin(sim::Pipe::V, "Select", loc);
    detail::CheckSelectMode<T>(mode, true, loc);
    detail::SelectCount(dst, selection, src0, [&](uint32_t) { return scalar; }, mode, count, loc);
}
template <typename T, typename U, bool isSetMask = true, typename M>
void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selection, const LocalTensor<T> &src0,
            const LocalTensor<T> &src1, SELMODE mode, M mask, uint32_t repeatTime,
            const BinaryRepeatParams &p, sim::Loc loc = sim::Loc::Here()) {
    constexpr uint32_t lanes = ONE_REPEAT_BYTE_SIZE / sizeof(T);
    sim::ThisCore().Begin(sim::Pipe::V, "Select", loc);
    detail::CheckSelectMode<T>(mode, false, loc);
    const sim::Steps steps = sim::MaskSteps<isSetMask>(mask, repeatTime, lanes, "Select", loc);
    const sim::Operand<T> other = sim::Source1(src1, p);
    sim::CheckSteps(other, steps, lanes, "Select", loc);
    detail::SelectRepeats(
        sim::Destination(dst, p), detail::SelectionBits<T>(selection, mode, steps, loc),
        sim::Source0(src0, p),
        [&](uint32_t repeat, uint32_t lane) { return *other.At(repeat, lane); }, mode, steps, loc);
}
template <typename T, typename U, bool isSetMask = true, typename M>
void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selection, const LocalTensor<T> &src0,
            T scalar, SELMODE mode, M mask, uint32_t repeatTime, const BinaryRepeatParams &p,
            sim::Loc loc = sim::Loc::Here()) {
    constexpr uint32_t lanes = ONE_REPEAT_BYTE_SIZE / sizeof(T);
    sim::ThisCore().Begin(sim::Pipe::V, "Select", loc);
    detail::CheckSelectMode<T>(mode, true, loc);
    const sim::Steps steps = sim::MaskSteps<isSetMask>(mask, repeatTime, lanes, "Select", loc);
    detail::SelectRepeats(
        sim::Destination(dst, p), detail::SelectionBits<T>(selection, mode, steps, loc),
        sim::Source0(src0, p), [&](uint32_t, uint32_t) { return scalar; }, mode, steps, loc);
}
// By the bits in CMPMASK, the same for each repeat.
template <typename T, SELMODE mode>
void Select(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
            uint8_t repeatTime, const BinaryRepeatParams &p, sim::Loc loc = sim::Loc::Here()) {
    static_assert(mode == SELMODE::VSEL_CMPMASK_SPR,
                  "Select without a selection is simulated for VSEL_CMPMASK_SPR only");
    constexpr uint32_t lanes = ONE_REPEAT_BYTE_SIZE / sizeof(T);
    sim::Core &core = sim::ThisCore();
    core.Begin(sim::Pipe::V, "Select", loc);
    detail::CheckSelectMode<T>(mode, false, loc);
    const sim::Steps steps = sim::Registers(lanes, repeatTime);
    const sim::Operand<T> other = sim::Source1(src1, p);
    sim::CheckSteps(other, steps, lanes, "Select", loc);
    detail::SelectRepeats(
        sim::Destination(dst, p), reinterpret_cast<const uint8_t *>(core.special.compare),
        sim::Source0(src0, p),
        [&](uint32_t repeat, uint32_t lane) { return *other.At(repeat, lane); }, mode, steps, loc);
}
// Between src0 and the scalar in CMPMASK.
template <typename T, typename U>
void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selection, const LocalTensor<T> &src0,
            uint8_t repeatTime, const BinaryRepeatParams &p, sim::Loc loc = sim::Loc::Here()) {
    constexpr SELMODE mode = SELMODE::VSEL_TENSOR_SCALAR_MODE;
    sim::Core &core = sim::ThisCore();
    core.Begin(sim::Pipe::V, "Select", loc);
    detail::CheckSelectMode<T>(mode, true, loc);
    const sim::Steps steps = sim::Registers(ONE_REPEAT_BYTE_SIZE / sizeof(T), repeatTime);
    T scalar;
    std::memcpy(static_cast<void *>(&scalar), core.special.compare, sizeof(scalar));
    detail::SelectRepeats(
        sim::Destination(dst, p), detail::SelectionBits<T>(selection, mode, steps, loc),
        sim::Source0(src0, p), [&](uint32_t, uint32_t) { return scalar; }, mode, steps, loc);
}

}  // namespace AscendC
