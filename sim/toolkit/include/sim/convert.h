// Conversions beside Cast: those that scale (SetDeqScale), and arithmetic that ends in a cast.
#pragma once

#include <algorithm>

#include "sim/cast.h"

namespace AscendC {

constexpr uint8_t VDEQ_TENSOR_SIZE = 16;

// Sixteen scales, one for each element of a block.
struct VdeqInfo {
    float vdeqScale[VDEQ_TENSOR_SIZE] = {};
    int16_t vdeqOffset[VDEQ_TENSOR_SIZE] = {};
    bool vdeqSignMode[VDEQ_TENSOR_SIZE] = {};
    VdeqInfo() = default;
    VdeqInfo(const float scales[VDEQ_TENSOR_SIZE], const int16_t offsets[VDEQ_TENSOR_SIZE],
             const bool signs[VDEQ_TENSOR_SIZE]) {
        std::copy_n(scales, VDEQ_TENSOR_SIZE, vdeqScale);
        std::copy_n(offsets, VDEQ_TENSOR_SIZE, vdeqOffset);
        std::copy_n(signs, VDEQ_TENSOR_SIZE, vdeqSignMode);
    }
};

namespace detail {

// The word of a scale: the bits of a float, nine bits of the offset, whether results are signed.
inline uint64_t DeqWord(float scale, int16_t offset, bool sign) {
    return sim::BitCast<uint32_t>(scale) | (static_cast<uint64_t>(offset) & 0x1FF) << 37 |
           static_cast<uint64_t>(sign) << 46;
}

// src * scale + offset, to the nearest, saturating.
template <typename D>
D Dequantise(int16_t value, uint64_t word) {
    const auto scale = sim::BitCast<float>(static_cast<uint32_t>(word));
    const auto offset = static_cast<int32_t>(static_cast<uint32_t>(word >> 37) << 23) >> 23;
    return sim::CastLane<D, float, RoundMode::CAST_RINT>(static_cast<float>(value) * scale +
                                                         static_cast<float>(offset));
}

}  // namespace detail

// For Cast of int32_t to half.
inline void SetDeqScale(half scale) { sim::ThisCore().special.deqHalf = scale; }
// For CastDeq of int16_t.
inline void SetDeqScale(float scale, int16_t offset, bool signMode) {
    sim::ThisCore().special.deqWord = detail::DeqWord(scale, offset, signMode);
}
template <typename T>
void SetDeqScale(const LocalTensor<T> &vdeq, const VdeqInfo &info,
                 sim::Loc loc = sim::Loc::Here()) {
    static_assert(std::is_same_v<T, uint64_t>, "SetDeqScale: a tensor of uint64_t");
    sim::CheckAligned(vdeq, ONE_BLK_SIZE, "SetDeqScale", loc);
    for (uint8_t i = 0; i < VDEQ_TENSOR_SIZE; ++i) {
        vdeq.SetValue(
            i, detail::DeqWord(info.vdeqScale[i], info.vdeqOffset[i], info.vdeqSignMode[i]), loc);
    }
    sim::ThisCore().special.deqTable = vdeq.Address();
}

namespace detail {

// Each block of sixteen elements fills one half of a block of bytes.
template <bool isVecDeq, bool halfBlock, typename D>
void CastDeqSteps(const LocalTensor<D> &dst, const LocalTensor<int16_t> &src,
                  const sim::Steps &steps, const UnaryRepeatParams &p, sim::Loc loc) {
    constexpr uint32_t lanes = ONE_REPEAT_BYTE_SIZE / sizeof(int16_t);
    constexpr uint32_t perBlock = ONE_BLK_SIZE / sizeof(int16_t);
    sim::Core &core = sim::ThisCore();
    const sim::Operand<int16_t> from = sim::Source(src, p);
    sim::CheckSteps(from, steps, lanes, "CastDeq", loc);
    uint64_t words[VDEQ_TENSOR_SIZE];
    if constexpr (isVecDeq) {
        const uint32_t end = core.special.deqTable + sizeof(words);
        const LocalTensor<uint64_t> table(TPosition::VECCALC, core.special.deqTable, sizeof(words),
                                          end);
        sim::CheckRange(table, 0, sizeof(words), false, "CastDeq", loc);
        std::copy_n(table.Data(), VDEQ_TENSOR_SIZE, words);
    } else {
        std::fill_n(words, VDEQ_TENSOR_SIZE, core.special.deqWord);
    }
    constexpr uint64_t signBit = uint64_t{1} << 46;
    if (((words[0] & signBit) != 0) != std::is_signed_v<D>) {
        core.Fail(sim::Check::CastMode, "CastDeq", loc,
                  "SetDeqScale was given signMode %d: that is for %s", !std::is_signed_v<D>,
                  std::is_signed_v<D> ? "uint8_t" : "int8_t");
    }
    sim::ForEachLane(steps, lanes, [&](uint32_t repeat, uint32_t lane) {
        const uint32_t element = lane % perBlock;
        const uint64_t at =
            (uint64_t{repeat} * p.dstRepStride + uint64_t{lane / perBlock} * p.dstBlkStride) *
                ONE_BLK_SIZE +
            (halfBlock ? perBlock : 0) + element;
        sim::CheckRange(dst, at, 1, true, "CastDeq", loc);
        dst.Data()[at] = Dequantise<D>(*from.At(repeat, lane), words[element]);
    });
}

}  // namespace detail

template <typename D, typename S, bool isVecDeq = true, bool halfBlock = true>
void CastDeq(const LocalTensor<D> &dst, const LocalTensor<S> &src, uint32_t count,
             sim::Loc loc = sim::Loc::Here()) {
    if constexpr (std::is_same_v<S, int32_t>) {
        Cast(dst, src, RoundMode::CAST_NONE, count, loc);
    } else {
        static_assert(sim::kOneOf<D, int8_t, uint8_t> && std::is_same_v<S, int16_t>,
                      "CastDeq: int16_t to int8_t or uint8_t, int32_t to half");
        constexpr uint32_t lanes = ONE_REPEAT_BYTE_SIZE / sizeof(S);
        const sim::Steps steps{sim::FirstLanes(lanes, lanes, "CastDeq", loc), count / lanes,
                               count % lanes};
        sim::ThisCore().Begin(sim::Pipe::V, "CastDeq", loc);
        detail::CastDeqSteps<isVecDeq, halfBlock>(dst, src, steps, UnaryRepeatParams(), loc);
        sim::ThisCore().LoseMask();
    }
}
template <typename D, typename S, bool isSetMask = true, bool isVecDeq = true,
          bool halfBlock = true, typename M>
void CastDeq(const LocalTensor<D> &dst, const LocalTensor<S> &src, M mask, uint32_t repeatTime,
             const UnaryRepeatParams &p, sim::Loc loc = sim::Loc::Here()) {
    if constexpr (std::is_same_v<S, int32_t>) {
        Cast<D, S, isSetMask>(dst, src, RoundMode::CAST_NONE, mask, repeatTime, p, loc);
    } else {
        static_assert(sim::kOneOf<D, int8_t, uint8_t> && std::is_same_v<S, int16_t>,
                      "CastDeq: int16_t to int8_t or uint8_t, int32_t to half");
        const sim::Steps steps = sim::MaskSteps<isSetMask>(
            mask, repeatTime, ONE_REPEAT_BYTE_SIZE / sizeof(S), "CastDeq", loc);
        sim::ThisCore().Begin(sim::Pipe::V, "CastDeq", loc);
        detail::CastDeqSteps<isVecDeq, halfBlock>(dst, src, steps, p, loc);
    }
}

// The result of Lane, converted to the nearest, saturating.
namespace detail {
template <typename D, typename S>
constexpr bool kReluCast = (std::is_same_v<D, half> && std::is_same_v<S, float>) ||
                           (std::is_same_v<D, int8_t> && sim::kOneOf<S, half, int16_t>);
template <typename D, typename S>
constexpr bool kMulCast = sim::kOneOf<D, int8_t, uint8_t> && std::is_same_v<S, half>;

template <typename D, typename Lane>
struct ThenCast {
    template <typename S>
    D operator()(S x, S y) const {
        return sim::CastLane<D, S, RoundMode::CAST_RINT>(Lane()(x, y));
    }
};
}  // namespace detail

#define SIM_THEN_CAST(Op, Lane, types)                                                         \
    template <typename D, typename S>                                                          \
    void Op(const LocalTensor<D> &dst, const LocalTensor<S> &src0, const LocalTensor<S> &src1, \
            uint32_t count, sim::Loc loc = sim::Loc::Here()) {                                 \
        static_assert(detail::types<D, S>, #Op ": this architecture does not have the types"); \
        sim::CountForm(#Op, loc, count, detail::ThenCast<D, sim::Lane>(), dst, src0, src1);    \
    }                                                                                          \
    template <typename D, typename S, bool isSetMask = true, typename M>                       \
    void Op(const LocalTensor<D> &dst, const LocalTensor<S> &src0, const LocalTensor<S> &src1, \
            M mask, uint32_t repeatTime, const BinaryRepeatParams &p,                          \
            sim::Loc loc = sim::Loc::Here()) {                                                 \
        static_assert(detail::types<D, S>, #Op ": this architecture does not have the types"); \
        sim::MaskForm<isSetMask>(#Op, loc, mask, repeatTime, detail::ThenCast<D, sim::Lane>(), \
                                 sim::Destination(dst, p), sim::Source0(src0, p),              \
                                 sim::Source1(src1, p));                                       \
    }
SIM_THEN_CAST(AddReluCast, ReluOf<sim::AddLane>, kReluCast)
SIM_THEN_CAST(SubReluCast, ReluOf<sim::SubLane>, kReluCast)
SIM_THEN_CAST(MulCast, MulLane, kMulCast)
#undef SIM_THEN_CAST

// The older names of Cast between scalars.
template <typename S, typename D, RoundMode mode>
D ScalarCast(S value) {
    static_assert(sim::kOneOf<D, half, bfloat16_t, int32_t> && std::is_same_v<S, float>,
                  "ScalarCast: float to half, bfloat16_t or int32_t");
    return sim::CastLane<D, S, mode>(value);
}
template <typename S, typename D, RoundMode mode>
D Cast(S value) {
    return ScalarCast<S, D, mode>(value);
}
#if __NPU_ARCH__ == 3510
// To an integral value of the same type.
template <typename T, RoundMode mode>
void Truncate(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint32_t count,
              sim::Loc loc = sim::Loc::Here()) {
    SIM_TYPES(Truncate, kFloat<T>);
    sim::CountForm(
        "Truncate", loc, count,
        [](T x) {
            return T(static_cast<float>(sim::RoundToIntegral<mode>(static_cast<float>(x))));
        },
        dst, src);
}
#endif

}  // namespace AscendC
