// Tiling data that the host left in global memory, read into a structure.
#pragma once

#include "sim/tensor.h"

namespace sim {

template <typename T>
T ReadTiling(const void *address, Loc loc = Loc::Here()) {
    ThisCore().Begin(Pipe::S, "GET_TILING_DATA", loc);
    ThisCore().TouchGm(address, sizeof(T), false);
    T out;
    std::memcpy(static_cast<void *>(&out), address, sizeof(out));
    return out;
}

}  // namespace sim

// The structure that GET_TILING_DATA reads in this scope.
#define REGISTER_TILING_DEFAULT(type) using SimDefaultTiling [[maybe_unused]] = type
#define GET_TILING_DATA_WITH_STRUCT(type, name, address) \
    const type name = ::sim::ReadTiling<type>(address)
#define GET_TILING_DATA(name, address) GET_TILING_DATA_WITH_STRUCT(SimDefaultTiling, name, address)
