#include "sim/order.h"

namespace sim {

void Order::Begin(Pipe pipe, const char *api, Loc loc) {
    current_ = {++issued_[static_cast<int>(pipe)], pipe, api, loc};
}

Clock Order::Finished(Pipe pipe) const {
    const int p = static_cast<int>(pipe);
    Clock clock = clocks_[p];
    clock.known[p] = issued_[p];
    return clock;
}

void Order::Acquire(Pipe pipe, const Clock &clock) { clocks_[static_cast<int>(pipe)].Join(clock); }

void Order::Barrier(Pipe pipe) {
    if (pipe != Pipe::ALL) {
        Acquire(pipe, Finished(pipe));
        return;
    }
    Clock all;
    for (int p = 0; p < kPipes; ++p) {
        all.Join(Finished(static_cast<Pipe>(p)));
    }
    for (Clock &clock : clocks_) {
        clock = all;
    }
}

bool Order::Ordered(const Touch &earlier) const {
    if (earlier.number == 0) {
        return true;
    }
    const Pipe now = current_.pipe;
    if (earlier.pipe == now) {
        if (now == Pipe::S || (now == Pipe::V && vectorInOrder_) ||
            earlier.number == current_.number) {
            return true;
        }
    } else if (scalarInOrder_ && (now == Pipe::S || earlier.pipe == Pipe::S)) {
        return true;
    }
    return clocks_[static_cast<int>(now)].known[static_cast<int>(earlier.pipe)] >= earlier.number;
}

Race Order::Access(IntervalMap<Last> &space, uint64_t begin, uint64_t end, bool write) {
    Race race;
    static thread_local Touch found;
    const auto check = [&](const Touch &earlier, bool writes) {
        if (race.earlier == nullptr && !Ordered(earlier)) {
            found = earlier;
            race = {&found, writes};
        }
    };
    space.ForEach(begin, end, [&](Last &last) {
        if (write) {
            // Reads are later than the last write, so they tell the user more.
            for (const Touch &read : last.read) {
                check(read, false);
            }
            check(last.write, true);
            // Nobody after this write needs to know what was before it.
            last = Last{};
            last.write = current_;
        } else {
            check(last.write, true);
            last.read[static_cast<int>(current_.pipe)] = current_;
        }
    });
    return race;
}

}  // namespace sim
