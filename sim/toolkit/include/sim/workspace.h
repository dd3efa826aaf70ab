// Global memory that comes with a launch, and filling it.
#pragma once

#include <algorithm>

#include "sim/arithmetic.h"

namespace AscendC {

// At its start lies what the toolkit itself uses.
constexpr uint64_t RESERVED_WORKSPACE = 16 * 1024 * 1024;

inline void SetSysWorkspace(GM_ADDR workspace) { sim::ThisCore().special.workspace = workspace; }
inline void SetSysWorkspaceForce(GM_ADDR workspace) { SetSysWorkspace(workspace); }
inline __gm__ uint8_t *GetSysWorkSpacePtr() {
    return static_cast<uint8_t *>(sim::ThisCore().special.workspace);
}
// The user's part of what SetSysWorkspace was given. The device does not look at the argument.
inline __gm__ uint8_t *GetUserWorkspace(GM_ADDR workspace, sim::Loc loc = sim::Loc::Here()) {
    __gm__ uint8_t *system = GetSysWorkSpacePtr();
    if (system == nullptr) {
        sim::ThisCore().Fail(sim::Check::Launch, "GetUserWorkspace", loc,
                             "no workspace is set: SetSysWorkspace(workspace) first; the user's "
                             "part begins 16 MB behind it");
        return workspace;
    }
    return system + RESERVED_WORKSPACE;
}

// Fills the first elements of a tensor; by DMA, so that what reads them must wait for MTE3.
template <typename T>
void Fill(GlobalTensor<T> &tensor, uint64_t elements, T value, sim::Loc loc = sim::Loc::Here()) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Fill: 16- and 32-bit types");
    if (elements != 0) {
        sim::ThisCore().Begin(sim::Pipe::MTE3, "Fill", loc);
        tensor.Check(0, elements * sizeof(T), true, "Fill", loc);
        std::fill_n(tensor.GetPhyAddr(0), elements, value);
    }
}
// The older names.
template <typename T>
void InitGlobalMemory(GlobalTensor<T> &tensor, uint64_t elements, T value,
                      sim::Loc loc = sim::Loc::Here()) {
    Fill(tensor, elements, value, loc);
}
template <typename T>
void InitOutput(GlobalTensor<T> tensor, uint32_t elements, T value = 0,
                sim::Loc loc = sim::Loc::Here()) {
    Fill(tensor, elements, value, loc);
}

}  // namespace AscendC
