// TPipe, TQue, TQueBind and TBuf: who owns which bytes of the Unified Buffer, and when.
#pragma once

#include "sim/sync.h"
#include "sim/tensor.h"

namespace sim {

enum class BufferState : uint8_t { Free, Occupied, Enqueued, Dequeued };
SIM_API const char *BufferStateName(BufferState state);

// One buffer of a queue.
struct Buffer {
    uint32_t address;
    uint32_t bytes;
    BufferState state;
    const void *queue;
    uint8_t position;
    Loc allocated;
    Clock handed;  // what the next owner waits for
    Pipe waits = Pipe::S;
};

constexpr uint32_t kMaxBuffers = 64;

// The buffers of one TPipe.
class SIM_API BufferTable {
public:
    // Restricts it to a part [begin, end) of the Unified Buffer.
    void SetRange(uint32_t begin, uint32_t end) {
        begin_ = used_ = begin;
        end_ = end;
    }
    uint32_t Begin() const { return begin_; }
    uint32_t End() const { return end_; }
    // Takes `bytes`, rounded up to 32, from the top of what is used; returns the address.
    uint32_t Take(uint32_t bytes, const char *api, Loc loc);
    Buffer *Add(const void *queue, uint8_t position, uint32_t bytes, Loc loc);
    // Fails if more tensors of `position` are live than it has event ids.
    void CheckLive(uint8_t position, Loc loc) const;
    void CountTBuf(Loc loc);
    void Reset(Loc loc);
    void LeaksAtExit(Loc loc) const;
    uint32_t Used() const { return used_; }

private:
    void Count(Loc loc);

    Buffer buffers_[kMaxBuffers] = {};
    uint32_t queued_ = 0;
    uint32_t count_ = 0;
    uint32_t used_ = 0;
    uint32_t begin_ = 0;
    uint32_t end_ = 0;  // 0 = of all that kernels may use
};

// Type-independent part of a queue: a ring of buffers and the order in which they were enqueued.
class SIM_API QueueState {
public:
    // `producer` fills buffers, `consumer` empties them.
    QueueState(uint8_t position, Pipe producer, Pipe consumer)
        : position_(position), producer_(producer), consumer_(consumer) {}
    void Init(BufferTable &table, uint32_t number, uint32_t bytes, Loc loc);
    Buffer *Alloc(Loc loc);
    void EnQue(void *buffer, Loc loc);
    Buffer *DeQue(Loc loc);
    void Free(void *buffer, Loc loc);
    bool HasIdle() const;
    uint32_t Enqueued() const { return enqueued_; }

private:
    Buffer *Own(void *buffer, const char *api, Loc loc) const;

    static constexpr uint32_t kMax = 64;
    BufferTable *table_ = nullptr;
    uint8_t position_;
    Pipe producer_;
    Pipe consumer_;
    Buffer *buffers_[kMax] = {};
    uint32_t number_ = 0;
    uint32_t next_ = 0;  // to allocate
    Buffer *order_[kMax] = {};
    uint32_t head_ = 0;
    uint32_t enqueued_ = 0;
};

}  // namespace sim

namespace AscendC {

template <TPosition position>
class TBuf;
template <TPosition source, TPosition destination, int32_t depth, auto mask>
class TQueBind;

template <TPosition position, uint32_t bufIDSize>
class TBufPool;

// What hands out buffers: a TPipe, or a part of its memory.
class BufferSource {
public:
    template <TPosition source, TPosition destination, int32_t depth, auto mask>
    bool InitBuffer(TQueBind<source, destination, depth, mask> &queue, uint8_t number,
                    uint32_t bytes, sim::Loc loc = sim::Loc::Here()) {
        queue.state_.Init(table_, number, bytes, loc);
        return true;
    }
    template <TPosition position>
    bool InitBuffer(TBuf<position> &buffer, uint32_t bytes, sim::Loc loc = sim::Loc::Here()) {
        table_.CountTBuf(loc);
        buffer.address_ = table_.Take(bytes, "InitBuffer", loc);
        buffer.bytes_ = (bytes + ONE_BLK_SIZE - 1) / ONE_BLK_SIZE * ONE_BLK_SIZE;
        return true;
    }
    template <TPosition position, uint32_t bufIDSize>
    bool InitBufPool(TBufPool<position, bufIDSize> &pool, uint32_t bytes,
                     sim::Loc loc = sim::Loc::Here()) {
        const uint32_t begin = table_.Take(bytes, "InitBufPool", loc);
        pool.table_.SetRange(begin, table_.Used());
        return true;
    }
    // The pool begins where `shared` does: one of the two is used at a time.
    template <TPosition position, uint32_t bufIDSize, typename Pool>
    bool InitBufPool(TBufPool<position, bufIDSize> &pool, uint32_t bytes, const Pool &shared,
                     sim::Loc loc = sim::Loc::Here()) {
        const sim::BufferTable &other = shared.table_;
        if (bytes > other.End() - other.Begin()) {
            sim::ThisCore().Fail(sim::Check::UbExtent, "InitBufPool", loc,
                                 "%u bytes in a pool of %u", bytes, other.End() - other.Begin());
        }
        pool.table_.SetRange(other.Begin(), other.End());
        return true;
    }

protected:
    sim::BufferTable table_;
};

// A part of the memory of a TPipe, with buffers of its own.
template <TPosition position, uint32_t bufIDSize = 4>
class TBufPool : public BufferSource {
public:
    void Reset(sim::Loc loc = sim::Loc::Here()) { table_.Reset(loc); }

private:
    friend class BufferSource;
};

class SIM_API TPipe : public BufferSource {
public:
    explicit TPipe(sim::Loc loc = sim::Loc::Here());
    TPipe(const TPipe &) = delete;
    TPipe &operator=(const TPipe &) = delete;
    ~TPipe() noexcept(false);

