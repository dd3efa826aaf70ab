// Rounding to narrow number formats, bit for bit: half, bfloat16, HiFloat8, FP8, FP4 and E8M0. Each
// Cast, of memory or of registers, goes through here.
#pragma once

#include <cstdint>

#include "sim/types.h"

namespace AscendC {

enum class RoundMode : uint8_t {
    CAST_NONE,
    CAST_RINT,
    CAST_FLOOR,
    CAST_CEIL,
    CAST_ROUND,
    CAST_TRUNC,
    CAST_ODD,
    CAST_HYBRID,
    UNKNOWN
};

}  // namespace AscendC

namespace sim {

using AscendC::RoundMode;

// How results beyond the destination's range come out.
struct Saturation {
    bool floats = false;   // as the largest number, and NaN as 0; otherwise as infinity and NaN
    bool integers = true;  // as the end of the range; otherwise as their low bits
    bool keepNan = false;  // NaN stays NaN in saturated FP8
};

// The exponent and mantissa fields, as one number without an upper end, of the magnitude of a
// finite float that is rounded to `mantissa` bits with exponents from `minExponent` on.
template <RoundMode mode>
uint64_t RoundMagnitude(uint32_t floatBits, int mantissa, int minExponent) {
    const bool negative = floatBits >> 31 != 0;
    const uint32_t magnitude = floatBits & 0x7FFFFFFFU;
    const bool normal = magnitude >> 23 != 0;
    const int exponent = normal ? static_cast<int>(magnitude >> 23) - 127 : -126;
    const uint64_t significand = normal ? (magnitude & 0x7FFFFFU) | 0x800000U : magnitude;
    int drop = 23 - mantissa;
    if (exponent < minExponent) {
        drop += minExponent - exponent;
    }
    if (drop > 40) {
        drop = 40;
    }
    uint64_t kept = significand >> drop;
    const uint64_t rest = significand & ((uint64_t{1} << drop) - 1);
    const uint64_t tie = uint64_t{1} << (drop - 1);
    bool up = false;
    if constexpr (mode == RoundMode::CAST_FLOOR) up = rest != 0 && negative;
    if constexpr (mode == RoundMode::CAST_CEIL) up = rest != 0 && !negative;
    if constexpr (mode == RoundMode::CAST_ROUND) up = rest >= tie;
    if constexpr (mode == RoundMode::CAST_RINT || mode == RoundMode::CAST_NONE) {
        up = rest > tie || (rest == tie && (kept & 1) != 0);
    }
    if constexpr (mode == RoundMode::CAST_ODD) kept |= rest != 0 ? 1 : 0;
    kept += up ? 1 : 0;
    // The leading one adds itself to the exponent field.
    return exponent < minExponent
               ? kept
               : kept + (static_cast<uint64_t>(exponent - minExponent) << mantissa);
}

// Whether a finite value beyond the range becomes infinity, not the largest number.
template <RoundMode mode>
constexpr bool OverflowsToInfinity(bool negative) {
    return mode == RoundMode::CAST_RINT || mode == RoundMode::CAST_NONE ||
           mode == RoundMode::CAST_ROUND || (mode == RoundMode::CAST_FLOOR && negative) ||
           (mode == RoundMode::CAST_CEIL && !negative);
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
    const uint64_t field = RoundMagnitude<mode>(bits, kMantissa, kMinExponent);
    if (field < infinity) {
        return static_cast<uint16_t>(sign | static_cast<uint32_t>(field));
    }
    return static_cast<uint16_t>(sign |
                                 (OverflowsToInfinity<mode>(sign != 0) ? infinity : infinity - 1));
}

// What makes one byte of FP4.
struct BFloat16Pair {
    bfloat16_t even;
    bfloat16_t odd;
};

// --- HiFloat8: sign, a prefix code for the width of the exponent, exponent, mantissa ---

constexpr uint8_t kHiF8Nan = 0x80;
constexpr uint8_t kHiF8Infinity = 0x6F;
constexpr uint8_t kHiF8Max = 0x6E;

// Mantissa bits of values with this exponent; 0 = they are powers of two.
constexpr int HiF8Mantissa(int exponent) {
    const int size = exponent < 0 ? -exponent : exponent;
    return size <= 3 ? 3 : size <= 7 ? 2 : exponent >= -15 ? 1 : 0;
}

// The code of 2^exponent * (1 + mantissa / 2^HiF8Mantissa(exponent)), exponent from -22 to 15.
constexpr uint8_t HiF8Code(int exponent, uint32_t mantissa) {
    if (exponent < -15) {
        return static_cast<uint8_t>(exponent + 23);
    }
    if (exponent == 0) {
        return static_cast<uint8_t>(0x08U | mantissa);
    }
    const auto size = static_cast<uint32_t>(exponent < 0 ? -exponent : exponent);
    const uint32_t negative = exponent < 0 ? 1 : 0;
    const uint32_t width = size < 2 ? 1 : size < 4 ? 2 : size < 8 ? 3 : 4;  // of the exponent
    const uint32_t prefix = width == 1 ? 0x10U : (width - 1) << 5;
    const uint32_t rest = size & ((1U << (width - 1)) - 1);  // without its leading one
    const int bits = HiF8Mantissa(exponent);
    const uint32_t signAt = static_cast<uint32_t>(bits) + width - 1;
    return static_cast<uint8_t>(prefix | negative << signAt | rest << bits | mantissa);
}

// `kSourceMantissa` is 23 for float and 10 for half. CAST_HYBRID takes the threshold for rounding
// from the source's low bits where the exponent is beyond 3.
template <RoundMode mode, int kSourceMantissa>
uint8_t EncodeHiF8(float value, uint32_t sourceBits, Saturation saturation) {
    const uint32_t bits = BitCast<uint32_t>(value);
    const uint8_t sign = bits >> 31 != 0 ? 0x80 : 0;
    const uint32_t magnitude = bits & 0x7FFFFFFFU;
    if (magnitude > 0x7F800000U) {
        return saturation.floats ? 0 : kHiF8Nan;
    }
    const auto infinity =
        static_cast<uint8_t>(sign | (saturation.floats ? kHiF8Max : kHiF8Infinity));
    int exponent = static_cast<int>(magnitude >> 23) - 127;
    if (exponent > 15) {
        return infinity;
    }
    if (exponent < -23) {
        return 0;
    }
    constexpr int fractionBits = kSourceMantissa == 23 ? 14 : 2;
    const uint32_t threshold =
        kSourceMantissa == 23 ? sourceBits & 0x3FFFU : (sourceBits & 1U) << 1 | 1U;
    const uint32_t mantissa = magnitude & 0x7FFFFFU;
    if (exponent == -23) {
        const uint32_t fraction = (0x800000U | mantissa) >> (24 - fractionBits);
        return mode == RoundMode::CAST_ROUND || fraction >= threshold ? sign | 1 : 0;
    }
    const int kept = HiF8Mantissa(exponent);
    const uint32_t below = mantissa & ((1U << (23 - kept)) - 1);
    const uint32_t fraction = below >> (23 - kept - fractionBits);
    const bool near = exponent >= -3 && exponent <= 3;
    const bool up = mode == RoundMode::CAST_ROUND || near ? fraction >> (fractionBits - 1) != 0
                                                          : fraction >= threshold;
    uint32_t rounded = (mantissa >> (23 - kept)) + (up ? 1 : 0);
    if (rounded >> kept != 0) {
        ++exponent;
        rounded = 0;
    }
    if (exponent > 15 || (exponent == 15 && rounded != 0)) {
        return infinity;
    }
    return static_cast<uint8_t>(sign | HiF8Code(exponent, rounded));
}

inline float DecodeHiF8(uint8_t code) {
    const uint32_t sign = static_cast<uint32_t>(code & 0x80U) << 24;
    const uint32_t c = code & 0x7FU;
    if (c == 0) {
        return BitCast<float>(code == 0 ? 0U : 0x7FC00000U);
    }
    if (c == kHiF8Infinity) {
        return BitCast<float>(sign | 0x7F800000U);
    }
    int exponent = static_cast<int>(c) - 23;
    uint32_t mantissa = 0;
    if (c >= 0x10) {
        const uint32_t width = c < 0x20 ? 1 : (c >> 5) + 1;
        const int bits = width <= 2 ? 3 : width == 3 ? 2 : 1;
        const uint32_t size = 1U << (width - 1) | (c >> bits & ((1U << (width - 1)) - 1));
        const bool negative = (c >> (static_cast<uint32_t>(bits) + width - 1) & 1) != 0;
        exponent = negative ? -static_cast<int>(size) : static_cast<int>(size);
        mantissa = (c & ((1U << bits) - 1)) << (23 - bits);
    } else if (c >= 0x08) {
        exponent = 0;
        mantissa = (c & 7U) << 20;
    }
    return BitCast<float>(sign | static_cast<uint32_t>(exponent + 127) << 23 | mantissa);
}

// --- formats with a fixed split of exponent and mantissa ---

struct MiniFloat {
    int mantissa;
    int minExponent;
    uint32_t max;       // code of the largest number
    uint32_t infinity;  // 0 = has none
    uint32_t nan;       // 0 = has none
};
constexpr MiniFloat kE4M3{3, -6, 0x7E, 0, 0x7F};
constexpr MiniFloat kE5M2{2, -14, 0x7B, 0x7C, 0x7E};
constexpr MiniFloat kE2M1{1, 0, 7, 0, 0};
constexpr MiniFloat kE1M2{2, 0, 7, 0, 0};

template <RoundMode mode>
uint8_t EncodeMini(const MiniFloat &format, uint32_t signBit, float value, Saturation saturation) {
    const uint32_t bits = BitCast<uint32_t>(value);
    const uint32_t sign = bits >> 31 != 0 ? signBit : 0;
    const uint32_t magnitude = bits & 0x7FFFFFFFU;
    const bool saturates = saturation.floats || format.nan == 0;
    if (magnitude > 0x7F800000U) {
        return static_cast<uint8_t>(!saturates || saturation.keepNan ? format.nan : 0);
    }
    const bool infinite = magnitude == 0x7F800000U;
    const uint64_t field =
        infinite ? 0 : RoundMagnitude<mode>(bits, format.mantissa, format.minExponent);
    if (!infinite && field <= format.max) {
        return static_cast<uint8_t>(sign | field);
    }
    const uint32_t beyond = format.infinity != 0 ? format.infinity : format.nan;
    return static_cast<uint8_t>(sign | (saturates ? format.max : beyond));
}

inline float DecodeMini(const MiniFloat &format, uint32_t signBit, uint8_t code) {
    const uint32_t field = code & (signBit - 1);
    const float sign = (code & signBit) != 0 ? -1.0F : 1.0F;
    if (field > format.max) {
        return field == format.infinity ? sign * BitCast<float>(0x7F800000U)
                                        : BitCast<float>(0x7FC00000U);
    }
    const uint32_t exponent = field >> format.mantissa;
    const uint32_t fraction = field & ((1U << format.mantissa) - 1);
    const uint32_t significand = exponent == 0 ? fraction : fraction | 1U << format.mantissa;
    const int scale =
        format.minExponent + (exponent == 0 ? 0 : static_cast<int>(exponent) - 1) - format.mantissa;
    return sign * static_cast<float>(significand) *
           BitCast<float>(static_cast<uint32_t>(scale + 127) << 23);
}

template <typename T>
constexpr bool kFp4 = std::is_same_v<T, E2M1Pair> || std::is_same_v<T, E1M2Pair>;
template <typename T>
constexpr bool kFp8 = std::is_same_v<T, E4M3> || std::is_same_v<T, E5M2>;
template <typename T>
constexpr const MiniFloat &kMiniFloat = std::is_same_v<T, E4M3>       ? kE4M3
                                        : std::is_same_v<T, E5M2>     ? kE5M2
                                        : std::is_same_v<T, E2M1Pair> ? kE2M1
                                                                      : kE1M2;

// Two elements to one byte, the even one in its low half.
template <typename D, RoundMode mode>
D EncodeFp4(bfloat16_t even, bfloat16_t odd) {
    const uint32_t low = EncodeMini<mode>(kMiniFloat<D>, 8, even, {});
    const uint32_t high = EncodeMini<mode>(kMiniFloat<D>, 8, odd, {});
    return {static_cast<uint8_t>(low | high << 4)};
}
template <typename S>
bfloat16_t DecodeFp4(S pair, bool odd) {
    return DecodeMini(kMiniFloat<S>, 8, odd ? pair.bits >> 4 : pair.bits & 0xFU);
}

// E8M0 is a power of two, of which 0 is 2^-127. How other numbers round is not documented: they
// have no code here.
inline bool EncodeE8M0(bfloat16_t value, uint8_t &code) {
    const uint32_t magnitude = value.bits & 0x7FFFU;
    if (magnitude > 0x7F80U) {
        code = 0xFF;
        return true;
    }
    if (magnitude == 0x7F80U) {
        code = 0xFE;
        return true;
    }
    code = static_cast<uint8_t>(magnitude >> 7);
    return value.bits == 0x0040U || (value.bits < 0x8000U && code != 0 && (magnitude & 0x7FU) == 0);
}
inline bfloat16_t DecodeE8M0(uint8_t code) {
    return FromBits<bfloat16_t>::Make(
        code == 0xFF ? uint16_t{0x7FC0} : static_cast<uint16_t>(code == 0 ? 0x0040 : code << 7));
}

}  // namespace sim
