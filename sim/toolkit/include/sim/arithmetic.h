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
template <typename T>
constexpr bool kAddRelu = kOneOf<T, half, float, int16_t>;
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
            // The smallest integer by -1 wraps.
            return b == 0                              ? T(~T{0})
                   : std::is_signed_v<T> && b == T(-1) ? SubLane()(T(0), a)
                                                       : static_cast<T>(a / b);
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
struct XorLane {
    template <typename T>
    T operator()(T a, T b) const {
        return static_cast<T>(a ^ b);
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
// Signed numbers keep their sign; `roundEn` adds the last bit that is shifted out.
template <typename T>
T ShiftRightLane(T value, T amount, bool roundEn = false) {
    constexpr uint64_t width = 8 * sizeof(T);
    const uint64_t by =
        static_cast<uint64_t>(amount) >= width ? width - 1 : static_cast<uint64_t>(amount);
    const T shifted = static_cast<uint64_t>(amount) >= width && !std::is_signed_v<T>
                          ? T{0}
                          : static_cast<T>(value >> by);
    if (!roundEn || amount == 0) {
        return shifted;
    }
    const auto last =
        static_cast<uint64_t>(amount) >= width ? width : static_cast<uint64_t>(amount);
    return static_cast<T>(shifted + static_cast<T>(value >> (last - 1) & 1));
}

template <typename Lane>
struct ReluOf {
    template <typename T>
    T operator()(T a, T b) const {
        return MaxLane()(Lane()(a, b), T(0));
    }
};
// a * b + c, rounded once.
template <typename D, typename S, typename R>
D MulAdd(S a, R b, D c) {
    return static_cast<D>(static_cast<float>(a) * static_cast<float>(b) + static_cast<float>(c));
}

template <typename D, typename S>
constexpr bool kAccumulates =
    (kReal<D> && std::is_same_v<D, S>) || (std::is_same_v<D, float> && std::is_same_v<S, half>);

// The operands of a call with strides.
template <typename T, typename Params>
Operand<T> Destination(const AscendC::LocalTensor<T> &dst, const Params &p) {
    return {dst, p.dstBlkStride, p.dstRepStride, true};
}
template <typename T, typename Params>
Operand<T> OldDestination(const AscendC::LocalTensor<T> &dst, const Params &p) {
    return {dst, p.dstBlkStride, p.dstRepStride, false};
}
template <typename T>
Operand<T> Source(const AscendC::LocalTensor<T> &src, const AscendC::UnaryRepeatParams &p) {
    return {src, p.srcBlkStride, p.srcRepStride, false};
}
template <typename T>
Operand<T> Source0(const AscendC::LocalTensor<T> &src0, const AscendC::BinaryRepeatParams &p) {
    return {src0, p.src0BlkStride, p.src0RepStride, false};
}
template <typename T>
Operand<T> Source1(const AscendC::LocalTensor<T> &src1, const AscendC::BinaryRepeatParams &p) {
    return {src1, p.src1BlkStride, p.src1RepStride, false};
}

// Checks all that an operand touches in the steps of a mask form.
template <typename T>
void CheckSteps(const Operand<T> &operand, const Steps &steps, uint32_t lanes, const char *api,
                Loc loc) {
    constexpr uint32_t run = Operand<T>::kPerBlock;
    Takes<T>(steps.repeats + (steps.tail != 0 ? 1 : 0));
    CheckOperand(operand, steps.repeats, lanes, steps.mask, run, api, loc);
    if (steps.tail != 0) {
        Operand<T> rest = operand;
        rest.tensor =
            operand.tensor[static_cast<uint32_t>(operand.Offset(steps.repeats, 0) / sizeof(T))];
        CheckOperand(rest, 1, lanes, FirstLanes(steps.tail, lanes, api, loc), run, api, loc);
    }
}

// Calls visit(repeat, lane) for each active lane.
template <typename Visit>
void ForEachLane(const Steps &steps, uint32_t lanes, Visit visit) {
    for (uint32_t repeat = 0; repeat < steps.repeats; ++repeat) {
        for (uint32_t lane = 0; lane < lanes; ++lane) {
            if (steps.mask.Get(lane)) {
                visit(repeat, lane);
            }
        }
    }
    for (uint32_t lane = 0; lane < steps.tail; ++lane) {
        visit(steps.repeats, lane);
    }
}

}  // namespace sim

// The types that the architecture has for an instruction.
#define SIM_TYPES(Op, ...) \
    static_assert(sim::__VA_ARGS__, #Op ": this architecture does not support the type")

namespace AscendC {

// Each instruction has a form by count, and one by mask, repeats and strides, where M is a number
// of lanes or an array of bits.

// Op(dst, src0, src1, ...).
#define SIM_BINARY(Op, Lane, types)                                                            \
    template <typename T>                                                                      \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, \
            int32_t count, sim::Loc loc = sim::Loc::Here()) {                                  \
        SIM_TYPES(Op, types<T>);                                                               \
        sim::CountForm(#Op, loc, count, sim::Lane(), dst, src0, src1);                         \
    }                                                                                          \
    SIM_BINARY_MASK(Op, Lane, types)
#define SIM_BINARY_MASK(Op, Lane, types)                                                       \
    template <typename T, bool isSetMask = true, typename M>                                   \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, \
            M mask, uint32_t repeatTime, const BinaryRepeatParams &p,                          \
            sim::Loc loc = sim::Loc::Here()) {                                                 \
        SIM_TYPES(Op, types<T>);                                                               \
        sim::MaskForm<isSetMask>(#Op, loc, mask, repeatTime, sim::Lane(),                      \
                                 sim::Destination(dst, p), sim::Source0(src0, p),              \
                                 sim::Source1(src1, p));                                       \
    }

SIM_BINARY(Add, AddLane, kArithmetic)
SIM_BINARY(Sub, SubLane, kArithmetic)
SIM_BINARY(Mul, MulLane, kArithmetic)
SIM_BINARY(Div, DivLane, kDivisible)
SIM_BINARY(Max, MaxLane, kArithmetic)
SIM_BINARY(Min, MinLane, kArithmetic)
SIM_BINARY(AddRelu, ReluOf<sim::AddLane>, kAddRelu)
SIM_BINARY(SubRelu, ReluOf<sim::SubLane>, kAddRelu)
#if __NPU_ARCH__ == 3510
SIM_BINARY(And, AndLane, kLogical)
SIM_BINARY(Or, OrLane, kLogical)
SIM_BINARY(Xor, XorLane, kLogical)
#else
// By count, 32-bit integers are taken for `count` integers of 16 bits: half of what one expects.
#define SIM_LOGIC(Op, Lane)                                                                       \
    template <typename T>                                                                         \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,    \
            int32_t count, sim::Loc loc = sim::Loc::Here()) {                                     \
        if constexpr (sim::kOneOf<T, int32_t, uint32_t>) {                                        \
            sim::CountForm(#Op, loc, count, sim::Lane(), dst.template ReinterpretCast<int16_t>(), \
                           src0.template ReinterpretCast<int16_t>(),                              \
                           src1.template ReinterpretCast<int16_t>());                             \
        } else {                                                                                  \
            SIM_TYPES(Op, kLogical<T>);                                                           \
            sim::CountForm(#Op, loc, count, sim::Lane(), dst, src0, src1);                        \
        }                                                                                         \
    }                                                                                             \
    SIM_BINARY_MASK(Op, Lane, kLogical)
SIM_LOGIC(And, AndLane)
SIM_LOGIC(Or, OrLane)
#undef SIM_LOGIC
#endif
#undef SIM_BINARY
#undef SIM_BINARY_MASK

// Op(dst, src, scalar, ...) with the lane's expression in x (the element) and s (the scalar).
#define SIM_SCALAR(Op, types, expression)                                                         \
    template <typename T, bool isSetMask = true>                                                  \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalar, int32_t count, \
            sim::Loc loc = sim::Loc::Here()) {                                                    \
        SIM_TYPES(Op, types<T>);                                                                  \
        sim::CountForm(#Op, loc, count, [s = scalar](T x) -> T { return expression; }, dst, src); \
    }                                                                                             \
    template <typename T, bool isSetMask = true, typename M>                                      \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalar, M mask,        \
            uint32_t repeatTime, const UnaryRepeatParams &p, sim::Loc loc = sim::Loc::Here()) {   \
        SIM_TYPES(Op, types<T>);                                                                  \
        sim::MaskForm<isSetMask>(                                                                 \
            #Op, loc, mask, repeatTime, [s = scalar](T x) -> T { return expression; },            \
            sim::Destination(dst, p), sim::Source(src, p));                                       \
    }

SIM_SCALAR(Adds, kArithmetic, sim::AddLane()(x, s))
SIM_SCALAR(Muls, kArithmetic, sim::MulLane()(x, s))
SIM_SCALAR(Maxs, kArithmetic, sim::MaxLane()(x, s))
SIM_SCALAR(Mins, kArithmetic, sim::MinLane()(x, s))
SIM_SCALAR(LeakyRelu, kReal, static_cast<float>(x) >= 0.0F ? x : sim::MulLane()(x, s))
SIM_SCALAR(ShiftLeft, kShiftable, sim::ShiftLeftLane(x, s))
#if __NPU_ARCH__ == 3510
SIM_SCALAR(ShiftRight, kShiftable, sim::ShiftRightLane(x, s))
SIM_SCALAR(Ands, kLogical, sim::AndLane()(x, s))
SIM_SCALAR(Ors, kLogical, sim::OrLane()(x, s))
#endif
#undef SIM_SCALAR

#if __NPU_ARCH__ == 2201
template <typename T, bool isSetMask = true>
void ShiftRight(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalar,
                int32_t count, sim::Loc loc = sim::Loc::Here()) {
    SIM_TYPES(ShiftRight, kShiftable<T>);
    sim::CountForm(
        "ShiftRight", loc, count, [scalar](T x) { return sim::ShiftRightLane(x, scalar); }, dst,
        src);
}
template <typename T, bool isSetMask = true, typename M>
void ShiftRight(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalar, M mask,
                uint32_t repeatTime, const UnaryRepeatParams &p, bool roundEn = false,
                sim::Loc loc = sim::Loc::Here()) {
    SIM_TYPES(ShiftRight, kShiftable<T>);
    if (roundEn && !std::is_signed_v<T>) {
        sim::ThisCore().Fail(sim::Check::CastMode, "ShiftRight", loc,
                             "roundEn exists for int16_t and int32_t only");
    }
    sim::MaskForm<isSetMask>(
        "ShiftRight", loc, mask, repeatTime,
        [scalar, roundEn](T x) { return sim::ShiftRightLane(x, scalar, roundEn); },
        sim::Destination(dst, p), sim::Source(src, p));
}
#endif

#define SIM_UNARY(Op, types, expression)                                                       \
    template <typename T, bool isSetMask = true>                                               \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t count,               \
            sim::Loc loc = sim::Loc::Here()) {                                                 \
        SIM_TYPES(Op, types<T>);                                                               \
        sim::CountForm(                                                                        \
            #Op, loc, count, [](T x) -> T { return static_cast<T>(expression); }, dst, src);   \
    }                                                                                          \
    template <typename T, bool isSetMask = true, typename M>                                   \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src, M mask, uint32_t repeatTime, \
            const UnaryRepeatParams &p, sim::Loc loc = sim::Loc::Here()) {                     \
        SIM_TYPES(Op, types<T>);                                                               \
        sim::MaskForm<isSetMask>(                                                              \
            #Op, loc, mask, repeatTime, [](T x) -> T { return static_cast<T>(expression); },   \
            sim::Destination(dst, p), sim::Source(src, p));                                    \
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

// dst += src * scalar.
template <typename D, typename S>
void Axpy(const LocalTensor<D> &dst, const LocalTensor<S> &src, const S &scalar, int32_t count,
          sim::Loc loc = sim::Loc::Here()) {
    SIM_TYPES(Axpy, kAccumulates<D, S>);
    sim::CountForm(
        "Axpy", loc, count, [scalar](D sum, S x) { return sim::MulAdd(x, scalar, sum); }, dst, dst,
        src);
}
template <typename D, typename S, bool isSetMask = true, typename M>
void Axpy(const LocalTensor<D> &dst, const LocalTensor<S> &src, const S &scalar, M mask,
          uint32_t repeatTime, const UnaryRepeatParams &p, sim::Loc loc = sim::Loc::Here()) {
    SIM_TYPES(Axpy, kAccumulates<D, S>);
    sim::MaskForm<isSetMask>(
        "Axpy", loc, mask, repeatTime, [scalar](D sum, S x) { return sim::MulAdd(x, scalar, sum); },
        sim::Destination(dst, p), sim::OldDestination(dst, p), sim::Source(src, p));
}
// dst += src0 * src1.
template <typename D, typename S>
void MulAddDst(const LocalTensor<D> &dst, const LocalTensor<S> &src0, const LocalTensor<S> &src1,
               int32_t count, sim::Loc loc = sim::Loc::Here()) {
    SIM_TYPES(MulAddDst, kAccumulates<D, S>);
    sim::CountForm(
        "MulAddDst", loc, count, [](D sum, S x, S y) { return sim::MulAdd(x, y, sum); }, dst, dst,
        src0, src1);
}
template <typename D, typename S, bool isSetMask = true, typename M>
void MulAddDst(const LocalTensor<D> &dst, const LocalTensor<S> &src0, const LocalTensor<S> &src1,
               M mask, uint32_t repeatTime, const BinaryRepeatParams &p,
               sim::Loc loc = sim::Loc::Here()) {
    SIM_TYPES(MulAddDst, kAccumulates<D, S>);
    sim::MaskForm<isSetMask>(
        "MulAddDst", loc, mask, repeatTime, [](D sum, S x, S y) { return sim::MulAdd(x, y, sum); },
        sim::Destination(dst, p), sim::OldDestination(dst, p), sim::Source0(src0, p),
        sim::Source1(src1, p));
}

// dst = src0 * dst + src1, with the lane's expression in `sum`.
#define SIM_FUSED(Op, expression)                                                              \
    template <typename T>                                                                      \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, \
            int32_t count, sim::Loc loc = sim::Loc::Here()) {                                  \
        SIM_TYPES(Op, kReal<T>);                                                               \
        sim::CountForm(                                                                        \
            #Op, loc, count,                                                                   \
            [](T old, T x, T y) {                                                              \
                const T sum = sim::MulAdd(x, old, y);                                          \
                return expression;                                                             \
            },                                                                                 \
            dst, dst, src0, src1);                                                             \
    }                                                                                          \
    template <typename T, bool isSetMask = true, typename M>                                   \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, \
            M mask, uint32_t repeatTime, const BinaryRepeatParams &p,                          \
            sim::Loc loc = sim::Loc::Here()) {                                                 \
        SIM_TYPES(Op, kReal<T>);                                                               \
        sim::MaskForm<isSetMask>(                                                              \
            #Op, loc, mask, repeatTime,                                                        \
            [](T old, T x, T y) {                                                              \
                const T sum = sim::MulAdd(x, old, y);                                          \
                return expression;                                                             \
            },                                                                                 \
            sim::Destination(dst, p), sim::OldDestination(dst, p), sim::Source0(src0, p),      \
            sim::Source1(src1, p));                                                            \
    }
