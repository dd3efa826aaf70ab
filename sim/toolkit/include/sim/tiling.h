// Tiling data that the host left in global memory, read into a structure.
#pragma once

#include "sim/sync.h"
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
#define GET_TILING_DATA_MEMBER(type, member, name, address) \
    const auto name = ::sim::ReadTiling<type>(address).member
#define GET_TILING_DATA_PTR_WITH_STRUCT(type, name, address) \
    const __gm__ type *name = reinterpret_cast<const __gm__ type *>(address)
#define COPY_TILING_WITH_STRUCT(type, address, copy) *(copy) = ::sim::ReadTiling<type>(address)

// Which structure a tiling key has matters to the host that fills it.
#define REGISTER_TILING_FOR_TILINGKEY(expression, type) \
    static_assert(sizeof(type) != 0, "tiling data of some keys")
#define REGISTER_NONE_TILING static_assert(true, "no tiling data")

// A direct launch chooses a kernel, not a tiling key. Kernels that ask for one are built once for
// each key, with -DTILING_KEY_VAR=<key>.
#ifdef TILING_KEY_VAR
#define TILING_KEY_IS(key) ((TILING_KEY_VAR) == (key))
#define KERNEL_TASK_TYPE(key, type)                            \
    do {                                                       \
        if (TILING_KEY_IS(key)) {                              \
            ::AscendC::detail::SetKernelType(::AscendC::type); \
        }                                                      \
    } while (false)
#else
#define TILING_KEY_IS(key) ::sim::IsTilingKey(key)
#define KERNEL_TASK_TYPE(key, type) static_assert((key) >= 0, "the type for one tiling key")
namespace sim {
inline bool IsTilingKey(uint64_t key, Loc loc = Loc::Here()) {
    ThisCore().Fail(Check::Launch, "TILING_KEY_IS", loc,
                    "asks for tiling key %llu, but the launch has none: build the kernel with "
                    "-DTILING_KEY_VAR=<key>",
                    static_cast<unsigned long long>(key));
    return false;
}
}  // namespace sim
#endif
