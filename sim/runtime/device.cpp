#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include "state.h"

namespace sim {
namespace {

constexpr int64_t kL2Bytes = 192LL << 20;

struct SocRow {
    std::string name;
    SimSocProfile profile;
};

const std::vector<SocRow> &SocTable() {
    static const auto *table = new std::vector<SocRow>{
#define SIM_SOC(name, arch, aic, aiv, ub, hbmGiB, clock) \
    {name, {nullptr, arch, aic, aiv, ub, uint64_t{hbmGiB} << 30, clock}},
#include "sim_soc_table.inc"
#undef SIM_SOC
    };
    return *table;
}

bool Matches(const std::string &row, const std::string &name) {
    const bool prefix = row.back() == '*';
    const size_t length = prefix ? row.size() - 1 : row.size();
    return (prefix ? name.size() > length : name.size() == length) &&
           std::equal(
               row.begin(), row.begin() + static_cast<std::ptrdiff_t>(length), name.begin(),
               [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
}

struct Simulated {
    std::string name;
    SimSocProfile profile{};
    int32_t devices = 1;
    std::string error;
};

// A number from the environment, or -1 with a reason in `error`.
int64_t ReadNumber(const char *name, int64_t low, int64_t high, std::string &error) {
    char *end = nullptr;
    const char *text = std::getenv(name);
    const int64_t value = std::strtoll(text, &end, 10);
    if (end == text || *end != '\0' || value < low || value > high) {
        error = std::string(name) + "=" + text + " is not allowed: a number from " +
                std::to_string(low) + " to " + std::to_string(high);
        return -1;
    }
    return value;
}

Simulated ReadProfile() {
    Simulated out;
    const char *asked = std::getenv("AMCT_SIM_SOC");
    out.name = asked != nullptr && *asked != '\0' ? asked : AMCT_SIM_DEFAULT_SOC;
    std::string known;
    for (const SocRow &row : SocTable()) {
        known += (known.empty() ? "" : ", ") + row.name;
        if (Matches(row.name, out.name)) {
            out.profile = row.profile;
            if (row.name.back() != '*') {
                out.name = row.name;  // in its own spelling
            }
        }
    }
    if (out.profile.npuArch == 0) {
        out.error = "AMCT_SIM_SOC=" + out.name + " is not known. Allowed: " + known;
        return out;
    }
    if (std::getenv("AMCT_SIM_UB_BYTES") != nullptr) {
        out.profile.ubBytes =
            static_cast<uint64_t>(ReadNumber("AMCT_SIM_UB_BYTES", 98304, 524288, out.error));
    }
    if (std::getenv("AMCT_SIM_DEVICES") != nullptr) {
        out.devices = static_cast<int32_t>(ReadNumber("AMCT_SIM_DEVICES", 0, 64, out.error));
    }
    return out;
}

const Simulated &TheSoc() {
    static const Simulated *const soc = [] {
        auto *made = new Simulated(ReadProfile());
        made->profile.name = made->name.c_str();
        return made;
    }();
    return *soc;
}

std::atomic<bool> initialised{false};
thread_local int32_t currentDevice = -1;
std::atomic<uint64_t> activeDevices{0};

struct Context {
    int32_t device;
};
Context *ContextOf(int32_t device) {
    static auto *contexts = new std::map<int32_t, Context *>;
    static auto *mutex = new std::mutex;
    const std::lock_guard<std::mutex> lock(*mutex);
    Context *&context = (*contexts)[device];
    if (context == nullptr) {
        context = new Context{device};
    }
    return context;
}

// torch's operators on the device come from a library of their own, which a program without torch
// can do without.
aclError LoadAten() {
    if (dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD) == nullptr) {
        return ACL_SUCCESS;
    }
    Dl_info self{};
    dladdr(reinterpret_cast<const void *>(&simProfile), &self);
    const std::string here = self.dli_fname;
    const std::string path = here.substr(0, here.rfind('/') + 1) + "libsim_aten.so";
    if (dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
        return Fail(
            ACL_ERROR_INTERNAL_ERROR,
            "torch's operators cannot be simulated, this torch is not the one that the wheel "
            "was built for: %s",
            dlerror());
    }
    return ACL_SUCCESS;
}

aclError CheckDevice(int32_t device) {
    if (device < 0 || device >= DeviceCount()) {
        return Fail(ACL_ERROR_RT_INVALID_DEVICEID, "device %d does not exist, there are %d", device,
                    DeviceCount());
    }
    return ACL_SUCCESS;
}

// The settings that CANN keeps for the process; nothing simulated depends on them.
std::map<int, int64_t> &SystemParameters() {
    static auto *parameters = new std::map<int, int64_t>;
    return *parameters;
}
std::mutex &SystemParametersMutex() {
    static auto *mutex = new std::mutex;
    return *mutex;
}

}  // namespace

int32_t CurrentDevice() { return currentDevice; }

int32_t DeviceCount() {
    static const int32_t count = [] {
        // With a wrong number there is one, whose first use tells.
        int32_t devices = TheSoc().error.empty() ? TheSoc().devices : 1;
        if (const char *visible = std::getenv("ASCEND_RT_VISIBLE_DEVICES")) {
            const auto listed =
                *visible == '\0' ? 0 : 1 + std::count(visible, visible + std::strlen(visible), ',');
            devices = std::min(devices, static_cast<int32_t>(listed));
        }
        return devices;
    }();
    return count;
}

}  // namespace sim

using sim::CheckDevice;
using sim::Fail;
using sim::TheSoc;

extern "C" {

const SimSocProfile *simProfile() { return TheSoc().error.empty() ? &TheSoc().profile : nullptr; }
const char *simProfileError() { return TheSoc().error.c_str(); }

aclError aclInit(const char *) {
    if (simProfile() == nullptr) {
        return Fail(ACL_ERROR_INTERNAL_ERROR, "%s", simProfileError());
    }
    const bool repeated = sim::initialised.exchange(true);
    // The second call may be torch_npu's, the first that of a program that had no torch then.
    const aclError error = sim::LoadAten();
    return error == ACL_SUCCESS && repeated ? ACL_ERROR_REPEAT_INITIALIZE : error;
}

aclError aclFinalize() {
    return sim::initialised.exchange(false)
               ? ACL_SUCCESS
               : Fail(ACL_ERROR_UNINITIALIZE, "aclFinalize: aclInit comes first");
}

// "Unknown" is what an installation without version files answers.
aclError aclsysGetCANNVersion(aclCANNPackageName, aclCANNPackageVersion *) {
    return ACL_ERROR_INTERNAL_ERROR;
}
aclError aclsysGetVersionStr(char *, char *) { return ACL_ERROR_INTERNAL_ERROR; }

// The program is on the host's side of the bus.
aclError aclrtGetRunMode(aclrtRunMode *mode) {
    if (mode == nullptr) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetRunMode: null pointer");
    }
    *mode = ACL_HOST;
    return ACL_SUCCESS;
}

aclError aclrtGetDeviceCount(uint32_t *count) {
    if (count == nullptr) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceCount: count is null");
    }
    *count = static_cast<uint32_t>(sim::DeviceCount());
    return ACL_SUCCESS;
}

