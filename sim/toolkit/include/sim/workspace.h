// Global memory that comes with a launch.
#pragma once

#include "sim/tensor.h"

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

}  // namespace AscendC
