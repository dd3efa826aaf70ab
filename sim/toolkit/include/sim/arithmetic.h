// Element-wise arithmetic, logic and shifts.
#pragma once

#include <cmath>
#include <type_traits>

#include "sim/vector.h"

namespace sim {

template <typename T, typename... Allowed>
constexpr bool kOneOf = (std::is_same_v<T, Allowed> || ...);
template <typename T>
constexpr bool kFloat = kOneOf<T, half, float, bfloat16_t>;
#if __NPU_ARCH__ == 3510
template <typename T>
constexpr bool kArithmetic = kOneOf<T, half, float, bfloat16_t, int8_t, uint8_t, int16_t, uint16_t,
                                    int32_t, uint32_t, int64_t, uint64_t>;
template <typename T>
constexpr bool kDivisible = kArithmetic<T>;
template <typename T>
constexpr bool kReal = kOneOf<T, half, float>;
template <typename T>
constexpr bool kLogical = std::is_integral_v<T>;
template <typename T>
constexpr bool kShiftable = std::is_integral_v<T>;
#else
template <typename T>
constexpr bool kArithmetic = kOneOf<T, half, float, int16_t, int32_t>;
template <typename T>
constexpr bool kDivisible = kOneOf<T, half, float>;
template <typename T>
constexpr bool kReal = kOneOf<T, half, float>;
template <typename T>
constexpr bool kLogical = kOneOf<T, int16_t, uint16_t>;
template <typename T>
constexpr bool kShiftable = kOneOf<T, int16_t, uint16_t, int32_t, uint32_t>;
#endif

// What one lane computes. Integers wrap, as in the mode that keeps Inf and NaN.
#define SIM_LANE(name, expression)                                                   \
    struct name {                                                                    \
        template <typename T>                                                        \
        T operator()(T a, T b) const {                                               \
            using Wide = std::conditional_t<std::is_integral_v<T>, uint64_t, float>; \
            const auto x = static_cast<Wide>(a);                                     \
            const auto y = static_cast<Wide>(b);                                     \
            return static_cast<T>(expression);                                       \
        }                                                                            \
    }
SIM_LANE(AddLane, x + y);
SIM_LANE(SubLane, x - y);
SIM_LANE(MulLane, x *y);
#undef SIM_LANE

struct DivLane {
    template <typename T>
    T operator()(T a, T b) const {
        if constexpr (std::is_integral_v<T>) {
            return b == 0 ? T(~T{0}) : static_cast<T>(a / b);
        } else {
            return static_cast<T>(static_cast<float>(a) / static_cast<float>(b));
        }
    }
};

// NaN if either is; +0 is greater than -0.
struct MaxLane {
    template <typename T>
    T operator()(T a, T b) const {
        if constexpr (std::is_integral_v<T>) {
            return a > b ? a : b;
        } else {
            const float x = a;
            const float y = b;
            return x != x ? a : y != y ? b : x > y || (x == y && !std::signbit(x)) ? a : b;
        }
    }
};
struct MinLane {
    template <typename T>
    T operator()(T a, T b) const {
        if constexpr (std::is_integral_v<T>) {
            return a < b ? a : b;
        } else {
            const float x = a;
            const float y = b;
            return x != x ? a : y != y ? b : x < y || (x == y && std::signbit(x)) ? a : b;
        }
    }
};
struct AndLane {
    template <typename T>
    T operator()(T a, T b) const {
        return static_cast<T>(a & b);
    }
};
struct OrLane {
    template <typename T>
    T operator()(T a, T b) const {
        return static_cast<T>(a | b);
    }
};

// A signed left shift keeps the sign bit and shifts the others.
template <typename T>
T ShiftLeftLane(T value, T amount) {
    using U = std::make_unsigned_t<T>;
    constexpr U sign = std::is_signed_v<T> ? static_cast<U>(U{1} << (8 * sizeof(T) - 1)) : U{0};
    const auto bits = static_cast<U>(value);
    const U shifted = static_cast<uint64_t>(amount) >= 8 * sizeof(T)
                          ? U{0}
                          : static_cast<U>(static_cast<uint64_t>(bits) << amount);
    return static_cast<T>(static_cast<U>((bits & sign) | (shifted & static_cast<U>(~sign))));
}
template <typename T>
T ShiftRightLane(T value, T amount) {
    constexpr uint64_t width = 8 * sizeof(T);
    const uint64_t by =
        static_cast<uint64_t>(amount) >= width ? width - 1 : static_cast<uint64_t>(amount);
    const T shifted = static_cast<T>(value >> by);
    return static_cast<uint64_t>(amount) >= width && !std::is_signed_v<T> ? T{0} : shifted;
}

}  // namespace sim

