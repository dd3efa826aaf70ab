#include "tiling/platform/platform_ascendc.h"

#include "sim_runtime.h"

namespace platform_ascendc {
namespace {
PlatformAscendC *Instance() {
    if (simProfile() == nullptr) {
        return nullptr;  // as on a machine whose device CANN does not know
    }
    static PlatformAscendC platform;
    return &platform;
}
}  // namespace

PlatformAscendC *PlatformAscendCManager::GetInstance() { return Instance(); }
PlatformAscendC *PlatformAscendCManager::GetInstance(const char *) { return Instance(); }

uint32_t PlatformAscendC::GetCoreNum() const { return GetCoreNumAiv(); }
uint32_t PlatformAscendC::GetCoreNumAic() const {
    return static_cast<uint32_t>(simProfile()->aicCores);
}
uint32_t PlatformAscendC::GetCoreNumAiv() const {
    return static_cast<uint32_t>(simProfile()->aivCores);
}
uint32_t PlatformAscendC::GetCoreNumVector() const { return GetCoreNumAiv(); }

void PlatformAscendC::GetCoreMemSize(const CoreMemType &type, uint64_t &size) const {
    // No other memory of a core is simulated.
    size = type == CoreMemType::UB ? simProfile()->ubBytes : 0;
}

SocVersion PlatformAscendC::GetSocVersion() const {
    return simProfile()->npuArch == 3510 ? SocVersion::ASCEND950 : SocVersion::ASCEND910B;
}

uint32_t PlatformAscendC::GetLibApiWorkSpaceSize() const { return 16U << 20; }

}  // namespace platform_ascendc
