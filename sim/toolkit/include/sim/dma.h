// DataCopy and DataCopyPad: global memory <-> Unified Buffer, and within it.
#pragma once

#include "sim/arithmetic.h"

namespace AscendC {

// Lengths and gaps in blocks of 32 bytes (DataCopy); DataCopyPad counts bytes on the GM side.
struct DataCopyParams {
    uint16_t blockCount = 1;
    uint16_t blockLen = 0;
    uint16_t srcStride = 0;
    uint16_t dstStride = 0;
    DataCopyParams() = default;
    DataCopyParams(uint16_t count, uint16_t length, uint16_t srcGap, uint16_t dstGap)
        : blockCount(count), blockLen(length), srcStride(srcGap), dstStride(dstGap) {}
};

struct DataCopyExtParams {
    uint16_t blockCount = 1;
    uint32_t blockLen = 0;
    int64_t srcStride = 0;
    int64_t dstStride = 0;
    uint32_t rsv = 0;
    DataCopyExtParams() = default;
    DataCopyExtParams(uint16_t count, uint32_t length, int64_t srcGap, int64_t dstGap,
                      uint32_t reserved)
        : blockCount(count),
          blockLen(length),
          srcStride(srcGap),
          dstStride(dstGap),
          rsv(reserved) {}
};

struct DataCopyPadParams {
    bool isPad = false;
    uint8_t leftPadding = 0;
    uint8_t rightPadding = 0;
    uint64_t paddingValue = 0;
    DataCopyPadParams() = default;
    DataCopyPadParams(bool pad, uint8_t left, uint8_t right, uint64_t value)
        : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}
};

template <typename T>
struct DataCopyPadExtParams {
    bool isPad = false;
    uint8_t leftPadding = 0;
    uint8_t rightPadding = 0;
    T paddingValue{};
    DataCopyPadExtParams() = default;
    DataCopyPadExtParams(bool pad, uint8_t left, uint8_t right, T value)
        : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}
};

namespace detail {
template <typename T>
void SetAtomic(sim::Core::Atomic atomic, sim::Loc loc) {
    sim::Core &core = sim::ThisCore();
    core.atomic = atomic;
    core.atomicType = &sim::kTypeTag<T>;
    core.atomicSet = loc;
}
}  // namespace detail

template <typename T>
void SetAtomicAdd(sim::Loc loc = sim::Loc::Here()) {
    detail::SetAtomic<T>(sim::Core::Atomic::Add, loc);
}
template <typename T>
void SetAtomicMax(sim::Loc loc = sim::Loc::Here()) {
    detail::SetAtomic<T>(sim::Core::Atomic::Max, loc);
}
template <typename T>
void SetAtomicMin(sim::Loc loc = sim::Loc::Here()) {
    detail::SetAtomic<T>(sim::Core::Atomic::Min, loc);
}
inline void SetAtomicNone() { sim::ThisCore().atomic = sim::Core::Atomic::None; }
inline void DisableDmaAtomic() { SetAtomicNone(); }

