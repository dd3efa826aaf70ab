// Sorting of pairs of a value and an index, greatest first.
#pragma once

#include <algorithm>

#include "sim/arithmetic.h"

namespace AscendC {

namespace detail {

// Eight bytes: a float, or a half and two unused bytes; then the index.
template <typename T>
struct SortPair {
    T value;
    uint32_t index;
};
static_assert(sizeof(SortPair<half>) == 8 && sizeof(SortPair<float>) == 8, "as the device has it");

template <typename T>
SortPair<T> *Pairs(const LocalTensor<T> &tensor) {
    return reinterpret_cast<SortPair<T> *>(tensor.Data());
}

}  // namespace detail

// The number of elements that `count` pairs take.
template <typename T>
constexpr uint32_t GetSortLen(uint32_t count) {
    return count * sizeof(detail::SortPair<T>) / sizeof(T);
}
template <typename T>
constexpr uint32_t GetSortOffset(uint32_t count) {
    return GetSortLen<T>(count);
}

// Sorts 32 pairs for each repeat; equal values keep their order.
template <typename T>
void Sort32(const LocalTensor<T> &dst, const LocalTensor<T> &src,
            const LocalTensor<uint32_t> &index, int32_t repeatTime,
            sim::Loc loc = sim::Loc::Here()) {
    static_assert(sim::kReal<T>, "Sort32: half and float");
    constexpr uint32_t run = 32;
    if (repeatTime < 0 || repeatTime > MAX_REPEAT_TIMES) {
        sim::ThisCore().Fail(sim::Check::Repeat, "Sort32", loc, "%d repeats, allowed are 0 to 255",
                             repeatTime);
        return;
    }
    const auto count = static_cast<uint32_t>(repeatTime) * run;
    sim::ThisCore().Begin(sim::Pipe::V, "Sort32", loc);
    sim::Takes<T>(static_cast<uint32_t>(repeatTime));
    sim::CheckAligned(src, ONE_BLK_SIZE, "Sort32", loc);
    sim::CheckAligned(dst, ONE_BLK_SIZE, "Sort32", loc);
    sim::CheckRange(src, 0, uint64_t{count} * sizeof(T), false, "Sort32", loc);
    sim::CheckRange(index, 0, uint64_t{count} * sizeof(uint32_t), false, "Sort32", loc);
    sim::CheckRange(dst, 0, uint64_t{count} * sizeof(detail::SortPair<T>), true, "Sort32", loc);
    auto *pairs = detail::Pairs(dst);
    for (uint32_t i = 0; i < count; ++i) {
        pairs[i] = {src.Data()[i], index.Data()[i]};
    }
    for (uint32_t first = 0; first < count; first += run) {
        std::stable_sort(pairs + first, pairs + first + run, [](const auto &a, const auto &b) {
            return static_cast<float>(a.value) > static_cast<float>(b.value);
        });
    }
}

template <typename T>
struct MrgSortSrcList {
    LocalTensor<T> src1;
    LocalTensor<T> src2;
    LocalTensor<T> src3;
    LocalTensor<T> src4;
    MrgSortSrcList() = default;
    MrgSortSrcList(const LocalTensor<T> &a, const LocalTensor<T> &b, const LocalTensor<T> &c,
                   const LocalTensor<T> &d)
        : src1(a), src2(b), src3(c), src4(d) {}
};

struct MrgSort4Info {
    uint16_t elementLengths[4] = {};  // pairs, at most 4095
    bool ifExhaustedSuspension = false;
    uint16_t validBit = 0;  // 3, 7 or 15: the first two, three or four lists
    uint8_t repeatTimes = 1;
    MrgSort4Info() = default;
    MrgSort4Info(const uint16_t lengths[4], bool suspend, uint16_t valid, uint16_t repeats)
        : ifExhaustedSuspension(suspend),
          validBit(valid),
          repeatTimes(static_cast<uint8_t>(repeats)) {
        std::copy(lengths, lengths + 4, elementLengths);
    }
};

// Merges sorted lists. With ifExhaustedSuspension it stops where the first list ends.
template <typename T>
void MrgSort(const LocalTensor<T> &dst, const MrgSortSrcList<T> &list, const MrgSort4Info &info,
             sim::Loc loc = sim::Loc::Here()) {
    static_assert(sim::kReal<T>, "MrgSort: half and float");
    constexpr uint32_t longest = 4095;
    sim::Core &core = sim::ThisCore();
    core.Begin(sim::Pipe::V, "MrgSort", loc);
    if (info.validBit != 3 && info.validBit != 7 && info.validBit != 15) {
        core.Fail(sim::Check::Mask, "MrgSort", loc, "validBit is %u, allowed are 3, 7 and 15",
                  info.validBit);
        return;
    }
    const uint32_t lists = info.validBit == 3 ? 2 : info.validBit == 7 ? 3 : 4;
    const LocalTensor<T> sources[4] = {list.src1, list.src2, list.src3, list.src4};
    uint64_t total = 0;
    for (uint32_t i = 0; i < lists; ++i) {
        if (info.elementLengths[i] > longest) {
            core.Fail(sim::Check::DmaParams, "MrgSort", loc, "a list of %u pairs, allowed are %u",
                      info.elementLengths[i], longest);
        }
        if (info.repeatTimes > 1 &&
            (lists != 4 || info.elementLengths[i] != info.elementLengths[0])) {
            core.Fail(sim::Check::Repeat, "MrgSort", loc,
                      "%u repeats need four lists of one length", info.repeatTimes);
        }
        total += info.elementLengths[i];
    }
    sim::Takes<T>((total * info.repeatTimes + 31) / 32);
    for (uint32_t repeat = 0; repeat < info.repeatTimes; ++repeat) {
        uint32_t at[4] = {};
        // In further repeats the four lists follow the ones before.
        const uint64_t base = repeat * total;
        for (uint32_t i = 0; i < lists; ++i) {
            sim::CheckRange(sources[i], base * sizeof(detail::SortPair<T>),
                            info.elementLengths[i] * sizeof(detail::SortPair<T>), false, "MrgSort",
                            loc);
        }
        uint64_t written = 0;
        for (; written < total; ++written) {
            int32_t best = -1;
            bool exhausted = false;
            for (uint32_t i = 0; i < lists; ++i) {
                if (at[i] == info.elementLengths[i]) {
                    exhausted = true;
                    continue;
                }
                const float value = detail::Pairs(sources[i])[base + at[i]].value;
                if (best < 0 || value > static_cast<float>(
                                            detail::Pairs(sources[best])[base + at[best]].value)) {
                    best = static_cast<int32_t>(i);
                }
            }
            if (best < 0 || (exhausted && info.ifExhaustedSuspension)) {
                break;
            }
            sim::CheckRange(dst, (base + written) * sizeof(detail::SortPair<T>),
                            sizeof(detail::SortPair<T>), true, "MrgSort", loc);
            detail::Pairs(dst)[base + written] = detail::Pairs(sources[best])[base + at[best]++];
        }
        std::copy(at, at + 4, core.mergedPairs);
    }
}

// How many pairs of each list the last MrgSort took.
inline void GetMrgSortResult(uint16_t &first, uint16_t &second, uint16_t &third, uint16_t &fourth) {
    const uint32_t *merged = sim::ThisCore().mergedPairs;
    first = static_cast<uint16_t>(merged[0]);
    second = static_cast<uint16_t>(merged[1]);
    third = static_cast<uint16_t>(merged[2]);
    fourth = static_cast<uint16_t>(merged[3]);
}

// Takes sorted pairs apart: 32 for each repeat.
template <typename T>
void Extract(const LocalTensor<T> &value, const LocalTensor<uint32_t> &index,
             const LocalTensor<T> &sorted, int32_t repeatTime, sim::Loc loc = sim::Loc::Here()) {
    static_assert(sim::kReal<T>, "Extract: half and float");
    const uint64_t count = static_cast<uint64_t>(repeatTime) * 32;
    sim::ThisCore().Begin(sim::Pipe::V, "Extract", loc);
    sim::CheckRange(sorted, 0, count * sizeof(detail::SortPair<T>), false, "Extract", loc);
    sim::CheckRange(value, 0, count * sizeof(T), true, "Extract", loc);
    sim::CheckRange(index, 0, count * sizeof(uint32_t), true, "Extract", loc);
    for (uint64_t i = 0; i < count; ++i) {
        value.Data()[i] = detail::Pairs(sorted)[i].value;
        index.Data()[i] = detail::Pairs(sorted)[i].index;
    }
}

// The same in the order of Sort's helpers; tells how many pairs of each list were taken.
template <typename T, bool isExhaustedSuspension = false>
void MrgSort(const LocalTensor<T> &dst, const MrgSortSrcList<T> &list,
             const uint16_t elementCountList[4], uint32_t sortedNum[4], uint16_t validBit,
             int32_t repeatTime, sim::Loc loc = sim::Loc::Here()) {
    if (repeatTime < 0 || repeatTime > MAX_REPEAT_TIMES) {
        sim::ThisCore().Fail(sim::Check::Repeat, "MrgSort", loc, "%d repeats, allowed are 0 to 255",
                             repeatTime);
        return;
    }
    MrgSort(dst, list,
            MrgSort4Info(elementCountList, isExhaustedSuspension, validBit,
                         static_cast<uint16_t>(repeatTime)),
            loc);
    std::copy_n(sim::ThisCore().mergedPairs, 4, sortedNum);
}

// Sorts need no preparation of their input here: concat becomes src itself.
template <typename T>
void Concat(LocalTensor<T> &concat, const LocalTensor<T> &src, const LocalTensor<T> &,
            int32_t repeatTime, sim::Loc loc = sim::Loc::Here()) {
    static_assert(sim::kReal<T>, "Concat: half and float");
    if (repeatTime < 0 || repeatTime > MAX_REPEAT_TIMES) {
        sim::ThisCore().Fail(sim::Check::Repeat, "Concat", loc, "%d repeats, allowed are 0 to 255",
                             repeatTime);
    }
    concat = src;
}

// Sorts runs of 32 pairs, or all repeatTime * 32 of them.
template <typename T, bool isFullSort>
void Sort(const LocalTensor<T> &dst, const LocalTensor<T> &concat,
          const LocalTensor<uint32_t> &index, LocalTensor<T> &tmp, int32_t repeatTime,
          sim::Loc loc = sim::Loc::Here()) {
    Sort32(dst, concat, index, repeatTime, loc);
    if constexpr (isFullSort) {
        const uint64_t count = static_cast<uint64_t>(repeatTime) * 32;
        // The merges go back and forth between the two.
        sim::CheckRange(tmp, 0, count * sizeof(detail::SortPair<T>), true, "Sort", loc);
        auto *pairs = detail::Pairs(dst);
        std::stable_sort(pairs, pairs + count, [](const auto &a, const auto &b) {
            return static_cast<float>(a.value) > static_cast<float>(b.value);
        });
    }
}

}  // namespace AscendC
