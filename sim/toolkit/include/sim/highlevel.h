// Functions that CANN composes of many instructions: mathematics, activations, sums.
//
// On the chip they are approximations; here they are what the host's library computes in float,
// rounded to the type. How much of a temporary buffer they need is known to CANN's host library
// only, so its size is not checked; what is in it afterwards counts as not written.
#pragma once

#include <cmath>

#include "sim/arithmetic.h"

namespace AscendC {

namespace detail {

// A temporary buffer: the function may write all of it, and leaves nothing of use.
inline void UseTemporary(const LocalTensor<uint8_t> &tmp, const char *api, sim::Loc loc) {
    sim::CheckAligned(tmp, ONE_BLK_SIZE, api, loc);
    sim::CheckRange(tmp, 0, tmp.GetLength(), true, api, loc);
    sim::ThisCore().ForgetUb(tmp.Address(), tmp.GetLength());
}
// The form that takes its temporary space from what is left of the Unified Buffer.
struct NoTemporary {};
inline void UseTemporary(NoTemporary, const char *, sim::Loc) {}

template <typename T, typename Tmp, typename F, typename... S>
void Elementwise(const char *api, sim::Loc loc, const Tmp &tmp, uint32_t count, F f,
                 const LocalTensor<T> &dst, const LocalTensor<S> &...src) {
    sim::CountForm(api, loc, count, f, dst, src...);
    UseTemporary(tmp, api, loc);
}

inline float Sigmoid(float x) { return 1.0F / (1.0F + std::exp(-x)); }
inline float Sign(float x) { return x > 0.0F ? 1.0F : x < 0.0F ? -1.0F : 0.0F; }
// The approximation by tanh, in the form without it.
inline float Gelu(float x) { return x * Sigmoid(1.595769122F * (x + 0.044715F * x * x * x)); }

}  // namespace detail

// Op(dst, src): of all elements or of `count`, with or without a temporary buffer.
#define SIM_FUNCTION(Op, expression)                                                               \
    template <typename T, bool isReuseSource = false>                                              \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp, \
            uint32_t count, sim::Loc loc = sim::Loc::Here()) {                                     \
        SIM_TYPES(Op, kReal<T>);                                                                   \
        detail::Elementwise(                                                                       \
            #Op, loc, tmp, count,                                                                  \
            [](T value) {                                                                          \
                const float x = value;                                                             \
                return T(expression);                                                              \
            },                                                                                     \
            dst, src);                                                                             \
    }                                                                                              \
    template <typename T, bool isReuseSource = false>                                              \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp, \
            sim::Loc loc = sim::Loc::Here()) {                                                     \
        Op<T, isReuseSource>(dst, src, tmp, src.GetSize(), loc);                                   \
    }                                                                                              \
    template <typename T, bool isReuseSource = false>                                              \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint32_t count,                  \
            sim::Loc loc = sim::Loc::Here()) {                                                     \
        SIM_TYPES(Op, kReal<T>);                                                                   \
        detail::Elementwise(                                                                       \
            #Op, loc, detail::NoTemporary(), count,                                                \
            [](T value) {                                                                          \
                const float x = value;                                                             \
                return T(expression);                                                              \
            },                                                                                     \
            dst, src);                                                                             \
    }                                                                                              \
    template <typename T, bool isReuseSource = false>                                              \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src,                                  \
            sim::Loc loc = sim::Loc::Here()) {                                                     \
        Op<T, isReuseSource>(dst, src, src.GetSize(), loc);                                        \
    }
