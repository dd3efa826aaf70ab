// One instruction at a time, for bench.py: z = op(x, y) over `count` elements in one block.
#pragma once

#include "kernel_operator.h"

using namespace AscendC;

namespace {

template <typename X, typename Z>
class Bench {
public:
    __aicore__ Bench(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t count) : count_(count) {
        x_.SetGlobalBuffer((__gm__ X *)x);
        y_.SetGlobalBuffer((__gm__ X *)y);
        z_.SetGlobalBuffer((__gm__ Z *)z);
        pipe_.InitBuffer(buffers_[0], count * sizeof(X));
        pipe_.InitBuffer(buffers_[1], count * sizeof(X));
        pipe_.InitBuffer(buffers_[2], count * sizeof(Z) + 256);
        pipe_.InitBuffer(spare_, 3072);
        spare = spare_.template Get<Z>();
        a = buffers_[0].template Get<X>();
        b = buffers_[1].template Get<X>();
        c = buffers_[2].template Get<Z>(count);
    }
    template <typename Op>
    __aicore__ void Run(Op op, bool second = true) {
        CopyIn(a, x_);
        if (second) {
            CopyIn(b, y_);
        }
        // The result begins as zeros, where an instruction leaves lanes out.
        CopyIn(c, z_);
        const int32_t loaded = pipe_.FetchEventID(HardEvent::MTE2_V);
        SetFlag<HardEvent::MTE2_V>(loaded);
        WaitFlag<HardEvent::MTE2_V>(loaded);
        op(*this);
        const int32_t done = pipe_.FetchEventID(HardEvent::V_MTE3);
        SetFlag<HardEvent::V_MTE3>(done);
        WaitFlag<HardEvent::V_MTE3>(done);
        DataCopyPad(z_, c, {1, static_cast<uint32_t>(count_ * sizeof(Z)), 0, 0, 0});
    }
    LocalTensor<X> a;
    LocalTensor<X> b;
    LocalTensor<Z> c;
    LocalTensor<Z> spare;

private:
    template <typename T>
    __aicore__ void CopyIn(LocalTensor<T> to, GlobalTensor<T> from) {
        DataCopyPad(to, from, {1, static_cast<uint32_t>(count_ * sizeof(T)), 0, 0, 0},
                    DataCopyPadExtParams<T>{});
    }
    uint32_t count_;
    TPipe pipe_;
    TBuf<TPosition::VECCALC> buffers_[3];
    TBuf<TPosition::VECCALC> spare_;
    GlobalTensor<X> x_;
    GlobalTensor<X> y_;
    GlobalTensor<Z> z_;
};

}  // namespace

#define KERNEL(name, X, Z, ...)                                                               \
    extern "C" __global__ __aicore__ void name(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t n) { \
        Bench<X, Z>(x, y, z, n).Run([n](auto &t) {                                            \
            (void)n;                                                                          \
            __VA_ARGS__;                                                                      \
        });                                                                                   \
    }
