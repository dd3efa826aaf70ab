// float16 or bfloat16 <-> HiFloat8 by table lookup (Gather).
//
// UB budget, T = tileLength:
//
//   encode  table   16384      one code per bfloat16 >> 3, 16 bits each
//           masks      96      three 32-byte constants
//           inQueue   2 * 2T   double buffer
//           outQueue  2 * 1T   double buffer
//           bits      2T       the value, then the table offset, then the code
//           wide      4T       float, then 32-bit offsets
//           sum     16480 + 12T
//
//   decode  table     512      one 16-bit value per code
//           inQueue   2 * 1T   double buffer
//           outQueue  2 * 2T   double buffer
//           bits      2T       the code as half
//           wide      4T       32-bit offsets
//           sum       512 + 12T
#include "hifloat8_cast_tiling.h"
#include "kernel_operator.h"

using namespace AscendC;

namespace {

constexpr uint32_t kLanes = 128;  // 16-bit lanes of one vector repeat
constexpr uint32_t kBuffers = 2;

// The elements of one block, [begin, end).
struct Share {
    uint64_t begin;
    uint64_t end;
};

__aicore__ inline Share ShareOfBlock(const HiFloat8CastTiling &tiling) {
    const uint64_t begin = GetBlockIdx() * tiling.elementsPerBlock;
    const uint64_t end = begin + tiling.elementsPerBlock;
    return {begin, end < tiling.elements ? end : tiling.elements};
}

__aicore__ inline uint32_t TileAt(uint64_t offset, const Share &share,
                                  const HiFloat8CastTiling &tiling) {
    const uint64_t left = share.end - offset;
    return static_cast<uint32_t>(left < tiling.tileLength ? left : tiling.tileLength);
}

template <typename T>
__aicore__ inline void CopyIn(const LocalTensor<T> &local, const GlobalTensor<T> &global,
                              uint32_t count) {
    const DataCopyExtParams params{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
    DataCopyPad(local, global, params, DataCopyPadExtParams<T>{false, 0, 0, 0});
}

template <typename T>
__aicore__ inline void CopyOut(const GlobalTensor<T> &global, const LocalTensor<T> &local,
                               uint32_t count) {
    const DataCopyExtParams params{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
    DataCopyPad(global, local, params);
}

// dst = src & mask, where mask is one 32-byte block of equal words.
__aicore__ inline void AndBlock(const LocalTensor<uint16_t> &dst, const LocalTensor<uint16_t> &src,
                                const LocalTensor<uint16_t> &mask, uint32_t count) {
    const BinaryRepeatParams oneBlock{1, 1, 0, 8, 8, 0};
    const uint32_t repeats = count / kLanes;
    const uint32_t tail = count % kLanes;
    if (repeats != 0) {
        And(dst, src, mask, static_cast<uint64_t>(kLanes), static_cast<uint8_t>(repeats), oneBlock);
    }
    if (tail != 0) {
        const uint32_t done = repeats * kLanes;
        And(dst[done], src[done], mask, static_cast<uint64_t>(tail), 1, oneBlock);
    }
}

// What is special about a source format: the bits of infinity and of the quiet NaN flag.
template <typename T>
struct Format;
template <>
struct Format<half> {
    static constexpr int16_t kInfinity = 0x7C00;
    static constexpr int16_t kQuiet = 0x0200;
};
template <>
struct Format<bfloat16_t> {
    static constexpr int16_t kInfinity = 0x7F80;
    static constexpr int16_t kQuiet = 0x0040;
};

// Values of the format T as their bits.
template <typename T>
class Encoder {
public:
    __aicore__ inline Encoder(GM_ADDR x, GM_ADDR table, GM_ADDR y, const HiFloat8CastTiling &tiling)
        : tiling_(tiling) {
        x_.SetGlobalBuffer(reinterpret_cast<__gm__ uint16_t *>(x), tiling.elements);
        y_.SetGlobalBuffer(reinterpret_cast<__gm__ uint8_t *>(y), tiling.elements);
        tableInGm_.SetGlobalBuffer(reinterpret_cast<__gm__ uint16_t *>(table),
                                   hifloat8_cast::kEncodeTableLength);
        pipe_.InitBuffer(inQueue_, kBuffers, tiling.tileLength * sizeof(uint16_t));
        pipe_.InitBuffer(outQueue_, kBuffers, tiling.tileLength * sizeof(uint8_t));
        pipe_.InitBuffer(tableQueue_, 1, hifloat8_cast::kEncodeTableLength * sizeof(uint16_t));
        pipe_.InitBuffer(maskBuffer_, 3 * ONE_BLK_SIZE);
        pipe_.InitBuffer(bitsBuffer_, tiling.tileLength * sizeof(uint16_t));
        pipe_.InitBuffer(wideBuffer_, tiling.tileLength * sizeof(float));
    }

    __aicore__ inline void Run() {
        LoadTable();
        const Share share = ShareOfBlock(tiling_);
        for (uint64_t offset = share.begin; offset < share.end; offset += tiling_.tileLength) {
            const uint32_t count = TileAt(offset, share, tiling_);
            LocalTensor<uint16_t> in = inQueue_.template AllocTensor<uint16_t>();
            CopyIn(in, x_[offset], count);
            inQueue_.EnQue(in);
            Encode(count);
            LocalTensor<uint8_t> out = outQueue_.template DeQue<uint8_t>();
            CopyOut(y_[offset], out, count);
            outQueue_.FreeTensor(out);
        }
        tableQueue_.FreeTensor(table_);
    }

private:
    __aicore__ inline void LoadTable() {
        LocalTensor<uint16_t> table = tableQueue_.template AllocTensor<uint16_t>();
        DataCopy(table, tableInGm_, hifloat8_cast::kEncodeTableLength);
        tableQueue_.EnQue(table);
        table_ = tableQueue_.template DeQue<uint16_t>();

        constexpr uint32_t perBlock = ONE_BLK_SIZE / sizeof(uint16_t);
        LocalTensor<uint16_t> masks = maskBuffer_.Get<uint16_t>();
        magnitude_ = masks;
        nan_ = masks[perBlock];
        offset_ = masks[2 * perBlock];
        Duplicate(magnitude_, static_cast<uint16_t>(0x7FFF), perBlock);
        Duplicate(nan_, static_cast<uint16_t>(2 * Format<T>::kQuiet), perBlock);
        Duplicate(offset_, static_cast<uint16_t>(0x3FFE), perBlock);
        PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void Encode(uint32_t count) {
        LocalTensor<uint16_t> in = inQueue_.template DeQue<uint16_t>();
        LocalTensor<uint8_t> out = outQueue_.template AllocTensor<uint8_t>();
        LocalTensor<uint16_t> bits = bitsBuffer_.Get<uint16_t>();
        LocalTensor<int16_t> word = bits.ReinterpretCast<int16_t>();
        LocalTensor<float> wide = wideBuffer_.Get<float>();
        LocalTensor<int32_t> offsets = wide.ReinterpretCast<int32_t>();

        MakeNanQuiet(bits, in, count);
        inQueue_.FreeTensor(in);
        if constexpr (IsSameType<T, half>::value) {
            // Truncation keeps every bit that the code depends on.
            Cast(wide, bits.ReinterpretCast<half>(), RoundMode::CAST_NONE, count);
            PipeBarrier<PIPE_V>();
            Cast(bits.ReinterpretCast<bfloat16_t>(), wide, RoundMode::CAST_TRUNC, count);
            PipeBarrier<PIPE_V>();
        }
        // Byte offset into the table: (bits >> 3) * 2, below 2^15, so a positive int16.
        ShiftRight(bits, bits, static_cast<uint16_t>(2), count);
        PipeBarrier<PIPE_V>();
        AndBlock(bits, bits, offset_, count);
        PipeBarrier<PIPE_V>();
        // dav-2201 widens integers only through float.
        Cast(wide, word, RoundMode::CAST_NONE, count);
        PipeBarrier<PIPE_V>();
        Cast(offsets, wide, RoundMode::CAST_RINT, count);
        PipeBarrier<PIPE_V>();
        Gather(bits, table_, offsets.ReinterpretCast<uint32_t>(), 0, count);
        PipeBarrier<PIPE_V>();
        // and narrows them to bytes only through half; 0..255 are exact there.
        Cast(bits.ReinterpretCast<half>(), word, RoundMode::CAST_NONE, count);
        PipeBarrier<PIPE_V>();
        Cast(out, bits.ReinterpretCast<half>(), RoundMode::CAST_NONE, count);
        outQueue_.EnQue(out);
    }

    // Sets the quiet flag of each NaN: a NaN whose payload is only in the bits that the table does
    // not see would be infinity there. No step overflows int16, since it may saturate or wrap.
    __aicore__ inline void MakeNanQuiet(const LocalTensor<uint16_t> &bits,
                                        const LocalTensor<uint16_t> &in, uint32_t count) {
        LocalTensor<int16_t> word = bits.ReinterpretCast<int16_t>();
        constexpr int16_t infinity = Format<T>::kInfinity;
        constexpr int16_t nanFlag = 2 * Format<T>::kQuiet;
        AndBlock(bits, in, magnitude_, count);
        PipeBarrier<PIPE_V>();
        Maxs(word, word, infinity, count);
        PipeBarrier<PIPE_V>();
        // From here nanFlag - 1 is infinity or finite, above it is NaN.
        Adds(word, word, static_cast<int16_t>(nanFlag - 1 - infinity), count);
        PipeBarrier<PIPE_V>();
        AndBlock(bits, bits, nan_, count);
        PipeBarrier<PIPE_V>();
        ShiftRight(bits, bits, static_cast<uint16_t>(1), count);
        PipeBarrier<PIPE_V>();
        Or(bits, bits, in, count);
        PipeBarrier<PIPE_V>();
    }

    HiFloat8CastTiling tiling_;
    TPipe pipe_;
    TQue<TPosition::VECIN, 1> inQueue_;
    TQue<TPosition::VECIN, 1> tableQueue_;
    TQue<TPosition::VECOUT, 1> outQueue_;
    TBuf<TPosition::VECCALC> maskBuffer_;
    TBuf<TPosition::VECCALC> bitsBuffer_;
    TBuf<TPosition::VECCALC> wideBuffer_;
    GlobalTensor<uint16_t> x_;
    GlobalTensor<uint8_t> y_;
    GlobalTensor<uint16_t> tableInGm_;
    LocalTensor<uint16_t> table_;
    LocalTensor<uint16_t> magnitude_;
    LocalTensor<uint16_t> nan_;
    LocalTensor<uint16_t> offset_;
};

// Values are only moved: the table says whether they are float16 or bfloat16.
class Decoder {
public:
    __aicore__ inline Decoder(GM_ADDR x, GM_ADDR table, GM_ADDR y, const HiFloat8CastTiling &tiling)
        : tiling_(tiling) {
        x_.SetGlobalBuffer(reinterpret_cast<__gm__ uint8_t *>(x), tiling.elements);
        y_.SetGlobalBuffer(reinterpret_cast<__gm__ uint16_t *>(y), tiling.elements);
        tableInGm_.SetGlobalBuffer(reinterpret_cast<__gm__ uint16_t *>(table),
                                   hifloat8_cast::kDecodeTableLength);
        pipe_.InitBuffer(inQueue_, kBuffers, tiling.tileLength * sizeof(uint8_t));
        pipe_.InitBuffer(outQueue_, kBuffers, tiling.tileLength * sizeof(uint16_t));
        pipe_.InitBuffer(tableQueue_, 1, hifloat8_cast::kDecodeTableLength * sizeof(uint16_t));
        pipe_.InitBuffer(bitsBuffer_, tiling.tileLength * sizeof(half));
        pipe_.InitBuffer(wideBuffer_, tiling.tileLength * sizeof(int32_t));
    }

    __aicore__ inline void Run() {
        LocalTensor<uint16_t> table = tableQueue_.AllocTensor<uint16_t>();
        DataCopy(table, tableInGm_, hifloat8_cast::kDecodeTableLength);
        tableQueue_.EnQue(table);
        table_ = tableQueue_.DeQue<uint16_t>();
        const Share share = ShareOfBlock(tiling_);
        for (uint64_t offset = share.begin; offset < share.end; offset += tiling_.tileLength) {
            const uint32_t count = TileAt(offset, share, tiling_);
            LocalTensor<uint8_t> in = inQueue_.AllocTensor<uint8_t>();
            CopyIn(in, x_[offset], count);
            inQueue_.EnQue(in);
            Decode(count);
            LocalTensor<uint16_t> out = outQueue_.DeQue<uint16_t>();
            CopyOut(y_[offset], out, count);
            outQueue_.FreeTensor(out);
        }
        tableQueue_.FreeTensor(table_);
    }

private:
    __aicore__ inline void Decode(uint32_t count) {
        LocalTensor<uint8_t> in = inQueue_.DeQue<uint8_t>();
        LocalTensor<uint16_t> out = outQueue_.AllocTensor<uint16_t>();
        LocalTensor<half> code = bitsBuffer_.Get<half>();
        LocalTensor<int32_t> offsets = wideBuffer_.Get<int32_t>();

        Cast(code, in, RoundMode::CAST_NONE, count);
        inQueue_.FreeTensor(in);
        PipeBarrier<PIPE_V>();
        Muls(code, code, static_cast<half>(2.0F), count);  // bytes
        PipeBarrier<PIPE_V>();
        Cast(offsets, code, RoundMode::CAST_RINT, count);
        PipeBarrier<PIPE_V>();
        Gather(out, table_, offsets.ReinterpretCast<uint32_t>(), 0, count);
        outQueue_.EnQue(out);
    }

    HiFloat8CastTiling tiling_;
    TPipe pipe_;
    TQue<TPosition::VECIN, 1> inQueue_;
    TQue<TPosition::VECIN, 1> tableQueue_;
    TQue<TPosition::VECOUT, 1> outQueue_;
    TBuf<TPosition::VECCALC> bitsBuffer_;
    TBuf<TPosition::VECCALC> wideBuffer_;
    GlobalTensor<uint8_t> x_;
    GlobalTensor<uint16_t> y_;
    GlobalTensor<uint16_t> tableInGm_;
    LocalTensor<uint16_t> table_;
};

}  // namespace

extern "C" __global__ __aicore__ void hifloat8_encode_fp16(GM_ADDR x, GM_ADDR table, GM_ADDR y,
                                                           HiFloat8CastTiling tiling) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    Encoder<half>(x, table, y, tiling).Run();
}

extern "C" __global__ __aicore__ void hifloat8_encode_bf16(GM_ADDR x, GM_ADDR table, GM_ADDR y,
                                                           HiFloat8CastTiling tiling) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    Encoder<bfloat16_t>(x, table, y, tiling).Run();
}

extern "C" __global__ __aicore__ void hifloat8_decode(GM_ADDR x, GM_ADDR table, GM_ADDR y,
                                                      HiFloat8CastTiling tiling) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    Decoder(x, table, y, tiling).Run();
}

// The linkage of a generated host stub differs between compiler versions; that of these does not.
extern "C" void LaunchHiFloat8EncodeFp16(uint32_t blocks, void *stream, uint8_t *x, uint8_t *table,
                                         uint8_t *y, HiFloat8CastTiling tiling) {
    hifloat8_encode_fp16<<<blocks, nullptr, stream>>>(x, table, y, tiling);
}

extern "C" void LaunchHiFloat8EncodeBf16(uint32_t blocks, void *stream, uint8_t *x, uint8_t *table,
                                         uint8_t *y, HiFloat8CastTiling tiling) {
    hifloat8_encode_bf16<<<blocks, nullptr, stream>>>(x, table, y, tiling);
}

extern "C" void LaunchHiFloat8Decode(uint32_t blocks, void *stream, uint8_t *x, uint8_t *table,
                                     uint8_t *y, HiFloat8CastTiling tiling) {
    hifloat8_decode<<<blocks, nullptr, stream>>>(x, table, y, tiling);
}
