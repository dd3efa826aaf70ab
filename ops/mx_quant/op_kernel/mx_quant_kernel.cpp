// float16 or bfloat16 <-> MXFP4 and MXFP8: the kernels, and how the host launches them. The UB
// budget stands in mx_quant_tiling.h.
#include "mx_quant_dequant.h"
#include "mx_quant_quant.h"

// Each kernel takes its input or inputs, its outputs or output, and the tiling.
#define MX_KERNEL(kernel, launch, Class, T, Q)                                                 \
    extern "C" __global__ __aicore__ void kernel(GM_ADDR first, GM_ADDR second, GM_ADDR third, \
                                                 MxQuantTiling tiling) {                       \
        KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);                                        \
        mx_quant::Class<T, Q>(first, second, third, tiling).Run();                             \
    }                                                                                          \
    /* The linkage of a generated host stub differs between compiler versions; not of this. */ \
    extern "C" void launch(uint32_t blocks, void *stream, uint8_t *first, uint8_t *second,     \
                           uint8_t *third, MxQuantTiling tiling) {                             \
        kernel<<<blocks, nullptr, stream>>>(first, second, third, tiling);                     \
    }

MX_KERNEL(mx_quant_e2m1_fp16, LaunchMxQuantE2m1Fp16, Quantizer, half, fp4x2_e2m1_t)
MX_KERNEL(mx_quant_e2m1_bf16, LaunchMxQuantE2m1Bf16, Quantizer, bfloat16_t, fp4x2_e2m1_t)
MX_KERNEL(mx_quant_e4m3_fp16, LaunchMxQuantE4m3Fp16, Quantizer, half, fp8_e4m3fn_t)
MX_KERNEL(mx_quant_e4m3_bf16, LaunchMxQuantE4m3Bf16, Quantizer, bfloat16_t, fp8_e4m3fn_t)
MX_KERNEL(mx_quant_e5m2_fp16, LaunchMxQuantE5m2Fp16, Quantizer, half, fp8_e5m2_t)
MX_KERNEL(mx_quant_e5m2_bf16, LaunchMxQuantE5m2Bf16, Quantizer, bfloat16_t, fp8_e5m2_t)
MX_KERNEL(mx_dequant_e2m1_fp16, LaunchMxDequantE2m1Fp16, Dequantizer, half, fp4x2_e2m1_t)
MX_KERNEL(mx_dequant_e2m1_bf16, LaunchMxDequantE2m1Bf16, Dequantizer, bfloat16_t, fp4x2_e2m1_t)
MX_KERNEL(mx_dequant_e4m3_fp16, LaunchMxDequantE4m3Fp16, Dequantizer, half, fp8_e4m3fn_t)
MX_KERNEL(mx_dequant_e4m3_bf16, LaunchMxDequantE4m3Bf16, Dequantizer, bfloat16_t, fp8_e4m3fn_t)
MX_KERNEL(mx_dequant_e5m2_fp16, LaunchMxDequantE5m2Fp16, Dequantizer, half, fp8_e5m2_t)
MX_KERNEL(mx_dequant_e5m2_bf16, LaunchMxDequantE5m2Bf16, Dequantizer, bfloat16_t, fp8_e5m2_t)
