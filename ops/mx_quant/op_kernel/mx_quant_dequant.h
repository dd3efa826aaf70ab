// MX to float16 or bfloat16: element times scale, rounded once to nearest even.
#pragma once

#include "mx_quant_share.h"

namespace mx_quant {

// 2^(byte - 127) as bfloat16, which is subnormal for 0; 255 is NaN.
__simd_vf__ inline void FactorTile(__ubuf__ uint16_t *factors, __ubuf__ uint8_t *scales,
                                   uint32_t blocks, uint16_t steps) {
    Reg::RegTensor<uint16_t> factor, nan;
    Reg::MaskReg special;
    Reg::Duplicate(nan, static_cast<uint16_t>(0x7FC0));
    for (uint16_t i = 0; i < steps; ++i) {
        Reg::MaskReg lanes = Reg::UpdateMask<uint16_t>(blocks);
        Reg::LoadAlign<uint8_t, Reg::LoadDist::DIST_UNPACK_B8>(As<uint8_t>(factor),
                                                               scales + i * 128);
        Reg::ShiftLefts(factor, factor, static_cast<int16_t>(7), lanes);
        Reg::Compares<uint16_t, CMPMODE::EQ>(special, factor, static_cast<uint16_t>(0x7F80), lanes);
        Reg::Maxs(factor, factor, static_cast<uint16_t>(0x0040), lanes);
        Reg::Select(factor, nan, factor, special);
        Reg::StoreAlign(factors + i * 128, factor, lanes);
    }
}

// The elements of one byte of each word of codes, in one half of each word of values. The product
// is exact in float: what it cannot hold, float16 and bfloat16 cannot either.
template <typename T, typename Q, Reg::RegLayout byte, Reg::RegLayout half>
__simd_callee__ inline void Fp8Values(Reg::RegTensor<uint32_t> &values,
                                      Reg::RegTensor<uint32_t> &codes,
                                      Reg::RegTensor<float> &factor, Reg::MaskReg &lanes) {
    Reg::RegTensor<float> wide;
    Reg::Cast<float, Q, kWiden<byte>>(wide, As<Q>(codes), lanes);
    Reg::Mul(wide, wide, factor, lanes);
    Reg::Cast<T, float, kTrait<half, Reg::SatMode::NO_SAT, RoundMode::CAST_RINT>>(As<T>(values),
                                                                                  wide, lanes);
}

template <typename T, typename Q>
__simd_vf__ inline void FromFp8Tile(__ubuf__ uint32_t *values, __ubuf__ uint32_t *codes,
                                    __ubuf__ uint16_t *factors, uint32_t words, uint16_t steps) {
    using Reg::RegLayout;
    Reg::RegTensor<uint32_t> code, factor, high, even, odd, other;
    Reg::Duplicate(high, 0xFFFF0000U);
    for (uint16_t i = 0; i < steps; ++i) {
        Reg::MaskReg lanes = Reg::UpdateMask<uint32_t>(words);
        Reg::LoadAlign(code, codes + i * (kStep / 4));
        Reg::LoadAlign<uint16_t, Reg::LoadDist::DIST_E2B_B16>(As<uint16_t>(factor),
                                                              factors + i * (kStep / kMxBlock));
        Reg::And(factor, factor, high, lanes);  // bfloat16 twice becomes float
        Fp8Values<T, Q, RegLayout::ZERO, RegLayout::ZERO>(even, code, As<float>(factor), lanes);
        Fp8Values<T, Q, RegLayout::ONE, RegLayout::ONE>(other, code, As<float>(factor), lanes);
        Reg::Or(even, even, other, lanes);
        Fp8Values<T, Q, RegLayout::TWO, RegLayout::ZERO>(odd, code, As<float>(factor), lanes);
        Fp8Values<T, Q, RegLayout::THREE, RegLayout::ONE>(other, code, As<float>(factor), lanes);
        Reg::Or(odd, odd, other, lanes);
        Reg::StoreAlign<uint32_t, Reg::StoreDist::DIST_INTLV_B32>(values + i * (kStep / 2), even,
                                                                  odd, lanes);
    }
}

// The elements of one byte of each word of codes. The product is exact in bfloat16.
template <typename T, Reg::RegLayout byte>
__simd_callee__ inline void Fp4Values(Reg::RegTensor<uint32_t> &values,
                                      Reg::RegTensor<uint32_t> &codes,
                                      Reg::RegTensor<uint16_t> &factor, Reg::MaskReg &lanes) {
    Reg::RegTensor<bfloat16_t> x;
    Reg::Cast<bfloat16_t, fp4x2_e2m1_t, kWiden<byte>>(x, As<fp4x2_e2m1_t>(codes), lanes);
    if constexpr (IsSameType<T, half>::value) {
        Reg::Mul(x, x, As<bfloat16_t>(factor), lanes);
        Reg::Cast<half, bfloat16_t,
                  kTrait<Reg::RegLayout::UNKNOWN, Reg::SatMode::NO_SAT, RoundMode::CAST_RINT>>(
            As<half>(values), x, lanes);
    } else {
        Reg::Mul(As<T>(values), x, As<T>(factor), lanes);
    }
}

template <typename T>
__simd_vf__ inline void FromFp4Tile(__ubuf__ uint32_t *values, __ubuf__ uint16_t *codes,
                                    __ubuf__ uint16_t *factors, uint32_t words, uint16_t steps) {
    Reg::RegTensor<uint32_t> code, even, odd;
    Reg::RegTensor<uint16_t> factor;
    for (uint16_t i = 0; i < steps; ++i) {
        Reg::MaskReg lanes = Reg::UpdateMask<uint32_t>(words);
        Reg::LoadAlign<uint16_t, Reg::LoadDist::DIST_UNPACK_B16>(As<uint16_t>(code),
                                                                 codes + i * (kStep / 4));
        Reg::LoadAlign<uint16_t, Reg::LoadDist::DIST_E2B_B16>(factor,
                                                              factors + i * (kStep / kMxBlock));
        Fp4Values<T, Reg::RegLayout::ZERO>(even, code, factor, lanes);
        Fp4Values<T, Reg::RegLayout::ONE>(odd, code, factor, lanes);
        Reg::StoreAlign<uint32_t, Reg::StoreDist::DIST_INTLV_B32>(values + i * (kStep / 2), even,
                                                                  odd, lanes);
    }
}

template <typename T, typename Q>
class Dequantizer {
public:
    __aicore__ inline Dequantizer(GM_ADDR y, GM_ADDR scale, GM_ADDR x, const MxQuantTiling &tiling)
        : tiling_(tiling) {
        const uint64_t elements = tiling.rows * tiling.columns;
        const uint64_t scales = tiling.rows * RoundUp(tiling.columns, uint64_t{kGroup}) / kMxBlock;
        y_.SetGlobalBuffer(reinterpret_cast<__gm__ uint8_t *>(y), CodeBytes<Q>(elements));
        scale_.SetGlobalBuffer(reinterpret_cast<__gm__ uint8_t *>(scale), scales);
        x_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(x), elements);
        const uint32_t length = TileLength(tiling);
        pipe_.InitBuffer(codeQueue_, kBuffers, CodeBytes<Q>(length));
        pipe_.InitBuffer(scaleQueue_, kBuffers, ScaleBytes(length));
        pipe_.InitBuffer(valueQueue_, kBuffers, length * sizeof(T));
        pipe_.InitBuffer(factorBuffer_, FactorBytes(length));
    }

