// LocalTensor and GlobalTensor: views of the Unified Buffer and of global memory.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sim/core.h"
#include "sim/types.h"

namespace sim {

// The bytes of `elements`; two of int4b_t share one.
template <typename T>
constexpr uint64_t BytesOf(uint64_t elements) {
    return std::is_same_v<T, int4b_t> ? (elements + 1) / 2 : elements * sizeof(T);
}
template <typename T>
constexpr uint64_t ElementsIn(uint64_t bytes) {
    return std::is_same_v<T, int4b_t> ? bytes * 2 : bytes / sizeof(T);
}

}  // namespace sim

namespace AscendC {

enum class TPosition : uint8_t {
    GM,
    A1,
    A2,
    B1,
    B2,
    C1,
    C2,
    CO1,
    CO2,
    VECIN,
    VECOUT,
    VECCALC,
    LCM,
    SPM,
    SHM,
    TSCM,
    C2PIPE2GM,
    MAX
};
using QuePosition = TPosition;

constexpr uint32_t ONE_BLK_SIZE = sim::kBlockBytes;
constexpr uint32_t ONE_REPEAT_BYTE_SIZE = sim::kRepeatBytes;

template <typename T, typename U>
struct IsSameType : std::is_same<T, U> {};

enum class CacheMode : uint8_t {
    CACHE_MODE_DISABLE,
    CACHE_MODE_NORMAL,
    CACHE_MODE_LAST,
    CACHE_MODE_PERSISTENT
};

struct ShapeInfo {};

// A range of memory of a core, in bytes.
struct TBuffAddr {
    uint32_t dataLen = 0;
    uint32_t bufferAddr = 0;
    void *bufferHandle = nullptr;
    uint8_t logicPos = 0;
};

// A range of the Unified Buffer. Copies are views of the same bytes.
template <typename T>
class LocalTensor {
public:
    using PrimType = T;

    LocalTensor() = default;
    // The tensor at a fixed address, without a TPipe.
    LocalTensor(TPosition position, uint32_t address, uint32_t elements)
        : address_(address),
          bytes_(static_cast<uint32_t>(sim::BytesOf<T>(elements))),
          end_(address + bytes_),
          position_(position) {}
    // sim: a part of the buffer [.., end) that a queue or TBuf owns.
    LocalTensor(TPosition position, uint32_t address, uint32_t bytes, uint32_t end)
        : address_(address), bytes_(bytes), end_(end), position_(position) {}

    T GetValue(uint32_t index, sim::Loc loc = sim::Loc::Here()) const {
        static_assert(!std::is_same_v<T, int4b_t>, "GetValue: two of int4b_t share a byte");
        CheckScalar(index, "GetValue", loc);
        sim::ThisCore().ReadUb(OffsetOf(index), sizeof(T));
        return Data()[index];
    }
    template <typename U>
    void SetValue(uint32_t index, U value, sim::Loc loc = sim::Loc::Here()) const {
        static_assert(!std::is_same_v<T, int4b_t>, "SetValue: two of int4b_t share a byte");
        CheckScalar(index, "SetValue", loc);
        sim::ThisCore().WriteUb(OffsetOf(index), sizeof(T));
        Data()[index] = static_cast<T>(value);
    }
    // An element of the device's scalar unit: reads and writes are checked as such.
    class Element {
    public:
        Element(const LocalTensor &tensor, uint32_t index, sim::Loc loc)
            : tensor_(tensor), index_(index), loc_(loc) {}
        operator T() const { return tensor_.GetValue(index_, loc_); }  // NOLINT
        const Element &operator=(T value) const {
            tensor_.SetValue(index_, value, loc_);
            return *this;
        }
        const Element &operator=(const Element &other) const {
            return *this = static_cast<T>(other);
        }

    private:
        const LocalTensor &tensor_;
        uint32_t index_;
        sim::Loc loc_;
    };
    Element operator()(uint32_t index, sim::Loc loc = sim::Loc::Here()) const {
        return {*this, index, loc};
    }

    // dst = a + b: an expression of tensors (sim/operators.h) and the place of the assignment.
    class Assignment {
    public:
        template <typename E, typename = typename E::IsTensorExpression>
        Assignment(const E &expression, sim::Loc loc = sim::Loc::Here())  // NOLINT: implicit
            : expression_(&expression), store_(&Store<E>), loc_(loc) {}
        void To(const LocalTensor &dst) const { store_(expression_, dst, loc_); }

    private:
        template <typename E>
        static void Store(const void *expression, const LocalTensor &dst, sim::Loc loc) {
            static_cast<const E *>(expression)->Store(dst, loc);
        }
        const void *expression_;
        void (*store_)(const void *, const LocalTensor &, sim::Loc);
        sim::Loc loc_;
    };
    void operator=(const Assignment &assignment) const { assignment.To(*this); }

    // The tensor from element `offset` on.
    LocalTensor operator[](uint32_t offset) const {
        LocalTensor out = *this;
        const auto skipped = static_cast<uint32_t>(sim::BytesOf<T>(offset));
        out.address_ += skipped;
        out.bytes_ = bytes_ > skipped ? bytes_ - skipped : 0;
        return out;
    }
    template <typename U>
    LocalTensor<U> ReinterpretCast() const {
        LocalTensor<U> out(position_, address_, bytes_, end_);
        out.SetBufferState(state_);
        return out;
    }

