// Cast, with the pairs of types and rounding modes that the architecture has.
#pragma once

#include <cmath>
#include <limits>

#include "sim/arithmetic.h"
#include "sim/control.h"
#include "sim/formats.h"

namespace sim {

constexpr uint32_t ModeBit(RoundMode mode) { return 1U << static_cast<int>(mode); }
constexpr uint32_t kNone = ModeBit(RoundMode::CAST_NONE);
constexpr uint32_t kHiF8Modes = ModeBit(RoundMode::CAST_ROUND) | ModeBit(RoundMode::CAST_HYBRID);
constexpr uint32_t kRFCAZ = ModeBit(RoundMode::CAST_RINT) | ModeBit(RoundMode::CAST_FLOOR) |
                            ModeBit(RoundMode::CAST_CEIL) | ModeBit(RoundMode::CAST_ROUND) |
                            ModeBit(RoundMode::CAST_TRUNC);

// The rounding modes of a pair that dav-3510 converts between registers; CAST_NONE if there is
// nothing to round.
template <typename D, typename S>
constexpr uint32_t RegisterCastModes() {
    if constexpr (std::is_same_v<S, half>) {
        if constexpr (std::is_same_v<D, float>) return kNone;
        if constexpr (kOneOf<D, int8_t, uint8_t, int16_t, int32_t, bfloat16_t>) return kRFCAZ;
        if constexpr (std::is_same_v<D, HiFloat8>) return kHiF8Modes;
    } else if constexpr (std::is_same_v<S, float>) {
        if constexpr (kOneOf<D, int16_t, int32_t, int64_t, bfloat16_t>) return kRFCAZ;
        if constexpr (std::is_same_v<D, half>) return kRFCAZ | ModeBit(RoundMode::CAST_ODD);
        if constexpr (std::is_same_v<D, HiFloat8>) return kHiF8Modes;
        if constexpr (kFp8<D>) return ModeBit(RoundMode::CAST_RINT);
    } else if constexpr (std::is_same_v<S, bfloat16_t>) {
        if constexpr (kOneOf<D, float, E8M0>) return kNone;
        if constexpr (kOneOf<D, int32_t, half> || kFp4<D>) return kRFCAZ;
    } else if constexpr (std::is_same_v<S, HiFloat8>) {
        if constexpr (kOneOf<D, half, float>) return kNone;
    } else if constexpr (kFp8<S>) {
        if constexpr (std::is_same_v<D, float>) return kNone;
    } else if constexpr (kFp4<S> || std::is_same_v<S, E8M0>) {
        if constexpr (std::is_same_v<D, bfloat16_t>) return kNone;
    } else if constexpr (std::is_same_v<S, int8_t>) {
        if constexpr (kOneOf<D, half, int16_t, int32_t>) return kNone;
    } else if constexpr (std::is_same_v<S, uint8_t>) {
        if constexpr (kOneOf<D, half, uint16_t, uint32_t>) return kNone;
    } else if constexpr (std::is_same_v<S, int16_t>) {
        if constexpr (kOneOf<D, float, uint8_t, int32_t, uint32_t>) return kNone;
        if constexpr (std::is_same_v<D, half>) return kRFCAZ;
    } else if constexpr (std::is_same_v<S, uint16_t>) {
        if constexpr (kOneOf<D, uint8_t, uint32_t>) return kNone;
    } else if constexpr (std::is_same_v<S, int32_t>) {
        if constexpr (kOneOf<D, uint8_t, int16_t, uint16_t, int64_t>) return kNone;
        if constexpr (std::is_same_v<D, float>) return kRFCAZ;
    } else if constexpr (std::is_same_v<S, uint32_t>) {
        if constexpr (kOneOf<D, uint8_t, int16_t, uint16_t>) return kNone;
    } else if constexpr (std::is_same_v<S, int64_t>) {
        if constexpr (std::is_same_v<D, int32_t>) return kNone;
        if constexpr (std::is_same_v<D, float>) return kRFCAZ;
    }
    return 0;
}

// The rounding modes of a pair on both architectures; 0 = the pair does not exist.
template <typename D, typename S>
constexpr uint32_t CommonCastModes() {
    if constexpr (std::is_same_v<S, half>) {
        if constexpr (std::is_same_v<D, float>) return kNone;
        if constexpr (kOneOf<D, int32_t, int16_t>) return kRFCAZ;
        if constexpr (kOneOf<D, int8_t, uint8_t, int4b_t>) return kRFCAZ | kNone;
    } else if constexpr (std::is_same_v<S, float>) {
        if constexpr (std::is_same_v<D, half>) return kRFCAZ | kNone | ModeBit(RoundMode::CAST_ODD);
        if constexpr (kOneOf<D, bfloat16_t, int16_t, int32_t, int64_t, float>) return kRFCAZ;
    } else if constexpr (std::is_same_v<S, bfloat16_t>) {
        if constexpr (std::is_same_v<D, float>) return kNone;
        if constexpr (std::is_same_v<D, int32_t>) return kRFCAZ;
    } else if constexpr (kOneOf<S, int8_t, uint8_t, int4b_t>) {
        if constexpr (std::is_same_v<D, half>) return kNone;
    } else if constexpr (std::is_same_v<S, int16_t>) {
        if constexpr (std::is_same_v<D, half>) return kRFCAZ | kNone;
        if constexpr (std::is_same_v<D, float>) return kNone;
    } else if constexpr (std::is_same_v<S, int32_t>) {
        // To half by SetDeqScale, whatever the mode.
        if constexpr (kOneOf<D, float, half>) return kRFCAZ | kNone;
        if constexpr (kOneOf<D, int16_t, int64_t>) return kNone;
    } else if constexpr (std::is_same_v<S, int64_t>) {
        if constexpr (std::is_same_v<D, int32_t>) return kNone;
        if constexpr (std::is_same_v<D, float>) return kRFCAZ;
    }
    return 0;
}

template <typename D, typename S>
constexpr uint32_t CastModes() {
#if __NPU_ARCH__ == 3510
    if constexpr (std::is_same_v<D, E8M0>) return 0;
    return CommonCastModes<D, S>() | RegisterCastModes<D, S>();
#else
    return CommonCastModes<D, S>();
#endif
}

// What CTRL says about casts of whole tensors: on dav-3510 they saturate if they do not follow it.
inline Saturation TensorCastSaturation() {
    const Core &core = ThisCore();
#if __NPU_ARCH__ == 3510
    if (!core.Control(60)) {
        return {true, true, core.Control(50)};
    }
#endif
    return {!core.Control(48), !core.Control(59), core.Control(50)};
}

SIM_API const char *RoundModeName(RoundMode mode);

template <RoundMode mode>
double RoundToIntegral(double x) {
    if constexpr (mode == RoundMode::CAST_FLOOR) return std::floor(x);
    if constexpr (mode == RoundMode::CAST_CEIL) return std::ceil(x);
    if constexpr (mode == RoundMode::CAST_ROUND) return std::round(x);
    if constexpr (mode == RoundMode::CAST_TRUNC) return std::trunc(x);
    return std::nearbyint(x);
}

// A rounded number as an integer type. NaN becomes 0.
template <typename D>
D ToInteger(double x, Saturation saturation) {
    constexpr double low = static_cast<double>(std::numeric_limits<D>::min());
    constexpr double high = static_cast<double>(std::numeric_limits<D>::max());
    if (x != x) {
        return D{0};
    }
    if (saturation.integers || std::isinf(x)) {
        if (x <= low) return std::numeric_limits<D>::min();
        return x >= high ? std::numeric_limits<D>::max() : static_cast<D>(x);
    }
    const auto low64 = static_cast<uint64_t>(std::fmod(std::fabs(x), std::exp2(64)));
    return static_cast<D>(x < 0 ? 0 - low64 : low64);
}

template <typename D, typename S>
D IntegerToInteger(S value, Saturation saturation) {
    // Widening casts of negative numbers saturate in each mode.
    if (!saturation.integers && sizeof(D) <= sizeof(S)) {
        return static_cast<D>(value);
    }
    constexpr int64_t low = std::numeric_limits<D>::min();
    constexpr int64_t high = std::numeric_limits<D>::max();
    const auto wide = static_cast<int64_t>(value);
    return static_cast<D>(wide < low ? low : wide > high ? high : wide);
}

// Infinity as the largest number and NaN as 0, for half and bfloat16_t.
template <typename D>
D SaturateFloat16(D value) {
    constexpr uint16_t infinity = std::is_same_v<D, half> ? 0x7C00 : 0x7F80;
    const uint16_t magnitude = value.bits & 0x7FFFU;
    if (magnitude < infinity) {
        return value;
    }
    return FromBits<D>::Make(magnitude > infinity
                                 ? uint16_t{0}
                                 : static_cast<uint16_t>((value.bits & 0x8000U) | (infinity - 1)));
}

template <typename D, RoundMode mode>
D FloatToFloat16(float wide) {
    if constexpr (mode == RoundMode::CAST_RINT || mode == RoundMode::CAST_NONE) {
        return D(wide);
    } else if constexpr (std::is_same_v<D, half>) {
        return FromBits<half>::Make(RoundFloat<mode, 10, -14>(wide));
    } else if constexpr (mode == RoundMode::CAST_TRUNC) {
        const uint32_t bits = BitCast<uint32_t>(wide);
        const bool nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
        return FromBits<bfloat16_t>::Make(static_cast<uint16_t>(bits >> 16 | (nan ? 0x40U : 0U)));
    } else {
        return FromBits<bfloat16_t>::Make(RoundFloat<mode, 7, -126>(wide));
    }
}

// The value of a small format, exactly.
template <typename S>
float Widen(S value) {
    if constexpr (std::is_same_v<S, HiFloat8>) return DecodeHiF8(value.bits);
    if constexpr (std::is_same_v<S, E8M0>) return DecodeE8M0(value.bits);
    if constexpr (kFp8<S>) return DecodeMini(kMiniFloat<S>, 0x80, value.bits);
    if constexpr (std::is_convertible_v<S, float>) return static_cast<float>(value);
}

// int32_t to half: scaled down, so that all fit, times the scale, and back up; in half precision.
inline half DeqLane(int32_t value) {
    const half down = static_cast<float>(value) * 0x1p-17F;
    const half scaled = static_cast<float>(down) * static_cast<float>(ThisCore().special.deqHalf);
    return half(static_cast<float>(scaled) * 0x1p17F);
}

// Two of what two four-bit integers are cast from or to.
struct HalfPair {
    half low;
    half high;
};

template <typename T>
constexpr bool kTwoInAByte = kFp4<T> || std::is_same_v<T, int4b_t>;
// What one lane is cast from or to: T, or two of T where the other side has two in a byte.
template <typename T, typename Other>
using CastUnit = std::conditional_t<kFp4<Other>, BFloat16Pair,
                                    std::conditional_t<kOneOf<Other, int4b_t>, HalfPair, T>>;

template <typename D, typename S, RoundMode mode>
D CastLane(S value, Saturation saturation = {}) {
    if constexpr (std::is_same_v<D, int4b_t>) {
        const auto nibble = [saturation](half x) {
            const int8_t whole = CastLane<int8_t, half, mode>(x, saturation);
            return static_cast<uint8_t>((whole < -8 ? -8 : whole > 7 ? 7 : whole) & 0xF);
        };
        return {static_cast<uint8_t>(nibble(value.low) | nibble(value.high) << 4)};
    } else if constexpr (std::is_same_v<S, int4b_t>) {
        const auto number = [](int nibble) { return half((nibble ^ 8) - 8); };
        return {number(value.pair & 0xF), number(value.pair >> 4)};
    } else if constexpr (std::is_same_v<D, half> && std::is_same_v<S, int32_t>) {
        return DeqLane(value);
    } else if constexpr (kFp4<D>) {
        return EncodeFp4<D, mode>(value.even, value.odd);
    } else if constexpr (kFp4<S>) {
        return {DecodeFp4(value, false), DecodeFp4(value, true)};
    } else if constexpr (std::is_integral_v<D> && std::is_integral_v<S>) {
        return IntegerToInteger<D>(value, saturation);
    } else if constexpr (std::is_integral_v<D>) {
        return ToInteger<D>(RoundToIntegral<mode>(static_cast<float>(value)), saturation);
    } else if constexpr (std::is_same_v<D, float>) {
        if constexpr (std::is_same_v<S, float>) {
            const double x = RoundToIntegral<mode>(value);
            return x == 0.0 && mode == RoundMode::CAST_RINT ? 0.0F : static_cast<float>(x);
        } else if constexpr (std::is_integral_v<S> && sizeof(S) >= 4) {
            // To 24 bits; nearest is what the processor does.
            const auto nearest = static_cast<float>(value);
            const auto exact = static_cast<long double>(value);
            const auto above = static_cast<long double>(nearest) > exact;
            const auto below = static_cast<long double>(nearest) < exact;
            if constexpr (mode == RoundMode::CAST_FLOOR) {
                return above ? std::nextafter(nearest, -INFINITY) : nearest;
            } else if constexpr (mode == RoundMode::CAST_CEIL) {
                return below ? std::nextafter(nearest, INFINITY) : nearest;
            } else if constexpr (mode == RoundMode::CAST_TRUNC) {
                return (value > 0 ? above : below) ? std::nextafter(nearest, 0.0F) : nearest;
            } else if constexpr (mode == RoundMode::CAST_ROUND) {
                const float next = std::nextafter(nearest, value > 0 ? INFINITY : -INFINITY);
                const auto gap = static_cast<long double>(next) - exact;
                const auto error = exact - static_cast<long double>(nearest);
                return error != 0 && gap == error ? next : nearest;
            }
            return nearest;
        } else {
            return Widen(value);
        }
    } else if constexpr (std::is_same_v<D, HiFloat8>) {
        if constexpr (std::is_same_v<S, half>) {
            return {EncodeHiF8<mode, 10>(value, value.bits, saturation)};
        } else {
            return {EncodeHiF8<mode, 23>(value, BitCast<uint32_t>(value), saturation)};
        }
    } else if constexpr (kFp8<D>) {
        return {EncodeMini<mode>(kMiniFloat<D>, 0x80, value, saturation)};
    } else {
        const D rounded = FloatToFloat16<D, mode>(Widen(value));
        return saturation.floats ? SaturateFloat16(rounded) : rounded;
    }
}

// Calls use(lane) with the lane function of a run-time mode.
template <typename D, typename S, typename Use>
void WithCastLane(RoundMode mode, const char *api, Loc loc, Use use) {
    static_assert(CastModes<D, S>() != 0,
                  "Cast: this architecture has no cast between these types");
    if ((CastModes<D, S>() & ModeBit(mode)) == 0) {
        // A release build of the device compiler emits nothing here, and dst keeps its old data.
        ThisCore().Fail(Check::CastMode, api, loc, "%s does not exist for this pair of types",
                        RoundModeName(mode));
        return;
    }
    using From = CastUnit<S, D>;
    using To = CastUnit<D, S>;
    const Saturation saturation = TensorCastSaturation();
#define SIM_CASE(name)                                                       \
    case RoundMode::name:                                                    \
        if constexpr ((CastModes<D, S>() & ModeBit(RoundMode::name)) != 0) { \
            use([saturation](From x) -> To {                                 \
                return CastLane<To, From, RoundMode::name>(x, saturation);   \
            });                                                              \
        }                                                                    \
        return;
    switch (mode) {
        SIM_CASE(CAST_NONE)
        SIM_CASE(CAST_RINT)
        SIM_CASE(CAST_FLOOR)
        SIM_CASE(CAST_CEIL)
        SIM_CASE(CAST_ROUND)
        SIM_CASE(CAST_TRUNC)
        SIM_CASE(CAST_ODD)
        SIM_CASE(CAST_HYBRID)
        case RoundMode::UNKNOWN:
            return;
    }
#undef SIM_CASE
}

}  // namespace sim

