// Registers that instructions leave results in, or take parameters from.
#pragma once

#include <cstdint>

namespace sim {

struct SpecialRegisters {
    uint64_t compare[2] = {};   // CMPMASK
    uint64_t gathered = 0;      // elements that the last GatherMask kept
    float sum = 0.0F;           // of the last WholeReduceSum, over all repeats
    float extreme = 0.0F;       // of the last WholeReduceMax or WholeReduceMin ...
    uint32_t extremeIndex = 0;  // ... and where in all repeats it was
    float deqScale = 1.0F;      // SetDeqScale
    int16_t deqOffset = 0;
    bool deqSigned = false;
    void *workspace = nullptr;  // SetSysWorkspace
};

}  // namespace sim
