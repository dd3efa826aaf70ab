// By table lookup (Gather), for chips that have no HiFloat8.
//
// UB budget, T = tileLength:
//
//   encode  tables  2 * 16384  one code per bfloat16 >> 3, 16 bits each: in the low byte, in the
//   high
//           inQueue   2 * 2T   double buffer
//           outQueue  2 * 1T   double buffer
//           wide      4T       float, then the offsets of even and of odd elements
//           odd       1T + 256 codes of odd elements, kept out of the banks of outQueue
//           sum     33024 + 11T
//
//   decode  table     512      one 16-bit value per code
//           inQueue   2 * 1T   double buffer
//           outQueue  2 * 2T   double buffer
//           bits      2T       the code as half
//           wide      4T       32-bit offsets
//           sum       512 + 12T
#pragma once

#include "hifloat8_cast_share.h"

namespace hifloat8_cast {

// A buffer that begins 256 bytes behind a multiple of 512 is read beside one that begins at it
// without conflicts in the banks of the Unified Buffer.
constexpr uint32_t kBankSkew = 256;

constexpr Needs kNeeds{{2 * kEncodeTableLength * sizeof(uint16_t) + kBankSkew, 11},
                       {kDecodeTableLength * sizeof(uint16_t), 12},
                       true};

// Values of the format T (half, bfloat16_t). A word of 32 bits holds an even element in its low
// half and an odd one in its high half; shifts make the table offsets of either without any
// widening, and the codes of both come out of the tables as the bytes of one word of 16 bits.
template <typename T>
class Encoder {
public:
    __aicore__ inline Encoder(GM_ADDR x, GM_ADDR table, GM_ADDR y, const HiFloat8CastTiling &tiling)
        : share_(tiling) {
        x_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(x), tiling.elements);
        y_.SetGlobalBuffer(reinterpret_cast<__gm__ uint8_t *>(y), tiling.elements);
        tableInGm_.SetGlobalBuffer(reinterpret_cast<__gm__ uint16_t *>(table), kEncodeTableLength);
        constexpr uint32_t tableBytes = kEncodeTableLength * sizeof(uint16_t);
        pipe_.InitBuffer(inQueue_, kBuffers, tiling.tileLength * sizeof(T));
        pipe_.InitBuffer(outQueue_, kBuffers, tiling.tileLength * sizeof(uint8_t));
        pipe_.InitBuffer(tableQueue_, 1, tableBytes);
        pipe_.InitBuffer(oddTableBuffer_, tableBytes);
        pipe_.InitBuffer(wideBuffer_, tiling.tileLength * sizeof(float));
        pipe_.InitBuffer(oddBuffer_, tiling.tileLength * sizeof(uint8_t) + kBankSkew);
    }

    __aicore__ inline void Run() {
        for (uint64_t offset = share_.begin; offset < share_.end;
             offset += share_.LengthAt(offset)) {
            const uint32_t count = share_.LengthAt(offset);
            LocalTensor<T> in = inQueue_.template AllocTensor<T>();
            CopyIn(in, x_[offset], count);
            inQueue_.EnQue(in);
            if (offset == share_.begin) {
                LoadTables();
            }
            Encode(count);
            LocalTensor<uint8_t> out = outQueue_.template DeQue<uint8_t>();
            CopyOut(y_[offset], out, count);
            outQueue_.FreeTensor(out);
        }
        tableQueue_.FreeTensor(evenTable_);
    }

private:
    __aicore__ inline void LoadTables() {
        LocalTensor<uint16_t> table = tableQueue_.template AllocTensor<uint16_t>();
        DataCopy(table, tableInGm_, kEncodeTableLength);
        tableQueue_.EnQue(table);
        evenTable_ = tableQueue_.template DeQue<uint16_t>();
        oddTable_ = oddTableBuffer_.Get<uint16_t>();
        ShiftLeft(oddTable_, evenTable_, static_cast<uint16_t>(8),
                  static_cast<int32_t>(kEncodeTableLength));
    }