    void Init(sim::Loc loc = sim::Loc::Here());
    void Reset(sim::Loc loc = sim::Loc::Here());
    void Destroy(sim::Loc loc = sim::Loc::Here());
    // sim: where what no buffer takes begins.
    uint32_t Used() const { return table_.Used(); }

    // An id that is not reserved: good until the next call that takes one.
    template <HardEvent event>
    int8_t FetchEventID(sim::Loc loc = sim::Loc::Here()) {
        return FindEvent(static_cast<int>(event), "FetchEventID", loc);
    }
    int8_t FetchEventID(HardEvent event, sim::Loc loc = sim::Loc::Here()) {
        return FindEvent(static_cast<int>(event), "FetchEventID", loc);
    }
    template <HardEvent event>
    int8_t AllocEventID(sim::Loc loc = sim::Loc::Here()) {
        const int8_t id = FindEvent(static_cast<int>(event), "AllocEventID", loc);
        reserved_[static_cast<int>(event)] |= static_cast<uint8_t>(1U << id);
        return id;
    }
    template <HardEvent event>
    void ReleaseEventID(int8_t id, sim::Loc loc = sim::Loc::Here()) {
        uint8_t &reserved = reserved_[static_cast<int>(event)];
        if ((reserved >> id & 1) == 0) {
            sim::ThisCore().Fail(sim::Check::EventPair, "ReleaseEventID", loc,
                                 "event id %d was not reserved by AllocEventID", id);
        }
        reserved &= static_cast<uint8_t>(~(1U << id));
    }

private:
    int8_t FindEvent(int event, const char *api, sim::Loc loc) const;

    uint8_t reserved_[32] = {};
    sim::Loc created_;
};

inline TPipe *GetTPipePtr() { return static_cast<TPipe *>(sim::ThisCore().pipe); }

// A queue of buffers between two positions. EnQue and DeQue order the pipes on both sides.
template <TPosition source, TPosition destination, int32_t depth, auto mask = 0>
class TQueBind {
public:
    template <typename T>
    LocalTensor<T> AllocTensor(sim::Loc loc = sim::Loc::Here()) {
        return Tensor<T>(state_.Alloc(loc));
    }
    template <typename T>
    void AllocTensor(LocalTensor<T> &tensor, sim::Loc loc = sim::Loc::Here()) {
        tensor = AllocTensor<T>(loc);
    }
    template <typename T>
    bool EnQue(const LocalTensor<T> &tensor, sim::Loc loc = sim::Loc::Here()) {
        constexpr uint32_t most = depth > 0 ? depth : 1;
        if (state_.Enqueued() >= most) {
            sim::ThisCore().Fail(sim::Check::QueueState, "EnQue", loc,
                                 "%u tensors are enqueued already, the depth of the queue is %d",
                                 state_.Enqueued(), depth);
        }
        state_.EnQue(tensor.BufferState(), loc);
        return true;
    }
    template <TPosition, TPosition, typename T>
    bool EnQue(const LocalTensor<T> &tensor, sim::Loc loc = sim::Loc::Here()) {
        return EnQue(tensor, loc);
    }
    template <typename T>
    LocalTensor<T> DeQue(sim::Loc loc = sim::Loc::Here()) {
        return Tensor<T>(state_.DeQue(loc));
    }
    template <TPosition, TPosition, typename T>
    LocalTensor<T> DeQue(sim::Loc loc = sim::Loc::Here()) {
        return DeQue<T>(loc);
    }
    template <typename T>
    void DeQue(LocalTensor<T> &tensor, sim::Loc loc = sim::Loc::Here()) {
        tensor = DeQue<T>(loc);
    }
    template <typename T>
    void FreeTensor(LocalTensor<T> &tensor, sim::Loc loc = sim::Loc::Here()) {
        state_.Free(tensor.BufferState(), loc);
    }
    bool VacantInQue() const { return state_.HasIdle(); }
    bool HasIdleBuffer() const { return state_.HasIdle(); }
    bool HasTensorInQue() const { return state_.Enqueued() > 0; }
    int32_t GetTensorCountInQue() const { return static_cast<int32_t>(state_.Enqueued()); }
    void FreeAllEvent() {}

private:
    friend class BufferSource;
    template <typename T>
    static LocalTensor<T> Tensor(sim::Buffer *buffer) {
        LocalTensor<T> out(source, buffer->address, buffer->bytes, buffer->address + buffer->bytes);
        out.SetBufferState(buffer);
        return out;
    }

