// Cast, with the pairs of types and rounding modes that the architecture has.
#pragma once

#include <cmath>
#include <limits>

#include "sim/arithmetic.h"

namespace AscendC {

enum class RoundMode : uint8_t {
    CAST_NONE,
    CAST_RINT,
    CAST_FLOOR,
    CAST_CEIL,
    CAST_ROUND,
    CAST_TRUNC,
    CAST_ODD,
    CAST_HYBRID
};

}  // namespace AscendC

namespace sim {

using AscendC::RoundMode;

constexpr uint32_t ModeBit(RoundMode mode) { return 1U << static_cast<int>(mode); }
constexpr uint32_t kNone = ModeBit(RoundMode::CAST_NONE);
constexpr uint32_t kRFCAZ = ModeBit(RoundMode::CAST_RINT) | ModeBit(RoundMode::CAST_FLOOR) |
                            ModeBit(RoundMode::CAST_CEIL) | ModeBit(RoundMode::CAST_ROUND) |
                            ModeBit(RoundMode::CAST_TRUNC);

// The rounding modes of one pair; 0 = the pair does not exist.
template <typename D, typename S>
constexpr uint32_t CastModes() {
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

SIM_API const char *RoundModeName(RoundMode mode);

template <RoundMode mode>
double RoundToIntegral(double x) {
    if constexpr (mode == RoundMode::CAST_FLOOR) return std::floor(x);
    if constexpr (mode == RoundMode::CAST_CEIL) return std::ceil(x);
    if constexpr (mode == RoundMode::CAST_ROUND) return std::round(x);
    if constexpr (mode == RoundMode::CAST_TRUNC) return std::trunc(x);
    return std::nearbyint(x);
}

// Rounds a float to `kMantissa` bits of a 16-bit format with exponents from `kMinExponent` on.
template <RoundMode mode, int kMantissa, int kMinExponent>
uint16_t RoundFloat(float value) {
    constexpr uint32_t infinity = kMantissa == 10 ? 0x7C00U : 0x7F80U;
    const uint32_t bits = BitCast<uint32_t>(value);
    const uint32_t sign = bits >> 16 & 0x8000U;
    const uint32_t magnitude = bits & 0x7FFFFFFFU;
    if (magnitude > 0x7F800000U) {
        return static_cast<uint16_t>(sign | infinity | (infinity >> 1 & ~infinity) |
                                     1U << (kMantissa - 1));
    }
    if (magnitude == 0x7F800000U) {
        return static_cast<uint16_t>(sign | infinity);
    }
    const int exponent = static_cast<int>(magnitude >> 23) - 127;
    const uint64_t significand =
        (magnitude >> 23) != 0 ? (magnitude & 0x7FFFFFU) | 0x800000U : magnitude;
    const int effective = (magnitude >> 23) != 0 ? exponent : -126;
    int drop = 23 - kMantissa;
    if (effective < kMinExponent) {
        drop += kMinExponent - effective;
    }
    if (drop > 40) {
        drop = 40;
    }
    uint64_t kept = significand >> drop;
    const uint64_t rest = significand & ((uint64_t{1} << drop) - 1);
    const uint64_t tie = uint64_t{1} << (drop - 1);
    bool up = false;
    if constexpr (mode == RoundMode::CAST_FLOOR) up = rest != 0 && sign != 0;
    if constexpr (mode == RoundMode::CAST_CEIL) up = rest != 0 && sign == 0;
    if constexpr (mode == RoundMode::CAST_ROUND) up = rest >= tie;
    if constexpr (mode == RoundMode::CAST_RINT || mode == RoundMode::CAST_NONE) {
        up = rest > tie || (rest == tie && (kept & 1) != 0);
    }
    if constexpr (mode == RoundMode::CAST_ODD) kept |= rest != 0 ? 1 : 0;
    kept += up ? 1 : 0;
    // The leading one adds itself to the exponent field.
    const uint64_t field =
        effective < kMinExponent
            ? kept
            : kept + (static_cast<uint64_t>(effective - kMinExponent) << kMantissa);
    if (field < infinity) {
        return static_cast<uint16_t>(sign | static_cast<uint32_t>(field));
    }
    constexpr bool away = mode == RoundMode::CAST_RINT || mode == RoundMode::CAST_NONE ||
                          mode == RoundMode::CAST_ROUND;
    const bool toInfinity = away || (mode == RoundMode::CAST_FLOOR && sign != 0) ||
                            (mode == RoundMode::CAST_CEIL && sign == 0);
    return static_cast<uint16_t>(sign | (toInfinity ? infinity : infinity - 1));
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

template <typename D, typename S, RoundMode mode>
D CastLane(S value) {
    if constexpr (std::is_same_v<D, int4b_t>) {
        const auto nibble = [](half x) {
            const int8_t whole = CastLane<int8_t, half, mode>(x);
            return static_cast<uint8_t>((whole < -8 ? -8 : whole > 7 ? 7 : whole) & 0xF);
        };
        return {static_cast<uint8_t>(nibble(value.low) | nibble(value.high) << 4)};
    } else if constexpr (std::is_same_v<S, int4b_t>) {
        const auto number = [](int nibble) { return half((nibble ^ 8) - 8); };
        return {number(value.pair & 0xF), number(value.pair >> 4)};
    } else if constexpr (std::is_same_v<D, half> && std::is_same_v<S, int32_t>) {
        return DeqLane(value);
    } else if constexpr (std::is_integral_v<D> && std::is_integral_v<S>) {
        constexpr int64_t low = std::numeric_limits<D>::min();
        constexpr int64_t high = std::numeric_limits<D>::max();
        const auto wide = static_cast<int64_t>(value);
        return static_cast<D>(wide < low ? low : wide > high ? high : wide);
    } else if constexpr (std::is_integral_v<D>) {
        // Saturates; NaN becomes 0.
        constexpr double low = static_cast<double>(std::numeric_limits<D>::min());
        constexpr double high = static_cast<double>(std::numeric_limits<D>::max());
        const double x = RoundToIntegral<mode>(static_cast<float>(value));
        if (!(x >= low)) {
            return x != x ? D{0} : std::numeric_limits<D>::min();
        }
        return x >= high ? std::numeric_limits<D>::max() : static_cast<D>(x);
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
            return static_cast<float>(value);
        }
    } else {
        const auto wide = static_cast<float>(value);
        if constexpr (std::is_same_v<D, half>) {
            if constexpr (mode == RoundMode::CAST_RINT || mode == RoundMode::CAST_NONE) {
                return half(wide);
            }
            return FromBits<half>::Make(RoundFloat<mode, 10, -14>(wide));
        } else {
            if constexpr (mode == RoundMode::CAST_RINT) {
                return bfloat16_t(wide);
            } else if constexpr (mode == RoundMode::CAST_TRUNC) {
                const uint32_t bits = BitCast<uint32_t>(wide);
                const bool nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
                return FromBits<bfloat16_t>::Make(
                    static_cast<uint16_t>(bits >> 16 | (nan ? 0x40U : 0U)));
            }
            return FromBits<bfloat16_t>::Make(RoundFloat<mode, 7, -126>(wide));
        }
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
#define SIM_CASE(name)                                                                \
    case RoundMode::name:                                                             \
        if constexpr ((CastModes<D, S>() & ModeBit(RoundMode::name)) != 0) {          \
            using To = std::conditional_t<kOneOf<S, int4b_t>, HalfPair, D>;           \
            using From = std::conditional_t<kOneOf<D, int4b_t>, HalfPair, S>;         \
            use([](From x) -> To { return CastLane<To, From, RoundMode::name>(x); }); \
        }                                                                             \
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
    }
#undef SIM_CASE
}

template <typename D, typename S>
constexpr bool kInt4 = kOneOf<int4b_t, D, S>;
// A tensor of int4b_t or half, by pairs.
inline AscendC::LocalTensor<int4b_t> Pairs(const AscendC::LocalTensor<int4b_t> &tensor) {
    return tensor;
}
inline AscendC::LocalTensor<HalfPair> Pairs(const AscendC::LocalTensor<half> &tensor) {
    return tensor.ReinterpretCast<HalfPair>();
}

}  // namespace sim

namespace AscendC {

template <typename D, typename S>
void Cast(const LocalTensor<D> &dst, const LocalTensor<S> &src, const RoundMode &mode,
          uint32_t count, sim::Loc loc = sim::Loc::Here()) {
    sim::WithCastLane<D, S>(mode, "Cast", loc, [&](auto lane) {
        if constexpr (sim::kInt4<D, S>) {
            if (count % 2 != 0) {
                sim::ThisCore().Fail(sim::Check::Mask, "Cast", loc,
                                     "%u elements, but two of int4b_t make a byte", count);
            }
            sim::CountForm("Cast", loc, count / 2, lane, sim::Pairs(dst), sim::Pairs(src));
        } else {
            sim::CountForm("Cast", loc, count, lane, dst, src);
        }
    });
}
template <typename D, typename S, bool isSetMask = true, typename M>
void Cast(const LocalTensor<D> &dst, const LocalTensor<S> &src, const RoundMode &mode, M mask,
          uint32_t repeatTime, const UnaryRepeatParams &p, sim::Loc loc = sim::Loc::Here()) {
    static_assert(!sim::kInt4<D, S>, "Cast: int4b_t has the form with a count only");
    sim::WithCastLane<D, S>(mode, "Cast", loc, [&](auto lane) {
        sim::MaskForm<isSetMask>("Cast", loc, mask, repeatTime, lane, sim::Destination(dst, p),
                                 sim::Source(src, p));
    });
}

inline float ToFloat(bfloat16_t value) { return value; }
inline bfloat16_t ToBfloat16(float value) { return value; }

}  // namespace AscendC
