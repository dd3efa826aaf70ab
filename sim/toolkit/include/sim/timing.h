// The cycle estimate: when each pipe of a core begins and ends its instructions.
//
// Figures published for the hardware go in (engine/timing.cpp has them); what comes out is an
// estimate, and nothing that was measured.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/pipe.h"

namespace sim {

// An operand of a vector instruction: where it begins in the Unified Buffer and its strides, in
// blocks of 32 bytes.
struct Walk {
    uint32_t address;
    uint32_t blockStride;
    uint32_t repeatStride;
    bool write;
};

// One instruction on the time line.
struct Span {
    Pipe pipe;
    const char *api;
    Loc loc;
    double begin;
    double end;
};

// What one core did, or a whole launch.
struct Usage {
    double busy[kPipes] = {};  // cycles
    uint64_t instructions[kPipes] = {};
    uint64_t bytesIn = 0;  // from global memory
    uint64_t bytesOut = 0;
    uint64_t ubBytes = 0;  // the highest address in use
    void Add(const Usage &other);
};

class SIM_API Timing {
public:
    explicit Timing(int npuArch) : npuArch_(npuArch) {}

    // An instruction begins; what follows is its own. The one before is complete.
    void Begin(Pipe pipe, const char *api, Loc loc);
    // It takes `repeats` steps, its widest type has `width` bytes.
    void Steps(uint32_t repeats, uint32_t width) {
        repeats_ = repeats;
        width_ = width;
    }
    // Its operands, in the order destination, sources.
    void Operands(const Walk *walks, uint32_t number);
    // Its count form does not end with a whole step.
    void OddCount();
    // A vector function of dav-3510 begins; register instructions that take `cycles` of its issue
    // slots. Both count with the next load or store.
    void BeginFunction();
    void Registers(double cycles) { registers_ += cycles; }
    // It waits for what `pipe` was given before.
    void DependOn(Pipe pipe) { depends_ |= 1U << static_cast<int>(pipe); }
    void Local(uint64_t end, uint64_t bytes) {
        longest_ = bytes > longest_ ? bytes : longest_;
        usage_.ubBytes = end > usage_.ubBytes ? end : usage_.ubBytes;
    }
    void Global(uint64_t bytes, bool write, bool cached);

    // The cycle at which `pipe` has done all that it was given so far.
    double Until(Pipe pipe);
    // What `pipe` is given from now on waits until `cycle`.
    void Wait(Pipe pipe, double cycle);
    // The next instruction on `pipe` cannot overlap with the ones before.
    void Drain(Pipe pipe) { drained_ |= 1U << static_cast<int>(pipe); }
    double End();
    const Usage &Used() const { return usage_; }

    std::vector<Span> *trace = nullptr;  // where to note each instruction

private:
    void Settle();
    double Cycles(bool overlaps) const;
    double BankConflicts() const;

    int npuArch_;
    Usage usage_;
    double until_[kPipes] = {};
    uint32_t drained_ = ~0U;

    // The instruction that is not settled yet.
    bool open_ = false;
    Pipe pipe_ = Pipe::S;
    const char *api_ = nullptr;
    Loc loc_ = {nullptr, 0};
    uint32_t depends_ = 0;
    uint32_t repeats_ = 0;
    uint32_t width_ = 0;
    double extra_ = 0;
    double registers_ = 0;
    uint64_t longest_ = 0;  // access to the Unified Buffer
    uint64_t globalBytes_ = 0;
    uint32_t bursts_ = 0;
    Walk walks_[4] = {};
    uint32_t walkCount_ = 0;
};

}  // namespace sim
