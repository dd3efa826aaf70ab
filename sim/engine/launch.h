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
          profile_(profile),
          run_(run),
          closure_(closure),
          estimate_(kernel, blocks, profile) {}

    // Runs all blocks; throws Violation.
    void Run();
    // Ends the running block because of a signal; called by its handler.
    [[noreturn]] void Abandon(int signal);

    // For the cores. Whether one allocation holds all of [address, address + bytes).
    bool FindAllocation(const void *address, uint64_t bytes);
    // Fails if another block touched the bytes, one of the two writes, and no SyncAll lies between.
    void TouchGm(const Core &core, uint64_t begin, uint64_t end, bool write);
    // What the data caches of the other cores, and `core`'s own behind a DMA, hold of the bytes.
    void TouchCaches(const Core &core, uint64_t begin, uint64_t end, bool write);
    void SyncAll(Core &core, const char *api, Loc loc);
    void CrossSet(Core &core, int32_t id, const char *api, Loc loc);
    void CrossWait(Core &core, int32_t id, const char *api, Loc loc);
    void AwaitGm(const std::function<bool()> &ready, const char *api, Loc loc);
    void SignalGm();
    // The next kernel would find the counters of `core` as they are.
    void CrossFlagsAtExit(const Core &core) const;

    const KernelInfo kernel;
    const uint32_t blocks;

private:
    static void FiberMain(unsigned low, unsigned high);
    void Start(Fiber &fiber, char *stack);
    void Resume(Fiber &fiber);
    // Lets other blocks run; returns when `waitsFor` was cleared.
    void Block(const std::string &waitsFor);
    // Lets the blocks go on whose `waitsFor` begins so.
    void Wake(const std::string &prefix);

    const SimSocProfile &profile_;
    void (*run_)(void *);
    void *closure_;
    std::vector<Fiber> fibers_;
    Fiber *running_ = nullptr;
    ucontext_t scheduler_{};
    std::string failure_;
    // Who touched global memory since the last SyncAll.
    struct GmUse {
        static constexpr int64_t kNobody = -1;
        static constexpr int64_t kSeveral = -2;
        int64_t writer = kNobody;
        int64_t reader = kNobody;
        bool atomic = false;  // all writes so far
        Touch write;
        Touch read;
    };
    IntervalMap<GmUse> gm_;
    struct ScalarWrite {
        uint32_t block;
        Touch touch;
    };
    std::unordered_map<uint64_t, ScalarWrite> scalarLines_;  // by cache line, since then
    bool ordersByFlags_ = false;  // blocks order themselves in ways that are not followed
    uint32_t arrived_ = 0;        // at SyncAll
    double released_ = 0;         // the cycle of the last SyncAll or cross-core flag
    Estimate estimate_;
    std::vector<int> crossFlags_;     // by block and id
    std::vector<int> crossSets_;      // those that other blocks have not set yet
    std::vector<Loc> crossSetAt_;     // by id, the last one
    SimAllocation lastAllocation_{};  // nearly all accesses hit the one before
};

}  // namespace sim
