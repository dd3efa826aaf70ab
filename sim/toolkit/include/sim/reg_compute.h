// What vector registers compute, lane by lane and across lanes.
#pragma once

#include <cmath>

#include "sim/reg_memory.h"

namespace sim {

using AscendC::Reg::MaskMergeMode;
using AscendC::Reg::RegTensor;

// A float16 result, or an integer that left its range, as CTRL says.
template <typename T>
T Settle(T value) {
    if constexpr (kOneOf<T, half, bfloat16_t>) {
        return ThisCore().Control(48) ? value : SaturateFloat16(value);
    }
    return value;
}
template <typename T>
T SettleInteger(T wrapped, bool overflow, bool downwards) {
    if (!overflow || !ThisCore().Control(53)) {
        return wrapped;
    }
    return downwards ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
}

struct RegAdd {
    template <typename T>
    T operator()(T a, T b) const {
        if constexpr (std::is_integral_v<T>) {
            T out;
            const bool overflow = __builtin_add_overflow(a, b, &out);
            return SettleInteger(out, overflow, std::is_signed_v<T> && b < 0);
        } else {
            return Settle(AddLane()(a, b));
        }
    }
};
struct RegSub {
    template <typename T>
    T operator()(T a, T b) const {
        if constexpr (std::is_integral_v<T>) {
            T out;
            const bool overflow = __builtin_sub_overflow(a, b, &out);
            return SettleInteger(out, overflow, !std::is_signed_v<T> || b > 0);
        } else {
            return Settle(SubLane()(a, b));
        }
    }
};
struct RegMul {
    template <typename T>
    T operator()(T a, T b) const {
        if constexpr (std::is_integral_v<T>) {
            T out;
            const bool overflow = __builtin_mul_overflow(a, b, &out);
            return SettleInteger(out, overflow, std::is_signed_v<T> && (a < 0) != (b < 0));
        } else {
            return Settle(MulLane()(a, b));
        }
    }
};

// Subnormal numbers as zeros of their sign: what the hardware does in division and functions.
template <typename T>
float Flush(T value) {
    constexpr float smallest = std::is_same_v<T, half> ? 0x1p-14F : 0x1p-126F;
    const float x = value;
    return std::fabs(x) < smallest ? std::copysign(0.0F, x) : x;
}
template <typename T, bool flush, typename F>
T Function(F f, T x) {
    if constexpr (flush) {
        return Settle(T(Flush(T(f(Flush(x))))));
    }
    return Settle(T(f(static_cast<float>(x))));
}

template <bool flush>
struct RegDiv {
    template <typename T>
    T operator()(T a, T b) const {
        if constexpr (std::is_integral_v<T>) {
            if (b == 0) {
                return static_cast<T>(~T{0});
            }
            return std::is_signed_v<T> && b == static_cast<T>(-1)
                       ? static_cast<T>(0 - static_cast<uint64_t>(a))
                       : static_cast<T>(a / b);
        } else if constexpr (flush) {
            return Settle(T(Flush(T(Flush(a) / Flush(b)))));
        } else {
            return Settle(T(static_cast<float>(a) / static_cast<float>(b)));
        }
    }
};

// Shifts by the width or more leave nothing, or the sign.
template <typename T, typename A>
T RegShiftLeft(T value, A amount) {
    const auto by = static_cast<uint64_t>(amount);
    return by >= 8 * sizeof(T) ? T{0} : static_cast<T>(static_cast<uint64_t>(value) << by);
}
template <typename T, typename A>
T RegShiftRight(T value, A amount) {
    const uint64_t by = std::min<uint64_t>(static_cast<uint64_t>(amount), 8 * sizeof(T));
    if (by == 8 * sizeof(T)) {
        return value < 0 ? static_cast<T>(-1) : T{0};
    }
    return static_cast<T>(value >> by);
}

// Lanes of which a byte is undefined.
template <typename T>
bool LaneUndefined(const Register &reg, uint32_t lane) {
    for (uint32_t i = 0; i < sizeof(T); ++i) {
        if (reg.undefined.Get(lane * sizeof(T) + i)) {
            return true;
        }
    }
    return false;
}
template <typename T>
void SetUndefined(Register &reg, uint32_t lane) {
    for (uint32_t i = 0; i < sizeof(T); ++i) {
        reg.undefined.Set(lane * sizeof(T) + i);
    }
}

// dst = f(src...) in the active lanes, and 0 or its old value in the others.
template <MaskMergeMode mode, typename D, typename F, typename... S>
void ForLanes(RegTensor<D> &dst, const MaskReg &mask, F f, const RegTensor<S> &...src) {
    static_assert(mode != MaskMergeMode::UNKNOWN, "the MaskMergeMode is ZEROING or MERGING");
    const bool merging = mode == MaskMergeMode::MERGING;
    ThisCore().order.timing.Registers(0.5);
    Register out = Register::Zero();
    const bool defined = !(src.undefined.Any() || ...) && !(merging && dst.undefined.Any());
    for (uint32_t lane = 0; lane < RegTensor<D>::kLanes; ++lane) {
        if (mask.Lane<D>(lane)) {
            out.Set(lane, static_cast<D>(f(src.template Get<S>(lane)...)));
            if (!defined && (LaneUndefined<S>(src, lane) || ...)) {
                SetUndefined<D>(out, lane);
            }
        } else if (merging) {
            out.Set(lane, dst.template Get<D>(lane));
            if (!defined && LaneUndefined<D>(dst, lane)) {
                SetUndefined<D>(out, lane);
            }
        }
    }
    if (merging) {
        out.Follow(dst);
    }
    (out.Follow(src), ...);
    out.past.Join(mask.past);
    static_cast<Register &>(dst) = out;
}

// Active lanes are about to decide something: they must be defined.
template <typename T>
void RequireDefined(const Register &reg, const MaskReg &mask, const char *does, const char *api,
                    Loc loc) {
    for (uint32_t lane = 0; reg.undefined.Any() && lane < kVectorBytes / sizeof(T); ++lane) {
        if (mask.Lane<T>(lane) && LaneUndefined<T>(reg, lane)) {
            FailUndefined(reg, does, api, loc);
            return;
        }
    }
}

// A result whose lanes come from bytes of one or two registers: source(i) is the byte for byte i,
// counted through both, or negative for 0.
template <typename Source>
Register Shuffle(const Register &a, const Register &b, Source source) {
    Register out = Register::Zero();
    for (uint32_t i = 0; i < kVectorBytes; ++i) {
        const int32_t from = source(i);
        if (from >= 0) {
            const auto byte = static_cast<uint32_t>(from);
            const Register &reg = byte < kVectorBytes ? a : b;
            out.bytes[i] = reg.bytes[byte % kVectorBytes];
            if (reg.undefined.Get(byte % kVectorBytes)) {
                out.undefined.Set(i);
            }
        }
    }
    out.Follow(b);
    out.Follow(a);
    return out;
}

template <typename T>
constexpr bool kFloat32 = std::is_same_v<T, float>;
template <typename T>
constexpr bool kSigned =
    std::is_same_v<T, float> || std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t> ||
    (std::is_integral_v<T> && std::is_signed_v<T>);
template <typename T>
constexpr bool kInteger32 = kOneOf<T, int32_t, uint32_t>;
template <typename T>
constexpr bool kQuotient = kArithmetic<T> && sizeof(T) != 1 && !std::is_same_v<T, bfloat16_t>;
template <typename T>
constexpr bool kReluType = kOneOf<T, half, float, int32_t>;
template <typename T>
constexpr bool kTruncates = kFloat<T>;

}  // namespace sim

