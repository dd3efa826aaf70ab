// Blocks that wait for each other by words in global memory, which the host sets to 0 before.
#pragma once

#include "sim/vector.h"

namespace AscendC {

namespace detail {

// The word of one block (and event) in a workspace, of which each has 32 bytes.
inline volatile int32_t *HandshakeWord(const GlobalTensor<int32_t> &gm,
                                       const LocalTensor<int32_t> &ub, uint64_t index,
                                       const char *api, sim::Loc loc) {
    const uint64_t at = index * ONE_BLK_SIZE;
    sim::ThisCore().Begin(sim::Pipe::S, api, loc);
    sim::CheckRange(ub, 0, ONE_BLK_SIZE, true, api, loc);
    if (gm.GetSize() != 0 && at + ONE_BLK_SIZE > gm.GetSize() * sizeof(int32_t)) {
        sim::ThisCore().Fail(sim::Check::GmExtent, api, loc,
                             "the workspace has %llu bytes, needed are %llu",
                             static_cast<unsigned long long>(gm.GetSize() * sizeof(int32_t)),
                             static_cast<unsigned long long>(at + ONE_BLK_SIZE));
        throw sim::Violation{"outside of the workspace"};
    }
    return const_cast<int32_t *>(gm.GetPhyAddr()) + at / sizeof(int32_t);
}

inline uint64_t EventOf(int32_t block, int32_t event, const char *api, sim::Loc loc) {
    const sim::Core &core = sim::ThisCore();
    if (block < 0 || event < 0 || static_cast<uint32_t>(block) >= core.Blocks()) {
        core.Fail(sim::Check::EventPair, api, loc, "event %d of block %d of %u", event, block,
                  core.Blocks());
        throw sim::Violation{"no such block"};
    }
    return uint64_t{core.Blocks()} * static_cast<uint32_t>(event) + static_cast<uint32_t>(block);
}

}  // namespace detail

// IBSet waits until its last event was taken, and gives it; IBWait waits for it, and takes it.
template <bool isAIVOnly = true>
void IBSet(const GlobalTensor<int32_t> &gmWorkspace, const LocalTensor<int32_t> &ubWorkspace,
           int32_t blockIdx, int32_t eventID, sim::Loc loc = sim::Loc::Here()) {
    const uint64_t event = detail::EventOf(blockIdx, eventID, "IBSet", loc);
    auto *word = detail::HandshakeWord(gmWorkspace, ubWorkspace, event, "IBSet", loc);
    sim::ThisCore().AwaitGm([word] { return *word == 0; }, "IBSet", loc);
    *word = 1;
    sim::ThisCore().SignalGm();
}
template <bool isAIVOnly = true>
void IBWait(const GlobalTensor<int32_t> &gmWorkspace, const LocalTensor<int32_t> &ubWorkspace,
            int32_t blockIdx, int32_t eventID, sim::Loc loc = sim::Loc::Here()) {
    const uint64_t event = detail::EventOf(blockIdx, eventID, "IBWait", loc);
    auto *word = detail::HandshakeWord(gmWorkspace, ubWorkspace, event, "IBWait", loc);
    sim::ThisCore().AwaitGm([word] { return *word == 1; }, "IBWait", loc);
    *word = 0;
    sim::ThisCore().SignalGm();
}

// Blocks take turns, 0 first; the words count the turns of each.
inline void InitDetermineComputeWorkspace(GlobalTensor<int32_t> &gmWorkspace,
                                          LocalTensor<int32_t> &ubWorkspace,
                                          sim::Loc loc = sim::Loc::Here()) {
    constexpr const char *api = "InitDetermineComputeWorkspace";
    *detail::HandshakeWord(gmWorkspace, ubWorkspace, sim::ThisCore().Block(), api, loc) = 0;
}
inline void WaitPreBlock(GlobalTensor<int32_t> &gmWorkspace, LocalTensor<int32_t> &ubWorkspace,
                         sim::Loc loc = sim::Loc::Here()) {
    sim::Core &core = sim::ThisCore();
    const uint32_t block = core.Block();
    const uint32_t before = (block == 0 ? core.Blocks() : block) - 1;
    auto *own = detail::HandshakeWord(gmWorkspace, ubWorkspace, block, "WaitPreBlock", loc);
    auto *other = detail::HandshakeWord(gmWorkspace, ubWorkspace, before, "WaitPreBlock", loc);
    const int32_t ahead = block == 0 ? 0 : 1;
    core.AwaitGm([=] { return *other == *own + ahead; }, "WaitPreBlock", loc);
}
inline void NotifyNextBlock(GlobalTensor<int32_t> &gmWorkspace, LocalTensor<int32_t> &ubWorkspace,
                            sim::Loc loc = sim::Loc::Here()) {
    sim::Core &core = sim::ThisCore();
    auto *own =
        detail::HandshakeWord(gmWorkspace, ubWorkspace, core.Block(), "NotifyNextBlock", loc);
    *own = *own + 1;
    core.SignalGm();
}

// Between the operators of a super kernel, which no direct launch is: nothing to wait for.
inline void SetNextTaskStart() {}
inline void WaitPreTaskEnd() {}

// The scalar unit's accesses complete in order here.
enum class MemDsbT : uint8_t { ALL, DDR, UB, SEQ };
template <MemDsbT>
void DataSyncBarrier() {}

}  // namespace AscendC