SIM_FUSED(FusedMulAdd, sum)
SIM_FUSED(FusedMulAddRelu, sim::MaxLane()(sum, T(0)))
SIM_FUSED(MulAddRelu, sim::MaxLane()(sum, T(0)))
#undef SIM_FUSED

#if __NPU_ARCH__ == 3510

// Op(dst, src, scalar) and Op(dst, scalar, src): which side the scalar stands on matters.
#define SIM_EITHER_SIDE(Op, Lane, types)                                                          \
    template <typename T>                                                                         \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalar, int32_t count, \
            sim::Loc loc = sim::Loc::Here()) {                                                    \
        SIM_TYPES(Op, types<T>);                                                                  \
        sim::CountForm(                                                                           \
            #Op, loc, count, [s = scalar](T x) { return sim::Lane()(x, s); }, dst, src);          \
    }                                                                                             \
    template <typename T>                                                                         \
    void Op(const LocalTensor<T> &dst, const T &scalar, const LocalTensor<T> &src, int32_t count, \
            sim::Loc loc = sim::Loc::Here()) {                                                    \
        SIM_TYPES(Op, types<T>);                                                                  \
        sim::CountForm(                                                                           \
            #Op, loc, count, [s = scalar](T x) { return sim::Lane()(s, x); }, dst, src);          \
    }
SIM_EITHER_SIDE(Subs, SubLane, kArithmetic)
SIM_EITHER_SIDE(Divs, DivLane, kDivisible)
#undef SIM_EITHER_SIDE

// Shifts by an amount for each element.
#define SIM_SHIFT(Op, Lane)                                                                      \
    template <typename T, typename U>                                                            \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<U> &amount,  \
            int32_t count, sim::Loc loc = sim::Loc::Here()) {                                    \
        SIM_TYPES(Op, kShiftable<T>);                                                            \
        static_assert(sizeof(T) == sizeof(U) && std::is_integral_v<U>,                           \
                      #Op ": amounts are integers of the elements' width");                      \
        sim::CountForm(                                                                          \
            #Op, loc, count, [](T x, U s) { return sim::Lane(x, static_cast<T>(s)); }, dst, src, \
            amount);                                                                             \
    }
SIM_SHIFT(ShiftLeft, ShiftLeftLane)
SIM_SHIFT(ShiftRight, ShiftRightLane)
#undef SIM_SHIFT

template <typename T>
void Neg(const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t count,
         sim::Loc loc = sim::Loc::Here()) {
    static_assert(sim::kArithmetic<T> && (sim::kFloat<T> || std::is_signed_v<T>),
                  "Neg: signed types");
    sim::CountForm(
        "Neg", loc, count,
        [](T x) {
            if constexpr (std::is_integral_v<T>) {
                return sim::SubLane()(T(0), x);
            } else {
                return T(-static_cast<float>(x));
            }
        },
        dst, src);
}
template <typename T>
void Prelu(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
           uint32_t count, sim::Loc loc = sim::Loc::Here()) {
    SIM_TYPES(Prelu, kReal<T>);
    sim::CountForm(
        "Prelu", loc, count,
        [](T x, T slope) { return static_cast<float>(x) >= 0.0F ? x : sim::MulLane()(x, slope); },
        dst, src0, src1);
}
// The low and the high half of the product.
template <typename T>
void Mull(const LocalTensor<T> &low, const LocalTensor<T> &high, const LocalTensor<T> &src0,
          const LocalTensor<T> &src1, uint32_t count, sim::Loc loc = sim::Loc::Here()) {
    static_assert(sim::kOneOf<T, int32_t, uint32_t>, "Mull: int32_t and uint32_t");
    using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    const uint64_t bytes = uint64_t{count} * sizeof(T);
    sim::ThisCore().Begin(sim::Pipe::V, "Mull", loc);
    for (const auto &operand : {src0, src1, low, high}) {
        sim::CheckAligned(operand, ONE_BLK_SIZE, "Mull", loc);
    }
    sim::CheckRange(src0, 0, bytes, false, "Mull", loc);
    sim::CheckRange(src1, 0, bytes, false, "Mull", loc);
    sim::CheckRange(low, 0, bytes, true, "Mull", loc);
    sim::CheckRange(high, 0, bytes, true, "Mull", loc);
    for (uint32_t i = 0; i < count; ++i) {
        const Wide product = Wide{src0.Data()[i]} * Wide{src1.Data()[i]};
        low.Data()[i] = static_cast<T>(product);
        high.Data()[i] = static_cast<T>(product >> 32);
    }
}

#endif  // __NPU_ARCH__ == 3510

}  // namespace AscendC