namespace AscendC {
namespace Reg {

#define SIM_REG_TYPES(Op, types)                                          \
    static_assert(std::is_same_v<T, DefaultType> || std::is_same_v<T, E>, \
                  "Reg::" #Op ": T is not the type of the registers");    \
    static_assert(sim::types<E>, "Reg::" #Op ": dav-3510 does not support the type")
#define SIM_REG_ZEROING(Op, mode) \
    static_assert(mode == MaskMergeMode::ZEROING, "Reg::" #Op ": MaskMergeMode::ZEROING only")

// Op(dst, a, b, mask) of the lane's values x and y.
#define SIM_REG_BINARY(Op, types, expression)                                                    \
    template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING, typename E> \
    void Op(RegTensor<E> &dst, RegTensor<E> &a, RegTensor<E> &b, MaskReg &mask) {                \
        SIM_REG_TYPES(Op, types);                                                                \
        sim::ForLanes<mode>(dst, mask, [](E x, E y) -> E { return expression; }, a, b);          \
    }
SIM_REG_BINARY(Add, kArithmetic, sim::RegAdd()(x, y))
SIM_REG_BINARY(Sub, kArithmetic, sim::RegSub()(x, y))
SIM_REG_BINARY(Mul, kArithmetic, sim::RegMul()(x, y))
SIM_REG_BINARY(Max, kArithmetic, sim::MaxLane()(x, y))
SIM_REG_BINARY(Min, kArithmetic, sim::MinLane()(x, y))
SIM_REG_BINARY(And, kLogical, static_cast<E>(x &y))
SIM_REG_BINARY(Or, kLogical, static_cast<E>(x | y))
SIM_REG_BINARY(Xor, kLogical, static_cast<E>(x ^ y))
SIM_REG_BINARY(Prelu, kReal, static_cast<float>(x) >= 0.0F ? x : sim::RegMul()(x, y))
SIM_REG_BINARY(AbsSub, kReal, E(std::fabs(static_cast<float>(sim::RegSub()(x, y)))))
#undef SIM_REG_BINARY

// Op(dst, src, scalar, mask) of the lane's value x and the scalar s.
#define SIM_REG_SCALAR(Op, types, expression)                                      \
    template <typename T = DefaultType, typename U = DefaultType,                  \
              MaskMergeMode mode = MaskMergeMode::ZEROING, typename E, typename V> \
    void Op(RegTensor<E> &dst, RegTensor<E> &src, V scalar, MaskReg &mask) {       \
        SIM_REG_TYPES(Op, types);                                                  \
        const auto s = static_cast<E>(scalar);                                     \
        sim::ForLanes<mode>(dst, mask, [s](E x) -> E { return expression; }, src); \
    }
SIM_REG_SCALAR(Adds, kArithmetic, sim::RegAdd()(x, s))
SIM_REG_SCALAR(Muls, kArithmetic, sim::RegMul()(x, s))
SIM_REG_SCALAR(Maxs, kArithmetic, sim::MaxLane()(x, s))
SIM_REG_SCALAR(Mins, kArithmetic, sim::MinLane()(x, s))
SIM_REG_SCALAR(LeakyRelu, kReal, static_cast<float>(x) >= 0.0F ? x : sim::RegMul()(x, s))
#undef SIM_REG_SCALAR

#define SIM_REG_UNARY(Op, types, expression)                                                     \
    template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING, typename E> \
    void Op(RegTensor<E> &dst, RegTensor<E> &src, MaskReg &mask) {                               \
        SIM_REG_TYPES(Op, types);                                                                \
        sim::ForLanes<mode>(dst, mask, [](E x) -> E { return expression; }, src);                \
    }
SIM_REG_UNARY(Abs, kSigned,
              std::is_integral_v<E> ? (x < 0 ? sim::RegSub()(E(0), x) : x)
                                    : E(std::fabs(static_cast<float>(x))))
SIM_REG_UNARY(Neg, kSigned, std::is_integral_v<E> ? sim::RegSub()(E(0), x) : E(-x))
SIM_REG_UNARY(Relu, kReluType, sim::MaxLane()(x, E(0)))
SIM_REG_UNARY(Not, kLogical, static_cast<E>(~x))
#undef SIM_REG_UNARY

// --- division and functions, with the choice of what happens to subnormal numbers ---

enum class ExpAlgo { INTRINSIC, PRECISION_1ULP_FTZ_TRUE, PRECISION_1ULP_FTZ_FALSE };
using LnAlgo = ExpAlgo;
using LogAlgo = ExpAlgo;
using Log2Algo = ExpAlgo;
using Log10Algo = ExpAlgo;
enum class DivAlgo {
    INTRINSIC,
    DIFF_COMPENSATION,
    PRECISION_1ULP_FTZ_TRUE,
    PRECISION_0ULP_FTZ_TRUE,
    PRECISION_0ULP_FTZ_FALSE,
    PRECISION_1ULP_FTZ_FALSE
};
enum class SqrtAlgo {
    INTRINSIC,
    FAST_INVERSE,
    PRECISION_1ULP_FTZ_TRUE,
    PRECISION_0ULP_FTZ_FALSE,
    PRECISION_1ULP_FTZ_FALSE
};
struct ExpSpecificMode {
    MaskMergeMode mrgMode = MaskMergeMode::ZEROING;
    ExpAlgo algo = ExpAlgo::INTRINSIC;
};
using LnSpecificMode = ExpSpecificMode;
using LogSpecificMode = ExpSpecificMode;
using Log2SpecificMode = ExpSpecificMode;
using Log10SpecificMode = ExpSpecificMode;
struct DivSpecificMode {
    MaskMergeMode mrgMode = MaskMergeMode::ZEROING;
    bool precisionMode = false;
    DivAlgo algo = DivAlgo::INTRINSIC;
};
struct SqrtSpecificMode {
    MaskMergeMode mrgMode = MaskMergeMode::ZEROING;
    bool precisionMode = false;
    SqrtAlgo algo = SqrtAlgo::INTRINSIC;
};

namespace detail {
// Whether a mode, which is a MaskMergeMode or a pointer to one of the above, flushes.
template <auto mode>
constexpr bool Flushes() {
    if constexpr (std::is_same_v<decltype(mode), MaskMergeMode>) {
        static_assert(mode == MaskMergeMode::ZEROING, "Reg: MaskMergeMode::ZEROING only");
        return true;
    } else {
        static_assert(mode->mrgMode == MaskMergeMode::ZEROING, "Reg: MaskMergeMode::ZEROING only");
        using Algo = std::decay_t<decltype(mode->algo)>;
        if constexpr (std::is_same_v<Algo, ExpAlgo>) {
            return mode->algo != Algo::PRECISION_1ULP_FTZ_FALSE;
        } else {
            return mode->algo != Algo::PRECISION_1ULP_FTZ_FALSE &&
                   mode->algo != Algo::PRECISION_0ULP_FTZ_FALSE;
        }
    }
}
}  // namespace detail

namespace detail {
// For the estimate: 16 lanes in a cycle.
template <typename E>
void TakesFunction() {
    sim::ThisCore().order.timing.Registers(RegTensor<E>::kLanes / 16.0);
}
}  // namespace detail

template <typename T = DefaultType, auto mode = MaskMergeMode::ZEROING, typename E>
void Div(RegTensor<E> &dst, RegTensor<E> &a, RegTensor<E> &b, MaskReg &mask) {
    SIM_REG_TYPES(Div, kQuotient);
    detail::TakesFunction<E>();
    sim::ForLanes<MaskMergeMode::ZEROING>(dst, mask, sim::RegDiv<detail::Flushes<mode>()>(), a, b);
}

#define SIM_REG_FUNCTION(Op, function)                                                  \
    template <typename T = DefaultType, auto mode = MaskMergeMode::ZEROING, typename E> \
    void Op(RegTensor<E> &dst, RegTensor<E> &src, MaskReg &mask) {                      \
        SIM_REG_TYPES(Op, kReal);                                                       \
        detail::TakesFunction<E>();                                                     \
        sim::ForLanes<MaskMergeMode::ZEROING>(                                          \
            dst, mask,                                                                  \
            [](E x) {                                                                   \
                return sim::Function<E, detail::Flushes<mode>()>(                       \
                    [](float v) { return function(v); }, x);                            \
            },                                                                          \
            src);                                                                       \
    }
SIM_REG_FUNCTION(Exp, std::exp)
SIM_REG_FUNCTION(Sqrt, std::sqrt)
SIM_REG_FUNCTION(Ln, std::log)
SIM_REG_FUNCTION(Log, std::log)
SIM_REG_FUNCTION(Log2, std::log2)
SIM_REG_FUNCTION(Log10, std::log10)
#undef SIM_REG_FUNCTION

// --- shifts: the amounts are signed, of the same width ---

template <typename T = DefaultType, typename U = DefaultType,
          MaskMergeMode mode = MaskMergeMode::ZEROING, typename E, typename A>
void ShiftLeft(RegTensor<E> &dst, RegTensor<E> &src, RegTensor<A> &amount, MaskReg &mask) {
    SIM_REG_TYPES(ShiftLeft, kShiftable);
    SIM_REG_ZEROING(ShiftLeft, mode);
    static_assert(std::is_same_v<A, std::make_signed_t<E>>,
                  "Reg::ShiftLeft: the amounts are signed, of the same width");
    sim::ForLanes<mode>(dst, mask, [](E x, A by) { return sim::RegShiftLeft(x, by); }, src, amount);
}
template <typename T = DefaultType, typename U = DefaultType,
          MaskMergeMode mode = MaskMergeMode::ZEROING, typename E, typename A>
void ShiftRight(RegTensor<E> &dst, RegTensor<E> &src, RegTensor<A> &amount, MaskReg &mask) {
    SIM_REG_TYPES(ShiftRight, kShiftable);
    SIM_REG_ZEROING(ShiftRight, mode);
    static_assert(std::is_same_v<A, std::make_signed_t<E>>,
                  "Reg::ShiftRight: the amounts are signed, of the same width");
    sim::ForLanes<mode>(
        dst, mask, [](E x, A by) { return sim::RegShiftRight(x, by); }, src, amount);
}
template <typename T = DefaultType, typename U = DefaultType,
          MaskMergeMode mode = MaskMergeMode::ZEROING, typename E, typename A>
void ShiftLefts(RegTensor<E> &dst, RegTensor<E> &src, A amount, MaskReg &mask) {
    SIM_REG_TYPES(ShiftLefts, kShiftable);
    sim::ForLanes<mode>(dst, mask, [amount](E x) { return sim::RegShiftLeft(x, amount); }, src);
}
template <typename T = DefaultType, typename U = DefaultType,
          MaskMergeMode mode = MaskMergeMode::ZEROING, typename E, typename A>
void ShiftRights(RegTensor<E> &dst, RegTensor<E> &src, A amount, MaskReg &mask) {
    SIM_REG_TYPES(ShiftRights, kShiftable);
    sim::ForLanes<mode>(dst, mask, [amount](E x) { return sim::RegShiftRight(x, amount); }, src);
}

// --- products that are added to ---

namespace detail {
// a * b + c, rounded once for half.
template <typename E>
E Fused(E a, E b, E c) {
    if constexpr (std::is_integral_v<E>) {
        return sim::RegAdd()(sim::RegMul()(a, b), c);
    } else {
        return sim::Settle(
            E(static_cast<float>(a) * static_cast<float>(b) + static_cast<float>(c)));
    }
}
}  // namespace detail

template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING, typename E>
void MulAddDst(RegTensor<E> &dst, RegTensor<E> &a, RegTensor<E> &b, MaskReg &mask) {
    SIM_REG_TYPES(MulAddDst, kArithmetic);
    sim::ForLanes<mode>(
        dst, mask, [](E x, E y, E old) { return detail::Fused(x, y, old); }, a, b, dst);
}
template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING, typename E>
void MulDstAdd(RegTensor<E> &dst, RegTensor<E> &a, RegTensor<E> &b, MaskReg &mask) {
    SIM_REG_TYPES(MulDstAdd, kReal);
    sim::ForLanes<mode>(
        dst, mask, [](E x, E y, E old) { return detail::Fused(old, x, y); }, a, b, dst);
}
template <typename T = DefaultType, typename U = DefaultType,
          MaskMergeMode mode = MaskMergeMode::ZEROING, typename E, typename V>
void Axpy(RegTensor<E> &dst, RegTensor<E> &src, const V scalar, MaskReg &mask) {
    SIM_REG_TYPES(Axpy, kReal);
    const auto s = static_cast<E>(scalar);
    sim::ForLanes<mode>(dst, mask, [s](E x, E old) { return detail::Fused(x, s, old); }, src, dst);
}

// --- carries: the lowest bit of a lane; 1 of a subtraction = it did not borrow ---

namespace detail {
template <typename E, typename F>
void WithCarry(MaskReg &carry, RegTensor<E> &dst, RegTensor<E> &a, RegTensor<E> &b,
               const MaskReg &carryIn, MaskReg &mask, F f, const char *api, sim::Loc loc) {
    sim::RequireDefined<E>(a, mask, "takes a carry from", api, loc);
    sim::RequireDefined<E>(b, mask, "takes a carry from", api, loc);
    MaskReg out;
    RegTensor<E> sum;
    static_cast<sim::Register &>(sum) = sim::Register::Zero();
    for (uint32_t lane = 0; lane < RegTensor<E>::kLanes; ++lane) {
        if (mask.Lane<E>(lane)) {
            const uint64_t wide = f(uint64_t{static_cast<uint32_t>(a.template Get<E>(lane))},
                                    uint64_t{static_cast<uint32_t>(b.template Get<E>(lane))},
                                    uint64_t{carryIn.Lane<E>(lane) ? 1U : 0U});
            sum.Set(lane, static_cast<E>(wide));
            if (wide >> 32 != 0) {
                out.Set(lane * sizeof(E));
            }
        }
    }
    sum.Follow(a);
    sum.Follow(b);
    sum.past.Join(PastOf(carryIn, mask));
    out.past = sum.past;
    dst = sum;
    carry = out;
}
}  // namespace detail

#define SIM_REG_CARRY(Op, in, formula)                                                           \
    template <typename T = DefaultType, typename E>                                              \
    void Op(MaskReg &carry, RegTensor<E> &dst, RegTensor<E> &a, RegTensor<E> &b,                 \
            SIM_CARRY_PARAMETER_##in MaskReg &mask, SIM_REG_LOC) {                               \
        SIM_REG_TYPES(Op, kInteger32);                                                           \
        detail::WithCarry(                                                                       \
            carry, dst, a, b, SIM_CARRY_VALUE_##in, mask,                                        \
            [](uint64_t x, uint64_t y, uint64_t c) -> uint64_t { return formula; }, "Reg::" #Op, \
            loc);                                                                                \
    }
#define SIM_CARRY_PARAMETER_Given MaskReg &carryIn,
#define SIM_CARRY_VALUE_Given carryIn
#define SIM_CARRY_PARAMETER_None
#define SIM_CARRY_VALUE_None MaskReg()
SIM_REG_CARRY(Add, None, x + y + c)
SIM_REG_CARRY(Sub, None, x + (~y & 0xFFFFFFFFU) + 1 + c)
SIM_REG_CARRY(AddC, Given, x + y + c)
SIM_REG_CARRY(SubC, Given, x + (~y & 0xFFFFFFFFU) + c)
#undef SIM_REG_CARRY
#undef SIM_CARRY_PARAMETER_Given
#undef SIM_CARRY_VALUE_Given
#undef SIM_CARRY_PARAMETER_None
#undef SIM_CARRY_VALUE_None

// The low and the high half of the product.
template <typename T = DefaultType, typename E>
void Mull(RegTensor<E> &low, RegTensor<E> &high, RegTensor<E> &a, RegTensor<E> &b, MaskReg &mask) {
    SIM_REG_TYPES(Mull, kInteger32);
    using Wide = std::conditional_t<std::is_signed_v<E>, int64_t, uint64_t>;
    RegTensor<E> top;
    sim::ForLanes<MaskMergeMode::ZEROING>(
        top, mask, [](E x, E y) { return static_cast<E>(Wide{x} * Wide{y} >> 32); }, a, b);
    sim::ForLanes<MaskMergeMode::ZEROING>(
        low, mask, [](E x, E y) { return static_cast<E>(Wide{x} * Wide{y}); }, a, b);
    high = top;
}

// --- comparison and selection ---

namespace detail {
template <CMPMODE mode, typename E>
bool Holds(E a, E b) {
    using Wide = std::conditional_t<std::is_integral_v<E>, E, float>;
    const Wide x = a;
    const Wide y = b;
    if constexpr (mode == CMPMODE::LT) return x < y;
    if constexpr (mode == CMPMODE::GT) return x > y;
    if constexpr (mode == CMPMODE::LE) return x <= y;
    if constexpr (mode == CMPMODE::GE) return x >= y;
    if constexpr (mode == CMPMODE::EQ) return x == y;
    return x != y;
}
}  // namespace detail

template <typename T = DefaultType, CMPMODE mode = CMPMODE::EQ, typename E>
void Compare(MaskReg &dst, RegTensor<E> &a, RegTensor<E> &b, MaskReg &mask, SIM_REG_LOC) {
    SIM_REG_TYPES(Compare, kArithmetic);
    sim::RequireDefined<E>(a, mask, "compares", "Reg::Compare", loc);
    sim::RequireDefined<E>(b, mask, "compares", "Reg::Compare", loc);
    MaskReg out;
    for (uint32_t lane = 0; lane < RegTensor<E>::kLanes; ++lane) {
        if (mask.Lane<E>(lane) &&
            detail::Holds<mode>(a.template Get<E>(lane), b.template Get<E>(lane))) {
            out.SetLane<E>(lane);
        }
    }
    out.past = detail::PastOf(a, b, mask);
    dst = out;
}
template <typename T = DefaultType, CMPMODE mode = CMPMODE::EQ, typename E, typename V>
void Compares(MaskReg &dst, RegTensor<E> &src, V scalar, MaskReg &mask, SIM_REG_LOC) {
    RegTensor<E> other;
    static_cast<sim::Register &>(other) = sim::Register::Zero();
    for (uint32_t lane = 0; lane < RegTensor<E>::kLanes; ++lane) {
        other.Set(lane, static_cast<E>(scalar));
    }
    Compare<T, mode>(dst, src, other, mask, loc);
}
template <typename T = DefaultType, CMPMODE mode = CMPMODE::EQ, typename E, typename V>
void CompareScalar(MaskReg &dst, RegTensor<E> &src, V scalar, MaskReg &mask, SIM_REG_LOC) {
    Compares<T, mode>(dst, src, scalar, mask, loc);
}

// a where the mask is set, b elsewhere.
template <typename T = DefaultType, typename E>
void Select(RegTensor<E> &dst, RegTensor<E> &a, RegTensor<E> &b, MaskReg &mask) {
    sim::Register out = sim::Shuffle(a, b, [&](uint32_t i) {
        return static_cast<int32_t>(mask.Lane<E>(i / sizeof(E)) ? i : i + sim::kVectorBytes);
    });
    out.past.Join(mask.past);
    static_cast<sim::Register &>(dst) = out;
}

template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::MERGING, typename E>
void Move(RegTensor<E> &dst, RegTensor<E> &src, MaskReg mask) {
    sim::ForLanes<mode>(dst, mask, [](E x) { return x; }, src);
}
template <typename T = DefaultType, typename E>
void Move(RegTensor<E> &dst, RegTensor<E> &src) {
    dst = src;
}
template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::MERGING, typename E>
void Copy(RegTensor<E> &dst, RegTensor<E> &src, MaskReg mask) {
    Move<T, mode>(dst, src, mask);
}
template <typename T = DefaultType, typename E>
void Copy(RegTensor<E> &dst, RegTensor<E> &src) {
    Move(dst, src);
}

// --- filling ---

template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING, typename V,
          typename E, typename = std::enable_if_t<!std::is_base_of_v<sim::Register, V>>>
void Duplicate(RegTensor<E> &dst, V scalar, MaskReg &mask) {
    const auto s = static_cast<E>(scalar);
    sim::ForLanes<mode>(dst, mask, [s] { return s; });
}
template <typename T = DefaultType, typename U = DefaultType, typename V, typename E,
          typename = std::enable_if_t<!std::is_base_of_v<sim::Register, V>>>
void Duplicate(RegTensor<E> &dst, V scalar) {
    MaskReg all(sim::Bits256::All());
    Duplicate(dst, scalar, all);
}
// The lowest or highest lane of a register.
template <typename T = DefaultType, HighLowPart part = HighLowPart::LOWEST,
          MaskMergeMode mode = MaskMergeMode::ZEROING, typename E>
void Duplicate(RegTensor<E> &dst, RegTensor<E> &src, MaskReg &mask) {
    constexpr uint32_t start =
        part == HighLowPart::LOWEST ? 0 : sim::kVectorBytes - static_cast<uint32_t>(sizeof(E));
    RegTensor<E> lanes;
    static_cast<sim::Register &>(lanes) = sim::Shuffle(
        src, src, [](uint32_t i) { return static_cast<int32_t>(start + i % sizeof(E)); });
    sim::ForLanes<mode>(dst, mask, [](E x) { return x; }, lanes);
}

// start, start + 1, ...
template <typename T = DefaultType, IndexOrder order = IndexOrder::INCREASE_ORDER, typename E,
          typename V>
void Arange(RegTensor<E> &dst, V start) {
    static_assert(order == IndexOrder::INCREASE_ORDER,
                  "Reg::Arange: DECREASE_ORDER is not simulated");
    sim::Register out = sim::Register::Zero();
    using Wide = std::conditional_t<std::is_integral_v<E>, uint64_t, float>;
    for (uint32_t lane = 0; lane < RegTensor<E>::kLanes; ++lane) {
        out.Set(lane,
                static_cast<E>(static_cast<Wide>(static_cast<E>(start)) + static_cast<Wide>(lane)));
    }
    static_cast<sim::Register &>(dst) = out;
}

// --- lanes that move ---

template <typename T = DefaultType, typename E>
void Interleave(RegTensor<E> &dst0, RegTensor<E> &dst1, RegTensor<E> &src0, RegTensor<E> &src1) {
    const auto half = [&](uint32_t first) {
        return sim::Shuffle(src0, src1, [&](uint32_t i) {
            const uint32_t lane = first + i / sizeof(E);
            return static_cast<int32_t>(lane % 2 * sim::kVectorBytes + lane / 2 * sizeof(E) +
                                        i % sizeof(E));
        });
    };
    const sim::Register low = half(0);
    const sim::Register high = half(RegTensor<E>::kLanes);
    static_cast<sim::Register &>(dst0) = low;
    static_cast<sim::Register &>(dst1) = high;
}
template <typename T = DefaultType, typename E>
void DeInterleave(RegTensor<E> &dst0, RegTensor<E> &dst1, RegTensor<E> &src0, RegTensor<E> &src1) {
    const auto each = [&](uint32_t which) {
        return sim::Shuffle(src0, src1, [&](uint32_t i) {
            return static_cast<int32_t>((i / sizeof(E) * 2 + which) * sizeof(E) + i % sizeof(E));
        });
    };
    const sim::Register even = each(0);
    const sim::Register odd = each(1);
    static_cast<sim::Register &>(dst0) = even;
    static_cast<sim::Register &>(dst1) = odd;
}

// The low half of each lane, to one half of dst. What becomes of the other half is not documented:
// it is undefined here.
template <typename T = DefaultType, typename U = DefaultType,
          HighLowPart part = HighLowPart::LOWEST, typename D, typename S>
void Pack(RegTensor<D> &dst, RegTensor<S> &src) {
    static_assert(sizeof(S) == 2 * sizeof(D) && std::is_unsigned_v<D> && std::is_integral_v<S>,
                  "Reg::Pack: integers of 16, 32 or 64 bits to unsigned ones of half the width");
    constexpr uint32_t start = part == HighLowPart::LOWEST ? 0 : sim::kVectorBytes / 2;
    sim::Register out = sim::Shuffle(src, src, [](uint32_t i) {
        const uint32_t at = i - start;
        return at < sim::kVectorBytes / 2
                   ? static_cast<int32_t>(at / sizeof(D) * sizeof(S) + at % sizeof(D))
                   : -1;
    });
    for (uint32_t i = 0; i < sim::kVectorBytes / 2; ++i) {
        out.undefined.Set((start + sim::kVectorBytes / 2 + i) % sim::kVectorBytes);
    }
    static_cast<sim::Register &>(dst) = out;
}
// One half of src, each lane to twice its width.
template <typename T = DefaultType, typename U = DefaultType,
          HighLowPart part = HighLowPart::LOWEST, typename D, typename S>
void UnPack(RegTensor<D> &dst, RegTensor<S> &src) {
    static_assert(sizeof(D) == 2 * sizeof(S) && std::is_integral_v<D> && std::is_integral_v<S> &&
                      std::is_signed_v<D> == std::is_signed_v<S>,
                  "Reg::UnPack: integers of 8, 16 or 32 bits to ones of twice the width");
    sim::Register out = sim::Register::Zero();
    for (uint32_t lane = 0; lane < RegTensor<D>::kLanes; ++lane) {
        const uint32_t from = lane + (part == HighLowPart::HIGHEST ? RegTensor<D>::kLanes : 0);
        out.Set(lane, static_cast<D>(src.template Get<S>(from)));
        if (sim::LaneUndefined<S>(src, from)) {
            sim::SetUndefined<D>(out, lane);
        }
    }
    out.Follow(src);
    static_cast<sim::Register &>(dst) = out;
}

// The active lanes, side by side, and zeros. STORE_REG leaves their bytes for StoreUnAlign.
template <typename T = DefaultType, GatherMaskMode store = GatherMaskMode::NO_STORE_REG, typename E>
void Squeeze(RegTensor<E> &dst, RegTensor<E> &src, MaskReg &mask, SIM_REG_LOC) {
    uint32_t lanes[RegTensor<E>::kLanes];
    uint32_t count = 0;
    for (uint32_t lane = 0; lane < RegTensor<E>::kLanes; ++lane) {
        if (mask.Lane<E>(lane)) {
            lanes[count++] = lane;
        }
    }
    sim::Register out = sim::Shuffle(src, src, [&](uint32_t i) {
        const uint32_t lane = i / sizeof(E);
        return lane < count ? static_cast<int32_t>(lanes[lane] * sizeof(E) + i % sizeof(E)) : -1;
    });
    out.past.Join(mask.past);
    static_cast<sim::Register &>(dst) = out;
    if constexpr (store == GatherMaskMode::STORE_REG) {
        sim::Core &core = sim::ThisCore();
        if (core.squeezed >= 0) {
            core.Fail(sim::Check::VfOrder, "Reg::Squeeze", loc,
                      "the lanes of the last Squeeze<STORE_REG> were not stored: it and "
                      "StoreUnAlign take turns");
        }
        core.squeezed = static_cast<int32_t>(count * sizeof(E));
    }
}
template <typename T = DefaultType, GatherMaskMode store = GatherMaskMode::NO_STORE_REG, typename E>
void GatherMask(RegTensor<E> &dst, RegTensor<E> &src, MaskReg &mask, SIM_REG_LOC) {
    Squeeze<T, store>(dst, src, mask, loc);
}
// How many active lanes are below each lane.
template <typename T = DefaultType, typename E>
void Unsqueeze(RegTensor<E> &dst, MaskReg &mask) {
    sim::Register out = sim::Register::Zero();
    uint32_t count = 0;
    for (uint32_t lane = 0; lane < RegTensor<E>::kLanes; ++lane) {
        out.Set(lane, static_cast<E>(count));
        count += mask.Lane<E>(lane) ? 1 : 0;
    }
    out.past = mask.past;
    static_cast<sim::Register &>(dst) = out;
}

// dst[i] = src[index[i]], by the index modulo the number of lanes.
template <typename T = DefaultType, typename U = DefaultType, typename E, typename X>
void Gather(RegTensor<E> &dst, RegTensor<E> &src, RegTensor<X> &index, SIM_REG_LOC) {
    static_assert(sizeof(X) == sizeof(E) && sizeof(E) <= 2 && std::is_unsigned_v<X>,
                  "Reg::Gather: lanes of 8 or 16 bits, by unsigned indices of the same width");
    MaskReg all(sim::Bits256::All());
    sim::RequireDefined<X>(index, all, "takes indices from", "Reg::Gather", loc);
    sim::Register out = sim::Shuffle(src, src, [&](uint32_t i) {
        const uint32_t lane = index.template Get<X>(i / sizeof(E)) % RegTensor<E>::kLanes;
        return static_cast<int32_t>(lane * sizeof(E) + i % sizeof(E));
    });
    out.past.Join(index.past);
    static_cast<sim::Register &>(dst) = out;
}

// Lane i is active if bit i of part `offset` of the register is set.
template <typename T = DefaultType, int16_t offset, typename E>
void MaskGenWithRegTensor(MaskReg &dst, RegTensor<E> &src, SIM_REG_LOC) {
    static_assert(sizeof(E) == 2 || sizeof(E) == 4,
                  "Reg::MaskGenWithRegTensor: types of 16 and 32 bits");
    static_assert(offset >= 0 && offset < (sizeof(E) == 2 ? 16 : 32),
                  "Reg::MaskGenWithRegTensor: the offset is beyond the register");
    MaskReg out;
    for (uint32_t lane = 0; lane < RegTensor<E>::kLanes; ++lane) {
        const uint32_t bit = offset * RegTensor<E>::kLanes + lane;
        if (src.undefined.Get(bit / 8)) {
            sim::FailUndefined(src, "makes a mask of", "Reg::MaskGenWithRegTensor", loc);
        }
        if ((src.bytes[bit / 8] >> (bit % 8) & 1) != 0) {
            out.SetLane<E>(lane);
        }
    }
    out.past = src.past;
    dst = out;
}

// --- across lanes ---

namespace detail {

template <ReduceType type, typename D, typename S>
constexpr bool Reduces() {
    if constexpr (type == ReduceType::SUM) {
        return (std::is_same_v<D, S> &&
                sim::kOneOf<D, half, float, int32_t, uint32_t, int64_t, uint64_t>) ||
               (std::is_same_v<D, int32_t> && std::is_same_v<S, int16_t>) ||
               (std::is_same_v<D, uint32_t> && std::is_same_v<S, uint16_t>);
    } else {
        return std::is_same_v<D, S> &&
               sim::kOneOf<D, half, float, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
    }
}

template <typename E>
bool IsNan(E value) {
    if constexpr (std::is_integral_v<E>) {
        return false;
    } else {
        return static_cast<float>(value) != static_cast<float>(value);
    }
}

// The sum of the active lanes of [first, first + count), neighbours first.
template <typename D, typename S>
D Sum(const RegTensor<S> &src, const MaskReg &mask, uint32_t first, uint32_t count) {
    D tree[sim::kVectorBytes];
    for (uint32_t i = 0; i < count; ++i) {
        tree[i] = mask.Lane<S>(first + i) ? static_cast<D>(src.template Get<S>(first + i)) : D(0);
    }
    for (uint32_t width = count / 2; width > 0; width /= 2) {
        for (uint32_t i = 0; i < width; ++i) {
            tree[i] = sim::RegAdd()(tree[2 * i], tree[2 * i + 1]);
        }
    }
    return tree[0];
}

// The first lane that has the maximum or minimum of [first, first + count), or the first NaN;
// negative if none is active.
template <ReduceType type, typename E>
int32_t Extreme(const RegTensor<E> &src, const MaskReg &mask, uint32_t first, uint32_t count) {
    int32_t best = -1;
    for (uint32_t lane = first; lane < first + count; ++lane) {
        if (!mask.Lane<E>(lane)) {
            continue;
        }
        const E x = src.template Get<E>(lane);
        if (IsNan(x)) {
            return static_cast<int32_t>(lane);
        }
        if (best < 0) {
            best = static_cast<int32_t>(lane);
            continue;
        }
        const E old = src.template Get<E>(static_cast<uint32_t>(best));
        const E taken = type == ReduceType::MAX ? sim::MaxLane()(old, x) : sim::MinLane()(old, x);
        if (std::memcmp(&taken, &old, sizeof(E)) != 0) {
            best = static_cast<int32_t>(lane);
        }
    }
    return best;
}

// What the reduction of no lanes gives.
template <ReduceType type, typename E>
E Nothing() {
    if constexpr (type == ReduceType::SUM) {
        return E(0);
    } else if constexpr (std::is_integral_v<E>) {
        return type == ReduceType::MAX ? std::numeric_limits<E>::min()
                                       : std::numeric_limits<E>::max();
    } else {
        // ReduceDataBlock gives these infinities too.
        return type == ReduceType::MAX ? E(-INFINITY) : E(INFINITY);
    }
}

template <ReduceType type, typename D, typename S>
D ReduceLanes(const RegTensor<S> &src, const MaskReg &mask, uint32_t first, uint32_t count) {
    if constexpr (type == ReduceType::SUM) {
        return Sum<D>(src, mask, first, count);
    } else {
        const int32_t best = Extreme<type>(src, mask, first, count);
        return best < 0 ? Nothing<type, D>() : src.template Get<S>(static_cast<uint32_t>(best));
    }
}

template <typename D, typename S>
void Finish(RegTensor<D> &dst, sim::Register out, const RegTensor<S> &src, const MaskReg &mask) {
    out.past = PastOf(src, mask);
    static_cast<sim::Register &>(dst) = out;
}

}  // namespace detail

// Lane 0: the result. Lane 1 of MAX and MIN: where it is first.
template <ReduceType type = ReduceType::SUM, typename T = DefaultType, typename U = DefaultType,
          MaskMergeMode mode = MaskMergeMode::ZEROING, typename D, typename S>
void Reduce(RegTensor<D> &dst, const RegTensor<S> &src, MaskReg mask, SIM_REG_LOC) {
    SIM_REG_ZEROING(Reduce, mode);
    static_assert(detail::Reduces<type, D, S>(),
                  "Reg::Reduce: dav-3510 does not support the types");
    sim::RequireDefined<S>(src, mask, "reduces", "Reg::Reduce", loc);
    sim::Register out = sim::Register::Zero();
    out.Set(0, detail::ReduceLanes<type, D>(src, mask, 0, RegTensor<S>::kLanes));
    if constexpr (type != ReduceType::SUM) {
        const int32_t at = detail::Extreme<type>(src, mask, 0, RegTensor<S>::kLanes);
        const auto index = static_cast<uint64_t>(std::max(at, 0));
        std::memcpy(out.bytes + sizeof(D), &index, sizeof(D));
    }
    detail::Finish(dst, out, src, mask);
}
// One result for each block of 32 bytes.
template <ReduceType type = ReduceType::SUM, typename T = DefaultType,
          MaskMergeMode mode = MaskMergeMode::ZEROING, typename D, typename S>
void ReduceDataBlock(RegTensor<D> &dst, const RegTensor<S> &src, MaskReg mask, SIM_REG_LOC) {
    SIM_REG_ZEROING(ReduceDataBlock, mode);
    static_assert(detail::Reduces<type, D, S>() && sizeof(S) <= 4,
                  "Reg::ReduceDataBlock: dav-3510 does not support the types");
    sim::RequireDefined<S>(src, mask, "reduces", "Reg::ReduceDataBlock", loc);
    constexpr uint32_t lanes = sim::kBlockBytes / sizeof(S);
    sim::Register out = sim::Register::Zero();
    for (uint32_t block = 0; block < sim::kVectorBytes / sim::kBlockBytes; ++block) {
        out.Set(block, detail::ReduceLanes<type, D>(src, mask, block * lanes, lanes));
    }
    detail::Finish(dst, out, src, mask);
}
template <PairReduce type = PairReduce::SUM, typename T = DefaultType,
          MaskMergeMode mode = MaskMergeMode::ZEROING, typename E>
void PairReduceElem(RegTensor<E> &dst, const RegTensor<E> &src, MaskReg mask, SIM_REG_LOC) {
    SIM_REG_TYPES(PairReduceElem, kReal);
    SIM_REG_ZEROING(PairReduceElem, mode);
    sim::RequireDefined<E>(src, mask, "reduces", "Reg::PairReduceElem", loc);
    sim::Register out = sim::Register::Zero();
    for (uint32_t pair = 0; pair < RegTensor<E>::kLanes / 2; ++pair) {
        out.Set(pair, detail::Sum<E>(src, mask, 2 * pair, 2));
    }
    detail::Finish(dst, out, src, mask);
}

// The older names, each with the operation in it.
#define SIM_REG_OLD_REDUCE(OldName, Name, type)                                           \
    template <typename T = DefaultType, typename U = DefaultType, typename D, typename S> \
    void OldName(RegTensor<D> &dst, const RegTensor<S> &src, MaskReg mask, SIM_REG_LOC) { \
        Name<type>(dst, src, mask, loc);                                                  \
    }                                                                                     \
    template <typename T, MaskMergeMode mode, typename D, typename S>                     \
    void OldName(RegTensor<D> &dst, const RegTensor<S> &src, MaskReg mask, SIM_REG_LOC) { \
        SIM_REG_ZEROING(OldName, mode);                                                   \
        Name<type>(dst, src, mask, loc);                                                  \
    }
SIM_REG_OLD_REDUCE(ReduceSum, Reduce, ReduceType::SUM)
SIM_REG_OLD_REDUCE(ReduceMax, Reduce, ReduceType::MAX)
SIM_REG_OLD_REDUCE(ReduceMin, Reduce, ReduceType::MIN)
SIM_REG_OLD_REDUCE(ReduceSumWithDataBlock, ReduceDataBlock, ReduceType::SUM)
SIM_REG_OLD_REDUCE(ReduceMaxWithDataBlock, ReduceDataBlock, ReduceType::MAX)
SIM_REG_OLD_REDUCE(ReduceMinWithDataBlock, ReduceDataBlock, ReduceType::MIN)
SIM_REG_OLD_REDUCE(PairReduceSum, PairReduceElem, PairReduce::SUM)
#undef SIM_REG_OLD_REDUCE

// Adds to dst[n] how many active lanes are n, or at most n; BIN1 counts from 128 on.
template <typename T = DefaultType, typename U = DefaultType, HistogramsBinType bin,
          HistogramsType type, typename S, typename D>
void Histograms(RegTensor<D> &dst, RegTensor<S> &src, MaskReg &mask, SIM_REG_LOC) {
    static_assert(std::is_same_v<S, uint8_t> && std::is_same_v<D, uint16_t>,
                  "Reg::Histograms: of uint8_t, in uint16_t");
    sim::RequireDefined<S>(src, mask, "counts", "Reg::Histograms", loc);
    uint32_t counts[256] = {};
    for (uint32_t lane = 0; lane < RegTensor<S>::kLanes; ++lane) {
        counts[src.template Get<S>(lane)] += mask.Lane<S>(lane) ? 1 : 0;
    }
    if constexpr (type == HistogramsType::ACCUMULATE) {
        for (uint32_t value = 1; value < 256; ++value) {
            counts[value] += counts[value - 1];
        }
    }
    constexpr uint32_t first = bin == HistogramsBinType::BIN0 ? 0 : 128;
    for (uint32_t lane = 0; lane < RegTensor<D>::kLanes; ++lane) {
        dst.Set(lane, static_cast<D>(dst.template Get<D>(lane) + counts[first + lane]));
    }
    dst.past.Join(detail::PastOf(src, mask));
}

// --- conversion ---

struct CastTrait {
    RegLayout layoutMode = RegLayout::UNKNOWN;
    SatMode satMode = SatMode::UNKNOWN;
    MaskMergeMode mrgMode = MaskMergeMode::UNKNOWN;
    RoundMode roundMode = RoundMode::UNKNOWN;
};
inline constexpr CastTrait castTrait = {};

namespace detail {

// How many lanes of the narrow type share one of the wide type; two FP4 numbers are one lane.
template <typename D, typename S>
constexpr uint32_t CastRatio() {
    constexpr uint32_t d = sim::kFp4<S> ? sizeof(sim::BFloat16Pair) : sizeof(D);
    constexpr uint32_t s = sim::kFp4<D> ? sizeof(sim::BFloat16Pair) : sizeof(S);
    return d > s ? d / s : s / d;
}

inline sim::Saturation CastSaturation(SatMode mode) {
    const sim::Core &core = sim::ThisCore();
    if (core.Control(60)) {
        return {!core.Control(48), !core.Control(59), core.Control(50)};
    }
    return {mode == SatMode::SAT, mode != SatMode::NO_SAT, core.Control(50)};
}

// Each active lane of the wide type to or from lane `slot` of those that share its place; the mask
// is the source's.
template <typename To, typename From, typename F>
void CastLanes(sim::Register &dst, const sim::Register &src, const MaskReg &mask, uint32_t slot,
               uint32_t maskBytes, F f) {
    constexpr uint32_t wide = sizeof(To) > sizeof(From) ? sizeof(To) : sizeof(From);
    sim::ThisCore().order.timing.Registers(sizeof(To) == 1 || sizeof(From) == 1 ? 2 : 1);
    sim::Register out = sim::Register::Zero();
    for (uint32_t place = 0; place < sim::kVectorBytes / wide; ++place) {
        const uint32_t from = place * (wide / sizeof(From)) + (sizeof(From) < wide ? slot : 0);
        const uint32_t to = place * (wide / sizeof(To)) + (sizeof(To) < wide ? slot : 0);
        if (!mask.Get(from * sizeof(From) / maskBytes * maskBytes)) {
            continue;
        }
        out.Set(to, static_cast<To>(f(src.template Get<From>(from))));
        if (src.undefined.Any() && sim::LaneUndefined<From>(src, from)) {
            sim::SetUndefined<To>(out, to);
        }
    }
    out.Follow(src);
    out.past.Join(mask.past);
    dst = out;
}

}  // namespace detail

template <typename T = DefaultType, typename U = DefaultType, const CastTrait &trait = castTrait,
          typename D, typename S>
void Cast(RegTensor<D> &dst, RegTensor<S> &src, MaskReg &mask, SIM_REG_LOC) {
    static_assert((std::is_same_v<T, DefaultType> || std::is_same_v<T, D>) &&
                      (std::is_same_v<U, DefaultType> || std::is_same_v<U, S>),
                  "Reg::Cast: T and U are not the types of the registers");
    constexpr uint32_t modes = sim::RegisterCastModes<D, S>();
    static_assert(modes != 0, "Reg::Cast: dav-3510 has no cast between these types");
    constexpr bool exact = modes == sim::kNone;
    constexpr RoundMode mode = exact ? RoundMode::CAST_NONE : trait.roundMode;
    static_assert((modes & sim::ModeBit(mode)) != 0 || modes == 0,
                  "Reg::Cast: these types do not have the trait's RoundMode");
    static_assert(trait.mrgMode == MaskMergeMode::ZEROING,
                  "Reg::Cast: the trait's MaskMergeMode must be ZEROING");
    constexpr uint32_t ratio = detail::CastRatio<D, S>();
    constexpr int slot = ratio == 1 ? 0 : static_cast<int>(trait.layoutMode);
    static_assert(slot >= 0 && slot < static_cast<int>(ratio),
                  "Reg::Cast: the trait's RegLayout must be ZERO or ONE between widths of 1:2, and "
                  "ZERO to THREE of 1:4");
    using From = std::conditional_t<sim::kFp4<D>, sim::BFloat16Pair, S>;
    using To = std::conditional_t<sim::kFp4<S>, sim::BFloat16Pair, D>;
    const sim::Saturation saturation = detail::CastSaturation(trait.satMode);
    detail::CastLanes<To, From>(
        dst, src, mask, static_cast<uint32_t>(slot), sizeof(S), [&](From x) -> To {
            if constexpr (std::is_same_v<D, fp8_e8m0_t>) {
                uint8_t code = 0;
                if (!sim::EncodeE8M0(x, code)) {
                    sim::ThisCore().Fail(sim::Check::CastMode, "Reg::Cast", loc,
                                         "how %g, which is no power of two, rounds to fp8_e8m0_t "
                                         "is not documented",
                                         static_cast<double>(static_cast<float>(x)));
                }
                return {code};
            } else {
                return sim::CastLane<To, From, mode>(x, saturation);
            }
        });
}

// To integral numbers of the same type.
template <typename T = DefaultType, RoundMode roundMode = RoundMode::CAST_NONE,
          MaskMergeMode mode = MaskMergeMode::ZEROING, typename E>
void Truncate(RegTensor<E> &dst, RegTensor<E> &src, MaskReg &mask) {
    SIM_REG_TYPES(Truncate, kTruncates);
    SIM_REG_ZEROING(Truncate, mode);
    static_assert((sim::kRFCAZ & sim::ModeBit(roundMode)) != 0,
                  "Reg::Truncate: CAST_RINT, ROUND, FLOOR, CEIL or TRUNC");
    sim::ForLanes<mode>(
        dst, mask,
        [](E x) -> E {
            return sim::Settle(E(sim::RoundToIntegral<roundMode>(static_cast<float>(x))));
        },
        src);
}

// half(src * scalar), ties away from zero.
template <typename T = DefaultType, typename U = DefaultType, typename V,
          RegLayout layout = RegLayout::ZERO>
void MulsCast(RegTensor<half> &dst, RegTensor<float> &src, V scalar, MaskReg &mask) {
    static_assert(layout == RegLayout::ZERO || layout == RegLayout::ONE,
                  "Reg::MulsCast: RegLayout::ZERO or ONE");
    const auto s = static_cast<float>(scalar);
    detail::CastLanes<half, float>(
        dst, src, mask, static_cast<uint32_t>(layout), sizeof(float), [s](float x) {
            return sim::Settle(sim::FloatToFloat16<half, RoundMode::CAST_ROUND>(x * s));
        });
}

// exp(a - b) as float, of float or of the even or odd lanes of half.
template <typename T = DefaultType, typename U = DefaultType, RegLayout layout = RegLayout::ZERO,
          MaskMergeMode mode = MaskMergeMode::ZEROING, typename S>
void ExpSub(RegTensor<float> &dst, RegTensor<S> &a, RegTensor<S> &b, MaskReg &mask) {
    SIM_REG_ZEROING(ExpSub, mode);
    static_assert(sim::kReal<S>, "Reg::ExpSub: half or float");
    static_assert(layout == RegLayout::ZERO || layout == RegLayout::ONE,
                  "Reg::ExpSub: RegLayout::ZERO or ONE");
    RegTensor<float> wide[2];
    const RegTensor<S> *const sources[] = {&a, &b};
    for (int i = 0; i < 2; ++i) {
        detail::CastLanes<float, S>(wide[i], *sources[i], mask, static_cast<uint32_t>(layout),
                                    sizeof(S), [](S x) { return static_cast<float>(x); });
    }
    MaskReg lanes;
    for (uint32_t lane = 0; lane < RegTensor<float>::kLanes; ++lane) {
        const uint32_t from =
            lane * sizeof(float) + (sizeof(S) == 2 ? static_cast<uint32_t>(layout) * sizeof(S) : 0);
        if (mask.Get(from)) {
            lanes.SetLane<float>(lane);
        }
    }
    lanes.past = mask.past;
    sim::ForLanes<mode>(
        dst, lanes, [](float x, float y) { return std::exp(x - y); }, wide[0], wide[1]);
}

// --- the older names of what was fused ---

template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING, typename E>
void Mula(RegTensor<E> &dst, RegTensor<E> &a, RegTensor<E> &b, MaskReg &mask) {
    MulAddDst<T, mode>(dst, a, b, mask);
}
template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING, typename E>
void FusedMulDstAdd(RegTensor<E> &dst, RegTensor<E> &a, RegTensor<E> &b, MaskReg &mask) {
    MulDstAdd<T, mode>(dst, a, b, mask);
}
template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING, typename E>
void FusedAbsSub(RegTensor<E> &dst, RegTensor<E> &a, RegTensor<E> &b, MaskReg &mask) {
    AbsSub<T, mode>(dst, a, b, mask);
}
template <typename T = DefaultType, typename U = DefaultType, RegLayout layout = RegLayout::ZERO,
          MaskMergeMode mode = MaskMergeMode::ZEROING, typename S>
void FusedExpSub(RegTensor<float> &dst, RegTensor<S> &a, RegTensor<S> &b, MaskReg &mask) {
    ExpSub<T, U, layout, mode>(dst, a, b, mask);
}

#undef SIM_REG_TYPES
#undef SIM_REG_ZEROING
#undef SIM_REG_LOC
#undef SIM_FITS

}  // namespace Reg
}  // namespace AscendC
