// Comparison to bit masks, and selection by them. Bit i of byte i / 8, lowest first.
#pragma once

#include "sim/arithmetic.h"

namespace AscendC {

enum class CMPMODE : uint8_t { LT, GT, EQ, LE, GE, NE };
enum class SELMODE : uint8_t { VSEL_CMPMASK_SPR, VSEL_TENSOR_SCALAR_MODE, VSEL_TENSOR_TENSOR_MODE };

namespace detail {

template <typename T>
bool Compare(T a, T b, CMPMODE mode) {
    using Wide = std::conditional_t<std::is_integral_v<T>, T, float>;
    const Wide x = a;
    const Wide y = b;
    switch (mode) {
        case CMPMODE::LT:
            return x < y;
        case CMPMODE::GT:
            return x > y;
        case CMPMODE::EQ:
            return x == y;
        case CMPMODE::LE:
            return x <= y;
        case CMPMODE::GE:
            return x >= y;
        // False with a NaN, unlike in C++.
        case CMPMODE::NE:
            return x < y || x > y;
    }
    return false;
}

template <typename U, typename T, typename Right>
void CompareAll(const LocalTensor<U> &dst, const LocalTensor<T> &src, Right right, CMPMODE mode,
                uint32_t count, const char *api, sim::Loc loc) {
    static_assert(sizeof(U) == 1, "the result of a comparison is a tensor of bytes");
#if __NPU_ARCH__ == 2201
    static_assert(sim::kOneOf<T, half, float, int32_t>, "Compare: half, float, and int32_t for EQ");
    if (std::is_same_v<T, int32_t> && mode != CMPMODE::EQ) {
        sim::ThisCore().Fail(sim::Check::CastMode, api, loc, "int32_t can only be compared for EQ");
    }
    if (count * sizeof(T) % ONE_REPEAT_BYTE_SIZE != 0) {
        sim::ThisCore().Fail(sim::Check::Mask, api, loc,
                             "%zu bytes are no multiple of 256, the rest is not compared",
                             count * sizeof(T));
    }
#endif
    sim::CheckAligned(dst, ONE_BLK_SIZE, api, loc);
    sim::CheckRange(src, 0, uint64_t{count} * sizeof(T), false, api, loc);
    sim::CheckRange(dst, 0, (count + 7) / 8, true, api, loc);
    auto *bytes = reinterpret_cast<uint8_t *>(dst.Data());
    std::memset(bytes, 0, (count + 7) / 8);
    for (uint32_t i = 0; i < count; ++i) {
        bytes[i / 8] |= static_cast<uint8_t>(Compare(src.Data()[i], right(i), mode) << (i % 8));
    }
}

}  // namespace detail

template <typename U, typename T>
void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
             CMPMODE mode, uint32_t count, sim::Loc loc = sim::Loc::Here()) {
    sim::ThisCore().Begin(sim::Pipe::V, "Compare", loc);
    sim::CheckRange(src1, 0, uint64_t{count} * sizeof(T), false, "Compare", loc);
    detail::CompareAll(
        dst, src0, [&](uint32_t i) { return src1.Data()[i]; }, mode, count, "Compare", loc);
}
template <typename U, typename T>
void CompareScalar(const LocalTensor<U> &dst, const LocalTensor<T> &src, const T &scalar,
                   CMPMODE mode, uint32_t count, sim::Loc loc = sim::Loc::Here()) {
    sim::ThisCore().Begin(sim::Pipe::V, "CompareScalar", loc);
    detail::CompareAll(
        dst, src, [&](uint32_t) { return scalar; }, mode, count, "CompareScalar", loc);
}
template <typename U, typename T>
void Compares(const LocalTensor<U> &dst, const LocalTensor<T> &src, const T &scalar, CMPMODE mode,
              uint32_t count, sim::Loc loc = sim::Loc::Here()) {
    sim::ThisCore().Begin(sim::Pipe::V, "Compares", loc);
    detail::CompareAll(dst, src, [&](uint32_t) { return scalar; }, mode, count, "Compares", loc);
}

namespace detail {
template <typename T, typename U, typename Other>
void SelectAll(const LocalTensor<T> &dst, const LocalTensor<U> &selection,
               const LocalTensor<T> &src0, Other other, SELMODE mode, uint32_t count,
               sim::Loc loc) {
#if __NPU_ARCH__ == 2201
    static_assert(sim::kOneOf<T, half, float>, "Select: half and float");
#endif
    constexpr uint32_t lanes = ONE_REPEAT_BYTE_SIZE / sizeof(T);
    const bool reused = mode == SELMODE::VSEL_CMPMASK_SPR;
    const uint32_t bits = reused && count > lanes ? lanes : count;
    sim::CheckRange(selection, 0, (bits + 7) / 8, false, "Select", loc);
    sim::CheckRange(src0, 0, uint64_t{count} * sizeof(T), false, "Select", loc);
    sim::CheckRange(dst, 0, uint64_t{count} * sizeof(T), true, "Select", loc);
    const auto *bytes = reinterpret_cast<const uint8_t *>(selection.Data());
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t bit = reused ? i % lanes : i;
        dst.Data()[i] = (bytes[bit / 8] >> (bit % 8) & 1) != 0 ? src0.Data()[i] : other(i);
    }
}
}  // namespace detail

template <typename T, typename U>
void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selection, const LocalTensor<T> &src0,
            const LocalTensor<T> &src1, SELMODE mode, uint32_t count,
            sim::Loc loc = sim::Loc::Here()) {
    sim::ThisCore().Begin(sim::Pipe::V, "Select", loc);
    sim::CheckRange(src1, 0, uint64_t{count} * sizeof(T), false, "Select", loc);
    detail::SelectAll(
        dst, selection, src0, [&](uint32_t i) { return src1.Data()[i]; }, mode, count, loc);
}
template <typename T, typename U>
void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selection, const LocalTensor<T> &src0,
            T scalar, SELMODE mode, uint32_t count, sim::Loc loc = sim::Loc::Here()) {
    sim::ThisCore().Begin(sim::Pipe::V, "Select", loc);
    detail::SelectAll(dst, selection, src0, [&](uint32_t) { return scalar; }, mode, count, loc);
}

}  // namespace AscendC
