// How a vector instruction walks its operands: count form, and mask-repeat-stride form.
#pragma once

#include <algorithm>
#include <vector>

#include "sim/tensor.h"

namespace AscendC {

struct UnaryRepeatParams {
    uint16_t dstBlkStride = 1;
    uint16_t srcBlkStride = 1;
    uint8_t dstRepStride = 8;
    uint8_t srcRepStride = 8;
    UnaryRepeatParams() = default;
    UnaryRepeatParams(uint16_t dstBlk, uint16_t srcBlk, uint8_t dstRep, uint8_t srcRep)
        : dstBlkStride(dstBlk), srcBlkStride(srcBlk), dstRepStride(dstRep), srcRepStride(srcRep) {}
};

struct BinaryRepeatParams {
    uint8_t dstBlkStride = 1;
    uint8_t src0BlkStride = 1;
    uint8_t src1BlkStride = 1;
    uint8_t dstRepStride = 8;
    uint8_t src0RepStride = 8;
    uint8_t src1RepStride = 8;
    BinaryRepeatParams() = default;
    BinaryRepeatParams(uint8_t dstBlk, uint8_t src0Blk, uint8_t src1Blk, uint8_t dstRep,
                       uint8_t src0Rep, uint8_t src1Rep)
        : dstBlkStride(dstBlk),
          src0BlkStride(src0Blk),
          src1BlkStride(src1Blk),
          dstRepStride(dstRep),
          src0RepStride(src0Rep),
          src1RepStride(src1Rep) {}
};

enum class MaskMode : uint8_t { NORMAL, COUNTER };
constexpr uint64_t MASK_PLACEHOLDER = 0;
constexpr uint64_t MASK_PLACEHOLDER_LIST[2] = {0, 0};
constexpr uint8_t MAX_REPEAT_TIMES = 255;

}  // namespace AscendC

