// What the host may ask about the device.
#pragma once

#include <cstdint>

namespace platform_ascendc {

enum class CoreMemType : uint8_t { L0_A, L0_B, L0_C, L1, L2, UB, HBM, FB, BT, RESERVED };
enum class SocVersion : uint8_t {
    ASCEND910,
    ASCEND910B,
    ASCEND310P,
    ASCEND310B,
    ASCEND950,
    RESERVED
};

class __attribute__((visibility("default"))) PlatformAscendC {
public:
    uint32_t GetCoreNum() const;
    uint32_t GetCoreNumAic() const;
    uint32_t GetCoreNumAiv() const;
    uint32_t GetCoreNumVector() const;
    void GetCoreMemSize(const CoreMemType &type, uint64_t &size) const;
    SocVersion GetSocVersion() const;
    uint32_t GetLibApiWorkSpaceSize() const;
};

class __attribute__((visibility("default"))) PlatformAscendCManager {
public:
    // nullptr where the device is not known.
    static PlatformAscendC *GetInstance();
    static PlatformAscendC *GetInstance(const char *socVersion);
};

}  // namespace platform_ascendc
