// Functions that torch_npu must find to be loaded, but whose work is not simulated. Each one says
// so by name; descriptions of operators exist, since they are made before an operator is refused.
#include <chrono>
#include <string>
#include <vector>

#include "state.h"

struct aclTensorDesc {
    aclDataType type;
    aclFormat format;
    std::vector<int64_t> dims;
    std::string name;
};
struct aclDataBuffer {
    void *data;
    size_t size;
};
struct aclopAttr {};

extern "C" {

#define SIM_REFUSE(name, ...) \
    aclError name(__VA_ARGS__) { return sim::Refuse(#name); }

SIM_REFUSE(aclmdlInitDump)
SIM_REFUSE(aclmdlSetDump, const char *)
SIM_REFUSE(aclmdlFinalizeDump)
SIM_REFUSE(aclrtBinaryLoadFromData, const void *, size_t, const aclrtBinaryLoadOptions *,
           aclrtBinHandle *)
SIM_REFUSE(aclrtBinaryGetFunction, const aclrtBinHandle, const char *, aclrtFuncHandle *)
SIM_REFUSE(aclrtGetFunctionAddr, aclrtFuncHandle, void **, void **)
SIM_REFUSE(aclrtGetHardwareSyncAddr, void **)
SIM_REFUSE(aclrtDeviceTaskAbort, int32_t, uint32_t)
SIM_REFUSE(aclrtSetStreamAttribute, aclrtStream, aclrtStreamAttr, aclrtStreamAttrValue *)
SIM_REFUSE(aclrtReserveMemAddress, void **, size_t, size_t, void *, uint64_t)
SIM_REFUSE(aclrtReleaseMemAddress, void *)
SIM_REFUSE(aclrtMallocPhysical, aclrtDrvMemHandle *, size_t, const aclrtPhysicalMemProp *, uint64_t)
SIM_REFUSE(aclrtFreePhysical, aclrtDrvMemHandle)
SIM_REFUSE(aclrtMapMem, void *, size_t, size_t, aclrtDrvMemHandle, uint64_t)
SIM_REFUSE(aclrtUnmapMem, void *)
SIM_REFUSE(aclrtMemExportToShareableHandle, aclrtDrvMemHandle, aclrtMemHandleType, uint64_t,
           uint64_t *)
SIM_REFUSE(aclrtMemImportFromShareableHandle, uint64_t, int32_t, aclrtDrvMemHandle *)
SIM_REFUSE(aclrtMemSetPidToShareableHandle, uint64_t, int32_t *, size_t)

aclTensorDesc *aclCreateTensorDesc(aclDataType type, int count, const int64_t *dims,
                                   aclFormat format) {
    return new aclTensorDesc{type, format, {dims, dims + count}, {}};
}
void aclDestroyTensorDesc(const aclTensorDesc *desc) { delete desc; }
aclDataType aclGetTensorDescType(const aclTensorDesc *desc) { return desc->type; }
aclFormat aclGetTensorDescFormat(const aclTensorDesc *desc) { return desc->format; }
size_t aclGetTensorDescNumDims(const aclTensorDesc *desc) { return desc->dims.size(); }
aclError aclGetTensorDescDimV2(const aclTensorDesc *desc, size_t index, int64_t *size) {
    if (index >= desc->dims.size()) {
        return sim::Fail(ACL_ERROR_INVALID_PARAM, "dimension %zu of %zu", index, desc->dims.size());
    }
    *size = desc->dims[index];
    return ACL_SUCCESS;
}
void aclSetTensorDescName(aclTensorDesc *desc, const char *name) { desc->name = name; }
aclError aclSetTensorFormat(aclTensorDesc *desc, aclFormat format) {
    desc->format = format;
    return ACL_SUCCESS;
}
aclError aclSetTensorShape(aclTensorDesc *desc, int count, const int64_t *dims) {
    desc->dims.assign(dims, dims + count);
    return ACL_SUCCESS;
}
aclError aclSetTensorPlaceMent(aclTensorDesc *, aclMemType) { return ACL_SUCCESS; }

aclDataBuffer *aclCreateDataBuffer(void *data, size_t size) {
    return new aclDataBuffer{data, size};
}
aclError aclDestroyDataBuffer(const aclDataBuffer *buffer) {
    delete buffer;
    return ACL_SUCCESS;
}

// Attributes of operators that will be refused: nothing reads them.
aclopAttr *aclopCreateAttr() { return new aclopAttr; }
void aclopDestroyAttr(const aclopAttr *attribute) { delete attribute; }
#define SIM_IGNORE(name, ...) \
    aclError name(aclopAttr *, const char *, __VA_ARGS__) { return ACL_SUCCESS; }
SIM_IGNORE(aclopSetAttrBool, uint8_t)
SIM_IGNORE(aclopSetAttrInt, int64_t)
SIM_IGNORE(aclopSetAttrFloat, float)
SIM_IGNORE(aclopSetAttrString, const char *)
SIM_IGNORE(aclopSetAttrDataType, aclDataType)
SIM_IGNORE(aclopSetAttrListBool, int, const uint8_t *)
SIM_IGNORE(aclopSetAttrListInt, int, const int64_t *)
SIM_IGNORE(aclopSetAttrListFloat, int, const float *)
SIM_IGNORE(aclopSetAttrListListInt, int, const int *, const int64_t *const[])

aclError aclopCompileAndExecute(const char *type, int, const aclTensorDesc *const[],
                                const aclDataBuffer *const[], int, const aclTensorDesc *const[],
                                aclDataBuffer *const[], const aclopAttr *, aclopEngineType,
                                aclopCompileType, const char *, aclrtStream) {
    return sim::Fail(ACL_ERROR_OP_NOT_FOUND, "CANN's operator %s is not simulated", type);
}
aclError aclopCompileAndExecuteV2(const char *type, int, aclTensorDesc *[], aclDataBuffer *[], int,
                                  aclTensorDesc *[], aclDataBuffer *[], aclopAttr *,
                                  aclopEngineType, aclopCompileType, const char *, aclrtStream) {
    return sim::Fail(ACL_ERROR_OP_NOT_FOUND, "CANN's operator %s is not simulated", type);
}

// The runtime's older interface, and the profiler's; torch_npu ships no header for them.
#define SIM_EXPORT __attribute__((visibility("default")))
constexpr int32_t kProfilerOff = -1;
SIM_EXPORT int32_t rtDevBinaryRegister(const void *, void **) {
    return sim::Refuse("rtDevBinaryRegister");
}
SIM_EXPORT int32_t rtFunctionRegister(void *, const void *, const char *, const void *, uint32_t) {
    return sim::Refuse("rtFunctionRegister");
}
SIM_EXPORT int32_t rtKernelLaunch(const void *, uint32_t, void *, uint32_t, void *, void *) {
    return sim::Refuse("rtKernelLaunch");
}
SIM_EXPORT int32_t rtGetC2cCtrlAddr(uint64_t *, uint32_t *) {
    return sim::Refuse("rtGetC2cCtrlAddr");
}
// Never called back, since the profiler never starts.
SIM_EXPORT int32_t MsprofRegisterCallback(uint32_t, void *) { return 0; }
SIM_EXPORT int32_t MsprofReportApi(uint32_t, const void *) { return kProfilerOff; }
SIM_EXPORT int32_t MsprofReportCompactInfo(uint32_t, const void *, uint32_t) {
    return kProfilerOff;
}
SIM_EXPORT int32_t MsprofReportAdditionalInfo(uint32_t, const void *, uint32_t) {
    return kProfilerOff;
}
SIM_EXPORT uint64_t MsprofGetHashId(const char *text, size_t length) {
    return std::hash<std::string>()({text, length});
}
SIM_EXPORT uint64_t MsprofSysCycleTime() {
    return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}
}
