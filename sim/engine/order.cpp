#include "sim/order.h"

namespace sim {

void Order::Begin(Pipe pipe, const char *api, Loc loc) {
    current_ = {++issued_[static_cast<int>(pipe)], pipe, api, loc};
    timing.Begin(pipe, api, loc);
}

Clock Order::Finished(Pipe pipe) {
    const int p = static_cast<int>(pipe);
    Clock clock = clocks_[p];
    clock.known[p] = issued_[p];
    clock.cycle = timing.Until(pipe);
    return clock;
}

void Order::Acquire(Pipe pipe, const Clock &clock) {
    clocks_[static_cast<int>(pipe)].Join(clock);
    timing.Wait(pipe, clock.cycle);
}

void Order::Barrier(Pipe pipe) {
    Clock all;
    for (int p = 0; p < kPipes; ++p) {
        if (pipe == Pipe::ALL || pipe == static_cast<Pipe>(p)) {
            all.Join(Finished(static_cast<Pipe>(p)));
        }
    }
    for (int p = 0; p < kPipes; ++p) {
        if (pipe == Pipe::ALL || pipe == static_cast<Pipe>(p)) {
            Acquire(static_cast<Pipe>(p), all);
            timing.Drain(static_cast<Pipe>(p));
        }
    }
}

void Order::WaitForAll(double cycle) {
    for (int p = 0; p < kPipes; ++p) {
        timing.Wait(static_cast<Pipe>(p), cycle);
    }
}

bool Order::Ordered(const Touch &earlier) {
    const Pipe now = current_.pipe;
    const bool same = earlier.pipe == now;
    if (earlier.number == 0 || (same && (now == Pipe::S || earlier.number == current_.number))) {
        return true;
    }
    if (clocks_[static_cast<int>(now)].known[static_cast<int>(earlier.pipe)] >= earlier.number) {
        return true;
    }
    const bool vector = same && now == Pipe::V && vectorInOrder_;
    const bool scalar = !same && scalarInOrder_ && (now == Pipe::S || earlier.pipe == Pipe::S);
    // Somebody else orders them: the compiler, by a barrier or a flag, or the hardware.
    if (scalar || (vector && earlier.number > settledVector_)) {
        timing.DependOn(earlier.pipe);
        settledVector_ = vector ? current_.number - 1 : settledVector_;
    }
    return vector || scalar;
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
