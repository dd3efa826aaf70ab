// float16 or bfloat16 <-> HiFloat8: the kernels, and how the host launches them.
//
// AMCT_NPU_ARCH is the architecture for the host's half of this file too, which knows no
// __NPU_ARCH__. The UB budgets stand where the buffers are.
#if AMCT_NPU_ARCH == 3510
#include "hifloat8_cast_native.h"
#else
#include "hifloat8_cast_gather.h"
#endif

// Each kernel takes input, table, output and tiling.
#define HIFLOAT8_KERNEL(kernel, launch, Codec)                                                    \
    extern "C" __global__ __aicore__ void kernel(GM_ADDR x, GM_ADDR table, GM_ADDR y,             \
                                                 HiFloat8CastTiling tiling) {                     \
        KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);                                           \
        hifloat8_cast::Codec(x, table, y, tiling).Run();                                          \
    }                                                                                             \
    /* The linkage of a generated host stub differs between compiler versions; not of this. */    \
    extern "C" void launch(uint32_t blocks, void *stream, uint8_t *x, uint8_t *table, uint8_t *y, \
                           HiFloat8CastTiling tiling) {                                           \
        kernel<<<blocks, nullptr, stream>>>(x, table, y, tiling);                                 \
    }

HIFLOAT8_KERNEL(hifloat8_encode_fp16, LaunchHiFloat8EncodeFp16, Encoder<half>)
HIFLOAT8_KERNEL(hifloat8_encode_bf16, LaunchHiFloat8EncodeBf16, Encoder<bfloat16_t>)
HIFLOAT8_KERNEL(hifloat8_decode_fp16, LaunchHiFloat8DecodeFp16, Decoder<half>)
HIFLOAT8_KERNEL(hifloat8_decode_bf16, LaunchHiFloat8DecodeBf16, Decoder<bfloat16_t>)

extern "C" const hifloat8_cast::Needs *HiFloat8CastNeeds() { return &hifloat8_cast::kNeeds; }
