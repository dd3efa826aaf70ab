// What a kernel prints, and other helpers.
#pragma once

#include <cstdio>

#include "sim/arithmetic.h"

namespace AscendC {

namespace detail {
template <typename T>
auto Printable(T value) {
    if constexpr (sim::kOneOf<T, half, bfloat16_t>) {
        return static_cast<double>(static_cast<float>(value));
    } else {
        return value;
    }
}
}  // namespace detail

// Prints from the kernel, to the standard output of the process.
template <typename... Arguments>
void printf(const char *format, Arguments... arguments) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-security"
    std::fprintf(stdout, format, detail::Printable(arguments)...);
#pragma GCC diagnostic pop
    std::fflush(stdout);
}

// Prints the first `count` elements of a tensor.
template <typename T>
void DumpTensor(const LocalTensor<T> &tensor, uint32_t number, uint32_t count,
                sim::Loc loc = sim::Loc::Here()) {
    sim::ThisCore().Begin(sim::Pipe::S, "DumpTensor", loc);
    sim::CheckRange(tensor, 0, uint64_t{count} * sizeof(T), false, "DumpTensor", loc);
    std::fprintf(stdout, "DumpTensor %u, block %u, UB address %u, %u elements:", number,
                 sim::ThisCore().Block(), tensor.Address(), count);
    for (uint32_t i = 0; i < count; ++i) {
        std::fprintf(stdout, " %g", static_cast<double>(tensor.Data()[i]));
    }
    std::fprintf(stdout, "\n");
    std::fflush(stdout);
}

// The state that a kernel without TPipe needs: no atomics, all lanes.
inline void InitSocState() {
    sim::ThisCore().atomic = sim::Core::Atomic::None;
    sim::ThisCore().counterMode = false;
    sim::ThisCore().mask[0] = sim::ThisCore().mask[1] = ~uint64_t{0};
}

constexpr int64_t CeilDivision(int64_t a, int64_t b) { return b == 0 ? 0 : (a + b - 1) / b; }

}  // namespace AscendC

#define PRINTF(...) ::AscendC::printf(__VA_ARGS__)

// Checks of the kernel's own. The device has them in debug builds only.
#define ASSERT(condition) ascendc_assert(condition)
#define ASSERT_MSG(condition, ...) ascendc_assert(condition)
#define ASCENDC_ASSERT(condition, behaviour) \
    do {                                     \
        if (!(condition)) {                  \
            behaviour;                       \
        }                                    \
        ascendc_assert(condition);           \
    } while (false)
#define KERNEL_LOG(level, ...) ::AscendC::printf(__VA_ARGS__)