aclError aclrtSetDevice(int32_t device) {
    if (simProfile() == nullptr) {
        return Fail(ACL_ERROR_INTERNAL_ERROR, "%s", simProfileError());
    }
    if (const aclError error = CheckDevice(device)) {
        return error;
    }
    sim::currentDevice = device;
    sim::activeDevices |= uint64_t{1} << device;
    return ACL_SUCCESS;
}

aclError aclrtGetDevice(int32_t *device) {
    if (device == nullptr) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDevice: null pointer");
    }
    if (sim::currentDevice < 0) {
        return Fail(ACL_ERROR_RT_CONTEXT_NULL,
                    "the thread has no device: aclrtSetDevice comes first");
    }
    *device = sim::currentDevice;
    return ACL_SUCCESS;
}

aclError aclrtResetDevice(int32_t device) {
    if (const aclError error = CheckDevice(device)) {
        return error;
    }
    sim::activeDevices &= ~(uint64_t{1} << device);
    return ACL_SUCCESS;
}

aclError aclrtGetCurrentContext(aclrtContext *context) {
    if (context == nullptr) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetCurrentContext: null pointer");
    }
    if (sim::currentDevice < 0) {
        return Fail(ACL_ERROR_RT_CONTEXT_NULL, "the thread has no context");
    }
    *context = sim::ContextOf(sim::currentDevice);
    return ACL_SUCCESS;
}

