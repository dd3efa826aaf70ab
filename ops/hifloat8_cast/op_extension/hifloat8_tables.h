// HiFloat8 for the host, one value at a time: it fills the kernel's lookup tables.
//
// Below the sign, a code has a dot field, an exponent and a mantissa in seven bits. The dot field
// says how wide the exponent is; the mantissa has what is left (HiFloat8, arXiv 2409.16626):
//
//   0000 mmm    2^(m - 23)                  001 s mmm    2^(+-1) * (1 + m/8)
//   0001 mmm    1 + m/8                     01 s e mmm   2^(+-2..3) * (1 + m/8)
//   10 s ee mm  2^(+-4..7) * (1 + m/4)      11 s eee m   2^(+-8..15) * (1 + m/2)
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

namespace hifloat8 {

constexpr uint8_t kNan = 0x80;
constexpr uint8_t kInfinity = 0x6F;
constexpr uint8_t kMax = 0x6E;  // 2^15

// One dot field, by the width of its exponent (sign included; its leading one is not stored).
struct Layout {
    int width;
    int dot;
    int mantissaBits;
};
constexpr Layout kLayouts[] = {{4, 0x60, 1}, {3, 0x40, 2}, {2, 0x20, 3}, {1, 0x10, 3}};

// The layout for |exponent| in 1..15.
inline Layout LayoutOf(int magnitude) {
    for (const Layout &layout : kLayouts) {
        if (magnitude >= 1 << (layout.width - 1)) {
            return layout;
        }
    }
    return kLayouts[3];
}

// The nearest code, ties away from zero. A finite value from 1.25 * 2^15 on is the greatest finite
// code if `saturate`, else infinity. There is no negative zero.
inline uint8_t Encode(float value, bool saturate) {
    if (std::isnan(value)) {
        return kNan;
    }
    const int sign = std::signbit(value) ? 0x80 : 0;
    const double magnitude = std::fabs(static_cast<double>(value));
    if (std::isinf(magnitude)) {
        return static_cast<uint8_t>(sign | kInfinity);
    }
    if (magnitude < std::ldexp(1.0, -23)) {
        return 0;
    }
    int exponent = std::ilogb(magnitude);
    if (exponent == -23) {
        return static_cast<uint8_t>(sign | 1);
    }
    const auto mantissaBits = [](int e) {
        return e < -15 ? 0 : e == 0 ? 3 : LayoutOf(std::abs(e)).mantissaBits;
    };
    const int bits = mantissaBits(exponent);
    int mantissa = static_cast<int>(std::ldexp(magnitude, bits - exponent) + 0.5) - (1 << bits);
    if (mantissa == 1 << bits) {
        ++exponent;
        mantissa = 0;
    }
    if (exponent > 15 || (exponent == 15 && mantissa == 1)) {
        return static_cast<uint8_t>(sign | (saturate ? kMax : kInfinity));
    }
    if (exponent < -15) {
        return static_cast<uint8_t>(sign | (exponent + 23));
    }
    if (exponent == 0) {
        return static_cast<uint8_t>(sign | 0x08 | mantissa);
    }
    const Layout layout = LayoutOf(std::abs(exponent));
    const int lead = 1 << (layout.width - 1);
    const int field = (exponent < 0 ? lead : 0) | (std::abs(exponent) - lead);
    return static_cast<uint8_t>(sign | layout.dot | field << layout.mantissaBits | mantissa);
}

// The value of a code; each is exact in float16, bfloat16 and float32.
inline float Decode(uint8_t code) {
    if (code == kNan) {
        return std::numeric_limits<float>::quiet_NaN();
    }
    const float sign = (code & 0x80) != 0 ? -1.0F : 1.0F;
    const int bits = code & 0x7F;
    if (bits == kInfinity) {
        return sign * std::numeric_limits<float>::infinity();
    }
    if (bits < 0x08) {
        return bits == 0 ? 0.0F : sign * std::ldexp(1.0F, bits - 23);
    }
    if (bits < 0x10) {
        return sign * (1.0F + static_cast<float>(bits & 7) / 8.0F);
    }
    Layout layout = kLayouts[3];
    for (const Layout &candidate : kLayouts) {
        if (bits >= candidate.dot) {
            layout = candidate;
            break;
        }
    }
    const int lead = 1 << (layout.width - 1);
    const int field = bits >> layout.mantissaBits & (2 * lead - 1);
    const int magnitude = lead | (field & (lead - 1));
    const int mantissa = bits & ((1 << layout.mantissaBits) - 1);
    const float significand = 1.0F + std::ldexp(static_cast<float>(mantissa), -layout.mantissaBits);
    return sign * std::ldexp(significand, (field & lead) != 0 ? -magnitude : magnitude);
}

}  // namespace hifloat8
