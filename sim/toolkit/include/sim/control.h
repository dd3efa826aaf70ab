// CTRL, the register that says how results beyond a type's range come out.
#pragma once

#include "sim/core.h"

namespace sim {

constexpr uint64_t kKeepsInfinity = uint64_t{1} << 48;      // floats do not saturate
constexpr uint64_t kSaturatesIntegers = uint64_t{1} << 53;  // in arithmetic; dav-3510
// What TPipe and InitSocState set on dav-3510, beside bit 48: bit 60, casts follow CTRL and not
// their own mode.
constexpr uint64_t kControlOfTPipe = uint64_t{1} << 60 | 0x8;

constexpr uint64_t Bits(int first, int last) {
    return (last - first == 63 ? ~uint64_t{0} : (uint64_t{1} << (last - first + 1)) - 1) << first;
}

// The bits of CTRL that kernels may access.
#if __NPU_ARCH__ == 3510
constexpr uint64_t kControlBits =
    Bits(6, 10) | Bits(45, 45) | Bits(48, 48) | Bits(50, 50) | Bits(53, 53) | Bits(59, 60);
#else
constexpr uint64_t kControlBits = Bits(48, 48);
#endif

}  // namespace sim

namespace AscendC {

template <int8_t startBit, int8_t endBit>
void SetCtrlSpr(int64_t value) {
    static_assert(startBit <= endBit && startBit >= 0 && endBit < 64,
                  "SetCtrlSpr: the bits are startBit to endBit, lowest first");
    constexpr uint64_t bits = sim::Bits(startBit, endBit);
    static_assert((bits & ~sim::kControlBits) == 0,
                  "SetCtrlSpr: this architecture does not give access to these bits of CTRL");
    static_assert((bits & (sim::Bits(6, 10) | sim::Bits(45, 45))) == 0,
                  "SetCtrlSpr: only bits 48, 50, 53, 59 and 60 are simulated; for atomic copies "
                  "use SetAtomicAdd and its relatives");
    sim::Core &core = sim::ThisCore();
    core.SetControl((core.Control() & ~bits) | (static_cast<uint64_t>(value) << startBit & bits));
}
template <int8_t startBit, int8_t endBit>
int64_t GetCtrlSpr() {
    constexpr uint64_t bits = sim::Bits(startBit, endBit);
    static_assert((bits & ~sim::kControlBits) == 0,
                  "GetCtrlSpr: this architecture does not give access to these bits of CTRL");
    return static_cast<int64_t>((sim::ThisCore().Control() & bits) >> startBit);
}
#if __NPU_ARCH__ == 3510
template <int8_t startBit, int8_t endBit>
void ResetCtrlSpr() {
    constexpr uint64_t reset = uint64_t{1} << 60;
    SetCtrlSpr<startBit, endBit>(static_cast<int64_t>(reset >> startBit));
}
#endif

// Bits of CTRL by name; a set flag saturates.
#if __NPU_ARCH__ == 3510
enum class SaturationMode : uint8_t { FLOAT, FLOAT8, INT, CAST };
#else
enum class SaturationMode : uint8_t { FLOAT, CAST };
#endif
template <SaturationMode mode>
void SetSaturationFlag(bool saturate) {
#if __NPU_ARCH__ == 3510
    constexpr bool integers = mode == SaturationMode::INT;
    constexpr int bit = mode == SaturationMode::FLOAT    ? 48
                        : mode == SaturationMode::FLOAT8 ? 50
                        : integers                       ? 53
                                                         : 59;
#else
    constexpr bool integers = false;
    constexpr int bit = mode == SaturationMode::FLOAT ? 48 : 59;
#endif
    sim::Core &core = sim::ThisCore();
    const uint64_t set = saturate == integers ? uint64_t{1} << bit : 0;
    core.SetControl((core.Control() & ~(uint64_t{1} << bit)) | set);
}

}  // namespace AscendC
