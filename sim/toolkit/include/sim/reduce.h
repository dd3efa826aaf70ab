// Reductions of a whole range, and sizes of sort buffers.
#pragma once

#include "sim/arithmetic.h"

namespace AscendC {

namespace detail {

template <typename T>
void CheckReduce(const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t count,
                 uint32_t results, const char *api, sim::Loc loc) {
    static_assert(sim::kReal<T>, "reductions: half and float");
    if (count <= 0) {
        sim::ThisCore().Fail(sim::Check::Mask, api, loc, "count is %d", count);
        throw sim::Violation{"nothing to reduce"};
    }
    sim::ThisCore().Begin(sim::Pipe::V, api, loc);
    sim::CheckAligned(src, ONE_BLK_SIZE, api, loc);
    sim::CheckRange(src, 0, static_cast<uint64_t>(count) * sizeof(T), false, api, loc);
    sim::CheckRange(dst, 0, results * sizeof(T), true, api, loc);
}

// The index of the first extreme element; a NaN is extreme.
template <typename T, typename Better>
uint32_t Extreme(const T *data, int32_t count, Better better) {
    uint32_t best = 0;
    for (int32_t i = 1; i < count; ++i) {
        const float x = data[i];
        const float y = data[best];
        if (y == y && (x != x || better(x, y))) {
            best = static_cast<uint32_t>(i);
        }
    }
    return best;
}

template <typename T, typename Better>
void ReduceExtreme(const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t count, bool index,
                   Better better, const char *api, sim::Loc loc) {
    CheckReduce(dst, src, count, index ? 2 : 1, api, loc);
    const uint32_t at = Extreme(src.Data(), count, better);
    const T value = src.Data()[at];
    dst.Data()[0] = value;
    if (index) {
        if (sizeof(T) == 2 && at > 65535) {
            sim::ThisCore().Fail(sim::Check::Mask, api, loc, "index %u does not fit 16 bits", at);
        }
        std::memcpy(static_cast<void *>(&dst.Data()[1]), &at, sizeof(T));  // the bits of the index
    }
}

}  // namespace detail

// A tree within each repeat, then one repeat after the other.
template <typename T>
void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &,
               int32_t count, sim::Loc loc = sim::Loc::Here()) {
    detail::CheckReduce(dst, src, count, 1, "ReduceSum", loc);
    constexpr int32_t lanes = static_cast<int32_t>(ONE_REPEAT_BYTE_SIZE / sizeof(T));
    T total = T(0);
    for (int32_t first = 0; first < count; first += lanes) {
        T tree[lanes];
        for (int32_t i = 0; i < lanes; ++i) {
            tree[i] = first + i < count ? src.Data()[first + i] : T(0);
        }
        for (int32_t width = lanes / 2; width > 0; width /= 2) {
            for (int32_t i = 0; i < width; ++i) {
                tree[i] = sim::AddLane()(tree[2 * i], tree[2 * i + 1]);
            }
        }
        total = sim::AddLane()(total, tree[0]);
    }
    dst.Data()[0] = total;
}
template <typename T>
void ReduceMax(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &,
               int32_t count, bool calIndex = false, sim::Loc loc = sim::Loc::Here()) {
    detail::ReduceExtreme(
        dst, src, count, calIndex, [](float x, float y) { return x > y; }, "ReduceMax", loc);
}
template <typename T>
void ReduceMin(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &,
               int32_t count, bool calIndex = false, sim::Loc loc = sim::Loc::Here()) {
    detail::ReduceExtreme(
        dst, src, count, calIndex, [](float x, float y) { return x < y; }, "ReduceMin", loc);
}

// The number of elements that `count` sorted pairs of value and index take: 8 bytes each.
template <typename T>
constexpr uint32_t GetSortLen(uint32_t count) {
    return count * 8 / sizeof(T);
}
template <typename T>
constexpr uint32_t GetSortOffset(uint32_t count) {
    return count * 8 / sizeof(T);
}

}  // namespace AscendC