namespace sim {

// The lanes of each repeat that are active.
struct Mask {
    uint64_t low;
    uint64_t high;
    bool Get(uint32_t lane) const { return ((lane < 64 ? low : high) >> (lane % 64) & 1) != 0; }
    // The bits of lanes [first, first + count), count <= 32, which do not cross bit 64.
    uint32_t Bits(uint32_t first, uint32_t count) const {
        const uint64_t word = (first < 64 ? low : high) >> (first % 64);
        return static_cast<uint32_t>(word & ((uint64_t{1} << count) - 1));
    }
};

// For the estimate: the current instruction takes `repeats` steps over operands of type T.
template <typename T>
void Takes(uint64_t repeats) {
    ThisCore().order.timing.Steps(static_cast<uint32_t>(repeats), sizeof(T));
}
template <typename T>
void TakesLanes(uint64_t lanes) {
    Takes<T>((lanes * sizeof(T) + kRepeatBytes - 1) / kRepeatBytes);
}

inline uint64_t LowBits(uint32_t count) {
    return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

// The first `count` of `lanes` lanes.
inline Mask FirstLanes(uint64_t count, uint32_t lanes, const char *api, Loc loc) {
    if (count > lanes) {
        ThisCore().Fail(Check::Mask, api, loc, "mask of %llu lanes, allowed are 0 to %u",
                        static_cast<unsigned long long>(count), lanes);
        count = lanes;
    }
    const auto n = static_cast<uint32_t>(count);
    return {LowBits(n), n > 64 ? LowBits(n - 64) : 0};
}

// One operand of a mask-repeat-stride call; strides in blocks of 32 bytes.
template <typename T>
struct Operand {
    AscendC::LocalTensor<T> tensor;
    uint32_t blockStride;
    uint32_t repeatStride;
    bool write;

    static constexpr uint32_t kPerBlock = kBlockBytes / sizeof(T);
    // The byte offset, from the tensor's start, of a lane that begins a run within one block.
    uint64_t Offset(uint32_t repeat, uint32_t lane) const {
        return (uint64_t{repeat} * repeatStride + uint64_t{lane / kPerBlock} * blockStride) *
                   kBlockBytes +
               lane % kPerBlock * sizeof(T);
    }
    T *At(uint32_t repeat, uint32_t lane) const {
        return reinterpret_cast<T *>(reinterpret_cast<uint8_t *>(tensor.Data()) +
                                     Offset(repeat, lane));
    }
};

// Checks that bytes [offset, offset + bytes) of a tensor's buffer may be read or written.
template <typename T>
void CheckRange(const AscendC::LocalTensor<T> &tensor, uint64_t offset, uint64_t bytes, bool write,
                const char *api, Loc loc) {
    const uint64_t begin = tensor.Address() + offset;
    Core &core = ThisCore();
    if (begin + bytes > tensor.End() || begin + bytes > core.UsableUbBytes()) {
        core.Fail(Check::UbExtent, api, loc,
                  "%s UB bytes [%llu, %llu), the buffer ends at %u, what is usable at %llu",
                  write ? "writes" : "reads", static_cast<unsigned long long>(begin),
                  static_cast<unsigned long long>(begin + bytes), tensor.End(),
                  static_cast<unsigned long long>(core.UsableUbBytes()));
        if (begin + bytes > core.UbBytes()) {
            throw Violation{"outside of the Unified Buffer"};
        }
    }
    if (write) {
        core.WriteUb(static_cast<uint32_t>(begin), bytes);
    } else {
        core.ReadUb(static_cast<uint32_t>(begin), bytes);
    }
}

template <typename T>
void CheckAligned(const AscendC::LocalTensor<T> &tensor, uint32_t unit, const char *api, Loc loc) {
    if (tensor.Address() % unit != 0) {
        ThisCore().Fail(Check::UbAlign, api, loc, "UB address %u is not a multiple of %u",
                        tensor.Address(), unit);
    }
}

template <typename T>
void CheckOperand(const Operand<T> &operand, uint32_t repeats, uint32_t lanes, const Mask &mask,
                  uint32_t run, const char *api, Loc loc) {
    CheckAligned(operand.tensor, kBlockBytes, api, loc);
    const bool full = mask.Bits(0, run) == LowBits(run) &&
                      (lanes <= 64 ? mask.low == LowBits(lanes)
                                   : mask.low == ~uint64_t{0} && mask.high == LowBits(lanes - 64));
    const uint64_t perRepeat = uint64_t{lanes} * sizeof(T);
    if (full && operand.blockStride == 1 && operand.repeatStride * kBlockBytes == perRepeat) {
        CheckRange(operand.tensor, 0, perRepeat * repeats, operand.write, api, loc);
        return;
    }
    if (full && operand.blockStride == 0 && operand.repeatStride == 0) {
        CheckRange(operand.tensor, 0, kBlockBytes, operand.write, api, loc);
        return;
    }
    for (uint32_t repeat = 0; repeat < repeats; ++repeat) {
        for (uint32_t lane = 0; lane < lanes; lane += run) {
            const uint32_t bits = mask.Bits(lane, run);
            if (bits == 0) {
                continue;
            }
            const uint32_t first = static_cast<uint32_t>(__builtin_ctz(bits));
            const uint32_t last = 31 - static_cast<uint32_t>(__builtin_clz(bits));
            if (bits == (LowBits(last - first + 1) << first)) {
                CheckRange(operand.tensor, operand.Offset(repeat, lane) + first * sizeof(T),
                           (last - first + 1) * sizeof(T), operand.write, api, loc);
                continue;
            }
            for (uint32_t i = first; i <= last; ++i) {
                if ((bits >> i & 1) != 0) {
                    CheckRange(operand.tensor, operand.Offset(repeat, lane) + i * sizeof(T),
                               sizeof(T), operand.write, api, loc);
                }
            }
        }
    }
}

// Fails if a source of the count form lies across its destination. On the same place they are
// allowed: a step reads before it writes, unless the destination runs ahead.
template <typename D, typename S>
void CheckOverlap(const AscendC::LocalTensor<D> &dst, const AscendC::LocalTensor<S> &src,
                  uint64_t count, const char *api, Loc loc) {
    const uint64_t to = dst.Address();
    const uint64_t from = src.Address();
    const bool apart = to + count * sizeof(D) <= from || from + count * sizeof(S) <= to;
    const bool inPlace = to == from && (sizeof(D) <= sizeof(S) ||
                                        count * sizeof(D) <= AscendC::ONE_REPEAT_BYTE_SIZE);
    if (!apart && !inPlace) {
        ThisCore().Fail(Check::Overlap, api, loc,
                        "source [%llu, %llu) and destination [%llu, %llu) overlap in part",
                        static_cast<unsigned long long>(from),
                        static_cast<unsigned long long>(from + count * sizeof(S)),
                        static_cast<unsigned long long>(to),
                        static_cast<unsigned long long>(to + count * sizeof(D)));
    }
}

// The same for the mask forms: a repeat must not read what an earlier one wrote, nor a part of
// what it writes itself. A sum that stays in one place (`accumulates`) is fed back by the chip.
template <typename D, typename S>
void CheckOverlap(const Operand<D> &dst, const Operand<S> &src, uint32_t repeats, uint32_t lanes,
                  const Mask &mask, uint32_t run, bool accumulates, const char *api, Loc loc) {
    const auto end = [&](const auto &operand) {
        return operand.tensor.Address() + operand.Offset(repeats - 1, lanes - run) + kBlockBytes;
    };
    const uint64_t to = dst.tensor.Address();
    const uint64_t from = src.tensor.Address();
    if (repeats == 0 || end(dst) <= from || end(src) <= to) {
        return;
    }
    const bool same = to == from && dst.blockStride == src.blockStride &&
                      dst.repeatStride == src.repeatStride && sizeof(D) == sizeof(S);
    if (same && (repeats == 1 || (dst.repeatStride == 0 && accumulates) ||
                 dst.repeatStride * kBlockBytes >= dst.Offset(0, lanes - run) + kBlockBytes)) {
        return;
    }
    // Which repeat wrote each block, over the bytes of the destination.
    std::vector<uint32_t> writer(end(dst) - to + kBlockBytes, 0);
    const auto blocks = [&](const auto &operand, uint32_t repeat, auto visit) {
        for (uint32_t lane = 0; lane < lanes; lane += run) {
            if (mask.Bits(lane, run) != 0) {
                visit(operand.tensor.Address() + operand.Offset(repeat, lane),
                      run * sizeof(*operand.tensor.Data()));
            }
        }
    };
    for (uint32_t repeat = 0; repeat < repeats; ++repeat) {
        bool read = false;
        blocks(src, repeat, [&](uint64_t at, uint64_t bytes) {
            for (uint64_t byte = at < to ? to : at; byte < at + bytes; ++byte) {
                read = read || (byte - to < writer.size() && writer[byte - to] != 0);
            }
        });
        if (read && !(same && accumulates && dst.repeatStride == 0)) {
            ThisCore().Fail(Check::Overlap, api, loc,
                            "repeat %u reads what an earlier repeat of the instruction writes",
                            repeat);
            return;
        }
        blocks(dst, repeat, [&](uint64_t at, uint64_t bytes) {
            std::fill_n(writer.begin() + static_cast<int64_t>(at - to), bytes, repeat + 1);
        });
    }
}

// Fails if the blocks of one repeat are all written to the same place.
template <typename D>
void CheckBlocksApart(const Operand<D> &dst, uint32_t repeats, uint32_t lanes, const Mask &mask,
                      uint32_t run, const char *api, Loc loc) {
    if (dst.blockStride != 0 || repeats == 0) {
        return;
    }
    uint32_t active = 0;
    for (uint32_t lane = 0; lane < lanes; lane += run) {
        active += mask.Bits(lane, run) != 0 ? 1 : 0;
    }
    if (active > 1) {
        ThisCore().Fail(Check::Overlap, api, loc,
                        "the block stride of the destination is 0: %u blocks of each repeat are "
                        "written to one place",
                        active);
    }
}

template <typename... T>
constexpr uint32_t WidestBytes() {
    uint32_t widest = 1;
    ((widest = sizeof(T) > widest ? sizeof(T) : widest), ...);
    return widest;
}

// dst[i] = f(src[i]...) for i in [0, count).
template <typename F, typename D, typename... S>
void CountForm(const char *api, Loc loc, int64_t count, F f, const AscendC::LocalTensor<D> &dst,
               const AscendC::LocalTensor<S> &...src) {
    if (count < 0) {
        ThisCore().Fail(Check::Mask, api, loc, "count is %lld", static_cast<long long>(count));
    }
    if (count <= 0) {
        return;
    }
    const auto n = static_cast<uint64_t>(count);
    Core &core = ThisCore();
    core.Begin(Pipe::V, api, loc);
    (CheckAligned(src, kBlockBytes, api, loc), ...);
    CheckAligned(dst, kBlockBytes, api, loc);
    (CheckRange(src, 0, n * sizeof(S), false, api, loc), ...);
    CheckRange(dst, 0, n * sizeof(D), true, api, loc);
    if (core.Enabled(Check::Overlap)) {
        (CheckOverlap(dst, src, n, api, loc), ...);
    }
    core.LoseMask();
    constexpr uint32_t width = WidestBytes<D, S...>();
    const Walk walks[] = {{dst.Address(), 1, 8, true}, {src.Address(), 1, 8, false}...};
    core.order.timing.Steps(static_cast<uint32_t>((n * width + kRepeatBytes - 1) / kRepeatBytes),
                            width);
    core.order.timing.Operands(walks, 1 + sizeof...(S));
    if (n * width % kRepeatBytes != 0) {
        core.order.timing.OddCount();
    }
    [n, f](D *to, const S *...from) mutable {
        for (uint64_t i = 0; i < n; ++i) {
            to[i] = f(from[i]...);
        }
    }(dst.Data(), src.Data()...);
}

// dst = f(src...) on the active lanes of each repeat. The mask counts lanes of the widest type.
template <typename F, typename D, typename... S>
void RepeatForm(const char *api, Loc loc, Mask mask, uint32_t repeats, F f, const Operand<D> &dst,
                const Operand<S> &...src) {
    constexpr uint32_t lanes = kRepeatBytes / WidestBytes<D, S...>();
    constexpr uint32_t run = kBlockBytes / WidestBytes<D, S...>();
    ThisCore().Begin(Pipe::V, api, loc);
    (CheckOperand(src, repeats, lanes, mask, run, api, loc), ...);
    CheckOperand(dst, repeats, lanes, mask, run, api, loc);
    if (ThisCore().Enabled(Check::Overlap)) {
        CheckBlocksApart(dst, repeats, lanes, mask, run, api, loc);
        (CheckOverlap(dst, src, repeats, lanes, mask, run, sizeof...(S) == 2, api, loc), ...);
    }
    const Walk walks[] = {{dst.tensor.Address(), dst.blockStride, dst.repeatStride, true},
                          {src.tensor.Address(), src.blockStride, src.repeatStride, false}...};
    ThisCore().order.timing.Steps(repeats, WidestBytes<D, S...>());
    ThisCore().order.timing.Operands(walks, 1 + sizeof...(S));
    for (uint32_t repeat = 0; repeat < repeats; ++repeat) {
        for (uint32_t lane = 0; lane < lanes; lane += run) {
            const uint32_t bits = mask.Bits(lane, run);
            [bits, f](D *to, const S *...from) {
                if (bits == LowBits(run)) {
                    for (uint32_t i = 0; i < run; ++i) {
                        to[i] = f(from[i]...);
                    }
                } else if (bits != 0) {
                    for (uint32_t i = 0; i < run; ++i) {
                        if ((bits >> i & 1) != 0) {
                            to[i] = f(from[i]...);
                        }
                    }
                }
            }(dst.At(repeat, lane), src.At(repeat, lane)...);
        }
    }
}

// The mask and repeats that a mask-form call really uses: its own, or the registers'.
struct Steps {
    Mask mask;
    uint32_t repeats;
    uint32_t tail;  // active lanes of one more repeat, in counter mode
};

inline Steps Registers(uint32_t lanes, uint32_t repeats) {
    const Core &core = ThisCore();
    if (!core.counterMode) {
        return {{core.mask[0], core.mask[1]}, repeats, 0};
    }
    const uint64_t elements = core.mask[0];
    return {{~uint64_t{0}, ~uint64_t{0}},
            static_cast<uint32_t>(elements / lanes),
            static_cast<uint32_t>(elements % lanes)};
}

// In counter mode the repeats follow from the mask, and there may be any number of them.
inline void CheckRepeats(uint32_t repeats, const char *api, Loc loc) {
    if (repeats > AscendC::MAX_REPEAT_TIMES && !ThisCore().counterMode) {
        ThisCore().Fail(Check::Repeat, api, loc, "%u repeats, allowed are 0 to 255", repeats);
    }
}

template <bool isSetMask>
Steps MaskSteps(uint64_t mask, uint32_t repeats, uint32_t lanes, const char *api, Loc loc) {
    ThisCore().CheckMaskMode(isSetMask, api, loc);
    CheckRepeats(repeats, api, loc);
    if constexpr (isSetMask) {
        return {FirstLanes(mask, lanes, api, loc), repeats, 0};
    }
    return Registers(lanes, repeats);
}

template <bool isSetMask>
Steps MaskSteps(const uint64_t mask[], uint32_t repeats, uint32_t lanes, const char *api, Loc loc) {
    ThisCore().CheckMaskMode(isSetMask, api, loc);
    CheckRepeats(repeats, api, loc);
    if constexpr (isSetMask) {
        return {
            {mask[0] & LowBits(lanes), lanes > 64 ? mask[1] & LowBits(lanes - 64) : 0}, repeats, 0};
    }
    return Registers(lanes, repeats);
}

template <bool isSetMask, typename M, typename F, typename D, typename... S>
void MaskForm(const char *api, Loc loc, M mask, uint32_t repeats, F f, const Operand<D> &dst,
              const Operand<S> &...src) {
    constexpr uint32_t lanes = kRepeatBytes / WidestBytes<D, S...>();
    const Steps steps = MaskSteps<isSetMask>(mask, repeats, lanes, api, loc);
    RepeatForm(api, loc, steps.mask, steps.repeats, f, dst, src...);
    if (steps.tail != 0) {
        const auto after = [&](auto operand) {
            using T = typename decltype(operand.tensor)::PrimType;
            operand.tensor =
                operand.tensor[static_cast<uint32_t>(operand.Offset(steps.repeats, 0) / sizeof(T))];
            return operand;
        };
        RepeatForm(api, loc, FirstLanes(steps.tail, lanes, api, loc), 1, f, after(dst),
                   after(src)...);
    }
}

}  // namespace sim

namespace AscendC {

inline void SetMaskCount() {
    sim::Core &core = sim::ThisCore();
    core.KeepMask(core.mask[0], core.mask[1], true);
}
inline void SetMaskNorm() {
    sim::Core &core = sim::ThisCore();
    core.KeepMask(core.mask[0], core.mask[1], false);
}
template <typename T, MaskMode mode = MaskMode::NORMAL>
void SetVectorMask(uint64_t high, uint64_t low) {
    sim::Core &core = sim::ThisCore();
    core.KeepMask(low, high, core.counterMode);
}
template <typename T, MaskMode mode = MaskMode::NORMAL>
void SetVectorMask(int32_t length, sim::Loc loc = sim::Loc::Here()) {
    if (mode == MaskMode::COUNTER) {
        SetVectorMask<T, mode>(0, static_cast<uint64_t>(length));
        return;
    }
    const sim::Mask mask = sim::FirstLanes(static_cast<uint64_t>(length),
                                           ONE_REPEAT_BYTE_SIZE / sizeof(T), "SetVectorMask", loc);
    SetVectorMask<T, mode>(mask.high, mask.low);
}
inline void ResetMask() { SetVectorMask<uint16_t>(~uint64_t{0}, ~uint64_t{0}); }

}  // namespace AscendC
