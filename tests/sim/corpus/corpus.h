// What the kernels of the corpus share. test_corpus.py reads their sources:
//
//     // 2 blocks, float32[1000]: y = 2 * x
//     PAIR(name) { ... }
//
// says how to launch a kernel, on what x (and z, where a second type stands) and, in numpy's words,
// with which result. Without a second type, z is a workspace of zeros. "0 or 2 blocks" launches the
// broken kernel with 0 and the mended one with 2. A comment `here: <check>` stands on the line at
// which the check finds the broken kernel; the processor's own faults are found behind the last
// instruction before them.
#pragma once

#include "kernel_operator.h"

using namespace AscendC;

#define ARGUMENTS GM_ADDR x, GM_ADDR z, GM_ADDR y, uint32_t n

// Two kernels of one body, which is a template over `broken`.
#define PAIR(name)                                                                              \
    template <bool broken>                                                                      \
    __aicore__ inline void name(ARGUMENTS);                                                     \
    extern "C" __global__ __aicore__ void name##_broken(ARGUMENTS) { name<true>(x, z, y, n); }  \
    extern "C" __global__ __aicore__ void name##_mended(ARGUMENTS) { name<false>(x, z, y, n); } \
    template <bool broken>                                                                      \
    __aicore__ inline void name([[maybe_unused]] GM_ADDR x, [[maybe_unused]] GM_ADDR z,         \
                                [[maybe_unused]] GM_ADDR y, [[maybe_unused]] uint32_t n)

template <typename T>
__aicore__ inline GlobalTensor<T> Global(GM_ADDR address, uint64_t count) {
    GlobalTensor<T> tensor;
    tensor.SetGlobalBuffer((__gm__ T *)address, count);
    return tensor;
}

// Any number of elements, beginning anywhere in global memory.
template <typename T>
__aicore__ inline void CopyIn(const LocalTensor<T> &to, const GlobalTensor<T> &from,
                              uint32_t count) {
    DataCopyPad(to, from, {1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0},
                DataCopyPadExtParams<T>{});
}
template <typename T>
__aicore__ inline void CopyOut(const GlobalTensor<T> &to, const LocalTensor<T> &from,
                               uint32_t count) {
    DataCopyPad(to, from, {1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0});
}

// One pipe waits for another.
template <HardEvent event, bool really = true>
__aicore__ inline void Order() {
    if constexpr (really) {
        SetFlag<event>(EVENT_ID0);
        WaitFlag<event>(EVENT_ID0);
    }
}

// A buffer for x and one for y, without queues.
template <typename X, typename Y = X>
struct Buffers {
    __aicore__ inline Buffers(GM_ADDR x, GM_ADDR y, uint32_t count, uint32_t results)
        : from(Global<X>(x, count)), to(Global<Y>(y, results)) {
        Take(count, results);
    }
    // Tiles of a longer x and y.
    __aicore__ inline Buffers(GM_ADDR x, GM_ADDR y, uint32_t count, uint32_t results, uint32_t tile)
        : from(Global<X>(x, count)), to(Global<Y>(y, results)) {
        Take(tile, tile);
    }
    __aicore__ inline void Store() {
        Order<HardEvent::V_MTE3>();
        CopyOut(to, out, to.GetSize());
    }
    TPipe pipe;
    GlobalTensor<X> from;
    GlobalTensor<Y> to;
    LocalTensor<X> in;
    LocalTensor<Y> out;

private:
    __aicore__ inline void Take(uint32_t ins, uint32_t outs) {
        pipe.InitBuffer(inBuffer_, ins * sizeof(X));
        pipe.InitBuffer(outBuffer_, outs * sizeof(Y));
        in = inBuffer_.template Get<X>();
        out = outBuffer_.template Get<Y>();
    }
    TBuf<> inBuffer_;
    TBuf<> outBuffer_;
};

// The same with x in its buffer from the beginning.
template <typename X, typename Y = X>
struct Loaded : Buffers<X, Y> {
    __aicore__ inline Loaded(GM_ADDR x, GM_ADDR y, uint32_t count, uint32_t results)
        : Buffers<X, Y>(x, y, count, results) {
        CopyIn(this->in, this->from, count);
        Order<HardEvent::MTE2_V>();
    }
    __aicore__ inline Loaded(GM_ADDR x, GM_ADDR y, uint32_t count) : Loaded(x, y, count, count) {}
};

// A queue on the way in, of up to `depth` tensors, and one on the way out.
template <typename X, typename Y = X, int32_t depth = 1>
struct Queues {
    __aicore__ inline Queues(GM_ADDR x, GM_ADDR y, uint32_t count, uint32_t number, uint32_t tile)
        : from(Global<X>(x, count)), to(Global<Y>(y, count)) {
        pipe.InitBuffer(in, number, tile * sizeof(X));
        pipe.InitBuffer(out, number, tile * sizeof(Y));
    }
    TPipe pipe;
    TQue<TPosition::VECIN, depth> in;
    TQue<TPosition::VECOUT, 1> out;
    GlobalTensor<X> from;
    GlobalTensor<Y> to;
};
