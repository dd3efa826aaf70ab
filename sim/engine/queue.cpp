#include "sim/queue.h"

#include <exception>

#include "sim/control.h"

namespace sim {

const char *BufferStateName(BufferState state) {
    static const char *const names[] = {"free", "allocated", "enqueued", "dequeued"};
    return names[static_cast<int>(state)];
}

uint32_t BufferTable::Take(uint32_t bytes, const char *api, Loc loc) {
    const uint64_t rounded = (uint64_t{bytes} + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
    const uint32_t address = used_;
    const uint64_t end = end_ != 0 ? end_ : ThisCore().UsableUbBytes();
    if (address + rounded > end) {
        ThisCore().Fail(Check::UbExtent, api, loc,
                        "takes %llu bytes beside the %u in use, usable are %llu",
                        static_cast<unsigned long long>(rounded), used_ - begin_,
                        static_cast<unsigned long long>(end - begin_));
        // With the check off there is still no more memory than the chip has.
        if (address + rounded > ThisCore().UbBytes()) {
            throw Violation{"the Unified Buffer is exhausted"};
        }
    }
    used_ += static_cast<uint32_t>(rounded);
    ThisCore().order.timing.Local(used_, 0);
    return address;
}

void BufferTable::Count(Loc loc) {
    if (++count_ > kMaxBuffers) {
        ThisCore().Fail(Check::QueueState, "InitBuffer", loc,
                        "buffer number %u of a TPipe, allowed are %u", count_, kMaxBuffers);
    }
}

Buffer *BufferTable::Add(const void *queue, uint8_t position, uint32_t bytes, Loc loc) {
    Count(loc);
    if (queued_ == kMaxBuffers) {
        throw Violation{"a TPipe has no more buffers"};
    }
    const uint32_t address = Take(bytes, "InitBuffer", loc);
    Buffer &buffer = buffers_[queued_++];
    buffer = {address, used_ - address, BufferState::Free, queue, position, loc, {}};
    return &buffer;
}

void BufferTable::CheckLive(uint8_t position, Loc loc) const {
    uint32_t live = 0;
    for (uint32_t i = 0; i < queued_; ++i) {
        live += buffers_[i].position == position && buffers_[i].state != BufferState::Free ? 1 : 0;
    }
    if (live > kEvents) {
        ThisCore().Fail(Check::QueueState, "AllocTensor", loc,
                        "tensor number %u that is live in this position, allowed are %d: each "
                        "takes an event id",
                        live, kEvents);
    }
}

void BufferTable::CountTBuf(Loc loc) { Count(loc); }

void BufferTable::Reset(Loc loc) {
    LeaksAtExit(loc);
    for (uint32_t i = 0; i < queued_; ++i) {
        ThisCore().order.Acquire(buffers_[i].waits, buffers_[i].handed);
    }
    queued_ = 0;
    count_ = 0;
    used_ = begin_;
}

void BufferTable::LeaksAtExit(Loc loc) const {
    for (uint32_t i = 0; i < queued_; ++i) {
        const Buffer &buffer = buffers_[i];
        if (buffer.state != BufferState::Free) {
            ThisCore().Fail(
                Check::QueueLeak, "TPipe", loc,
                "a tensor allocated at %s:%d is still %s at the end, it needs FreeTensor",
                buffer.allocated.file, buffer.allocated.line, BufferStateName(buffer.state));
        }
    }
}

void QueueState::Init(BufferTable &table, uint32_t number, uint32_t bytes, Loc loc) {
    if (number == 0 || bytes == 0) {
        ThisCore().Fail(Check::QueueState, "InitBuffer", loc, "%u buffers of %u bytes", number,
                        bytes);
    }
    table_ = &table;
    number_ = 0;
    next_ = 0;
    head_ = 0;
    enqueued_ = 0;
    for (uint32_t i = 0; i < number && i < kMax; ++i) {
        buffers_[number_++] = table.Add(this, position_, bytes, loc);
    }
}

Buffer *QueueState::Alloc(Loc loc) {
    // In turn, as on the device: the buffer that was freed last may still be busy.
    for (uint32_t i = 0; i < number_; ++i) {
        Buffer *buffer = buffers_[(next_ + i) % number_];
        if (buffer->state == BufferState::Free) {
            next_ = (next_ + i + 1) % number_;
            buffer->state = BufferState::Occupied;
            buffer->allocated = loc;
            table_->CheckLive(position_, loc);
            ThisCore().order.Acquire(producer_, buffer->handed);
            ThisCore().ForgetUb(buffer->address, buffer->bytes);
            return buffer;
        }
    }
    ThisCore().Fail(Check::QueueState, "AllocTensor", loc,
                    number_ == 0 ? "the queue has no buffers: InitBuffer is missing"
                                 : "all %u buffers of the queue are in use: a hang",
                    number_);
    throw Violation{"AllocTensor hangs"};
}

Buffer *QueueState::Own(void *buffer, const char *api, Loc loc) const {
    auto *own = static_cast<Buffer *>(buffer);
    if (own == nullptr || own->queue != this) {
        ThisCore().Fail(Check::QueueState, api, loc, "the tensor is not from this queue");
        throw Violation{"foreign tensor"};
    }
    return own;
}

void QueueState::EnQue(void *buffer, Loc loc) {
    Buffer *own = Own(buffer, "EnQue", loc);
    if (own->state != BufferState::Occupied && own->state != BufferState::Dequeued) {
        ThisCore().Fail(Check::QueueState, "EnQue", loc,
                        "the tensor is %s, allowed are allocated and dequeued",
                        BufferStateName(own->state));
    }
    own->state = BufferState::Enqueued;
    own->handed = ThisCore().order.Finished(producer_);
    order_[(head_ + enqueued_++) % kMax] = own;
}

Buffer *QueueState::DeQue(Loc loc) {
    if (enqueued_ == 0) {
        ThisCore().Fail(Check::QueueState, "DeQue", loc, "nothing was enqueued: a hang");
        throw Violation{"DeQue hangs"};
    }
    Buffer *buffer = order_[head_];
    head_ = (head_ + 1) % kMax;
    --enqueued_;
    buffer->state = BufferState::Dequeued;
    ThisCore().order.Acquire(consumer_, buffer->handed);
    return buffer;
}

void QueueState::Free(void *buffer, Loc loc) {
    Buffer *own = Own(buffer, "FreeTensor", loc);
    if (own->state == BufferState::Free) {
        ThisCore().Fail(Check::QueueState, "FreeTensor", loc, "the tensor is free already");
    }
    if (own->state == BufferState::Enqueued) {
        ThisCore().Fail(Check::QueueState, "FreeTensor", loc,
                        "the tensor is still enqueued, DeQue comes first");
    }
    own->state = BufferState::Free;
    own->handed = ThisCore().order.Finished(consumer_);
    own->waits = producer_;
}

bool QueueState::HasIdle() const {
    for (uint32_t i = 0; i < number_; ++i) {
        if (buffers_[i]->state == BufferState::Free) {
            return true;
        }
    }
    return false;
}

}  // namespace sim

namespace AscendC {

TPipe::TPipe(sim::Loc loc) : created_(loc) { Init(loc); }

void TPipe::Init(sim::Loc loc) {
    sim::Core &core = sim::ThisCore();
    if (core.pipe != nullptr && core.pipe != this) {
        core.Fail(sim::Check::QueueState, "TPipe", loc, "a second TPipe while one is alive");
    }
    core.pipe = this;
    // As InitSocState does.
    core.atomic = sim::Core::Atomic::None;
    core.KeepMask(~uint64_t{0}, ~uint64_t{0}, false);
    if (core.Kernel().npuArch == 3510) {
        core.SetControl(sim::kControlOfTPipe | (core.Control() & sim::kKeepsInfinity));
    }
}

TPipe::~TPipe() noexcept(false) {
    sim::Core &core = sim::ThisCore();
    if (core.pipe == this) {
        core.pipe = nullptr;
        if (std::uncaught_exceptions() == 0) {
            table_.LeaksAtExit(created_);
            core.order.Barrier(sim::Pipe::ALL);
        }
    }
}

void TPipe::Reset(sim::Loc loc) {
    table_.Reset(loc);
    Init(loc);
}

void TPipe::Destroy(sim::Loc loc) {
    table_.Reset(loc);
    sim::ThisCore().order.Barrier(sim::Pipe::ALL);
    sim::ThisCore().pipe = nullptr;
}

int8_t TPipe::FindEvent(int event, const char *api, sim::Loc loc) const {
    for (int8_t id = 0; id < sim::kEvents; ++id) {
        if ((reserved_[event] >> id & 1) == 0) {
            return id;
        }
    }
    sim::ThisCore().Fail(sim::Check::EventPair, api, loc, "all %d event ids are reserved",
                         sim::kEvents);
    return 0;
}

}  // namespace AscendC