namespace detail {

constexpr uint32_t kMaxBlockCount = 4095;

// A copy between global memory and the Unified Buffer, all in bytes.
struct Transfer {
    uint32_t blocks;
    uint64_t length;     // of a block
    int64_t globalStep;  // from block to block
    uint64_t localStep;
};

inline bool CheckTransfer(const Transfer &t, uint64_t maxLength, const char *api, sim::Loc loc) {
    if (t.blocks > kMaxBlockCount || t.length > maxLength) {
        sim::ThisCore().Fail(sim::Check::DmaParams, api, loc,
                             "%u blocks of %llu bytes, allowed are %u of %llu", t.blocks,
                             static_cast<unsigned long long>(t.length), kMaxBlockCount,
                             static_cast<unsigned long long>(maxLength));
    }
    return t.blocks != 0 && t.length != 0;
}

template <typename T>
void StoreBlock(T *global, const T *local, uint64_t bytes) {
    using Atomic = sim::Core::Atomic;
    const Atomic atomic = sim::ThisCore().atomic;
    if (atomic == Atomic::None) {
        std::memcpy(static_cast<void *>(global), local, bytes);
        return;
    }
    if constexpr (sim::kOneOf<T, half, float, int16_t, int32_t, int8_t, bfloat16_t>) {
        for (uint64_t i = 0; i < bytes / sizeof(T); ++i) {
            const T old = global[i];
            global[i] = atomic == Atomic::Add   ? sim::AddLane()(old, local[i])
                        : atomic == Atomic::Max ? sim::MaxLane()(old, local[i])
                                                : sim::MinLane()(old, local[i]);
        }
    } else {
        throw sim::Violation{"atomic copies do not exist for this type"};
    }
}

template <typename T>
void ToGlobal(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const Transfer &t,
              const char *api, sim::Loc loc) {
    sim::ThisCore().Begin(sim::Pipe::MTE3, api, loc);
    sim::CheckAligned(src, ONE_BLK_SIZE, api, loc);
    auto *global = reinterpret_cast<uint8_t *>(const_cast<T *>(dst.GetPhyAddr()));
    const auto *local = reinterpret_cast<const uint8_t *>(src.Data());
    const sim::Core &core = sim::ThisCore();
    if (core.atomic != sim::Core::Atomic::None && core.atomicType != &sim::kTypeTag<T>) {
        core.Fail(sim::Check::DmaParams, api, loc,
                  "the atomic copies were set for another type than that of the tensors, at %s:%d",
                  core.atomicSet.file, core.atomicSet.line);
    }
    for (uint32_t block = 0; block < t.blocks; ++block) {
        const int64_t offset = static_cast<int64_t>(block) * t.globalStep;
        sim::CheckRange(src, block * t.localStep, t.length, false, api, loc);
        dst.Check(static_cast<uint64_t>(offset), t.length, true, api, loc);
        StoreBlock(reinterpret_cast<T *>(global + offset),
                   reinterpret_cast<const T *>(local + block * t.localStep), t.length);
    }
}

template <typename T>
void ToLocal(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const Transfer &t,
             uint64_t left, uint64_t right, T padding, bool pad, const char *api, sim::Loc loc) {
    sim::ThisCore().Begin(sim::Pipe::MTE2, api, loc);
    sim::CheckAligned(dst, ONE_BLK_SIZE, api, loc);
    const auto *global = reinterpret_cast<const uint8_t *>(src.GetPhyAddr());
    auto *local = reinterpret_cast<uint8_t *>(dst.Data());
    const uint64_t padded = left + t.length + right;
    const uint64_t whole = (padded + ONE_BLK_SIZE - 1) / ONE_BLK_SIZE * ONE_BLK_SIZE;
    for (uint32_t block = 0; block < t.blocks; ++block) {
        const int64_t offset = static_cast<int64_t>(block) * t.globalStep;
        const uint64_t at = block * t.localStep;
        src.Check(static_cast<uint64_t>(offset), t.length, false, api, loc);
        sim::CheckRange(dst, at, whole, true, api, loc);
        std::memcpy(local + at + left, global + offset, t.length);
        auto *words = reinterpret_cast<T *>(local + at);
        const auto fill = [&](uint64_t begin, uint64_t end) {
            for (uint64_t i = begin / sizeof(T); i < end / sizeof(T); ++i) {
                words[i] = padding;
            }
        };
        if (pad) {
            fill(0, left);
            fill(left + t.length, padded);
        }
        // What fills the last block up is dummy data; nobody may rely on it.
        const uint64_t known = pad ? padded : left + t.length;
        sim::ThisCore().ForgetUb(static_cast<uint32_t>(dst.Address() + at + known), whole - known);
        if (!pad) {
            sim::ThisCore().ForgetUb(static_cast<uint32_t>(dst.Address() + at), left);
        }
    }
}

constexpr uint64_t BlocksOf(uint64_t bytes) { return (bytes + ONE_BLK_SIZE - 1) / ONE_BLK_SIZE; }

template <typename T>
uint64_t WholeBlocks(uint64_t count, const char *api, sim::Loc loc) {
    if (sim::BytesOf<T>(count) % ONE_BLK_SIZE != 0) {
        sim::ThisCore().Fail(sim::Check::DmaParams, api, loc,
                             "%llu bytes are no multiple of 32, the rest is not copied; "
                             "DataCopyPad copies any length",
                             static_cast<unsigned long long>(sim::BytesOf<T>(count)));
    }
    return sim::BytesOf<T>(count) / ONE_BLK_SIZE * ONE_BLK_SIZE;
}

inline Transfer FromParams(const DataCopyParams &p, uint64_t globalGap, uint64_t localGap) {
    const uint64_t length = uint64_t{p.blockLen} * ONE_BLK_SIZE;
    return {p.blockCount, length, static_cast<int64_t>(length + globalGap * ONE_BLK_SIZE),
            length + localGap * ONE_BLK_SIZE};
}

constexpr uint64_t kAnyLength = ~uint64_t{0};

}  // namespace detail