namespace AscendC {

template <typename D, typename S>
void Cast(const LocalTensor<D> &dst, const LocalTensor<S> &src, const RoundMode &mode,
          uint32_t count, sim::Loc loc = sim::Loc::Here()) {
    constexpr uint32_t perUnit = sim::kTwoInAByte<D> || sim::kTwoInAByte<S> ? 2 : 1;
    if (count % perUnit != 0) {
        sim::ThisCore().Fail(sim::Check::Mask, "Cast", loc,
                             "%u elements, but two of them make a byte", count);
    }
    sim::WithCastLane<D, S>(mode, "Cast", loc, [&](auto lane) {
        sim::CountForm("Cast", loc, count / perUnit, lane,
                       dst.template ReinterpretCast<sim::CastUnit<D, S>>(),
                       src.template ReinterpretCast<sim::CastUnit<S, D>>());
    });
}
template <typename D, typename S, bool isSetMask = true, typename M>
void Cast(const LocalTensor<D> &dst, const LocalTensor<S> &src, const RoundMode &mode, M mask,
          uint32_t repeatTime, const UnaryRepeatParams &p, sim::Loc loc = sim::Loc::Here()) {
    static_assert(!sim::kTwoInAByte<D> && !sim::kTwoInAByte<S>,
                  "Cast: types of four bits have the form with a count only");
    sim::WithCastLane<D, S>(mode, "Cast", loc, [&](auto lane) {
        sim::MaskForm<isSetMask>("Cast", loc, mask, repeatTime, lane, sim::Destination(dst, p),
                                 sim::Source(src, p));
    });
}

inline float ToFloat(bfloat16_t value) { return value; }
inline bfloat16_t ToBfloat16(float value) { return value; }

}  // namespace AscendC
