// Ascend C in a .cpp file: y = factor * x, in tiles.
#include "kernel_operator.h"
#include "scale.h"

extern "C" __global__ __aicore__ void scale(GM_ADDR x, GM_ADDR y, ScaleTiling tiling) {
    using namespace AscendC;
    TPipe pipe;
    TQue<TPosition::VECIN, 2> in;
    TQue<TPosition::VECOUT, 2> out;
    pipe.InitBuffer(in, 2, tiling.tile * sizeof(float));
    pipe.InitBuffer(out, 2, tiling.tile * sizeof(float));
    GlobalTensor<float> from;
    GlobalTensor<float> to;
    from.SetGlobalBuffer((__gm__ float *)x, tiling.length);
    to.SetGlobalBuffer((__gm__ float *)y, tiling.length);
    const uint32_t step = GetBlockNum() * tiling.tile;
    for (uint32_t i = GetBlockIdx() * tiling.tile; i < tiling.length; i += step) {
        LocalTensor<float> a = in.AllocTensor<float>();
        DataCopy(a, from[i], tiling.tile);
        in.EnQue(a);
        a = in.DeQue<float>();
        LocalTensor<float> b = out.AllocTensor<float>();
        Muls(b, a, tiling.factor, tiling.tile);
        out.EnQue(b);
        in.FreeTensor(a);
        b = out.DeQue<float>();
        DataCopy(to[i], b, tiling.tile);
        out.FreeTensor(b);
    }
}

extern "C" void LaunchScale(uint32_t blocks, void *stream, uint8_t *x, uint8_t *y,
                            ScaleTiling tiling) {
    scale<<<blocks, nullptr, stream>>>(x, y, tiling);
}