    static constexpr sim::Pipe kProducer =
        source == TPosition::VECIN ? sim::Pipe::MTE2 : sim::Pipe::V;
    static constexpr sim::Pipe kConsumer =
        destination == TPosition::GM || destination == TPosition::VECOUT ? sim::Pipe::MTE3
                                                                         : sim::Pipe::V;
    sim::QueueState state_{static_cast<uint8_t>(source), kProducer, kConsumer};
};

template <TPosition position, int32_t depth, auto mask = 0>
class TQue : public TQueBind<position == TPosition::VECOUT ? TPosition::VECOUT : position,
                             position == TPosition::VECOUT ? TPosition::GM : TPosition::VECCALC,
                             depth, mask> {};

// Memory without a queue: the kernel orders the pipes itself.
template <TPosition position = TPosition::VECCALC>
class TBuf {
public:
    template <typename T>
    LocalTensor<T> Get() const {
        return LocalTensor<T>(position, address_, bytes_, address_ + bytes_);
    }
    template <typename T>
    LocalTensor<T> Get(uint32_t elements) const {
        return GetWithOffset<T>(elements, 0);
    }
    template <typename T>
    LocalTensor<T> GetWithOffset(uint32_t elements, uint32_t offsetBytes,
                                 sim::Loc loc = sim::Loc::Here()) const {
        const auto bytes = static_cast<uint32_t>(sim::BytesOf<T>(elements));
        if (offsetBytes + uint64_t{bytes} > bytes_) {
            sim::ThisCore().Fail(sim::Check::UbExtent, "TBuf::Get", loc,
                                 "bytes [%u, %u) of a buffer of %u bytes", offsetBytes,
                                 offsetBytes + bytes, bytes_);
        }
        return LocalTensor<T>(position, address_ + offsetBytes, bytes, address_ + bytes_);
    }

private:
    friend class BufferSource;
    uint32_t address_ = 0;
    uint32_t bytes_ = 0;
};

// All of the Unified Buffer that no buffer of the TPipe takes; the next call gives the same.
template <typename T, TPosition position>
bool PopStackBuffer(LocalTensor<T> &tensor) {
    const uint32_t begin = GetTPipePtr() == nullptr ? 0 : GetTPipePtr()->Used();
    const auto end = static_cast<uint32_t>(sim::ThisCore().UsableUbBytes());
    tensor = LocalTensor<T>(position, begin, end - begin, end);
    return end > begin;
}

enum class Hardware : uint8_t { GM, UB, L1, L0A, L0B, L0C, BIAS, FIXBUF, MAX };

// Tensors one behind the other, without a TPipe.
template <Hardware hardware = Hardware::UB>
class LocalMemAllocator {
public:
    static_assert(hardware == Hardware::UB, "the simulated core has the Unified Buffer only");
    template <TPosition position, typename T, uint32_t elements>
    LocalTensor<T> Alloc(sim::Loc loc = sim::Loc::Here()) {
        return Alloc<position, T>(elements, loc);
    }
    template <TPosition position, typename T>
    LocalTensor<T> Alloc(uint32_t elements, sim::Loc loc = sim::Loc::Here()) {
        const LocalTensor<T> tensor(position, address_, elements);
        const uint64_t bytes = sim::BytesOf<T>(elements);
        if (address_ + bytes > sim::ThisCore().UsableUbBytes()) {
            sim::ThisCore().Fail(sim::Check::UbExtent, "LocalMemAllocator::Alloc", loc,
                                 "takes %llu bytes beside the %u in use, usable are %llu",
                                 static_cast<unsigned long long>(bytes), address_,
                                 static_cast<unsigned long long>(sim::ThisCore().UsableUbBytes()));
        }
        address_ += static_cast<uint32_t>((bytes + ONE_BLK_SIZE - 1) / ONE_BLK_SIZE * ONE_BLK_SIZE);
        return tensor;
    }
    uint32_t GetCurAddr() const { return address_; }

private:
    uint32_t address_ = 0;
};

// A flag between two pipes, by their names.
template <pipe_t from, pipe_t to>
class TQueSync {
public:
    void SetFlag(TEventID id, sim::Loc loc = sim::Loc::Here()) { set_flag(from, to, id, loc); }
    void WaitFlag(TEventID id, sim::Loc loc = sim::Loc::Here()) { wait_flag(from, to, id, loc); }
};

}  // namespace AscendC
