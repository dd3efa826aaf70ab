// One launch: its blocks run as fibers on the stream's thread, in a fixed order.
#pragma once

#include <ucontext.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "estimate.h"
#include "sim/core.h"
#include "sim_runtime.h"

namespace sim {

struct Fiber {
    ucontext_t context;
    std::unique_ptr<Core> core;
    bool done = false;
    std::string waitsFor;  // what a blocked fiber waits for; empty = can run
    std::vector<Span> spans;
};

struct Grid {
    Grid(const KernelInfo &kernel, uint32_t blocks, const SimSocProfile &profile,
         void (*run)(void *), void *closure)
        : kernel(kernel),
          blocks(blocks),
          profile(profile),
          run_(run),
          closure_(closure),
          estimate_(kernel, blocks, profile) {}

    // Runs all blocks; throws Violation.
    void Run();
    // Ends the running block because of a signal; called by its handler.
    [[noreturn]] void Abandon(int signal);

    // For the cores. Whether one allocation holds all of [address, address + bytes).
    bool FindAllocation(const void *address, uint64_t bytes);
    // Fails if another block touched the bytes, one of the two writes, and nothing orders the two.
    void TouchGm(const Core &core, uint64_t begin, uint64_t end, bool write);
    // What the data caches of the other cores, and `core`'s own behind a DMA, hold of the bytes.
    void TouchCaches(const Core &core, uint64_t begin, uint64_t end, bool write);
    void SyncAll(Core &core, const char *api, Loc loc);
    void CrossSet(Core &core, Pipe pipe, int32_t id, const char *api, Loc loc);
    void CrossWait(Core &core, int32_t id, const char *api, Loc loc);
    void AwaitGm(Core &core, const std::function<bool()> &ready, const char *api, Loc loc);
    void SignalGm(Core &core);
    // The next kernel would find the counters of `core` as they are.
    void CrossFlagsAtExit(const Core &core) const;

    const KernelInfo kernel;
    const uint32_t blocks;
    const SimSocProfile &profile;

private:
    static void FiberMain(unsigned low, unsigned high);
    void Start(Fiber &fiber, char *stack);
    void Resume(Fiber &fiber);
    // Lets other blocks run; returns when `waitsFor` was cleared.
    void Block(const std::string &waitsFor);
    // Lets the blocks go on whose `waitsFor` begins so.
    void Wake(const std::string &prefix);
    // Fails if not all blocks run at the same time, since they wait for each other.
    void CheckAllRun(const Core &core, const char *api, Loc loc) const;

    void (*run_)(void *);
    void *closure_;
    std::vector<Fiber> fibers_;
    Fiber *running_ = nullptr;
    ucontext_t scheduler_{};
    std::string failure_;
    // Who touched global memory since the last SyncAll.
    struct BlockTouch {
        uint32_t block = 0;
        Touch touch;  // number 0 = none
    };
    struct GmUse {
        // Of two different blocks, the last one first.
        BlockTouch writes[2];
        BlockTouch reads[2];
        bool atomic = true;  // all writes so far
    };
    IntervalMap<GmUse> gm_;
    std::unordered_map<uint64_t, BlockTouch> scalarLines_;  // by cache line, since then
    // Which instructions of each block one of them knows to be complete.
    using Known = std::vector<Clock>;
    std::vector<Known> known_;      // by block; without an entry, it knows nothing of the others
    std::vector<Known> flagKnown_;  // by flag id, who waits for it learns that
    Known wordKnown_;               // and who waits for a word of global memory, that
    // What `core` tells the others, by an instruction of `pipe`.
    void Tell(Core &core, Pipe pipe, Known &told) const;
    void Learn(Core &core, const Known &told);
    // Whether an access by another block is complete before what `core` does now.
    bool Ordered(const Core &core, const BlockTouch &other) const;
    uint32_t arrived_ = 0;  // at SyncAll
    double released_ = 0;   // the cycle of the last SyncAll
    Estimate estimate_;
    std::vector<int> crossFlags_;     // by block and id
    std::vector<int> crossSets_;      // those that other blocks have not set yet
    std::vector<Loc> crossSetAt_;     // by id, the last one
    SimAllocation lastAllocation_{};  // nearly all accesses hit the one before
};

}  // namespace sim