SIM_FUNCTION(Sin, std::sin(x))
SIM_FUNCTION(Cos, std::cos(x))
SIM_FUNCTION(Tan, std::tan(x))
SIM_FUNCTION(Asin, std::asin(x))
SIM_FUNCTION(Acos, std::acos(x))
SIM_FUNCTION(Atan, std::atan(x))
SIM_FUNCTION(Sinh, std::sinh(x))
SIM_FUNCTION(Cosh, std::cosh(x))
SIM_FUNCTION(Tanh, std::tanh(x))
SIM_FUNCTION(Asinh, std::asinh(x))
SIM_FUNCTION(Acosh, std::acosh(x))
SIM_FUNCTION(Atanh, std::atanh(x))
SIM_FUNCTION(Erf, std::erf(x))
SIM_FUNCTION(Erfc, std::erfc(x))
SIM_FUNCTION(Lgamma, std::lgamma(x))
SIM_FUNCTION(Log, std::log(x))
SIM_FUNCTION(Log2, std::log2(x))
SIM_FUNCTION(Log10, std::log10(x))
SIM_FUNCTION(Floor, std::floor(x))
SIM_FUNCTION(Ceil, std::ceil(x))
SIM_FUNCTION(Trunc, std::trunc(x))
SIM_FUNCTION(Round, std::nearbyint(x))
SIM_FUNCTION(Frac, x - std::trunc(x))
SIM_FUNCTION(Sign, detail::Sign(x))
SIM_FUNCTION(Sigmoid, detail::Sigmoid(x))
#undef SIM_FUNCTION

// Activations, with the number of elements at the end.
#define SIM_GELU(Op, expression)                                                                   \
    template <typename T, bool highPrecision = false, bool highPerformance = false>                \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp, \
            uint32_t count, sim::Loc loc = sim::Loc::Here()) {                                     \
        SIM_TYPES(Op, kReal<T>);                                                                   \
        detail::Elementwise(                                                                       \
            #Op, loc, tmp, count,                                                                  \
            [](T value) {                                                                          \
                const float x = value;                                                             \
                return T(expression);                                                              \
            },                                                                                     \
            dst, src);                                                                             \
    }                                                                                              \
    template <typename T, bool highPrecision = false, bool highPerformance = false>                \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint32_t count,                  \
            sim::Loc loc = sim::Loc::Here()) {                                                     \
        SIM_TYPES(Op, kReal<T>);                                                                   \
        detail::Elementwise(                                                                       \
            #Op, loc, detail::NoTemporary(), count,                                                \
            [](T value) {                                                                          \
                const float x = value;                                                             \
                return T(expression);                                                              \
            },                                                                                     \
            dst, src);                                                                             \
    }
SIM_GELU(Gelu, detail::Gelu(x))
SIM_GELU(FasterGelu, x *detail::Sigmoid(1.702F * x))
#undef SIM_GELU

template <typename T, bool isReuseSource = false>
void Silu(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint32_t count,
          sim::Loc loc = sim::Loc::Here()) {
    SIM_TYPES(Silu, kReal<T>);
    sim::CountForm(
        "Silu", loc, count,
        [](T x) { return T(static_cast<float>(x) * detail::Sigmoid(static_cast<float>(x))); }, dst,
        src);
}
template <typename T, bool isReuseSource = false>
void Swish(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint32_t count, const T scalar,
           sim::Loc loc = sim::Loc::Here()) {
    SIM_TYPES(Swish, kReal<T>);
    const float beta = scalar;
    sim::CountForm(
        "Swish", loc, count,
        [beta](T value) {
            const float x = value;
            return T(x * detail::Sigmoid(beta * x));
        },
        dst, src);
}

