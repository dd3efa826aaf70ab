// What a kernel prints, and other helpers.
#pragma once

#include <cassert>
#include <cstdio>

#include "sim/arithmetic.h"
#include "sim/control.h"

namespace sim {

template <typename... Arguments>
void AssertFailed(const char *condition, Loc loc, const char *format = "", Arguments... arguments) {
    char message[256] = "";
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-security"
    std::snprintf(message, sizeof(message), format, arguments...);
#pragma GCC diagnostic pop
    if (currentCore == nullptr) {  // in a host function of the same source
        std::fprintf(stderr, "%s:%d: %s does not hold. %s\n", loc.file, loc.line, condition,
                     message);
        std::abort();
    }
    ThisCore().Fail(Check::Assert, "assert", loc, "%s does not hold%s%s", condition,
                    *message == 0 ? "" : ": ", message);
}

}  // namespace sim

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
    sim::ThisCore().KeepMask(~uint64_t{0}, ~uint64_t{0}, false);
#if __NPU_ARCH__ == 3510
    sim::ThisCore().SetControl(sim::kControlOfTPipe |
                               (sim::ThisCore().Control() & sim::kKeepsInfinity));
#endif
}

constexpr int64_t CeilDivision(int64_t a, int64_t b) { return b == 0 ? 0 : (a + b - 1) / b; }

}  // namespace AscendC

#define PRINTF(...) ::AscendC::printf(__VA_ARGS__)

// Ends the kernel if the condition does not hold; a message in the form of printf may follow.
#define ascendc_assert(condition, ...) \
    ((condition) ? void() : ::sim::AssertFailed(#condition, ::sim::Loc::Here(), ##__VA_ARGS__))
#undef assert
#define assert ascendc_assert

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