    __aicore__ inline void Run() {
        const OwnSaturation mode;
        ForTiles(tiling_, [this](const Tile &tile) {
            LocalTensor<uint8_t> scales = scaleQueue_.template AllocTensor<uint8_t>();
            CopyRowsIn(scales, scale_[tile.scale], 1, tile.Scales(),
                       RoundUp(tile.Scales(), static_cast<uint32_t>(ONE_BLK_SIZE)));
            scaleQueue_.EnQue(scales);
            LocalTensor<uint8_t> codes = codeQueue_.template AllocTensor<uint8_t>();
            CopyRowsIn(codes, y_[CodeBytes<Q>(tile.element)], tile.rows, CodeBytes<Q>(tile.columns),
                       CodeBytes<Q>(tile.width));
            codeQueue_.EnQue(codes);
            Dequantize(tile);
            LocalTensor<T> values = valueQueue_.template DeQue<T>();
            CopyRowsOut(x_[tile.element], values, tile.rows, tile.columns, tile.width);
            valueQueue_.FreeTensor(values);
        });
    }

private:
    __aicore__ inline void Dequantize(const Tile &tile) {
        LocalTensor<uint8_t> scales = scaleQueue_.template DeQue<uint8_t>();
        auto *factors = Address<uint16_t>(factorBuffer_.Get<uint8_t>());
        asc_vf_call<FactorTile>(factors, Address<uint8_t>(scales), tile.Scales(),
                                Steps(tile.Scales(), 128));
        scaleQueue_.FreeTensor(scales);
        LocalTensor<uint8_t> codes = codeQueue_.template DeQue<uint8_t>();
        LocalTensor<T> values = valueQueue_.template AllocTensor<T>();
        auto *words = reinterpret_cast<__ubuf__ uint32_t *>(values.GetPhyAddr());
        const uint32_t lanes = tile.Elements() / 4;
        const uint16_t steps = Steps(tile.Elements(), kStep);
        ZeroPadding(codes, tile.rows, CodeBytes<Q>(tile.columns), CodeBytes<Q>(tile.width));
        if constexpr (kFp4<Q>) {
            asc_vf_call<FromFp4Tile<T>>(words, Address<uint16_t>(codes), factors, lanes, steps);
        } else {
            asc_vf_call<FromFp8Tile<T, Q>>(words, Address<uint32_t>(codes), factors, lanes, steps);
        }
        codeQueue_.FreeTensor(codes);
        valueQueue_.EnQue(values);
    }

    const MxQuantTiling &tiling_;
    TPipe pipe_;
    TQue<TPosition::VECIN, 1> codeQueue_;
    TQue<TPosition::VECIN, 1> scaleQueue_;
    TQue<TPosition::VECOUT, 1> valueQueue_;
    TBuf<TPosition::VECCALC> factorBuffer_;
    GlobalTensor<uint8_t> y_;
    GlobalTensor<uint8_t> scale_;
    GlobalTensor<T> x_;
};

}  // namespace mx_quant