// dst = src0 * Swish(src1).
namespace detail {
template <typename T, typename Tmp>
void SwiGlu(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
            float beta, const Tmp &tmp, uint32_t count, sim::Loc loc) {
    SIM_TYPES(SwiGLU, kReal<T>);
    Elementwise(
        "SwiGLU", loc, tmp, count,
        [beta](T a, T b) {
            const float x = b;
            return T(static_cast<float>(a) * x * Sigmoid(beta * x));
        },
        dst, src0, src1);
}
}  // namespace detail
template <typename T, bool isReuseSource = false>
void SwiGLU(LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
            const float &scalar, const LocalTensor<uint8_t> &tmp, uint32_t count,
            sim::Loc loc = sim::Loc::Here()) {
    detail::SwiGlu(dst, src0, src1, scalar, tmp, count, loc);
}
template <typename T, bool isReuseSource = false>
void SwiGLU(LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
            const float &scalar, const LocalTensor<uint8_t> &tmp, sim::Loc loc = sim::Loc::Here()) {
    detail::SwiGlu(dst, src0, src1, scalar, tmp, src0.GetSize(), loc);
}
template <typename T, bool isReuseSource = false>
void SwiGLU(LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
            const float &scalar, uint32_t count, sim::Loc loc = sim::Loc::Here()) {
    detail::SwiGlu(dst, src0, src1, scalar, detail::NoTemporary(), count, loc);
}
template <typename T, bool isReuseSource = false>
void SwiGLU(LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
            const float &scalar, sim::Loc loc = sim::Loc::Here()) {
    detail::SwiGlu(dst, src0, src1, scalar, detail::NoTemporary(), src0.GetSize(), loc);
}

// One side may be a scalar.
namespace detail {
template <typename T>
T PowerLane(T x, T y) {
    if constexpr (std::is_integral_v<T>) {
        if (y < 0) {
            return x == 1 || (x == -1 && y % 2 == 0) ? T{1} : x == -1 ? T{-1} : T{0};
        }
        T result = 1;
        for (T square = x; y != 0; y = static_cast<T>(y / 2)) {
            result = y % 2 != 0 ? sim::MulLane()(result, square) : result;
            square = sim::MulLane()(square, square);
        }
        return result;
    } else {
        return T(std::pow(static_cast<float>(x), static_cast<float>(y)));
    }
}
template <typename T, typename Tmp>
void PowerOf(const LocalTensor<T> &dst, const LocalTensor<T> &base, const LocalTensor<T> &exponent,
             const Tmp &tmp, uint32_t count, sim::Loc loc) {
    static_assert(sim::kOneOf<T, half, float, int32_t>, "Power: half, float and int32_t");
    Elementwise("Power", loc, tmp, count, PowerLane<T>, dst, base, exponent);
}
template <typename T, typename Tmp>
void PowerOf(const LocalTensor<T> &dst, const LocalTensor<T> &base, const T &exponent,
             const Tmp &tmp, uint32_t count, sim::Loc loc) {
    static_assert(sim::kOneOf<T, half, float, int32_t>, "Power: half, float and int32_t");
    Elementwise(
        "Power", loc, tmp, count, [exponent](T x) { return PowerLane(x, exponent); }, dst, base);
}
template <typename T, typename Tmp>
void PowerOf(const LocalTensor<T> &dst, const T &base, const LocalTensor<T> &exponent,
             const Tmp &tmp, uint32_t count, sim::Loc loc) {
    static_assert(sim::kOneOf<T, half, float, int32_t>, "Power: half, float and int32_t");
    Elementwise(
        "Power", loc, tmp, count, [base](T y) { return PowerLane(base, y); }, dst, exponent);
}
}  // namespace detail

#define SIM_POWER(Base, Exponent, all)                                                             \
    template <typename T, bool isReuseSource = false>                                              \
    void Power(const LocalTensor<T> &dst, const Base &base, const Exponent &exponent,              \
               const LocalTensor<uint8_t> &tmp, uint32_t count, sim::Loc loc = sim::Loc::Here()) { \
        detail::PowerOf(dst, base, exponent, tmp, count, loc);                                     \
    }                                                                                              \
    template <typename T, bool isReuseSource = false>                                              \
    void Power(const LocalTensor<T> &dst, const Base &base, const Exponent &exponent,              \
               const LocalTensor<uint8_t> &tmp, sim::Loc loc = sim::Loc::Here()) {                 \
        detail::PowerOf(dst, base, exponent, tmp, all.GetSize(), loc);                             \
    }                                                                                              \
    template <typename T, bool isReuseSource = false>                                              \
    void Power(const LocalTensor<T> &dst, const Base &base, const Exponent &exponent,              \
               uint32_t count, sim::Loc loc = sim::Loc::Here()) {                                  \
        detail::PowerOf(dst, base, exponent, detail::NoTemporary(), count, loc);                   \
    }                                                                                              \
    template <typename T, bool isReuseSource = false>                                              \
    void Power(const LocalTensor<T> &dst, const Base &base, const Exponent &exponent,              \
               sim::Loc loc = sim::Loc::Here()) {                                                  \
        detail::PowerOf(dst, base, exponent, detail::NoTemporary(), all.GetSize(), loc);           \
    }
