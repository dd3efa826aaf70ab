// Flags, barriers, block ids and other things of the scalar unit.
#pragma once

#include "sim/core.h"
#include "sim/tensor.h"

// Pipes and flags, in the compiler's own spelling.
enum pipe_t { PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_FIX, PIPE_ALL };
enum event_t {
    EVENT_ID0,
    EVENT_ID1,
    EVENT_ID2,
    EVENT_ID3,
    EVENT_ID4,
    EVENT_ID5,
    EVENT_ID6,
    EVENT_ID7
};

namespace sim {
constexpr Pipe ToPipe(pipe_t pipe) { return static_cast<Pipe>(pipe); }
}  // namespace sim

namespace AscendC {

using TEventID = int8_t;

// A_B: pipe A sets, pipe B waits.
enum class HardEvent : uint8_t {
    MTE2_V,
    V_MTE2,
    MTE3_V,
    V_MTE3,
    V_V,
    MTE3_MTE2,
    MTE2_MTE3,
    S_V,
    V_S,
    S_MTE2,
    MTE2_S,
    S_MTE3,
    MTE3_S
};

namespace detail {
struct EventPipes {
    sim::Pipe from;
    sim::Pipe to;
};
constexpr EventPipes PipesOf(HardEvent event) {
    using P = sim::Pipe;
    constexpr EventPipes pipes[] = {
        {P::MTE2, P::V},    {P::V, P::MTE2},    {P::MTE3, P::V}, {P::V, P::MTE3}, {P::V, P::V},
        {P::MTE3, P::MTE2}, {P::MTE2, P::MTE3}, {P::S, P::V},    {P::V, P::S},    {P::S, P::MTE2},
        {P::MTE2, P::S},    {P::S, P::MTE3},    {P::MTE3, P::S}};
    return pipes[static_cast<int>(event)];
}
}  // namespace detail

template <HardEvent event>
void SetFlag(int32_t id, sim::Loc loc = sim::Loc::Here()) {
    constexpr auto pipes = detail::PipesOf(event);
    sim::ThisCore().SetFlag(pipes.from, pipes.to, id, "SetFlag", loc);
}
template <HardEvent event>
void WaitFlag(int32_t id, sim::Loc loc = sim::Loc::Here()) {
    constexpr auto pipes = detail::PipesOf(event);
    sim::ThisCore().WaitFlag(pipes.from, pipes.to, id, "WaitFlag", loc);
}
template <pipe_t pipe>
void PipeBarrier() {
    static_assert(pipe != PIPE_S, "PipeBarrier<PIPE_S> does not exist: scalar code runs in order");
    sim::ThisCore().order.Barrier(sim::ToPipe(pipe));
}

inline int64_t GetBlockIdx() { return sim::ThisCore().Block(); }
inline int64_t GetBlockNum() { return sim::ThisCore().Blocks(); }
inline int64_t GetSubBlockIdx() { return 0; }
inline int64_t GetSubBlockNum() { return 1; }
inline int64_t GetTaskRatio() { return 1; }
inline int64_t GetTaskRation() { return 1; }

template <bool isAIVOnly = true>
void SyncAll(sim::Loc loc = sim::Loc::Here()) {
    if (!sim::ThisCore().mixed) {
        sim::ThisCore().Fail(sim::Check::Sync, "SyncAll", loc,
                             "needs KERNEL_TYPE_MIX_AIV_1_0 in an AIV kernel, or the form with a "
                             "workspace");
    }
    sim::ThisCore().SyncAll("SyncAll", loc);
}
template <bool isAIVOnly = true>
void SyncAll(const GlobalTensor<int32_t> &gmWorkspace, const LocalTensor<int32_t> &ubWorkspace,
             int32_t usedCores = 0, sim::Loc loc = sim::Loc::Here()) {
    // 32 bytes for each block, in both.
    const uint64_t bytes = uint64_t{sim::ThisCore().Blocks()} * ONE_BLK_SIZE;
    sim::ThisCore().Begin(sim::Pipe::MTE2, "SyncAll", loc);
    gmWorkspace.Check(0, bytes, false, "SyncAll", loc);
    if (ubWorkspace.GetLength() < bytes) {
        sim::ThisCore().Fail(sim::Check::Sync, "SyncAll", loc,
                             "the UB workspace has %u bytes, needed are %llu",
                             ubWorkspace.GetLength(), static_cast<unsigned long long>(bytes));
    }
    static_cast<void>(usedCores);
    sim::ThisCore().SyncAllBy(gmWorkspace.GetPhyAddr(), bytes, "SyncAll", loc);
}
template <uint8_t mode, pipe_t pipe>
void CrossCoreSetFlag(uint16_t id, sim::Loc loc = sim::Loc::Here()) {
    static_assert(mode == 0, "the simulated core has no cube unit: only mode 0, all vector cores");
    sim::ThisCore().CrossSet(sim::ToPipe(pipe), id, "CrossCoreSetFlag", loc);
}
template <uint8_t mode = 0, pipe_t pipe = PIPE_S>
void CrossCoreWaitFlag(uint16_t id, sim::Loc loc = sim::Loc::Here()) {
    sim::ThisCore().CrossWait(id, "CrossCoreWaitFlag", loc);
}

enum class CacheLine : uint8_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum class DcciDst : uint8_t { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
template <typename T, CacheLine line, DcciDst destination = DcciDst::CACHELINE_ALL>
void DataCacheCleanAndInvalid(const GlobalTensor<T> &tensor) {
    const bool all = line == CacheLine::ENTIRE_DATA_CACHE;
    sim::ThisCore().CleanCache(all ? nullptr : tensor.GetPhyAddr());
}

enum KernelMetaType : uint8_t {
    KERNEL_TYPE_AIV_ONLY,
    KERNEL_TYPE_AIC_ONLY,
    KERNEL_TYPE_MIX_AIV_1_0,
    KERNEL_TYPE_MIX_AIC_1_0,
    KERNEL_TYPE_MIX_AIC_1_1,
    KERNEL_TYPE_MIX_AIC_1_2
};
namespace detail {
inline void SetKernelType(KernelMetaType type, sim::Loc loc = sim::Loc::Here()) {
    if (type != KERNEL_TYPE_AIV_ONLY && type != KERNEL_TYPE_MIX_AIV_1_0) {
        sim::ThisCore().Fail(sim::Check::Launch, "KERNEL_TASK_TYPE_DEFAULT", loc,
                             "the simulated device has no cube unit: AIV_ONLY or MIX_AIV_1_0");
    }
    sim::ThisCore().mixed = type == KERNEL_TYPE_MIX_AIV_1_0;
}
}  // namespace detail

}  // namespace AscendC

// Every simulated core is a vector core.
#define ASCEND_IS_AIV constexpr(true)
#define ASCEND_IS_AIC constexpr(false)
#define KERNEL_TASK_TYPE_DEFAULT(type) ::AscendC::detail::SetKernelType(::AscendC::type)

inline void set_flag(pipe_t from, pipe_t to, int32_t id, sim::Loc loc = sim::Loc::Here()) {
    sim::ThisCore().SetFlag(sim::ToPipe(from), sim::ToPipe(to), id, "set_flag", loc);
}
inline void wait_flag(pipe_t from, pipe_t to, int32_t id, sim::Loc loc = sim::Loc::Here()) {
    sim::ThisCore().WaitFlag(sim::ToPipe(from), sim::ToPipe(to), id, "wait_flag", loc);
}
inline void pipe_barrier(pipe_t pipe) { sim::ThisCore().order.Barrier(sim::ToPipe(pipe)); }
inline int64_t get_block_idx() { return AscendC::GetBlockIdx(); }
inline int64_t get_subblockid() { return AscendC::GetSubBlockIdx(); }
inline int64_t get_block_num() { return AscendC::GetBlockNum(); }
