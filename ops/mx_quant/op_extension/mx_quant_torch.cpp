#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>
#include <torch_npu/csrc/core/npu/NPUStream.h>

#include <algorithm>
#include <cstring>

#include "mx_quant_tiling.h"
#include "ops.h"
#include "tiling/platform/platform_ascendc.h"

using mx_quant::CeilDiv;
using mx_quant::kGroup;
using mx_quant::kStep;
using mx_quant::RoundUp;

extern "C" {
using Launch = void(uint32_t blocks, void *stream, uint8_t *first, uint8_t *second, uint8_t *third,
                    MxQuantTiling tiling);
Launch LaunchMxQuantE2m1Fp16;
Launch LaunchMxQuantE2m1Bf16;
Launch LaunchMxQuantE4m3Fp16;
Launch LaunchMxQuantE4m3Bf16;
Launch LaunchMxQuantE5m2Fp16;
Launch LaunchMxQuantE5m2Bf16;
Launch LaunchMxDequantE2m1Fp16;
Launch LaunchMxDequantE2m1Bf16;
Launch LaunchMxDequantE4m3Fp16;
Launch LaunchMxDequantE4m3Bf16;
Launch LaunchMxDequantE5m2Fp16;
Launch LaunchMxDequantE5m2Bf16;
}

namespace AscendKernel {
namespace {

struct Work {
    uint32_t blocks;
    MxQuantTiling tiling;
};

// Cuts rows x columns elements, none of them 0, into tiles that fit, as many for each core as for
// the others. Each tile has some whole rows, or a part of one row.
Work Divide(uint64_t rows, uint64_t columns, bool fp4) {
    constexpr uint64_t kLeast = 8 * kStep;         // elements of a tile that is worth a core
    constexpr uint64_t kGood = 32 * kStep;         // ... that moves at full speed
    constexpr uint64_t kReservedBytes = 8 * 1024;  // the compiler's, at the top of the buffer
    auto *platform = platform_ascendc::PlatformAscendCManager::GetInstance();
    TORCH_CHECK(platform != nullptr, "mx_quant: CANN knows no platform for this device");
    uint64_t ubBytes = 0;
    platform->GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubBytes);
    const uint64_t cores = platform->GetCoreNumAiv();
    const uint64_t least = kReservedBytes + mx_quant::UbBytes(kLeast, fp4);
    TORCH_CHECK(cores > 0 && ubBytes >= least, "mx_quant: the platform reports ", cores,
                " vector cores with ", ubBytes,
                " bytes of Unified Buffer, needed are at least 1 with ", least);
    if (columns % kGroup == 0) {  // nothing is padded: one long row
        columns *= rows;
        rows = 1;
    }
    // Tiles are as long as the buffer allows, but for what lets a core overlap some.
    const uint64_t perCore = CeilDiv(rows * RoundUp(columns, uint64_t{kGroup}), cores);
    const uint64_t wanted = std::max(RoundUp(perCore / 4, uint64_t{kStep}), kGood);
    uint64_t longest = kLeast;
    while (longest < wanted &&
           mx_quant::UbBytes(static_cast<uint32_t>(longest + kStep), fp4) + kReservedBytes <=
               ubBytes) {
        longest += kStep;
    }

    // Parts of a row: what fits, and then as many as take the cores no longer.
    uint64_t parts = CeilDiv(columns, longest);
    parts = std::max(parts, CeilDiv(rows * parts, cores) * cores / rows);
    parts = std::min(parts, CeilDiv(columns, kLeast));
    const uint64_t columnsPerTile =
        parts == 1 ? columns : RoundUp(CeilDiv(columns, parts), uint64_t{kStep});
    parts = CeilDiv(columns, columnsPerTile);

