#include <ATen/ops/empty_like.h>
#include <torch/library.h>
#include <torch_npu/csrc/core/npu/NPUStream.h>

#include "acl/acl.h"
#include "scale.h"
#include "securec.h"
#include "tiling/platform/platform_ascendc.h"

extern "C" void LaunchScale(uint32_t blocks, void *stream, uint8_t *x, uint8_t *y,
                            ScaleTiling tiling);

namespace {

at::Tensor Scale(const at::Tensor &x, double factor) {
    constexpr uint32_t granule = 8;
    TORCH_CHECK(x.scalar_type() == at::kFloat && x.numel() % granule == 0, "scale takes float32");
    auto *platform = platform_ascendc::PlatformAscendCManager::GetInstance();
    TORCH_CHECK(platform != nullptr, "no device");
    uint64_t ub = 0;
    platform->GetCoreMemSize(platform_ascendc::CoreMemType::UB, ub);
    const ScaleTiling planned{static_cast<uint32_t>(x.numel()), granule,
                              static_cast<float>(factor)};
    TORCH_CHECK(ub >= 4 * granule * sizeof(float), "no room");
    ScaleTiling tiling{};
    TORCH_CHECK(memcpy_s(&tiling, sizeof(tiling), &planned, sizeof(planned)) == EOK);
    const at::Tensor y = at::empty_like(x);
    const aclrtStream stream = c10_npu::getCurrentNPUStream().stream();
    LaunchScale(platform->GetCoreNumAiv(), stream, static_cast<uint8_t *>(x.data_ptr()),
                static_cast<uint8_t *>(y.data_ptr()), tiling);
    return y;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(sim_extension, m) { m.def("scale(Tensor x, float factor) -> Tensor"); }
TORCH_LIBRARY_IMPL(sim_extension, PrivateUse1, m) { m.impl("scale", &Scale); }