    uint32_t GetSize() const { return static_cast<uint32_t>(sim::ElementsIn<T>(bytes_)); }
    void SetSize(uint32_t elements) { bytes_ = static_cast<uint32_t>(sim::BytesOf<T>(elements)); }
    uint32_t GetLength() const { return bytes_; }
    uint64_t GetPhyAddr(uint32_t offset = 0) const {
        return reinterpret_cast<uint64_t>(Data() + offset);
    }
    TPosition GetPosition() const { return position_; }
    void SetAddr(const TBuffAddr &address) {
        *this = LocalTensor(static_cast<TPosition>(address.logicPos), address.bufferAddr,
                            address.dataLen, address.bufferAddr + address.dataLen);
    }
    void SetShapeInfo(const ShapeInfo &) {}
    void SetUserTag(int32_t tag) { tag_ = tag; }
    int32_t GetUserTag() const { return tag_; }

    // sim: for the API functions.
    T *Data() const { return reinterpret_cast<T *>(sim::ThisCore().Ub() + address_); }
    uint32_t Address() const { return address_; }
    uint32_t End() const { return end_; }
    uint32_t OffsetOf(uint32_t index) const {
        return address_ + static_cast<uint32_t>(index * sizeof(T));
    }
    void *BufferState() const { return state_; }
    void SetBufferState(void *state) { state_ = state; }

private:
    void CheckScalar(uint32_t index, const char *api, sim::Loc loc) const {
        sim::ThisCore().Begin(sim::Pipe::S, api, loc);
        const uint64_t offset = address_ + uint64_t{index} * sizeof(T);
        const sim::Core &core = sim::ThisCore();
        if (offset + sizeof(T) > end_ || offset + sizeof(T) > core.UsableUbBytes()) {
            core.Fail(sim::Check::UbExtent, api, loc,
                      "element %u is at byte %llu, the buffer ends at %u, what is usable at %llu",
                      index, static_cast<unsigned long long>(offset), end_,
                      static_cast<unsigned long long>(core.UsableUbBytes()));
            if (offset + sizeof(T) > core.UbBytes()) {
                throw sim::Violation{"outside of the Unified Buffer"};
            }
        }
    }

    uint32_t address_ = 0;
    uint32_t bytes_ = 0;
    uint32_t end_ = 0;  // of the buffer that this is a part of
    TPosition position_ = TPosition::VECCALC;
    int32_t tag_ = 0;
    void *state_ = nullptr;  // the queue's buffer
};

// A range of global memory.
template <typename T>
class GlobalTensor {
public:
    using PrimType = T;

    void SetGlobalBuffer(__gm__ T *address, uint64_t elements) {
        data_ = address;
        elements_ = elements;
        sized_ = true;
    }
    void SetGlobalBuffer(__gm__ T *address) {
        data_ = address;
        elements_ = 0;
        sized_ = false;
    }
    const __gm__ T *GetPhyAddr() const { return data_; }
    __gm__ T *GetPhyAddr(uint64_t offset) const { return data_ + offset; }
    T GetValue(uint64_t index, sim::Loc loc = sim::Loc::Here()) const {
        sim::ThisCore().Begin(sim::Pipe::S, "GetValue", loc);
        Check(index * sizeof(T), sizeof(T), false, "GetValue", loc);
        return data_[index];
    }
    void SetValue(uint64_t index, T value, sim::Loc loc = sim::Loc::Here()) const {
        sim::ThisCore().Begin(sim::Pipe::S, "SetValue", loc);
        Check(index * sizeof(T), sizeof(T), true, "SetValue", loc);
        data_[index] = value;
    }
    T &operator()(uint64_t index, sim::Loc loc = sim::Loc::Here()) const {
        sim::ThisCore().Begin(sim::Pipe::S, "operator()", loc);
        Check(index * sizeof(T), sizeof(T), false, "operator()", loc);
        return data_[index];
    }
    GlobalTensor operator[](uint64_t offset) const {
        GlobalTensor out = *this;
        out.data_ += sim::BytesOf<T>(offset) / sizeof(T);
        out.elements_ = elements_ > offset ? elements_ - offset : 0;
        return out;
    }
    uint64_t GetSize() const { return elements_; }
    void SetShapeInfo(const ShapeInfo &) {}
    void SetL2CacheHint(CacheMode) {}
    template <CacheMode>
    void SetL2CacheHint(CacheMode) {}

    // sim: [offset, offset + bytes) from here is accessed.
    void Check(uint64_t offset, uint64_t bytes, bool write, const char *api, sim::Loc loc) const {
        if (sized_ && offset + bytes > sim::BytesOf<T>(elements_)) {
            sim::ThisCore().Fail(
                sim::Check::GmExtent, api, loc,
                "accesses bytes [%llu, %llu) of a GlobalTensor with %llu bytes left",
                static_cast<unsigned long long>(offset),
                static_cast<unsigned long long>(offset + bytes),
                static_cast<unsigned long long>(sim::BytesOf<T>(elements_)));
        }
        sim::ThisCore().TouchGm(reinterpret_cast<const uint8_t *>(data_) + offset, bytes, write);
    }

private:
    __gm__ T *data_ = nullptr;
    uint64_t elements_ = 0;
    bool sized_ = false;
};

}  // namespace AscendC

using GM_ADDR = __gm__ uint8_t *;
