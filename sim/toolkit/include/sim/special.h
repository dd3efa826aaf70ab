// Registers that instructions leave results in, or take parameters from.
#pragma once

#include "sim/types.h"

namespace sim {

struct SpecialRegisters {
    uint64_t compare[2] = {};   // CMPMASK
    uint64_t gathered = 0;      // elements that the last GatherMask kept
    float sum = 0.0F;           // of the last WholeReduceSum, over all repeats
    float extreme = 0.0F;       // of the last WholeReduceMax or WholeReduceMin ...
    uint32_t extremeIndex = 0;  // ... and where in all repeats it was
    half deqHalf = 1.0F;        // SetDeqScale: for int32_t to half,
    uint64_t deqWord = 0;       // for CastDeq,
    uint32_t deqTable = 0;      // or the UB address of sixteen such words
    void *workspace = nullptr;  // SetSysWorkspace
};

}  // namespace sim