SIM_POWER(LocalTensor<T>, LocalTensor<T>, base)
SIM_POWER(LocalTensor<T>, T, base)
SIM_POWER(T, LocalTensor<T>, exponent)
#undef SIM_POWER

#define SIM_CLAMP(Op, Lane)                                                                        \
    template <typename T, bool isReuseSource = false>                                              \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp, \
            const T scalar, uint32_t count, sim::Loc loc = sim::Loc::Here()) {                     \
        SIM_TYPES(Op, kReal<T>);                                                                   \
        detail::Elementwise(                                                                       \
            #Op, loc, tmp, count, [scalar](T x) { return sim::Lane()(x, scalar); }, dst, src);     \
    }                                                                                              \
    template <typename T, bool isReuseSource = false>                                              \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T scalar, uint32_t count,  \
            sim::Loc loc = sim::Loc::Here()) {                                                     \
        SIM_TYPES(Op, kReal<T>);                                                                   \
        sim::CountForm(                                                                            \
            #Op, loc, count, [scalar](T x) { return sim::Lane()(x, scalar); }, dst, src);          \
    }
SIM_CLAMP(ClampMax, MinLane)
SIM_CLAMP(ClampMin, MaxLane)
#undef SIM_CLAMP

namespace detail {
template <typename T, typename Tmp>
void XorOf(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
           const Tmp &tmp, uint32_t count, sim::Loc loc) {
    SIM_TYPES(Xor, kLogical<T>);
    Elementwise("Xor", loc, tmp, count, sim::XorLane(), dst, src0, src1);
}
}  // namespace detail
template <typename T, bool isReuseSource = false>
void Xor(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
         const LocalTensor<uint8_t> &tmp, uint32_t count, sim::Loc loc = sim::Loc::Here()) {
    detail::XorOf(dst, src0, src1, tmp, count, loc);
}
template <typename T, bool isReuseSource = false>
void Xor(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
         const LocalTensor<uint8_t> &tmp, sim::Loc loc = sim::Loc::Here()) {
    detail::XorOf(dst, src0, src1, tmp, src0.GetSize(), loc);
}
template <typename T, bool isReuseSource = false>
void Xor(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
         sim::Loc loc = sim::Loc::Here()) {
    detail::XorOf(dst, src0, src1, detail::NoTemporary(), src0.GetSize(), loc);
}
#if __NPU_ARCH__ == 2201
template <typename T, bool isReuseSource = false>
void Xor(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
         uint32_t count, sim::Loc loc = sim::Loc::Here()) {
    detail::XorOf(dst, src0, src1, detail::NoTemporary(), count, loc);
}
#endif

// first, first + difference, ...
template <typename T>
void ArithProgression(const LocalTensor<T> &dst, const T first, const T difference, int32_t count,
                      sim::Loc loc = sim::Loc::Here()) {
    static_assert(sim::kOneOf<T, half, float, int16_t, int32_t>,
                  "ArithProgression: this architecture does not support the type");
    sim::CountForm(
        "ArithProgression", loc, count,
        [first, difference, i = 0]() mutable {
            return sim::AddLane()(first, sim::MulLane()(difference, static_cast<T>(i++)));
        },
        dst);
}

// Rows of n elements, each row in `inner` elements: a multiple of 32 bytes.
struct SumParams {
    uint32_t outter = 0;
    uint32_t inner = 0;
    uint32_t n = 0;
};

namespace detail {

// Fails unless the n elements fit a row, and rows are whole blocks.
template <typename T>
void CheckRows(uint32_t inner, uint32_t n, const char *api, sim::Loc loc) {
    if (inner * sizeof(T) % ONE_BLK_SIZE != 0 || n > inner) {
        sim::ThisCore().Fail(sim::Check::DmaParams, api, loc,
                             "rows of %u elements, %u of them used: a row takes a multiple of 32 "
                             "bytes and holds all that are used",
                             inner, n);
    }
}

template <typename T, typename Tmp>
void SumOfRows(const LocalTensor<T> &dst, const LocalTensor<T> &src, const Tmp &tmp,
               const SumParams &p, sim::Loc loc) {
    constexpr const char *api = "Sum";
    SIM_TYPES(Sum, kReal<T>);
    sim::ThisCore().Begin(sim::Pipe::V, api, loc);
    CheckRows<T>(p.inner, p.n, api, loc);
    sim::CheckAligned(src, ONE_BLK_SIZE, api, loc);
    sim::CheckAligned(dst, ONE_BLK_SIZE, api, loc);
    sim::CheckRange(dst, 0, uint64_t{p.outter} * sizeof(T), true, api, loc);
    for (uint32_t row = 0; row < p.outter; ++row) {
        const uint64_t first = uint64_t{row} * p.inner;
        sim::CheckRange(src, first * sizeof(T), p.n * sizeof(T), false, api, loc);
        double sum = 0;
        for (uint32_t i = 0; i < p.n; ++i) {
            sum += static_cast<float>(src.Data()[first + i]);
        }
        dst.Data()[row] = T(sum);
    }
    UseTemporary(tmp, api, loc);
}

}  // namespace detail

template <typename T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
void Sum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp,
         const SumParams &p, sim::Loc loc = sim::Loc::Here()) {
    detail::SumOfRows(dst, src, tmp, p, loc);
}
template <typename T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
void Sum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const SumParams &p,
         sim::Loc loc = sim::Loc::Here()) {
    detail::SumOfRows(dst, src, detail::NoTemporary(), p, loc);
}

