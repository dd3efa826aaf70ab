// dst = a + b and its relatives: the instruction of that name, on all elements of dst.
#pragma once

#include "sim/compare.h"

namespace AscendC {

namespace detail {

template <typename T, typename Apply>
struct TensorExpression {
    using IsTensorExpression = void;
    LocalTensor<T> left;
    LocalTensor<T> right;
    Apply apply;

    template <typename U>
    void Store(const LocalTensor<U> &dst, sim::Loc loc) const {
        apply(dst, left, right, static_cast<int32_t>(dst.GetSize()), loc);
    }
};
template <typename T, typename Apply>
TensorExpression<T, Apply> Express(const LocalTensor<T> &left, const LocalTensor<T> &right,
                                   Apply apply) {
    return {left, right, apply};
}

// Unlike the count form of And and Or on dav-2201, operators reach all of 32-bit integers.
template <typename T>
int32_t LogicCount(int32_t count) {
    return sim::kLogical<T> ? count : static_cast<int32_t>(count * sizeof(T) / sizeof(int16_t));
}

}  // namespace detail

#define SIM_OPERATOR(symbol, call)                                                              \
    template <typename T>                                                                       \
    auto operator symbol(const LocalTensor<T> &left, const LocalTensor<T> &right) {             \
        return detail::Express(left, right,                                                     \
                               [](const auto &dst, const auto &a, const auto &b, int32_t count, \
                                  sim::Loc loc) { call; });                                     \
    }
SIM_OPERATOR(+, Add(dst, a, b, count, loc))
SIM_OPERATOR(-, Sub(dst, a, b, count, loc))
SIM_OPERATOR(*, Mul(dst, a, b, count, loc))
SIM_OPERATOR(/, Div(dst, a, b, count, loc))
SIM_OPERATOR(&, And(dst, a, b, detail::LogicCount<T>(count), loc))
SIM_OPERATOR(|, Or(dst, a, b, detail::LogicCount<T>(count), loc))
#define SIM_COMPARISON(symbol, mode) \
    SIM_OPERATOR(symbol, Compare(dst, a, b, CMPMODE::mode, static_cast<uint32_t>(count), loc))
SIM_COMPARISON(<, LT)
SIM_COMPARISON(>, GT)
SIM_COMPARISON(==, EQ)
SIM_COMPARISON(<=, LE)
SIM_COMPARISON(>=, GE)
SIM_COMPARISON(!=, NE)
#undef SIM_COMPARISON
#undef SIM_OPERATOR

}  // namespace AscendC
