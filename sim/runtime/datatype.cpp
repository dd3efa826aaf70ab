// Helpers of the C interface that need no device.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "state.h"

extern "C" {

size_t aclDataTypeSize(aclDataType type) {
    switch (type) {
        case ACL_INT8:
        case ACL_UINT8:
        case ACL_BOOL:
        case ACL_HIFLOAT8:
        case ACL_FLOAT8_E5M2:
        case ACL_FLOAT8_E4M3FN:
        case ACL_FLOAT8_E8M0:
            return 1;
        case ACL_FLOAT16:
        case ACL_BF16:
        case ACL_INT16:
        case ACL_UINT16:
            return 2;
        case ACL_FLOAT:
        case ACL_INT32:
        case ACL_UINT32:
        case ACL_COMPLEX32:
            return 4;
        case ACL_INT64:
        case ACL_UINT64:
        case ACL_DOUBLE:
        case ACL_COMPLEX64:
            return 8;
        case ACL_COMPLEX128:
            return 16;
        default:  // types of less than a byte, and strings
            return 0;
    }
}

float aclFloat16ToFloat(aclFloat16 value) {
    const int exponent = value >> 10 & 0x1F;
    const int fraction = value & 0x3FF;
    const float magnitude =
        exponent == 0x1F ? (fraction != 0 ? std::numeric_limits<float>::quiet_NaN()
                                          : std::numeric_limits<float>::infinity())
        : exponent == 0  ? std::ldexp(static_cast<float>(fraction), -24)
                         : std::ldexp(static_cast<float>(fraction | 0x400), exponent - 25);
    return (value & 0x8000) != 0 ? -magnitude : magnitude;
}

aclFloat16 aclFloatToFloat16(float value) {
    const auto sign = static_cast<aclFloat16>(std::signbit(value) ? 0x8000 : 0);
    const float magnitude = std::fabs(value);
    if (std::isnan(value)) {
        return sign | 0x7E00;
    }
    if (magnitude >= 65520.0F) {  // rounds to more than the largest number
        return sign | 0x7C00;
    }
    if (magnitude == 0) {
        return sign;
    }
    int exponent = 0;
    std::frexp(magnitude, &exponent);  // magnitude is in [2^(exponent-1), 2^exponent)
    // Numbers below 2^-14 all have the same distance, 2^-24.
    const int unit = std::max(exponent - 11, -24);
    const auto steps = static_cast<int>(std::nearbyint(std::ldexp(magnitude, -unit)));
    // A step more than the largest fraction carries into the exponent, as it should.
    return static_cast<aclFloat16>(sign | (steps + (unit + 24) * 0x400));
}
}