struct CumSumConfig {
    bool isLastAxis = true;
    bool isReuseSource = false;
    bool outputLastRow = false;
};
inline constexpr CumSumConfig defaultCumSumConfig = {true, false, true};
struct CumSumInfo {
    uint32_t outter = 0;
    uint32_t inner = 0;
};

namespace detail {
template <typename T, const CumSumConfig &config, typename Tmp>
void CumulativeSum(const LocalTensor<T> &dst, const LocalTensor<T> &lastRow,
                   const LocalTensor<T> &src, const Tmp &tmp, const CumSumInfo &info,
                   sim::Loc loc) {
    SIM_TYPES(CumSum, kReal<T>);
    const uint64_t bytes = uint64_t{info.outter} * info.inner * sizeof(T);
    sim::ThisCore().Begin(sim::Pipe::V, "CumSum", loc);
    CheckRows<T>(info.inner, info.inner, "CumSum", loc);
    sim::CheckRange(src, 0, bytes, false, "CumSum", loc);
    sim::CheckRange(dst, 0, bytes, true, "CumSum", loc);
    constexpr bool alongRow = config.isLastAxis;
    const uint32_t sums = alongRow ? info.outter : info.inner;
    const uint32_t length = alongRow ? info.inner : info.outter;
    for (uint32_t i = 0; i < sums; ++i) {
        float sum = 0.0F;
        for (uint32_t k = 0; k < length; ++k) {
            const uint64_t at = alongRow ? uint64_t{i} * length + k : uint64_t{k} * sums + i;
            sum += static_cast<float>(src.Data()[at]);
            dst.Data()[at] = T(sum);
        }
    }
    if (config.outputLastRow && info.outter != 0) {
        sim::CheckRange(lastRow, 0, info.inner * sizeof(T), true, "CumSum", loc);
        std::memcpy(static_cast<void *>(lastRow.Data()),
                    dst.Data() + uint64_t{info.outter - 1} * info.inner, info.inner * sizeof(T));
    }
    UseTemporary(tmp, "CumSum", loc);
}
}  // namespace detail
template <typename T, const CumSumConfig &config = defaultCumSumConfig>
void CumSum(LocalTensor<T> &dst, LocalTensor<T> &lastRow, const LocalTensor<T> &src,
            LocalTensor<uint8_t> &tmp, const CumSumInfo &info, sim::Loc loc = sim::Loc::Here()) {
    detail::CumulativeSum<T, config>(dst, lastRow, src, tmp, info, loc);
}
template <typename T, const CumSumConfig &config = defaultCumSumConfig>
void CumSum(LocalTensor<T> &dst, LocalTensor<T> &lastRow, const LocalTensor<T> &src,
            const CumSumInfo &info, sim::Loc loc = sim::Loc::Here()) {
    detail::CumulativeSum<T, config>(dst, lastRow, src, detail::NoTemporary(), info, loc);
}

