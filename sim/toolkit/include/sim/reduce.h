// Reductions of a whole range, of each repeat, of each block of 32 bytes and of pairs.
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

enum class ReduceOrder : uint8_t {
    ORDER_VALUE_INDEX,
    ORDER_INDEX_VALUE,
    ORDER_ONLY_VALUE,
    ORDER_ONLY_INDEX
};

namespace detail {

// The source of a reduction by repeats, and which of its lanes count.
template <typename T>
struct Repeats {
    static constexpr uint32_t kLanes = ONE_REPEAT_BYTE_SIZE / sizeof(T);
    static constexpr uint32_t kPerBlock = ONE_BLK_SIZE / sizeof(T);
    sim::Operand<T> source;
    sim::Mask mask;
    uint32_t count;

    float Value(uint32_t repeat, uint32_t lane) const {
        const uint32_t block = lane / kPerBlock * kPerBlock;
        return source.At(repeat, block)[lane - block];
    }
};

template <typename T, bool isSetMask, typename M>
Repeats<T> ReadRepeats(const LocalTensor<T> &src, M mask, int32_t repeatTime, int32_t srcBlkStride,
                       int32_t srcRepStride, const char *api, sim::Loc loc) {
    static_assert(sim::kReal<T>, "reductions: half and float");
    if (repeatTime < 0 || repeatTime > MAX_REPEAT_TIMES) {
        sim::ThisCore().Fail(sim::Check::Repeat, api, loc, "%d repeats, allowed are 0 to 255",
                             repeatTime);
        throw sim::Violation{"too many repeats"};
    }
    sim::ThisCore().Begin(sim::Pipe::V, api, loc);
    using R = Repeats<T>;
    const sim::Steps steps =
        sim::MaskSteps<isSetMask>(mask, static_cast<uint32_t>(repeatTime), R::kLanes, api, loc);
    const sim::Operand<T> source{src, static_cast<uint32_t>(srcBlkStride),
                                 static_cast<uint32_t>(srcRepStride), false};
    sim::CheckOperand(source, steps.repeats, R::kLanes, steps.mask, R::kPerBlock, api, loc);
    return {source, steps.mask, steps.repeats};
}

// The sum of the active lanes [first, first + count) as a binary tree.
template <typename T>
T TreeSum(const Repeats<T> &in, uint32_t repeat, uint32_t first, uint32_t count) {
    T tree[Repeats<T>::kLanes];
    for (uint32_t i = 0; i < count; ++i) {
        tree[i] = in.mask.Get(first + i) ? T(in.Value(repeat, first + i)) : T(0.0F);
    }
    for (uint32_t width = count / 2; width > 0; width /= 2) {
        for (uint32_t i = 0; i < width; ++i) {
            tree[i] = sim::AddLane()(tree[2 * i], tree[2 * i + 1]);
        }
    }
    return tree[0];
}

// The first extreme active lane of [first, first + count), -1 if none is active.
template <typename T, typename Better>
int32_t ExtremeLane(const Repeats<T> &in, uint32_t repeat, uint32_t first, uint32_t count,
                    Better better) {
    int32_t best = -1;
    for (uint32_t lane = first; lane < first + count; ++lane) {
        if (!in.mask.Get(lane)) {
            continue;
        }
        const float x = in.Value(repeat, lane);
        const float y = best < 0 ? x : in.Value(repeat, static_cast<uint32_t>(best));
        if (best < 0 || (y == y && (x != x || better(x, y)))) {
            best = static_cast<int32_t>(lane);
        }
    }
    return best;
}

template <typename T, bool isSetMask, typename M, typename Better>
void WholeReduceExtreme(const LocalTensor<T> &dst, const LocalTensor<T> &src, M mask,
                        int32_t repeatTime, int32_t dstRepStride, int32_t srcBlkStride,
                        int32_t srcRepStride, ReduceOrder order, Better better, const char *api,
                        sim::Loc loc) {
    const Repeats<T> in =
        ReadRepeats<T, isSetMask>(src, mask, repeatTime, srcBlkStride, srcRepStride, api, loc);
    const bool pair =
        order == ReduceOrder::ORDER_VALUE_INDEX || order == ReduceOrder::ORDER_INDEX_VALUE;
    const uint64_t bytes = pair                                     ? 2 * sizeof(T)
                           : order == ReduceOrder::ORDER_ONLY_INDEX ? sizeof(uint32_t)
                                                                    : sizeof(T);
    for (uint32_t repeat = 0; repeat < in.count; ++repeat) {
        const int32_t lane = ExtremeLane(in, repeat, 0, Repeats<T>::kLanes, better);
        if (lane < 0) {
            continue;
        }
        const uint64_t at =
            static_cast<uint64_t>(repeat) * static_cast<uint32_t>(dstRepStride) * bytes;
        sim::CheckRange(dst, at, bytes, true, api, loc);
        auto *to = reinterpret_cast<uint8_t *>(dst.Data()) + at;
        const T value = T(in.Value(repeat, static_cast<uint32_t>(lane)));
        const auto index = static_cast<uint32_t>(lane);
        if (order == ReduceOrder::ORDER_ONLY_INDEX) {
            std::memcpy(to, &index, sizeof(index));
            continue;
        }
        const bool valueFirst = order != ReduceOrder::ORDER_INDEX_VALUE;
        std::memcpy(to + (valueFirst ? 0 : sizeof(T)), &value, sizeof(T));
        if (pair) {
            std::memcpy(to + (valueFirst ? sizeof(T) : 0), &index, sizeof(T));  // its low bits
        }
    }
}

// One result for each block of 32 bytes that has an active lane.
template <typename T, bool isSetMask, typename M, typename Reduce>
void BlockReduce(const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t repeatTime, M mask,
                 int32_t dstRepStride, int32_t srcBlkStride, int32_t srcRepStride, Reduce reduce,
                 const char *api, sim::Loc loc) {
    const Repeats<T> in =
        ReadRepeats<T, isSetMask>(src, mask, repeatTime, srcBlkStride, srcRepStride, api, loc);
    constexpr uint32_t blocks = ONE_REPEAT_BYTE_SIZE / ONE_BLK_SIZE;
    for (uint32_t repeat = 0; repeat < in.count; ++repeat) {
        for (uint32_t block = 0; block < blocks; ++block) {
            const uint32_t first = block * Repeats<T>::kPerBlock;
            if (in.mask.Bits(first, Repeats<T>::kPerBlock) == 0) {
                continue;
            }
            const uint64_t at =
                static_cast<uint64_t>(repeat) * static_cast<uint32_t>(dstRepStride) * blocks +
                block;
            sim::CheckRange(dst, at * sizeof(T), sizeof(T), true, api, loc);
            dst.Data()[at] = reduce(in, repeat, first);
        }
    }
}

}  // namespace detail

