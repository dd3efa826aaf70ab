// Reductions of a whole range, of each repeat, of each block of 32 bytes and of pairs.
#pragma once

#include <vector>

#include "sim/arithmetic.h"

namespace AscendC {

enum class ReduceType : uint8_t { SUM, MAX, MIN };

enum class ReduceOrder : uint8_t {
    ORDER_VALUE_INDEX,
    ORDER_INDEX_VALUE,
    ORDER_ONLY_VALUE,
    ORDER_ONLY_INDEX
};

namespace detail {

// The source of a reduction, and which of its lanes count.
template <typename T>
struct Repeats {
    static constexpr uint32_t kLanes = ONE_REPEAT_BYTE_SIZE / sizeof(T);
    static constexpr uint32_t kPerBlock = ONE_BLK_SIZE / sizeof(T);
    sim::Operand<T> source;
    sim::Steps steps;

    uint32_t Count() const { return steps.repeats + (steps.tail != 0 ? 1 : 0); }
    sim::Mask MaskOf(uint32_t repeat) const {
        return repeat < steps.repeats ? steps.mask
                                      : sim::FirstLanes(steps.tail, kLanes, "", sim::Loc::Here());
    }
    float Value(uint32_t repeat, uint32_t lane) const { return *source.At(repeat, lane); }
};

template <typename T>
Repeats<T> CheckedRepeats(const sim::Operand<T> &source, const sim::Steps &steps, const char *api,
                          sim::Loc loc) {
    static_assert(sim::kReal<T>, "reductions: half and float");
    sim::ThisCore().Begin(sim::Pipe::V, api, loc);
    sim::CheckSteps(source, steps, Repeats<T>::kLanes, api, loc);
    return {source, steps};
}

template <typename T, bool isSetMask, typename M>
Repeats<T> ReadRepeats(const LocalTensor<T> &src, M mask, int32_t repeatTime, int32_t srcBlkStride,
                       int32_t srcRepStride, const char *api, sim::Loc loc) {
    const sim::Steps steps = sim::MaskSteps<isSetMask>(mask, static_cast<uint32_t>(repeatTime),
                                                       Repeats<T>::kLanes, api, loc);
    return CheckedRepeats(sim::Operand<T>{src, static_cast<uint32_t>(srcBlkStride),
                                          static_cast<uint32_t>(srcRepStride), false},
                          steps, api, loc);
}

// `count` elements one behind the other.
template <typename T>
Repeats<T> ReadCount(const LocalTensor<T> &src, int32_t count, const char *api, sim::Loc loc) {
    constexpr uint32_t lanes = Repeats<T>::kLanes;
    if (count <= 0) {
        sim::ThisCore().Fail(sim::Check::Mask, api, loc, "count is %d", count);
        throw sim::Violation{"nothing to reduce"};
    }
    const auto n = static_cast<uint32_t>(count);
    const sim::Steps steps{sim::FirstLanes(lanes, lanes, api, loc), n / lanes, n % lanes};
    auto repeats = CheckedRepeats(sim::Operand<T>{src, 1, 8, false}, steps, api, loc);
    sim::ThisCore().LoseMask();
    return repeats;
}

// The forms that take any number of repeats.
template <typename T, typename M>
Repeats<T> ReadAnyRepeats(const LocalTensor<T> &src, M mask, int32_t repeatTime,
                          int32_t srcRepStride, const char *api, sim::Loc loc) {
    if (repeatTime <= 0) {
        sim::ThisCore().Fail(sim::Check::Repeat, api, loc, "%d repeats", repeatTime);
        throw sim::Violation{"nothing to reduce"};
    }
    sim::Steps steps = sim::MaskSteps<true>(mask, 1, Repeats<T>::kLanes, api, loc);
    steps.repeats = static_cast<uint32_t>(repeatTime);
    return CheckedRepeats(sim::Operand<T>{src, 1, static_cast<uint32_t>(srcRepStride), false},
                          steps, api, loc);
}

// The sum of the active lanes [first, first + count) as a binary tree.
template <typename T>
T TreeSum(const Repeats<T> &in, uint32_t repeat, uint32_t first, uint32_t count) {
    const sim::Mask mask = in.MaskOf(repeat);
    T tree[Repeats<T>::kLanes];
    for (uint32_t i = 0; i < count; ++i) {
        tree[i] = mask.Get(first + i) ? T(in.Value(repeat, first + i)) : T(0.0F);
    }
    for (uint32_t width = count / 2; width > 0; width /= 2) {
        for (uint32_t i = 0; i < width; ++i) {
            tree[i] = sim::AddLane()(tree[2 * i], tree[2 * i + 1]);
        }
    }
    return tree[0];
}

struct Greater {
    bool operator()(float x, float y) const { return x > y; }
};
struct Less {
    bool operator()(float x, float y) const { return x < y; }
};

// Whether x takes the place of y; a NaN does, and nothing takes its place.
template <typename Better>
bool Replaces(float x, float y) {
    return y == y && (x != x || Better()(x, y));
}

// The first extreme active lane of [first, first + count), -1 if none is active.
template <typename Better, typename T>
int32_t ExtremeLane(const Repeats<T> &in, uint32_t repeat, uint32_t first, uint32_t count) {
    const sim::Mask mask = in.MaskOf(repeat);
    int32_t best = -1;
    for (uint32_t lane = first; lane < first + count; ++lane) {
        if (mask.Get(lane) &&
            (best < 0 || Replaces<Better>(in.Value(repeat, lane),
                                          in.Value(repeat, static_cast<uint32_t>(best))))) {
            best = static_cast<int32_t>(lane);
        }
    }
    return best;
}

// Where in all repeats the extreme value is, kept for GetReduceRepeatMaxMinSpr.
template <typename Better, typename T>
uint32_t Extreme(const Repeats<T> &in, const char *api, sim::Loc loc) {
    sim::SpecialRegisters &special = sim::ThisCore().special;
    bool found = false;
    for (uint32_t repeat = 0; repeat < in.Count(); ++repeat) {
        const int32_t lane = ExtremeLane<Better>(in, repeat, 0, in.kLanes);
        if (lane < 0) {
            continue;
        }
        const float value = in.Value(repeat, static_cast<uint32_t>(lane));
        if (!found || Replaces<Better>(value, special.extreme)) {
            special.extreme = value;
            special.extremeIndex = repeat * in.kLanes + static_cast<uint32_t>(lane);
            found = true;
        }
    }
    if (!found) {
        sim::ThisCore().Fail(sim::Check::Mask, api, loc, "no lane is active");
    }
    return special.extremeIndex;
}

template <typename Better, typename T>
void ReduceExtreme(const LocalTensor<T> &dst, const Repeats<T> &in, bool index, const char *api,
                   sim::Loc loc) {
    const uint32_t at = Extreme<Better>(in, api, loc);
    sim::CheckRange(dst, 0, (index ? 2 : 1) * sizeof(T), true, api, loc);
    dst.Data()[0] = T(sim::ThisCore().special.extreme);
    if (index) {
        if (sizeof(T) == 2 && at > 65535) {
            sim::ThisCore().Fail(sim::Check::Mask, api, loc, "index %u does not fit 16 bits", at);
        }
        std::memcpy(static_cast<void *>(&dst.Data()[1]), &at, sizeof(T));  // the bits of the index
    }
}

}  // namespace detail

// A tree within each repeat, then one repeat after the other.
template <typename T, bool isSetMask = true>
void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &,
               int32_t count, sim::Loc loc = sim::Loc::Here()) {
    const auto in = detail::ReadCount(src, count, "ReduceSum", loc);
    T total = T(0);
    for (uint32_t repeat = 0; repeat < in.Count(); ++repeat) {
        total = sim::AddLane()(total, detail::TreeSum(in, repeat, 0, in.kLanes));
    }
    sim::CheckRange(dst, 0, sizeof(T), true, "ReduceSum", loc);
    dst.Data()[0] = total;
    sim::ThisCore().special.sum = total;
}
// A tree within each repeat, and a tree of the repeats.
template <typename T, typename M>
void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &, M mask,
               int32_t repeatTime, int32_t srcRepStride, sim::Loc loc = sim::Loc::Here()) {
    const auto in = detail::ReadAnyRepeats(src, mask, repeatTime, srcRepStride, "ReduceSum", loc);
    std::vector<T> sums;
    for (uint32_t repeat = 0; repeat < in.Count(); ++repeat) {
        sums.push_back(detail::TreeSum(in, repeat, 0, in.kLanes));
    }
    while (sums.size() > 1) {
        if (sums.size() % 2 != 0) {
            sums.push_back(T(0));
        }
        for (size_t i = 0; i < sums.size() / 2; ++i) {
            sums[i] = sim::AddLane()(sums[2 * i], sums[2 * i + 1]);
        }
        sums.resize(sums.size() / 2);
    }
    sim::CheckRange(dst, 0, sizeof(T), true, "ReduceSum", loc);
    dst.Data()[0] = sums[0];
}

