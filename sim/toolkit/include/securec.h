// Bounds-checked functions of the C library. A call that would overrun its destination empties it
// and returns an error.
#pragma once

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifndef EOK
#define EOK 0
#endif
#define EOVERLAP_AND_RESET (54 | 128)
#define EINVAL_AND_RESET (EINVAL | 128)
#define ERANGE_AND_RESET (ERANGE | 128)
#define SECUREC_MEM_MAX_LEN 0x7fffffffUL
#define SECUREC_STRING_MAX_LEN 0x7fffffffUL

typedef int errno_t;

static inline int securecOverlap(const void *a, const void *b, size_t count) {
    const uintptr_t x = (uintptr_t)a;
    const uintptr_t y = (uintptr_t)b;
    return x < y ? y - x < count : x - y < count;
}

static inline errno_t memmove_s(void *dest, size_t destMax, const void *src, size_t count) {
    if (destMax == 0 || destMax > SECUREC_MEM_MAX_LEN) {
        return ERANGE;
    }
    if (dest == NULL) {
        return EINVAL;
    }
    if (src == NULL || count > destMax) {
        memset(dest, 0, destMax);
        return src == NULL ? EINVAL_AND_RESET : ERANGE_AND_RESET;
    }
    memmove(dest, src, count);
    return EOK;
}

static inline errno_t memcpy_s(void *dest, size_t destMax, const void *src, size_t count) {
    const int copies = dest != NULL && src != NULL && dest != src && count <= destMax;
    if (copies && destMax <= SECUREC_MEM_MAX_LEN && securecOverlap(dest, src, count)) {
        memset(dest, 0, destMax);
        return EOVERLAP_AND_RESET;
    }
    return memmove_s(dest, destMax, src, count);
}

static inline errno_t memset_s(void *dest, size_t destMax, int c, size_t count) {
    if (destMax == 0 || destMax > SECUREC_MEM_MAX_LEN) {
        return ERANGE;
    }
    if (dest == NULL) {
        return EINVAL;
    }
    memset(dest, c, count > destMax ? destMax : count);
    return count > destMax ? ERANGE_AND_RESET : EOK;
}

// Appends at most `count` characters of `src` at dest[used].
static inline errno_t securecAppend(char *dest, size_t destMax, size_t used, const char *src,
                                    size_t count) {
    if (destMax == 0 || destMax > SECUREC_STRING_MAX_LEN) {
        return ERANGE;
    }
    if (dest == NULL) {
        return EINVAL;
    }
    if (src == NULL || used >= destMax) {
        dest[0] = '\0';
        return EINVAL_AND_RESET;
    }
    const size_t length = strnlen(src, count);
    if (length >= destMax - used) {
        dest[0] = '\0';
        return ERANGE_AND_RESET;
    }
    if (securecOverlap(dest, src, used + length + 1)) {
        dest[0] = '\0';
        return EOVERLAP_AND_RESET;
    }
    memcpy(dest + used, src, length);
    dest[used + length] = '\0';
    return EOK;
}

static inline errno_t strcpy_s(char *dest, size_t destMax, const char *src) {
    return dest != NULL && dest == src && strnlen(src, destMax) < destMax
               ? EOK
               : securecAppend(dest, destMax, 0, src, SECUREC_STRING_MAX_LEN);
}

static inline errno_t strncpy_s(char *dest, size_t destMax, const char *src, size_t count) {
    return securecAppend(dest, destMax, 0, src, count);
}

static inline errno_t strncat_s(char *dest, size_t destMax, const char *src, size_t count) {
    const size_t used = dest == NULL ? 0 : strnlen(dest, destMax);
    return securecAppend(dest, destMax, used, src, count);
}

static inline errno_t strcat_s(char *dest, size_t destMax, const char *src) {
    return strncat_s(dest, destMax, src, SECUREC_STRING_MAX_LEN);
}

static inline char *strtok_s(char *text, const char *delimiters, char **context) {
    return strtok_r(text, delimiters, context);
}

// At most `count` characters; -1 if there are more, or if they do not fit.
static inline int vsnprintf_s(char *dest, size_t destMax, size_t count, const char *format,
                              va_list arguments) {
    if (dest == NULL || format == NULL || destMax == 0 || destMax > SECUREC_STRING_MAX_LEN) {
        if (dest != NULL && destMax != 0) {
            dest[0] = '\0';
        }
        return -1;
    }
    const size_t room = count < destMax ? count + 1 : destMax;
    const int length = vsnprintf(dest, room, format, arguments);
    if (length >= 0 && (size_t)length < room) {
        return length;
    }
    if (length < 0 || count >= destMax) {
        dest[0] = '\0';
    }
    return -1;
}

static inline int vsprintf_s(char *dest, size_t destMax, const char *format, va_list arguments) {
    return vsnprintf_s(dest, destMax, destMax, format, arguments);
}

__attribute__((format(printf, 4, 5))) static inline int snprintf_s(char *dest, size_t destMax,
                                                                   size_t count, const char *format,
                                                                   ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf_s(dest, destMax, count, format, arguments);
    va_end(arguments);
    return length;
}

__attribute__((format(printf, 3, 4))) static inline int sprintf_s(char *dest, size_t destMax,
                                                                  const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length = vsprintf_s(dest, destMax, format, arguments);
    va_end(arguments);
    return length;
}