namespace AscendC {

// Op(dst, src0, src1, ...) in the count form and both mask forms.
#define SIM_BINARY(Op, Lane, types)                                                               \
    template <typename T>                                                                         \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,    \
            int32_t count, sim::Loc loc = sim::Loc::Here()) {                                     \
        static_assert(sim::types<T>, #Op ": this architecture does not support the type");        \
        sim::CountForm(#Op, loc, count, sim::Lane(), dst, src0, src1);                            \
    }                                                                                             \
    template <typename T, bool isSetMask = true>                                                  \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,    \
            uint64_t mask, uint8_t repeatTime, const BinaryRepeatParams &p,                       \
            sim::Loc loc = sim::Loc::Here()) {                                                    \
        static_assert(sim::types<T>, #Op ": this architecture does not support the type");        \
        sim::MaskForm<isSetMask>(#Op, loc, mask, repeatTime, sim::Lane(),                         \
                                 sim::Operand<T>{dst, p.dstBlkStride, p.dstRepStride, true},      \
                                 sim::Operand<T>{src0, p.src0BlkStride, p.src0RepStride, false},  \
                                 sim::Operand<T>{src1, p.src1BlkStride, p.src1RepStride, false}); \
    }                                                                                             \
    template <typename T, bool isSetMask = true>                                                  \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,    \
            const uint64_t mask[], uint8_t repeatTime, const BinaryRepeatParams &p,               \
            sim::Loc loc = sim::Loc::Here()) {                                                    \
        static_assert(sim::types<T>, #Op ": this architecture does not support the type");        \
        sim::MaskForm<isSetMask>(#Op, loc, mask, repeatTime, sim::Lane(),                         \
                                 sim::Operand<T>{dst, p.dstBlkStride, p.dstRepStride, true},      \
                                 sim::Operand<T>{src0, p.src0BlkStride, p.src0RepStride, false},  \
                                 sim::Operand<T>{src1, p.src1BlkStride, p.src1RepStride, false}); \
    }

SIM_BINARY(Add, AddLane, kArithmetic)
SIM_BINARY(Sub, SubLane, kArithmetic)
SIM_BINARY(Mul, MulLane, kArithmetic)
SIM_BINARY(Div, DivLane, kDivisible)
SIM_BINARY(Max, MaxLane, kArithmetic)
SIM_BINARY(Min, MinLane, kArithmetic)
SIM_BINARY(And, AndLane, kLogical)
SIM_BINARY(Or, OrLane, kLogical)
#undef SIM_BINARY

// Op(dst, src, scalar, ...) with the lane's expression in x (the element) and s (the scalar).
#define SIM_SCALAR(Op, types, expression)                                                         \
    template <typename T, bool isSetMask = true>                                                  \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalar, int32_t count, \
            sim::Loc loc = sim::Loc::Here()) {                                                    \
        static_assert(sim::types<T>, #Op ": this architecture does not support the type");        \
        sim::CountForm(#Op, loc, count, [s = scalar](T x) -> T { return expression; }, dst, src); \
    }                                                                                             \
    template <typename T, bool isSetMask = true>                                                  \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalar, uint64_t mask, \
            uint8_t repeatTime, const UnaryRepeatParams &p, sim::Loc loc = sim::Loc::Here()) {    \
        static_assert(sim::types<T>, #Op ": this architecture does not support the type");        \
        sim::MaskForm<isSetMask>(                                                                 \
            #Op, loc, mask, repeatTime, [s = scalar](T x) -> T { return expression; },            \
            sim::Operand<T>{dst, p.dstBlkStride, p.dstRepStride, true},                           \
            sim::Operand<T>{src, p.srcBlkStride, p.srcRepStride, false});                         \
    }                                                                                             \
    template <typename T, bool isSetMask = true>                                                  \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalar,                \
            const uint64_t mask[], uint8_t repeatTime, const UnaryRepeatParams &p,                \
            sim::Loc loc = sim::Loc::Here()) {                                                    \
        static_assert(sim::types<T>, #Op ": this architecture does not support the type");        \
        sim::MaskForm<isSetMask>(                                                                 \
            #Op, loc, mask, repeatTime, [s = scalar](T x) -> T { return expression; },            \
            sim::Operand<T>{dst, p.dstBlkStride, p.dstRepStride, true},                           \
            sim::Operand<T>{src, p.srcBlkStride, p.srcRepStride, false});                         \
    }

SIM_SCALAR(Adds, kArithmetic, sim::AddLane()(x, s))
SIM_SCALAR(Muls, kArithmetic, sim::MulLane()(x, s))
SIM_SCALAR(Maxs, kArithmetic, sim::MaxLane()(x, s))
SIM_SCALAR(Mins, kArithmetic, sim::MinLane()(x, s))
SIM_SCALAR(LeakyRelu, kReal, static_cast<float>(x) >= 0.0F ? x : sim::MulLane()(x, s))
SIM_SCALAR(ShiftLeft, kShiftable, sim::ShiftLeftLane(x, s))
SIM_SCALAR(ShiftRight, kShiftable, sim::ShiftRightLane(x, s))
#undef SIM_SCALAR

#define SIM_UNARY(Op, types, expression)                                                       \
    template <typename T, bool isSetMask = true>                                               \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t count,               \
            sim::Loc loc = sim::Loc::Here()) {                                                 \
        static_assert(sim::types<T>, #Op ": this architecture does not support the type");     \
        sim::CountForm(                                                                        \
            #Op, loc, count, [](T x) -> T { return static_cast<T>(expression); }, dst, src);   \
    }                                                                                          \
    template <typename T, bool isSetMask = true>                                               \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint64_t mask,               \
            uint8_t repeatTime, const UnaryRepeatParams &p, sim::Loc loc = sim::Loc::Here()) { \
        static_assert(sim::types<T>, #Op ": this architecture does not support the type");     \
        sim::MaskForm<isSetMask>(                                                              \
            #Op, loc, mask, repeatTime, [](T x) -> T { return static_cast<T>(expression); },   \
            sim::Operand<T>{dst, p.dstBlkStride, p.dstRepStride, true},                        \
            sim::Operand<T>{src, p.srcBlkStride, p.srcRepStride, false});                      \
    }                                                                                          \
    template <typename T, bool isSetMask = true>                                               \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint64_t mask[],       \
            uint8_t repeatTime, const UnaryRepeatParams &p, sim::Loc loc = sim::Loc::Here()) { \
        static_assert(sim::types<T>, #Op ": this architecture does not support the type");     \
        sim::MaskForm<isSetMask>(                                                              \
            #Op, loc, mask, repeatTime, [](T x) -> T { return static_cast<T>(expression); },   \
            sim::Operand<T>{dst, p.dstBlkStride, p.dstRepStride, true},                        \
            sim::Operand<T>{src, p.srcBlkStride, p.srcRepStride, false});                      \
    }

SIM_UNARY(Abs, kReal, std::fabs(static_cast<float>(x)))
SIM_UNARY(Exp, kReal, std::exp(static_cast<float>(x)))
SIM_UNARY(Ln, kReal, std::log(static_cast<float>(x)))
SIM_UNARY(Sqrt, kReal, std::sqrt(static_cast<float>(x)))
SIM_UNARY(Rsqrt, kReal, 1.0F / std::sqrt(static_cast<float>(x)))
SIM_UNARY(Reciprocal, kReal, 1.0F / static_cast<float>(x))
SIM_UNARY(Relu, kArithmetic, sim::MaxLane()(x, T(0)))
SIM_UNARY(Not, kLogical, ~x)
#undef SIM_UNARY

namespace detail {
template <typename D, typename S>
constexpr bool kAccumulates = (sim::kReal<D> && std::is_same_v<D, S>) ||
                              (std::is_same_v<D, float> && std::is_same_v<S, half>);
}  // namespace detail

// dst += src * scalar, rounded once.
template <typename D, typename S>
void Axpy(const LocalTensor<D> &dst, const LocalTensor<S> &src, const S &scalar, int32_t count,
          sim::Loc loc = sim::Loc::Here()) {
    static_assert(detail::kAccumulates<D, S>, "Axpy: this architecture does not support the types");
    const float factor = scalar;
    sim::CountForm(
        "Axpy", loc, count,
        [factor](D sum, S x) -> D {
            return static_cast<D>(static_cast<float>(sum) + static_cast<float>(x) * factor);
        },
        dst, dst, src);
}
// dst += src0 * src1.
template <typename D, typename S>
void MulAddDst(const LocalTensor<D> &dst, const LocalTensor<S> &src0, const LocalTensor<S> &src1,
               int32_t count, sim::Loc loc = sim::Loc::Here()) {
    static_assert(detail::kAccumulates<D, S>,
                  "MulAddDst: this architecture does not support the types");
    sim::CountForm(
        "MulAddDst", loc, count,
        [](D sum, S x, S y) -> D {
            return static_cast<D>(static_cast<float>(sum) +
                                  static_cast<float>(x) * static_cast<float>(y));
        },
        dst, dst, src0, src1);
}
// dst = src0 * dst + src1.
template <typename T>
void FusedMulAdd(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
                 int32_t count, sim::Loc loc = sim::Loc::Here()) {
    static_assert(sim::kReal<T>, "FusedMulAdd: this architecture does not support the type");
    sim::CountForm(
        "FusedMulAdd", loc, count,
        [](T old, T x, T y) -> T {
            return static_cast<T>(static_cast<float>(x) * static_cast<float>(old) +
                                  static_cast<float>(y));
        },
        dst, dst, src0, src1);
}
template <typename T>
void AddRelu(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
             int32_t count, sim::Loc loc = sim::Loc::Here()) {
    static_assert(sim::kOneOf<T, half, float, int16_t>,
                  "AddRelu: this architecture does not support the type");
    sim::CountForm(
        "AddRelu", loc, count,
        [](T x, T y) -> T { return sim::MaxLane()(sim::AddLane()(x, y), T(0)); }, dst, src0, src1);
}
template <typename T>
void SubRelu(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
             int32_t count, sim::Loc loc = sim::Loc::Here()) {
    static_assert(sim::kOneOf<T, half, float, int16_t>,
                  "SubRelu: this architecture does not support the type");
    sim::CountForm(
        "SubRelu", loc, count,
        [](T x, T y) -> T { return sim::MaxLane()(sim::SubLane()(x, y), T(0)); }, dst, src0, src1);
}

}  // namespace AscendC
