// Number types of Ascend C that C++ lacks. Arithmetic goes through float and rounds once.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace sim {

template <typename To, typename From>
inline To BitCast(From value) {
    static_assert(sizeof(To) == sizeof(From), "BitCast keeps the size");
    To out;
    std::memcpy(&out, &value, sizeof(out));
    return out;
}

// Both directions are free of branches, so that loops over them vectorise.
inline float HalfToFloat(uint16_t bits) {
    const uint32_t magnitude = bits & 0x7FFFU;
    // As float the pattern is 2^112 too small, for normal and subnormal values alike.
    const float scaled = BitCast<float>(magnitude << 13) * BitCast<float>(0x77800000U);
    const uint32_t special = 0x7F800000U | (magnitude << 13);
    const uint32_t out = magnitude >= 0x7C00U ? special : BitCast<uint32_t>(scaled);
    return BitCast<float>(out | (static_cast<uint32_t>(bits & 0x8000U) << 16));
}

inline uint16_t FloatToHalf(float value) {  // ties to even, overflow to infinity
    const uint32_t bits = BitCast<uint32_t>(value);
    const uint32_t magnitude = bits & 0x7FFFFFFFU;
    const uint32_t normal = (magnitude + 0xC8000FFFU + (magnitude >> 13 & 1U)) >> 13;
    // Adding 0.5 lines the unit of the last place up with 2^-24, the subnormals' step.
    const uint32_t subnormal =
        BitCast<uint32_t>(BitCast<float>(magnitude) + 0.5F) - BitCast<uint32_t>(0.5F);
    const uint32_t special =
        magnitude > 0x7F800000U ? 0x7E00U | (magnitude >> 13 & 0x3FFU) : 0x7C00U;
    const uint32_t finite = magnitude < 0x38800000U ? subnormal : normal;
    const uint32_t out = magnitude >= 0x47800000U ? special : finite;
    return static_cast<uint16_t>(out | (bits >> 16 & 0x8000U));
}

inline float BFloat16ToFloat(uint16_t bits) {
    return BitCast<float>(static_cast<uint32_t>(bits) << 16);
}

inline uint16_t FloatToBFloat16(float value) {  // ties to even
    const uint32_t bits = BitCast<uint32_t>(value);
    const uint32_t rounded = (bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16;
    const uint32_t nan = bits >> 16 | 0x40U;
    return static_cast<uint16_t>((bits & 0x7FFFFFFFU) > 0x7F800000U ? nan : rounded);
}

// A 16-bit floating-point number, stored as its bits.
template <uint16_t (*Round)(float), float (*Widen)(uint16_t)>
struct Float16 {
    uint16_t bits;

    Float16() = default;
    Float16(float value) : bits(Round(value)) {}  // NOLINT: implicit, as on the device
    Float16(double value) : Float16(static_cast<float>(value)) {}
    Float16(int value) : Float16(static_cast<float>(value)) {}
    Float16(unsigned value) : Float16(static_cast<float>(value)) {}
    Float16(long value) : Float16(static_cast<float>(value)) {}
    Float16(unsigned long value) : Float16(static_cast<float>(value)) {}

    operator float() const { return Widen(bits); }  // NOLINT: implicit, as on the device

    Float16 &operator+=(Float16 other) { return *this = *this + other; }
    Float16 &operator-=(Float16 other) { return *this = *this - other; }
    Float16 &operator*=(Float16 other) { return *this = *this * other; }
    Float16 &operator/=(Float16 other) { return *this = *this / other; }
};

template <typename T>
struct FromBits {
    static T Make(uint16_t bits) {
        T out;
        out.bits = bits;
        return out;
    }
};

}  // namespace sim

using half = sim::Float16<&sim::FloatToHalf, &sim::HalfToFloat>;
using bfloat16_t = sim::Float16<&sim::FloatToBFloat16, &sim::BFloat16ToFloat>;
static_assert(sizeof(half) == 2 && sizeof(bfloat16_t) == 2, "stored as their bits");

// Two four-bit integers in a byte, the even element in the low half.
struct int4b_t {
    uint8_t pair;
};

namespace sim {

// A number of eight bits, or two of four, that only casts compute with.
template <typename Format>
struct SmallFloat {
    uint8_t bits;
};
using HiFloat8 = SmallFloat<struct HiF8Format>;
using E4M3 = SmallFloat<struct E4M3Format>;
using E5M2 = SmallFloat<struct E5M2Format>;
using E8M0 = SmallFloat<struct E8M0Format>;
// The even element is in the low half.
using E2M1Pair = SmallFloat<struct E2M1Format>;
using E1M2Pair = SmallFloat<struct E1M2Format>;

}  // namespace sim

#if __NPU_ARCH__ == 3510
using hifloat8_t = sim::HiFloat8;
using fp8_e4m3fn_t = sim::E4M3;
using fp8_e5m2_t = sim::E5M2;
using fp8_e8m0_t = sim::E8M0;
using fp4x2_e2m1_t = sim::E2M1Pair;
using fp4x2_e1m2_t = sim::E1M2Pair;
#endif
