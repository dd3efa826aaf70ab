// What the scalar unit computes, limits of types, and helpers of kernels.
#pragma once

#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include "sim/sync.h"
#include "sim/vector.h"

namespace AscendC {

// How many bits are `countValue`; where the lowest of these is, -1 if there is none.
template <int countValue>
int64_t GetBitCount(uint64_t value) {
    static_assert(countValue == 0 || countValue == 1, "bits are 0 or 1");
    return __builtin_popcountll(countValue == 1 ? value : ~value);
}
template <int countValue>
int64_t GetSFFValue(uint64_t value) {
    static_assert(countValue == 0 || countValue == 1, "bits are 0 or 1");
    const uint64_t bits = countValue == 1 ? value : ~value;
    return bits == 0 ? -1 : __builtin_ctzll(bits);
}
inline int64_t CountLeadingZero(uint64_t value) { return value == 0 ? 64 : __builtin_clzll(value); }
// Behind the sign bit; -1 if all bits are equal.
inline int64_t CountBitsCntSameAsSignBit(int64_t value) {
    const auto changed = static_cast<uint64_t>(value ^ (value >> 63));
    return changed == 0 ? -1 : __builtin_clzll(changed) - 1;
}
// The older names.
template <int countValue>
int64_t ScalarGetCountOfValue(uint64_t value) {
    return GetBitCount<countValue>(value);
}
template <int countValue>
int64_t ScalarGetSFFValue(uint64_t value) {
    return GetSFFValue<countValue>(value);
}
inline int64_t ScalarCountLeadingZero(uint64_t value) { return CountLeadingZero(value); }

// The bits of a number as one of another type of the same size.
template <typename From, typename To>
To GetScalarBitcodeValue(From value) {
    return sim::BitCast<To>(value);
}

#if __NPU_ARCH__ == 3510
// n / divisor = (high half of n * magic + n) >> shift.
template <typename T>
void GetUintDivMagicAndShift(T &magic, T &shift, T divisor) {
    static_assert(std::is_same_v<T, uint32_t> || std::is_same_v<T, uint64_t>,
                  "GetUintDivMagicAndShift: uint32_t and uint64_t");
    using Wide = unsigned __int128;
    ascendc_assert(divisor != 0);
    shift = divisor <= 1 ? 0 : static_cast<T>(64 - CountLeadingZero(divisor - 1));
    const Wide one = 1;
    const Wide excess = divisor == 0 ? 0 : (one << shift) - divisor;
    magic = divisor == 0 ? 0 : static_cast<T>((excess << (8 * sizeof(T))) / divisor + 1);
}
constexpr uint32_t GetVecLen() { return ONE_REPEAT_BYTE_SIZE; }
#endif

constexpr int16_t GetDataBlockSizeInBytes() { return ONE_BLK_SIZE; }

// Ticks of the counter since the kernel's start, by the cycle estimate: 50 MHz on dav-2201, 1 GHz
// on dav-3510.
inline int64_t GetSystemCycle() {
    constexpr double ticksPerMicrosecond = __NPU_ARCH__ == 3510 ? 1000 : 50;
    sim::Core &core = sim::ThisCore();
    core.Begin(sim::Pipe::S, "GetSystemCycle", sim::Loc::Here());
    return static_cast<int64_t>(core.order.timing.Until(sim::Pipe::S) / core.ClockMhz() *
                                ticksPerMicrosecond);
}

template <int count = 1>
void Nop() {}

template <typename T>
constexpr T DivCeil(T a, T b) {
    return b == 0 ? T(0) : T((a + b - 1) / b);
}
template <typename T>
constexpr T AlignUp(T value, T unit) {
    return DivCeil(value, unit) * unit;
}

// Limits of the types of Ascend C.
template <typename T>
struct NumericLimits {
    static constexpr bool kStandard = std::is_integral_v<T> || std::is_same_v<T, float>;
    static T Max() { return Bits(std::numeric_limits<T>::max, 0x7BFF, 0x7F7F); }
    static T Lowest() { return Bits(std::numeric_limits<T>::lowest, 0xFBFF, 0xFF7F); }
    static T Min() { return Bits(std::numeric_limits<T>::min, 0x0400, 0x0080); }
    static T DenormMin() { return Bits(std::numeric_limits<T>::denorm_min, 0x0001, 0x0001); }
    static T Infinity() { return Bits(std::numeric_limits<T>::infinity, 0x7C00, 0x7F80); }
    static T NegativeInfinity() {
        return Bits([] { return T(-std::numeric_limits<T>::infinity()); }, 0xFC00, 0xFF80);
    }
    static T QuietNaN() { return Bits(std::numeric_limits<T>::quiet_NaN, 0x7E00, 0x7FC0); }
    static T SignalingNaN() { return Bits(std::numeric_limits<T>::signaling_NaN, 0x7D00, 0x7F81); }

private:
    template <typename Standard>
    static T Bits(Standard standard, uint16_t ofHalf, uint16_t ofBfloat16) {
        if constexpr (kStandard) {
            return standard();
        } else {
            static_assert(std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>,
                          "NumericLimits: integers, float, half and bfloat16_t");
            return sim::FromBits<T>::Make(std::is_same_v<T, half> ? ofHalf : ofBfloat16);
        }
    }
};

template <typename T, typename... Types>
constexpr bool SupportType() {
    return (std::is_same_v<T, Types> || ...);
}

// Masks, as older kernels set them.
struct AscendCUtils {
    template <typename T, bool isSetMask = true>
    static void SetMask(uint64_t high, uint64_t low) {
        if constexpr (isSetMask) {
            SetVectorMask<T>(high, low);
        }
    }
    template <typename T, bool isSetMask = true>
    static void SetMask(int32_t length, sim::Loc loc = sim::Loc::Here()) {
        if constexpr (isSetMask) {
            SetVectorMask<T>(length, loc);
        }
    }
    template <typename T>
    static void ResetMask() {
        AscendC::ResetMask();
    }
};

// The part of the standard library that kernels may use.
namespace Std {
using std::bool_constant;
using std::conditional;
using std::conditional_t;
using std::decay;
using std::decay_t;
using std::enable_if;
using std::enable_if_t;
using std::false_type;
using std::forward;
using std::forward_as_tuple;
using std::get;
using std::index_sequence;
using std::integral_constant;
using std::is_base_of;
using std::is_base_of_v;
using std::is_convertible;
using std::is_same;
using std::is_same_v;
using std::make_index_sequence;
using std::make_tuple;
using std::remove_cv_t;
using std::remove_reference_t;
using std::tie;
using std::true_type;
using std::tuple;
using std::tuple_element;
using std::tuple_size;
using std::tuple_size_v;

template <size_t value>
using Int = std::integral_constant<size_t, value>;
template <typename T>
using remove_cvref_t = std::remove_cv_t<std::remove_reference_t<T>>;
template <typename T, typename U>
constexpr bool IsSame = std::is_same_v<T, U>;
template <typename T, typename... Others>
constexpr bool is_one_of_v = (std::is_same_v<T, Others> || ...);
template <typename... T>
constexpr bool always_false_v = false;
template <typename T>
constexpr bool is_tuple_v = false;
template <typename... T>
constexpr bool is_tuple_v<std::tuple<T...>> = true;

template <typename T, typename U>
constexpr T min(T a, U b) {
    return static_cast<T>(b) < a ? static_cast<T>(b) : a;
}
template <typename T, typename U>
constexpr T max(T a, U b) {
    return a < static_cast<T>(b) ? static_cast<T>(b) : a;
}
}  // namespace Std

// A list of tensors in global memory: the offset of an array of addresses, and what it says of
// their shapes.
class ListTensorDesc {
public:
    ListTensorDesc() = default;
    explicit ListTensorDesc(__gm__ void *data, uint32_t length = ~0U, uint32_t shapeBytes = ~0U) {
        Init(data, length, shapeBytes);
    }
    void Init(__gm__ void *data, uint32_t = ~0U, uint32_t = ~0U) {
        data_ = static_cast<const uint64_t *>(data);
    }
    template <typename T>
    __gm__ T *GetDataPtr(uint32_t index, sim::Loc loc = sim::Loc::Here()) const {
        const uint64_t first = Word(0, loc) / sizeof(uint64_t);
        return reinterpret_cast<T *>(Word(first + index, loc));
    }

private:
    uint64_t Word(uint64_t index, sim::Loc loc) const {
        GlobalTensor<uint64_t> words;
        words.SetGlobalBuffer(const_cast<uint64_t *>(data_));
        return words.GetValue(index, loc);
    }
    const uint64_t *data_ = nullptr;
};

}  // namespace AscendC
