#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <torch_npu/csrc/core/npu/NPUStream.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "hifloat8_cast_tiling.h"
#include "hifloat8_tables.h"
#include "ops.h"
#include "tiling/platform/platform_ascendc.h"

using hifloat8_cast::Budget;
using hifloat8_cast::kDecodeTableLength;
using hifloat8_cast::kEncodeTableLength;
using hifloat8_cast::kGranule;

extern "C" {
using Launch = void(uint32_t blocks, void *stream, uint8_t *x, uint8_t *table, uint8_t *y,
                    HiFloat8CastTiling tiling);
Launch LaunchHiFloat8EncodeFp16;
Launch LaunchHiFloat8EncodeBf16;
Launch LaunchHiFloat8DecodeFp16;
Launch LaunchHiFloat8DecodeBf16;
const hifloat8_cast::Needs *HiFloat8CastNeeds();
}

namespace AscendKernel {
namespace {

// All tables, as they lie in device memory.
struct Tables {
    std::array<uint16_t, kEncodeTableLength> encodeSaturating;
    std::array<uint16_t, kEncodeTableLength> encodeInfinite;
    std::array<uint16_t, kDecodeTableLength> decodeFp16;
    std::array<uint16_t, kDecodeTableLength> decodeBf16;
};

void Fill(Tables &tables) {
    for (uint32_t i = 0; i < kEncodeTableLength; ++i) {
        const float value = c10::BFloat16(i << 3, c10::BFloat16::from_bits());
        tables.encodeSaturating[i] = hifloat8::Encode(value, true);
        tables.encodeInfinite[i] = hifloat8::Encode(value, false);
    }
    for (uint32_t code = 0; code < kDecodeTableLength; ++code) {
        const float value = hifloat8::Decode(static_cast<uint8_t>(code));
        tables.decodeFp16[code] = c10::Half(value).x;
        tables.decodeBf16[code] = c10::BFloat16(value).x;
    }
}

// The device address of the tables, uploaded at the first use of each device.
uint8_t *DeviceTables(c10::Device device) {
    // Never freed: at exit the device is gone before static objects are.
    static auto *const mutex = new std::mutex;
    static auto *const perDevice = new std::unordered_map<int, at::Tensor>;
    const std::lock_guard<std::mutex> lock(*mutex);
    at::Tensor &tensor = (*perDevice)[device.index()];
    if (!tensor.defined()) {
        at::Tensor host = at::empty({sizeof(Tables)}, at::kByte);
        Fill(*reinterpret_cast<Tables *>(host.data_ptr<uint8_t>()));
        tensor = host.to(device);  // from pageable memory, so it is there when this returns
    }
    return tensor.data_ptr<uint8_t>();
}

uint64_t RoundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

struct Work {
    uint32_t blocks;
    HiFloat8CastTiling tiling;
};

// Tiles as long as the Unified Buffer allows, and blocks of at least `kLeastPerBlock` elements: a
// smaller share does not pay for the table that each block loads.
Work Divide(uint64_t elements, const Budget &budget) {
    constexpr uint64_t kLeastPerBlock = 8 * kGranule;
    constexpr uint64_t kReservedBytes = 8 * 1024;  // the compiler's, at the top of the buffer
    auto *platform = platform_ascendc::PlatformAscendCManager::GetInstance();
    TORCH_CHECK(platform != nullptr, "hifloat8_cast: CANN knows no platform for this device");
    uint64_t ubBytes = 0;
    platform->GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubBytes);
    const uint64_t cores = platform->GetCoreNumAiv();
    const uint64_t least =
        kReservedBytes + budget.fixedBytes + uint64_t{kGranule} * budget.bytesPerElement;
    TORCH_CHECK(cores > 0 && ubBytes >= least, "hifloat8_cast: the platform reports ", cores,
                " vector cores with ", ubBytes,
                " bytes of Unified Buffer, needed are at least 1 with ", least);

    const uint64_t free = ubBytes - kReservedBytes - budget.fixedBytes;
    const uint64_t tile = free / budget.bytesPerElement / kGranule * kGranule;
    const uint64_t share = RoundUp((elements + cores - 1) / cores, kGranule);
    const uint64_t perBlock = std::max(share, kLeastPerBlock);
    const auto blocks = static_cast<uint32_t>((elements + perBlock - 1) / perBlock);
    const auto tileLength = static_cast<uint32_t>(std::min(tile, perBlock));
    return {blocks, {elements, perBlock, tileLength, false}};
}

at::Tensor Run(Launch *launch, const at::Tensor &input, at::ScalarType outputType,
               size_t tableOffset, bool saturate, const Budget &budget) {
    const c10::DeviceGuard guard(input.device());
    const at::Tensor x = input.contiguous();
    at::Tensor y = at::empty(x.sizes(), x.options().dtype(outputType));
    if (x.numel() == 0) {
        return y;
    }
    Work work = Divide(static_cast<uint64_t>(x.numel()), budget);
    work.tiling.saturate = saturate;
    uint8_t *const table =
        HiFloat8CastNeeds()->tables ? DeviceTables(x.device()) + tableOffset : nullptr;
    // stream() waits for torch_npu's own task queue, so the launch keeps its place in the order.
    launch(work.blocks, c10_npu::getCurrentNPUStream().stream(),
           static_cast<uint8_t *>(const_cast<void *>(x.const_data_ptr())), table,
           static_cast<uint8_t *>(y.mutable_data_ptr()), work.tiling);
    return y;
}

}  // namespace

at::Tensor EncodeToHiFloat8(const at::Tensor &x, bool saturate) {
    return Run(x.scalar_type() == at::kHalf ? LaunchHiFloat8EncodeFp16 : LaunchHiFloat8EncodeBf16,
               x, at::kByte,
               saturate ? offsetof(Tables, encodeSaturating) : offsetof(Tables, encodeInfinite),
               saturate, HiFloat8CastNeeds()->encode);
}

at::Tensor DecodeFromHiFloat8(const at::Tensor &x, at::ScalarType dtype) {
    const bool half = dtype == at::kHalf;
    return Run(half ? LaunchHiFloat8DecodeFp16 : LaunchHiFloat8DecodeBf16, x, dtype,
               half ? offsetof(Tables, decodeFp16) : offsetof(Tables, decodeBf16), false,
               HiFloat8CastNeeds()->decode);
}

}  // namespace AscendKernel

// For tests/contract: the Unified Buffer that `kernel` takes by the budget of the header, for an
// input of rows * columns elements.
extern "C" C10_EXPORT uint64_t hifloat8_cast_ub_bytes(const char *kernel, uint64_t rows,
                                                      uint64_t columns) {
    const hifloat8_cast::Needs &needs = *HiFloat8CastNeeds();
    const bool encodes = std::strstr(kernel, "encode") != nullptr;
    const Budget &budget = encodes ? needs.encode : needs.decode;
    const uint64_t tile = AscendKernel::Divide(rows * columns, budget).tiling.tileLength;
    return budget.fixedBytes + tile * budget.bytesPerElement;
}