    __aicore__ inline void Encode(uint32_t length) {
        constexpr uint32_t perBlock = ONE_BLK_SIZE / sizeof(T);
        const uint32_t count = (length + perBlock - 1) / perBlock * perBlock;
        const uint32_t pairs = count / 2;
        LocalTensor<T> in = inQueue_.template DeQue<T>();
        LocalTensor<uint16_t> bits = in.template ReinterpretCast<uint16_t>();
        LocalTensor<uint32_t> words = in.template ReinterpretCast<uint32_t>();
        LocalTensor<float> wide = wideBuffer_.Get<float>();
        LocalTensor<uint32_t> even = wide.ReinterpretCast<uint32_t>();
        LocalTensor<uint32_t> odd = even[share_.tileLength / 2];
        LocalTensor<uint16_t> oddCodes = oddBuffer_.Get<uint16_t>()[kBankSkew / sizeof(uint16_t)];

        // As bfloat16: truncation keeps every bit that the code depends on, and a NaN whose payload
        // is only in the bits that the table does not see comes back as one that it sees.
        Cast(wide, in, RoundMode::CAST_NONE, count);
        PipeBarrier<PIPE_V>();
        Cast(in.template ReinterpretCast<bfloat16_t>(), wide, RoundMode::CAST_TRUNC, count);
        PipeBarrier<PIPE_V>();
        // The 13 upper bits are the index into a table, twice that the offset in bytes.
        ShiftRight(bits, bits, static_cast<uint16_t>(3), count);
        PipeBarrier<PIPE_V>();
        ShiftLeft(even, words, static_cast<uint32_t>(19), pairs);
        ShiftRight(odd, words, static_cast<uint32_t>(15), pairs);
        PipeBarrier<PIPE_V>();
        inQueue_.FreeTensor(in);
        ShiftRight(even, even, static_cast<uint32_t>(18), pairs);
        Gather(oddCodes, oddTable_, odd, 0, pairs);
        PipeBarrier<PIPE_V>();
        LocalTensor<uint8_t> out = outQueue_.template AllocTensor<uint8_t>();
        LocalTensor<uint16_t> codes = out.template ReinterpretCast<uint16_t>();
        Gather(codes, evenTable_, even, 0, pairs);
        PipeBarrier<PIPE_V>();
        Or(codes, codes, oddCodes, pairs);
        outQueue_.EnQue(out);
    }

    Share share_;
    TPipe pipe_;
    TQue<TPosition::VECIN, 1> inQueue_;
    TQue<TPosition::VECIN, 1> tableQueue_;
    TQue<TPosition::VECOUT, 1> outQueue_;
    TBuf<TPosition::VECCALC> oddTableBuffer_;
    TBuf<TPosition::VECCALC> wideBuffer_;
    TBuf<TPosition::VECCALC> oddBuffer_;
    GlobalTensor<T> x_;
    GlobalTensor<uint8_t> y_;
    GlobalTensor<uint16_t> tableInGm_;
    LocalTensor<uint16_t> evenTable_;
    LocalTensor<uint16_t> oddTable_;
};

// Values of the format T are only moved: the table says which they are.
template <typename T>
class Decoder {
public:
    __aicore__ inline Decoder(GM_ADDR x, GM_ADDR table, GM_ADDR y, const HiFloat8CastTiling &tiling)
        : share_(tiling) {
        x_.SetGlobalBuffer(reinterpret_cast<__gm__ uint8_t *>(x), tiling.elements);
        y_.SetGlobalBuffer(reinterpret_cast<__gm__ uint16_t *>(y), tiling.elements);
        tableInGm_.SetGlobalBuffer(reinterpret_cast<__gm__ uint16_t *>(table), kDecodeTableLength);
        pipe_.InitBuffer(inQueue_, kBuffers, tiling.tileLength * sizeof(uint8_t));
        pipe_.InitBuffer(outQueue_, kBuffers, tiling.tileLength * sizeof(uint16_t));
        pipe_.InitBuffer(tableQueue_, 1, kDecodeTableLength * sizeof(uint16_t));
        pipe_.InitBuffer(bitsBuffer_, tiling.tileLength * sizeof(half));
        pipe_.InitBuffer(wideBuffer_, tiling.tileLength * sizeof(int32_t));
    }

    __aicore__ inline void Run() {
        LocalTensor<uint16_t> table = tableQueue_.template AllocTensor<uint16_t>();
        DataCopy(table, tableInGm_, kDecodeTableLength);
        tableQueue_.EnQue(table);
        table_ = tableQueue_.template DeQue<uint16_t>();
        for (uint64_t offset = share_.begin; offset < share_.end;
             offset += share_.LengthAt(offset)) {
            const uint32_t count = share_.LengthAt(offset);
            LocalTensor<uint8_t> in = inQueue_.template AllocTensor<uint8_t>();
            CopyIn(in, x_[offset], count);
            inQueue_.EnQue(in);
            Decode(count);
            LocalTensor<uint16_t> out = outQueue_.template DeQue<uint16_t>();
            CopyOut(y_[offset], out, count);
            outQueue_.FreeTensor(out);
        }
        tableQueue_.FreeTensor(table_);
    }

private:
    __aicore__ inline void Decode(uint32_t count) {
        LocalTensor<uint8_t> in = inQueue_.template DeQue<uint8_t>();
        LocalTensor<uint16_t> out = outQueue_.template AllocTensor<uint16_t>();
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

    Share share_;
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

}  // namespace hifloat8_cast
