// The cycle estimate of whole launches, and who listens to it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/core.h"
#include "sim_runtime.h"

namespace sim {

// What one launch is estimated to take.
struct LaunchEstimate {
    std::string kernel;
    uint32_t blocks = 0;
    int32_t cores = 0;  // of the device; more blocks than that run in turns
    int32_t clockMhz = 0;
    double cycles = 0;  // until the last core has finished; no launch overhead
    Usage usage;        // of all cores together
    Pipe bound = Pipe::S;
    struct Traced {
        uint32_t core;
        uint32_t block;
        double begin;
        Span span;
    };
    std::vector<Traced> trace;
    uint64_t untraced = 0;  // instructions beyond what a trace holds
};

// Collects the estimates of one launch while its blocks end.
class Estimate {
public:
    Estimate(const KernelInfo &kernel, uint32_t blocks, const SimSocProfile &profile);
    // Where a block notes its instructions: `spans` if somebody asked, else null.
    std::vector<Span> *Trace(std::vector<Span> &spans) const { return traces_ ? &spans : nullptr; }
    void AddBlock(uint32_t block, Timing &timing, const std::vector<Span> &spans);
    // All blocks have ended: tells the listeners.
    void Publish();

private:
    LaunchEstimate launch_;
    double bytesPerCycle_;  // of global memory, all cores together
    std::vector<double> coreEnds_;
    bool traces_;
};

// Listening: everything that was launched and has ended between Listen and Take.
SIM_API int Listen(bool trace);
SIM_API std::vector<LaunchEstimate> Take(int listener);

}  // namespace sim