// One sum for each repeat; dstRepStride counts elements.
#define SIM_MASK_FORMS(form) form(int32_t mask) form(const uint64_t mask[])
#define SIM_WHOLE_SUM(parameter)                                                                \
    template <typename T, bool isSetMask = true>                                                \
    void WholeReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, parameter,        \
                        int32_t repeatTime, int32_t dstRepStride, int32_t srcBlkStride,         \
                        int32_t srcRepStride, sim::Loc loc = sim::Loc::Here()) {                \
        const auto in = detail::ReadRepeats<T, isSetMask>(src, mask, repeatTime, srcBlkStride,  \
                                                          srcRepStride, "WholeReduceSum", loc); \
        for (uint32_t repeat = 0; repeat < in.count; ++repeat) {                                \
            const uint64_t at = uint64_t{repeat} * static_cast<uint32_t>(dstRepStride);         \
            sim::CheckRange(dst, at * sizeof(T), sizeof(T), true, "WholeReduceSum", loc);       \
            dst.Data()[at] = detail::TreeSum(in, repeat, 0, in.kLanes);                         \
        }                                                                                       \
    }
SIM_MASK_FORMS(SIM_WHOLE_SUM)
#undef SIM_WHOLE_SUM

#define SIM_WHOLE_EXTREME(Op, comparison, parameter)                                               \
    template <typename T, bool isSetMask = true>                                                   \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src, parameter, int32_t repeatTime,   \
            int32_t dstRepStride, int32_t srcBlkStride, int32_t srcRepStride,                      \
            ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX, sim::Loc loc = sim::Loc::Here()) { \
        detail::WholeReduceExtreme<T, isSetMask>(                                                  \
            dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, order,           \
            [](float x, float y) { return x comparison y; }, #Op, loc);                            \
    }
#define SIM_WHOLE_MAX(parameter) SIM_WHOLE_EXTREME(WholeReduceMax, >, parameter)
#define SIM_WHOLE_MIN(parameter) SIM_WHOLE_EXTREME(WholeReduceMin, <, parameter)
SIM_MASK_FORMS(SIM_WHOLE_MAX)
SIM_MASK_FORMS(SIM_WHOLE_MIN)
#undef SIM_WHOLE_MAX
#undef SIM_WHOLE_MIN
#undef SIM_WHOLE_EXTREME

// Eight results for each repeat; dstRepStride counts groups of eight results. The mask stands
// behind the repeats here.
#define SIM_BLOCK(Op, reduction, parameter)                                                      \
    template <typename T, bool isSetMask = true>                                                 \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t repeatTime, parameter, \
            int32_t dstRepStride, int32_t srcBlkStride, int32_t srcRepStride,                    \
            sim::Loc loc = sim::Loc::Here()) {                                                   \
        detail::BlockReduce<T, isSetMask>(                                                       \
            dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride,                \
            [](const auto &in, uint32_t repeat, uint32_t first) -> T { return reduction; }, #Op, \
            loc);                                                                                \
    }