template <typename T>
void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, uint32_t count,
              sim::Loc loc = sim::Loc::Here()) {
    const uint64_t bytes = detail::WholeBlocks<T>(count, "DataCopy", loc);
    if (bytes != 0) {
        detail::ToLocal(dst, src, {1, bytes, 0, 0}, 0, 0, T{}, false, "DataCopy", loc);
    }
}
template <typename T>
void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, uint32_t count,
              sim::Loc loc = sim::Loc::Here()) {
    const uint64_t bytes = detail::WholeBlocks<T>(count, "DataCopy", loc);
    if (bytes != 0) {
        detail::ToGlobal(dst, src, {1, bytes, 0, 0}, "DataCopy", loc);
    }
}
template <typename T>
void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyParams &p,
              sim::Loc loc = sim::Loc::Here()) {
    const detail::Transfer t = detail::FromParams(p, p.srcStride, p.dstStride);
    if (detail::CheckTransfer(t, detail::kAnyLength, "DataCopy", loc)) {
        detail::ToLocal(dst, src, t, 0, 0, T{}, false, "DataCopy", loc);
    }
}
template <typename T>
void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &p,
              sim::Loc loc = sim::Loc::Here()) {
    const detail::Transfer t = detail::FromParams(p, p.dstStride, p.srcStride);
    if (detail::CheckTransfer(t, detail::kAnyLength, "DataCopy", loc)) {
        detail::ToGlobal(dst, src, t, "DataCopy", loc);
    }
}
template <typename T>
void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &p,
              sim::Loc loc = sim::Loc::Here()) {
    sim::ThisCore().Begin(sim::Pipe::V, "DataCopy", loc);
    sim::CheckAligned(src, ONE_BLK_SIZE, "DataCopy", loc);
    sim::CheckAligned(dst, ONE_BLK_SIZE, "DataCopy", loc);
    const uint64_t length = uint64_t{p.blockLen} * ONE_BLK_SIZE;
    if (sim::ThisCore().Enabled(sim::Check::Overlap) && p.blockCount == 1) {
        sim::CheckOverlap(dst, src, length / sizeof(T), "DataCopy", loc);
    }
    for (uint64_t block = 0; block < p.blockCount && length != 0; ++block) {
        const uint64_t from = block * (length + uint64_t{p.srcStride} * ONE_BLK_SIZE);
        const uint64_t to = block * (length + uint64_t{p.dstStride} * ONE_BLK_SIZE);
        sim::CheckRange(src, from, length, false, "DataCopy", loc);
        sim::CheckRange(dst, to, length, true, "DataCopy", loc);
        std::memmove(reinterpret_cast<uint8_t *>(dst.Data()) + to,
                     reinterpret_cast<const uint8_t *>(src.Data()) + from, length);
    }
}
template <typename T>
void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint32_t count,
              sim::Loc loc = sim::Loc::Here()) {
    const uint64_t bytes = detail::WholeBlocks<T>(count, "DataCopy", loc);
    DataCopy(dst, src, {1, static_cast<uint16_t>(bytes / ONE_BLK_SIZE), 0, 0}, loc);
}

template <typename T>
void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyExtParams &p,
                 const DataCopyPadExtParams<T> &pad, sim::Loc loc = sim::Loc::Here()) {
    constexpr uint64_t maxLength = 2097151;
    const uint64_t left = pad.leftPadding * sizeof(T);
    const uint64_t right = pad.rightPadding * sizeof(T);
    if (left > ONE_BLK_SIZE || right > ONE_BLK_SIZE) {
        sim::ThisCore().Fail(sim::Check::DmaParams, "DataCopyPad", loc,
                             "padding of %llu and %llu bytes, allowed are 32 on each side",
                             static_cast<unsigned long long>(left),
                             static_cast<unsigned long long>(right));
    }
    const uint64_t whole = detail::BlocksOf(left + p.blockLen + right) * ONE_BLK_SIZE;
    const detail::Transfer t = {p.blockCount, p.blockLen,
                                static_cast<int64_t>(p.blockLen) + p.srcStride,
                                whole + static_cast<uint64_t>(p.dstStride) * ONE_BLK_SIZE};
    if (detail::CheckTransfer(t, maxLength, "DataCopyPad", loc)) {
        detail::ToLocal(dst, src, t, left, right, pad.paddingValue, pad.isPad, "DataCopyPad", loc);
    }
}
template <typename T>
void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyExtParams &p,
                 sim::Loc loc = sim::Loc::Here()) {
    constexpr uint64_t maxLength = 2097151;
    const detail::Transfer t = {
        p.blockCount, p.blockLen, static_cast<int64_t>(p.blockLen) + p.dstStride,
        (detail::BlocksOf(p.blockLen) + static_cast<uint64_t>(p.srcStride)) * ONE_BLK_SIZE};
    if (detail::CheckTransfer(t, maxLength, "DataCopyPad", loc)) {
        detail::ToGlobal(dst, src, t, "DataCopyPad", loc);
    }
}
template <typename T>
void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyParams &p,
                 const DataCopyPadParams &pad, sim::Loc loc = sim::Loc::Here()) {
    T value;
    std::memcpy(&value, &pad.paddingValue, sizeof(value));
    DataCopyPad(dst, src, DataCopyExtParams{p.blockCount, p.blockLen, p.srcStride, p.dstStride, 0},
                DataCopyPadExtParams<T>{pad.isPad, pad.leftPadding, pad.rightPadding, value}, loc);
}
template <typename T>
void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &p,
                 sim::Loc loc = sim::Loc::Here()) {
    DataCopyPad(dst, src, DataCopyExtParams{p.blockCount, p.blockLen, p.srcStride, p.dstStride, 0},
                loc);
}

}  // namespace AscendC