namespace detail {
template <typename T, int32_t dim, int32_t axis, typename Tmp>
void BroadcastTo(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t dstShape[],
                 const uint32_t srcShape[], const Tmp &tmp, sim::Loc loc) {
    static_assert((dim == 1 && axis == 0) || (dim == 2 && (axis == 0 || axis == 1)),
                  "Broadcast: one or two dimensions, along one of them");
    static_assert(sim::kOneOf<T, half, float, int8_t, uint8_t>,
                  "Broadcast: half, float, int8_t and uint8_t");
    sim::Core &core = sim::ThisCore();
    core.Begin(sim::Pipe::V, "Broadcast", loc);
    for (int32_t i = 0; i < dim; ++i) {
        if (srcShape[i] != (i == axis ? 1 : dstShape[i])) {
            core.Fail(sim::Check::DmaParams, "Broadcast", loc,
                      "dimension %d has %u elements, in dst %u; only dimension %d may grow, from 1",
                      i, srcShape[i], dstShape[i], axis);
        }
    }
    const uint32_t rows = dim == 1 ? 1 : dstShape[0];
    const uint32_t columns = dstShape[dim - 1];
    const uint64_t elements = dim == 1 ? 1 : axis == 0 ? columns : rows;
    sim::CheckRange(src, 0, elements * sizeof(T), false, "Broadcast", loc);
    sim::CheckRange(dst, 0, uint64_t{rows} * columns * sizeof(T), true, "Broadcast", loc);
    for (uint32_t row = 0; row < rows; ++row) {
        for (uint32_t column = 0; column < columns; ++column) {
            dst.Data()[uint64_t{row} * columns + column] = src.Data()[dim == 1    ? 0
                                                                      : axis == 0 ? column
                                                                                  : row];
        }
    }
    UseTemporary(tmp, "Broadcast", loc);
}
}  // namespace detail
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
void Broadcast(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t dstShape[dim],
               const uint32_t srcShape[dim], LocalTensor<uint8_t> &tmp,
               sim::Loc loc = sim::Loc::Here()) {
    detail::BroadcastTo<T, dim, axis>(dst, src, dstShape, srcShape, tmp, loc);
}
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
void Broadcast(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t dstShape[dim],
               const uint32_t srcShape[dim], sim::Loc loc = sim::Loc::Here()) {
    detail::BroadcastTo<T, dim, axis>(dst, src, dstShape, srcShape, detail::NoTemporary(), loc);
}
// The older name.
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
void BroadCast(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t dstShape[dim],
               const uint32_t srcShape[dim], LocalTensor<uint8_t> &tmp,
               sim::Loc loc = sim::Loc::Here()) {
    detail::BroadcastTo<T, dim, axis>(dst, src, dstShape, srcShape, tmp, loc);
}
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
void BroadCast(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t dstShape[dim],
               const uint32_t srcShape[dim], sim::Loc loc = sim::Loc::Here()) {
    detail::BroadcastTo<T, dim, axis>(dst, src, dstShape, srcShape, detail::NoTemporary(), loc);
}

}  // namespace AscendC