#define SIM_EXTREME_OF_BLOCK(comparison)                                        \
    T(in.Value(repeat, static_cast<uint32_t>(                                   \
                           detail::ExtremeLane(in, repeat, first, in.kPerBlock, \
                                               [](float x, float y) { return x comparison y; }))))
#define SIM_BLOCK_SUM(parameter) \
    SIM_BLOCK(BlockReduceSum, detail::TreeSum(in, repeat, first, in.kPerBlock), parameter)
#define SIM_BLOCK_MAX(parameter) SIM_BLOCK(BlockReduceMax, SIM_EXTREME_OF_BLOCK(>), parameter)
#define SIM_BLOCK_MIN(parameter) SIM_BLOCK(BlockReduceMin, SIM_EXTREME_OF_BLOCK(<), parameter)
SIM_MASK_FORMS(SIM_BLOCK_SUM)
SIM_MASK_FORMS(SIM_BLOCK_MAX)
SIM_MASK_FORMS(SIM_BLOCK_MIN)
#undef SIM_BLOCK_SUM
#undef SIM_BLOCK_MAX
#undef SIM_BLOCK_MIN
#undef SIM_EXTREME_OF_BLOCK
#undef SIM_BLOCK

// The sums of neighbours; dstRepStride counts 128 bytes.
#define SIM_PAIR(parameter)                                                                      \
    template <typename T, bool isSetMask = true>                                                 \
    void PairReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t repeatTime, \
                       parameter, int32_t dstRepStride, int32_t srcBlkStride,                    \
                       int32_t srcRepStride, sim::Loc loc = sim::Loc::Here()) {                  \
        const auto in = detail::ReadRepeats<T, isSetMask>(src, mask, repeatTime, srcBlkStride,   \
                                                          srcRepStride, "PairReduceSum", loc);   \
        for (uint32_t repeat = 0; repeat < in.count; ++repeat) {                                 \
            for (uint32_t pair = 0; pair < in.kLanes / 2; ++pair) {                              \
                if (in.mask.Bits(2 * pair, 2) == 0) {                                            \
                    continue;                                                                    \
                }                                                                                \
                const uint64_t at =                                                              \
                    uint64_t{repeat} * static_cast<uint32_t>(dstRepStride) * (in.kLanes / 2) +   \
                    pair;                                                                        \
                sim::CheckRange(dst, at * sizeof(T), sizeof(T), true, "PairReduceSum", loc);     \
                dst.Data()[at] = detail::TreeSum(in, repeat, 2 * pair, 2);                       \
            }                                                                                    \
        }                                                                                        \
    }
SIM_MASK_FORMS(SIM_PAIR)
#undef SIM_PAIR
#undef SIM_MASK_FORMS

}  // namespace AscendC
