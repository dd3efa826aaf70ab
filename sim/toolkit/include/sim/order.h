// Which instructions of a core are ordered, and who touched which bytes last: the race detector.
//
// The pipes of a core run beside each other. An instruction sees what another pipe did only if
// flags, queues or barriers order the two. Each pipe counts its instructions; a clock says, for
// each pipe, up to which of its instructions somebody knows that they are complete.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "sim/timing.h"

namespace sim {

struct Clock {
    uint32_t known[kPipes] = {};
    double cycle = 0;  // of the estimate
    void Join(const Clock &other) {
        for (int pipe = 0; pipe < kPipes; ++pipe) {
            known[pipe] = std::max(known[pipe], other.known[pipe]);
        }
        cycle = std::max(cycle, other.cycle);
    }
};

// A value for each byte of an address space, kept by intervals: kernels touch whole tiles.
template <typename T>
class IntervalMap {
public:
    // Calls visit(value) for each part of [begin, end), with a fresh value where there was none.
    template <typename Visit>
    void ForEach(uint64_t begin, uint64_t end, Visit visit) {
        auto next = Split(begin);
        uint64_t at = begin;
        while (at < end) {
            if (next == parts_.end() || next->first > at) {
                const uint64_t stop =
                    next == parts_.end() ? end : std::min<uint64_t>(end, next->first);
                next = parts_.emplace_hint(next, at, Part{stop, T{}});
            } else if (next->second.end > end) {
                SplitAt(next, end);
            }
            visit(next->second.value);
            at = next->second.end;
            ++next;
        }
    }

private:
    struct Part {
        uint64_t end;
        T value;
    };
    using Iterator = typename std::map<uint64_t, Part>::iterator;

    // The first part that begins at or behind `at`; one that spans `at` is divided there.
    Iterator Split(uint64_t at) {
        auto next = parts_.lower_bound(at);
        if (next != parts_.begin()) {
            auto before = std::prev(next);
            if (before->second.end > at) {
                SplitAt(before, at);
                next = std::next(before);
            }
        }
        return next;
    }
    void SplitAt(Iterator part, uint64_t at) {
        parts_.emplace_hint(std::next(part), at, part->second);
        part->second.end = at;
    }

    std::map<uint64_t, Part> parts_;
};

// One instruction that touched a byte.
struct Touch {
    uint32_t number = 0;  // on its pipe; 0 = none
    Pipe pipe = Pipe::S;
    const char *api = nullptr;
    Loc loc = {nullptr, 0};
};

// Two instructions that touch one byte without an order.
struct Race {
    const Touch *earlier = nullptr;
    bool earlierWrites = false;
};

class SIM_API Order {
public:
    // `ordersVector`: vector instructions are ordered among themselves, and scalar accesses to
    // tensors with everything: by the hardware, or by the compiler (auto-sync).
    Order(int npuArch, bool vectorInOrder, bool scalarInOrder)
        : timing(npuArch), vectorInOrder_(vectorInOrder), scalarInOrder_(scalarInOrder) {}

    // An instruction begins on `pipe`; the accesses that follow are its own.
    void Begin(Pipe pipe, const char *api, Loc loc);
    // It touches bytes of the Unified Buffer, or of global memory (by address).
    Race TouchUb(uint64_t begin, uint64_t end, bool write) {
        return Access(ub_, begin, end, write);
    }
    Race TouchGm(uint64_t begin, uint64_t end, bool write) {
        return Access(gm_, begin, end, write);
    }
    const Touch &Current() const { return current_; }

    // What is complete once all that `pipe` was given so far is.
    Clock Finished(Pipe pipe);
    // What `pipe` is given from now on waits for `clock`.
    void Acquire(Pipe pipe, const Clock &clock);
    // Waits for one pipe on itself, or for all on all.
    void Barrier(Pipe pipe);
    // Nothing that follows begins before `cycle`: other cores were waited for.
    void WaitForAll(double cycle);

    Timing timing;

private:
    struct Last {
        Touch write;
        Touch read[kPipes];
    };
    Race Access(IntervalMap<Last> &space, uint64_t begin, uint64_t end, bool write);
    bool Ordered(const Touch &earlier);

    bool vectorInOrder_;
    bool scalarInOrder_;
    uint32_t issued_[kPipes] = {};
    uint32_t settledVector_ = 0;  // the last vector instruction before the compiler's last barrier
    Clock clocks_[kPipes];
    Touch current_;
    IntervalMap<Last> ub_;
    IntervalMap<Last> gm_;
};

}  // namespace sim