namespace detail {
// On 2201 each whole repeat leaves a value and an index in the scratch, before the next round.
template <typename T>
void UseScratch(const LocalTensor<T> &scratch, uint32_t repeats, const char *api, sim::Loc loc) {
#if __NPU_ARCH__ == 2201
    const uint64_t bytes =
        (uint64_t{repeats} * 2 * sizeof(T) + ONE_BLK_SIZE - 1) / ONE_BLK_SIZE * ONE_BLK_SIZE;
    if (bytes != 0) {
        sim::CheckAligned(scratch, ONE_BLK_SIZE, api, loc);
        sim::CheckRange(scratch, 0, bytes, true, api, loc);
        sim::ThisCore().ForgetUb(scratch.Address(), bytes);
    }
#else
    static_cast<void>(scratch);
    static_cast<void>(repeats);
    static_cast<void>(api);
    static_cast<void>(loc);
#endif
}
}  // namespace detail

// The value, and with calIndex where it is, as the bits of an integer.
#define SIM_EXTREME(Op, Better)                                                                  \
    template <typename T>                                                                        \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &scratch, \
            int32_t count, bool calIndex = false, sim::Loc loc = sim::Loc::Here()) {             \
        const auto in = detail::ReadCount(src, count, #Op, loc);                                 \
        detail::UseScratch(scratch, in.steps.repeats, #Op, loc);                                 \
        detail::ReduceExtreme<detail::Better>(dst, in, calIndex, #Op, loc);                      \
    }                                                                                            \
    template <typename T, typename M>                                                            \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &scratch, \
            M mask, int32_t repeatTime, int32_t srcRepStride, bool calIndex = false,             \
            sim::Loc loc = sim::Loc::Here()) {                                                   \
        const auto in = detail::ReadAnyRepeats(src, mask, repeatTime, srcRepStride, #Op, loc);   \
        detail::UseScratch(scratch, in.steps.repeats, #Op, loc);                                 \
        detail::ReduceExtreme<detail::Better>(dst, in, calIndex, #Op, loc);                      \
    }
SIM_EXTREME(ReduceMax, Greater)
SIM_EXTREME(ReduceMin, Less)
#undef SIM_EXTREME

// One sum for each repeat; dstRepStride counts elements.
template <typename T, bool isSetMask = true, typename M>
void WholeReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, M mask,
                    int32_t repeatTime, int32_t dstRepStride, int32_t srcBlkStride,
                    int32_t srcRepStride, sim::Loc loc = sim::Loc::Here()) {
    const auto in = detail::ReadRepeats<T, isSetMask>(src, mask, repeatTime, srcBlkStride,
                                                      srcRepStride, "WholeReduceSum", loc);
    float total = 0.0F;
    for (uint32_t repeat = 0; repeat < in.Count(); ++repeat) {
        const uint64_t at = uint64_t{repeat} * static_cast<uint32_t>(dstRepStride);
        sim::CheckRange(dst, at * sizeof(T), sizeof(T), true, "WholeReduceSum", loc);
        dst.Data()[at] = detail::TreeSum(in, repeat, 0, in.kLanes);
        total += static_cast<float>(dst.Data()[at]);
    }
    sim::ThisCore().special.sum = total;
}
template <typename T, bool isSetMask = true>
void RepeatReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t repeatTime,
                     int32_t mask, int32_t, int32_t srcBlkStride, int32_t dstRepStride,
                     int32_t srcRepStride, sim::Loc loc = sim::Loc::Here()) {
    WholeReduceSum<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride,
                                 srcRepStride, loc);
}

namespace detail {

// One value, one index or both for each repeat; dstRepStride counts these.
template <typename Better, bool isSetMask, typename T, typename M>
void WholeReduceExtreme(const LocalTensor<T> &dst, const LocalTensor<T> &src, M mask,
                        int32_t repeatTime, int32_t dstRepStride, int32_t srcBlkStride,
                        int32_t srcRepStride, ReduceOrder order, const char *api, sim::Loc loc) {
    const auto in =
        ReadRepeats<T, isSetMask>(src, mask, repeatTime, srcBlkStride, srcRepStride, api, loc);
    const bool pair =
        order == ReduceOrder::ORDER_VALUE_INDEX || order == ReduceOrder::ORDER_INDEX_VALUE;
    const uint64_t bytes = pair                                     ? 2 * sizeof(T)
                           : order == ReduceOrder::ORDER_ONLY_INDEX ? sizeof(uint32_t)
                                                                    : sizeof(T);
    if (in.Count() != 0) {
        Extreme<Better>(in, api, loc);
    }
    for (uint32_t repeat = 0; repeat < in.Count(); ++repeat) {
        const int32_t lane = ExtremeLane<Better>(in, repeat, 0, in.kLanes);
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
template <bool isSetMask, typename T, typename M, typename Reduce>
void BlockReduce(const LocalTensor<T> &dst, const LocalTensor<T> &src, M mask, int32_t repeatTime,
                 int32_t dstRepStride, int32_t srcBlkStride, int32_t srcRepStride, Reduce reduce,
                 const char *api, sim::Loc loc) {
    const auto in =
        ReadRepeats<T, isSetMask>(src, mask, repeatTime, srcBlkStride, srcRepStride, api, loc);
    constexpr uint32_t blocks = ONE_REPEAT_BYTE_SIZE / ONE_BLK_SIZE;
    for (uint32_t repeat = 0; repeat < in.Count(); ++repeat) {
        for (uint32_t block = 0; block < blocks; ++block) {
            const uint32_t first = block * in.kPerBlock;
            if (in.MaskOf(repeat).Bits(first, in.kPerBlock) == 0) {
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

struct SumOfBlock {
    template <typename T>
    T operator()(const Repeats<T> &in, uint32_t repeat, uint32_t first) const {
        return TreeSum(in, repeat, first, in.kPerBlock);
    }
};
template <typename Better>
struct ExtremeOfBlock {
    template <typename T>
    T operator()(const Repeats<T> &in, uint32_t repeat, uint32_t first) const {
        const int32_t lane = ExtremeLane<Better>(in, repeat, first, in.kPerBlock);
        return T(in.Value(repeat, static_cast<uint32_t>(lane)));
    }
};

}  // namespace detail

#define SIM_WHOLE_EXTREME(Op, Better)                                                              \
    template <typename T, bool isSetMask = true, typename M>                                       \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src, M mask, int32_t repeatTime,      \
            int32_t dstRepStride, int32_t srcBlkStride, int32_t srcRepStride,                      \
            ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX, sim::Loc loc = sim::Loc::Here()) { \
        detail::WholeReduceExtreme<detail::Better, isSetMask>(dst, src, mask, repeatTime,          \
                                                              dstRepStride, srcBlkStride,          \
                                                              srcRepStride, order, #Op, loc);      \
    }
SIM_WHOLE_EXTREME(WholeReduceMax, Greater)
SIM_WHOLE_EXTREME(WholeReduceMin, Less)
#undef SIM_WHOLE_EXTREME

// Eight results for each repeat; dstRepStride counts groups of eight results. The mask stands
// behind the repeats here.
#define SIM_BLOCK(Op, reduction)                                                               \
    template <typename T, bool isSetMask = true, typename M>                                   \
    void Op(const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t repeatTime, M mask,  \
            int32_t dstRepStride, int32_t srcBlkStride, int32_t srcRepStride,                  \
            sim::Loc loc = sim::Loc::Here()) {                                                 \
        detail::BlockReduce<isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, \
                                       srcRepStride, detail::reduction(), #Op, loc);           \
    }
SIM_BLOCK(BlockReduceSum, SumOfBlock)
SIM_BLOCK(BlockReduceMax, ExtremeOfBlock<detail::Greater>)
SIM_BLOCK(BlockReduceMin, ExtremeOfBlock<detail::Less>)
#undef SIM_BLOCK

// The sums of neighbours; dstRepStride counts 128 bytes.
template <typename T, bool isSetMask = true, typename M>
void PairReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t repeatTime, M mask,
                   int32_t dstRepStride, int32_t srcBlkStride, int32_t srcRepStride,
                   sim::Loc loc = sim::Loc::Here()) {
    const auto in = detail::ReadRepeats<T, isSetMask>(src, mask, repeatTime, srcBlkStride,
                                                      srcRepStride, "PairReduceSum", loc);
    for (uint32_t repeat = 0; repeat < in.Count(); ++repeat) {
        for (uint32_t pair = 0; pair < in.kLanes / 2; ++pair) {
            if (in.MaskOf(repeat).Bits(2 * pair, 2) == 0) {
                continue;
            }
            const uint64_t at =
                uint64_t{repeat} * static_cast<uint32_t>(dstRepStride) * (in.kLanes / 2) + pair;
            sim::CheckRange(dst, at * sizeof(T), sizeof(T), true, "PairReduceSum", loc);
            dst.Data()[at] = detail::TreeSum(in, repeat, 2 * pair, 2);
        }
    }
}

// The same under the names of CANN 9.
template <ReduceType type, typename T, typename U, bool isSetMask = true, typename M>
void ReduceRepeat(const LocalTensor<T> &dst, const LocalTensor<U> &src, M mask, int32_t repeatTime,
                  int32_t dstRepStride, int32_t srcBlkStride, int32_t srcRepStride,
                  ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX,
                  sim::Loc loc = sim::Loc::Here()) {
    static_assert(std::is_same_v<T, U>, "ReduceRepeat: one type for source and destination");
    if constexpr (type == ReduceType::SUM) {
        WholeReduceSum<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride,
                                     srcRepStride, loc);
    } else {
        using Better = std::conditional_t<type == ReduceType::MAX, detail::Greater, detail::Less>;
        detail::WholeReduceExtreme<Better, isSetMask>(dst, src, mask, repeatTime, dstRepStride,
                                                      srcBlkStride, srcRepStride, order,
                                                      "ReduceRepeat", loc);
    }
}
template <ReduceType type, typename T, typename U, bool isSetMask = true, typename M>
void ReduceDataBlock(const LocalTensor<T> &dst, const LocalTensor<U> &src, M mask,
                     int32_t repeatTime, int32_t dstRepStride, int32_t srcBlkStride,
                     int32_t srcRepStride, sim::Loc loc = sim::Loc::Here()) {
    static_assert(std::is_same_v<T, U>, "ReduceDataBlock: one type for source and destination");
    using Reduction =
        std::conditional_t<type == ReduceType::SUM, detail::SumOfBlock,
                           detail::ExtremeOfBlock<std::conditional_t<
                               type == ReduceType::MAX, detail::Greater, detail::Less>>>;
    detail::BlockReduce<isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride,
                                   srcRepStride, Reduction(), "ReduceDataBlock", loc);
}
template <ReduceType type, typename T, typename U, bool isSetMask = true, typename M>
void ReducePairElem(const LocalTensor<T> &dst, const LocalTensor<U> &src, M mask,
                    int32_t repeatTime, int32_t dstRepStride, int32_t srcBlkStride,
                    int32_t srcRepStride, sim::Loc loc = sim::Loc::Here()) {
    static_assert(std::is_same_v<T, U> && type == ReduceType::SUM,
                  "ReducePairElem: sums, of one type for source and destination");
    PairReduceSum<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride,
                                srcRepStride, loc);
}

// What the last reduction left in registers: the sum, or the extreme value of all repeats and the
// bits of its index. GetAccVal and GetReduceMaxMinCount are the older names.
template <typename T>
T GetReduceRepeatSumSpr(sim::Loc loc = sim::Loc::Here()) {
    static_assert(sim::kReal<T>, "GetReduceRepeatSumSpr: half and float");
    sim::ThisCore().Begin(sim::Pipe::S, "GetReduceRepeatSumSpr", loc);
    return T(sim::ThisCore().special.sum);
}
template <typename T>
void GetReduceRepeatMaxMinSpr(T &value, T &index, sim::Loc loc = sim::Loc::Here()) {
    static_assert(sim::kReal<T>, "GetReduceRepeatMaxMinSpr: half and float");
    const sim::SpecialRegisters &special = sim::ThisCore().special;
    sim::ThisCore().Begin(sim::Pipe::S, "GetReduceRepeatMaxMinSpr", loc);
    value = T(special.extreme);
    std::memcpy(static_cast<void *>(&index), &special.extremeIndex, sizeof(T));
}
template <typename T>
T GetAccVal(sim::Loc loc = sim::Loc::Here()) {
    return GetReduceRepeatSumSpr<T>(loc);
}
template <typename T>
void GetReduceMaxMinCount(T &value, T &index, sim::Loc loc = sim::Loc::Here()) {
    GetReduceRepeatMaxMinSpr(value, index, loc);
}

}  // namespace AscendC
