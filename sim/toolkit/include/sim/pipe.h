// The pipes of a core, and where a kernel uses them.
#pragma once

#include <cstdint>

#include "sim/builtins.h"

namespace sim {

enum class Pipe : uint8_t { S, V, M, MTE1, MTE2, MTE3, FIX, ALL };
constexpr int kPipes = 7;

// Where the kernel calls an API. The default argument of every API function that checks something.
struct Loc {
    const char *file;
    int line;
    static constexpr Loc Here(const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
        return {file, line};
    }
};

}  // namespace sim