// A device has one context, which everybody who creates one shares.
aclError aclrtCreateContext(aclrtContext *context, int32_t device) {
    const aclError error = context == nullptr
                               ? Fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateContext: null pointer")
                               : aclrtSetDevice(device);
    return error != ACL_SUCCESS ? error : aclrtGetCurrentContext(context);
}
aclError aclrtDestroyContext(aclrtContext context) {
    return context == nullptr
               ? Fail(ACL_ERROR_INVALID_PARAM, "aclrtDestroyContext: context is null")
               : ACL_SUCCESS;
}

aclError aclrtSetCurrentContext(aclrtContext context) {
    if (context == nullptr) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtSetCurrentContext: context is null");
    }
    sim::currentDevice = static_cast<sim::Context *>(context)->device;
    return ACL_SUCCESS;
}

aclError aclrtGetPrimaryCtxState(int32_t device, uint32_t *flags, int32_t *active) {
    if (const aclError error = CheckDevice(device)) {
        return error;
    }
    if (flags != nullptr) {
        *flags = 0;
    }
    *active = static_cast<int32_t>(sim::activeDevices >> device & 1);
    return ACL_SUCCESS;
}

const char *aclrtGetSocName() { return simProfile() == nullptr ? nullptr : TheSoc().name.c_str(); }

aclError aclGetDeviceCapability(uint32_t device, aclDeviceInfo info, int64_t *value) {
    if (const aclError error = CheckDevice(static_cast<int32_t>(device))) {
        return error;
    }
    if (value == nullptr) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclGetDeviceCapability: null pointer");
    }
    const SimSocProfile &profile = TheSoc().profile;
    switch (info) {
        case ACL_DEVICE_INFO_AI_CORE_NUM:
            *value = profile.aicCores;
            break;
        case ACL_DEVICE_INFO_VECTOR_CORE_NUM:
            *value = profile.aivCores;
            break;
        case ACL_DEVICE_INFO_L2_SIZE:
            *value = sim::kL2Bytes;
            break;
        default:
            return Fail(ACL_ERROR_INVALID_PARAM, "aclGetDeviceCapability: no value %d", info);
    }
    return ACL_SUCCESS;
}

aclError aclrtGetDeviceInfo(uint32_t device, aclrtDevAttr attribute, int64_t *value) {
    if (const aclError error = CheckDevice(static_cast<int32_t>(device))) {
        return error;
    }
    if (value == nullptr) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceInfo: null pointer");
    }
    const SimSocProfile &profile = TheSoc().profile;
    switch (static_cast<int>(attribute)) {
        case ACL_DEV_ATTR_AICORE_CORE_NUM:
        case ACL_DEV_ATTR_CUBE_CORE_NUM:
            *value = profile.aicCores;
            break;
        case ACL_DEV_ATTR_VECTOR_CORE_NUM:
            *value = profile.aivCores;
            break;
        case ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE:
            *value = static_cast<int64_t>(profile.ubBytes);
            break;
        case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE:
            *value = static_cast<int64_t>(profile.hbmBytes);
            break;
        case ACL_DEV_ATTR_L2_CACHE_SIZE:
            *value = sim::kL2Bytes;
            break;
        case ACL_DEV_ATTR_NPU_ARCH:
            *value = profile.npuArch;
            break;
        case ACL_DEV_ATTR_PHY_CHIP_ID:
            *value = device;
            break;
        case ACL_DEV_ATTR_IS_VIRTUAL:
            *value = 0;
            break;
        default:
            return Fail(ACL_ERROR_API_NOT_SUPPORT,
                        "aclrtGetDeviceInfo: attribute %d is not simulated",
                        static_cast<int>(attribute));
    }
    return ACL_SUCCESS;
}

aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t *value) {
    const SimSocProfile &profile = TheSoc().profile;
    *value = static_cast<uint32_t>(type == ACL_RT_DEV_RES_CUBE_CORE ? profile.aicCores
                                                                    : profile.aivCores);
    return ACL_SUCCESS;
}
aclError aclrtGetDeviceResLimit(int32_t, aclrtDevResLimitType type, uint32_t *value) {
    return aclrtGetResInCurrentThread(type, value);
}
aclError aclrtGetStreamResLimit(aclrtStream, aclrtDevResLimitType type, uint32_t *value) {
    return aclrtGetResInCurrentThread(type, value);
}

aclError aclrtDeviceGetUuid(int32_t device, aclrtUuid *uuid) {
    if (const aclError error = CheckDevice(device)) {
        return error;
    }
    std::memset(uuid->bytes, 0, sizeof(uuid->bytes));
    std::memcpy(uuid->bytes, "amct-sim", 8);
    uuid->bytes[15] = static_cast<char>(device);
    return ACL_SUCCESS;
}

aclError aclrtGetDeviceUtilizationRate(int32_t device, aclrtUtilizationInfo *) {
    const aclError error = CheckDevice(device);
    return error != ACL_SUCCESS ? error : sim::Refuse("aclrtGetDeviceUtilizationRate");
}

aclError aclrtGetLogicDevIdByUserDevId(const int32_t user, int32_t *const logic) {
    *logic = user;
    return CheckDevice(user);
}

aclError aclrtDeviceGetBareTgid(int32_t *pid) {
    *pid = getpid();
    return ACL_SUCCESS;
}

// Devices of one process lie in one memory.
aclError aclrtDeviceCanAccessPeer(int32_t *can, int32_t, int32_t) {
    *can = 1;
    return ACL_SUCCESS;
}
aclError aclrtDeviceEnablePeerAccess(int32_t peer, uint32_t) { return CheckDevice(peer); }

// Inf and NaN stay what they are: the only mode that is simulated.
aclError aclGetCannAttribute(aclCannAttr attribute, int32_t *value) {
    *value = attribute == ACL_CANN_ATTR_INF_NAN || attribute == ACL_CANN_ATTR_BF16 ? 1 : 0;
    return ACL_SUCCESS;
}
aclError aclGetCannAttributeList(const aclCannAttr **list, size_t *count) {
    static const aclCannAttr known[] = {ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16};
    *list = known;
    *count = sizeof(known) / sizeof(*known);
    return ACL_SUCCESS;
}
aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode) {
    return mode == ACL_RT_OVERFLOW_MODE_SATURATION
               ? sim::Refuse("aclrtSetDeviceSatMode(saturation)")
               : ACL_SUCCESS;
}

aclError aclrtSetSysParamOpt(aclSysParamOpt option, int64_t value) {
    const std::lock_guard<std::mutex> lock(sim::SystemParametersMutex());
    sim::SystemParameters()[option] = value;
    return ACL_SUCCESS;
}
aclError aclrtGetSysParamOpt(aclSysParamOpt option, int64_t *value) {
    const std::lock_guard<std::mutex> lock(sim::SystemParametersMutex());
    *value = sim::SystemParameters()[option];
    return ACL_SUCCESS;
}
aclError aclrtCtxSetSysParamOpt(aclSysParamOpt option, int64_t value) {
    return aclrtSetSysParamOpt(option, value);
}
aclError aclrtCtxGetSysParamOpt(aclSysParamOpt option, int64_t *value) {
    return aclrtGetSysParamOpt(option, value);
}
// Time limits of hardware that hangs; options of a compiler that is not there.
aclError aclrtSetOpExecuteTimeOut(uint32_t) { return ACL_SUCCESS; }
aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t *actual) {
    if (actual != nullptr) {
        *actual = timeout;
    }
    return ACL_SUCCESS;
}
aclError aclrtSetOpWaitTimeout(uint32_t) { return ACL_SUCCESS; }
aclError aclSetCompileopt(aclCompileOpt, const char *) { return ACL_SUCCESS; }
}