    uint64_t rowsPerTile = 1;
    if (parts == 1) {
        const uint64_t width = RoundUp(columns, uint64_t{kGroup});
        const uint64_t most = std::min<uint64_t>(longest / width, mx_quant::kMaxRowsPerTile);
        const uint64_t share =
            std::max(CeilDiv(rows, cores), std::min(CeilDiv(kLeast, width), most));
        rowsPerTile = CeilDiv(share, CeilDiv(share, most));
    }
    const uint64_t tiles = CeilDiv(rows, rowsPerTile) * parts;
    const uint64_t tilesPerBlock = CeilDiv(tiles, cores);
    return {static_cast<uint32_t>(CeilDiv(tiles, tilesPerBlock)),
            {rows, columns, tiles, tilesPerBlock, static_cast<uint32_t>(rowsPerTile),
             static_cast<uint32_t>(columnsPerTile), mx_quant::kRint}};
}

uint8_t *Address(const at::Tensor &tensor) {
    return static_cast<uint8_t *>(const_cast<void *>(tensor.const_data_ptr()));
}

// stream() waits for torch_npu's own task queue, so the launch keeps its place in the order.
void Run(Launch *launch, const Work &work, const at::Tensor &first, const at::Tensor &second,
         const at::Tensor &third) {
    launch(work.blocks, c10_npu::getCurrentNPUStream().stream(), Address(first), Address(second),
           Address(third), work.tiling);
}

}  // namespace

std::tuple<at::Tensor, at::Tensor> MxQuant(const at::Tensor &input, MxFormat format,
                                           uint32_t roundMode) {
    constexpr Launch *launches[][2] = {{LaunchMxQuantE2m1Fp16, LaunchMxQuantE2m1Bf16},
                                       {LaunchMxQuantE4m3Fp16, LaunchMxQuantE4m3Bf16},
                                       {LaunchMxQuantE5m2Fp16, LaunchMxQuantE5m2Bf16}};
    const c10::DeviceGuard guard(input.device());
    const bool fp4 = format == MxFormat::kE2m1;
    const at::Tensor x = input.contiguous();
    const int64_t columns = x.size(-1);
    c10::DimVector shape(x.sizes().begin(), x.sizes().end());
    shape.back() = fp4 ? columns / 2 : columns;
    const at::ScalarType type = fp4                         ? at::kByte
                                : format == MxFormat::kE4m3 ? at::kFloat8_e4m3fn
                                                            : at::kFloat8_e5m2;
    at::Tensor y = at::empty(shape, x.options().dtype(type));
    shape.back() = CeilDiv<int64_t>(columns, kGroup);
    shape.push_back(2);
    at::Tensor scale = at::empty(shape, x.options().dtype(at::kByte));
    if (x.numel() != 0) {
        Work work =
            Divide(static_cast<uint64_t>(x.numel() / columns), static_cast<uint64_t>(columns), fp4);
        work.tiling.roundMode = roundMode;
        Run(launches[static_cast<int>(format)][x.scalar_type() == at::kBFloat16], work, x, y,
            scale);
    }
    return {y, scale};
}

at::Tensor MxDequant(const at::Tensor &y, const at::Tensor &scale, MxFormat format,
                     at::ScalarType dtype) {
    constexpr Launch *launches[][2] = {{LaunchMxDequantE2m1Fp16, LaunchMxDequantE2m1Bf16},
                                       {LaunchMxDequantE4m3Fp16, LaunchMxDequantE4m3Bf16},
                                       {LaunchMxDequantE5m2Fp16, LaunchMxDequantE5m2Bf16}};
    const c10::DeviceGuard guard(y.device());
    const bool fp4 = format == MxFormat::kE2m1;
    const int64_t columns = y.size(-1) * (fp4 ? 2 : 1);
    c10::DimVector shape(y.sizes().begin(), y.sizes().end());
    shape.back() = columns;
    at::Tensor x = at::empty(shape, y.options().dtype(dtype));
    if (x.numel() != 0) {
        const Work work =
            Divide(static_cast<uint64_t>(x.numel() / columns), static_cast<uint64_t>(columns), fp4);
        Run(launches[static_cast<int>(format)][dtype == at::kBFloat16], work, y.contiguous(),
            scale.contiguous(), x);
    }
    return x;
}

}  // namespace AscendKernel

// For tests/contract: the Unified Buffer that `kernel` takes by the budget of the header, for a
// first argument of rows x columns.
extern "C" C10_EXPORT uint64_t mx_quant_ub_bytes(const char *kernel, uint64_t rows,
                                                 uint64_t columns) {
    const bool fp4 = std::strstr(kernel, "e2m1") != nullptr;
    const bool packed = fp4 && std::strstr(kernel, "dequant") != nullptr;
    const auto work = AscendKernel::Divide(rows, columns * (packed ? 2 : 1), fp4);
    return mx_quant::UbBytes(mx_quant::TileLength(work.tiling), fp4);
}
