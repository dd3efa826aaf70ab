// The bounds-checked functions, as C and as C++. Prints nothing; returns the line that is wrong.
#include "securec.h"

#define EXPECT(condition)    \
    do {                     \
        if (!(condition)) {  \
            return __LINE__; \
        }                    \
    } while (0)

static int Memory(void) {
    char a[8] = "abcdefg";
    char b[8] = "1234567";
    EXPECT(memcpy_s(a, sizeof(a), b, 4) == EOK && memcmp(a, "1234efg", 8) == 0);
    EXPECT(memcpy_s(a, 4, b, 5) == ERANGE_AND_RESET && memcmp(a, "\0\0\0\0efg", 8) == 0);
    EXPECT(memcpy_s(b, sizeof(b), b + 1, 3) == EOVERLAP_AND_RESET && b[0] == 0 && b[7] == 0);
    EXPECT(memcpy_s(b, sizeof(b), b, sizeof(b)) == EOK);
    EXPECT(memcpy_s(NULL, 8, b, 1) == EINVAL);
    EXPECT(memcpy_s(a, 8, NULL, 1) == EINVAL_AND_RESET && a[4] == 0);
    EXPECT(memcpy_s(a, 0, b, 0) == ERANGE);
    EXPECT(memset_s(a, sizeof(a), 'x', 8) == EOK && a[7] == 'x');
    EXPECT(memset_s(a, 4, 'y', 8) == ERANGE_AND_RESET && memcmp(a, "yyyyxxxx", 8) == 0);
    EXPECT(memmove_s(a + 1, 7, a, 5) == EOK && memcmp(a, "yyyyyxxx", 8) == 0);
    EXPECT(memmove_s(a, 2, a + 1, 3) == ERANGE_AND_RESET && a[1] == 0 && a[2] == 'y');
    return 0;
}

static int Strings(void) {
    char a[8];
    EXPECT(strcpy_s(a, sizeof(a), "abc") == EOK && strcmp(a, "abc") == 0);
    EXPECT(strcat_s(a, sizeof(a), "defg") == EOK && strcmp(a, "abcdefg") == 0);
    EXPECT(strcat_s(a, sizeof(a), "h") == ERANGE_AND_RESET && a[0] == 0);
    EXPECT(strcpy_s(a, sizeof(a), "12345678") == ERANGE_AND_RESET && a[0] == 0);
    EXPECT(strcpy_s(a, sizeof(a), NULL) == EINVAL_AND_RESET);
    EXPECT(strcpy_s(NULL, 8, "a") == EINVAL);
    EXPECT(strncpy_s(a, sizeof(a), "12345678", 7) == EOK && strcmp(a, "1234567") == 0);
    EXPECT(strcpy_s(a, sizeof(a), a + 1) == EOVERLAP_AND_RESET);
    EXPECT(strcpy_s(a, sizeof(a), "a") == EOK && strncat_s(a, sizeof(a), "bcd", 2) == EOK);
    EXPECT(strcmp(a, "abc") == 0);
    return 0;
}

static int Formats(void) {
    char a[8];
    EXPECT(sprintf_s(a, sizeof(a), "%d-%s", 12, "abcd") == 7 && strcmp(a, "12-abcd") == 0);
    EXPECT(sprintf_s(a, sizeof(a), "%d", 12345678) == -1 && a[0] == 0);
    EXPECT(snprintf_s(a, sizeof(a), 3, "%d", 123) == 3 && strcmp(a, "123") == 0);
    EXPECT(snprintf_s(a, sizeof(a), 3, "%d", 1234) == -1 && strcmp(a, "123") == 0);
    EXPECT(snprintf_s(a, sizeof(a), 20, "%d", 12345678) == -1 && a[0] == 0);
    EXPECT(sprintf_s(NULL, 8, "%d", 1) == -1);
    return 0;
}

int main(void) {
    const int line = Memory();
    if (line != 0) {
        return line;
    }
    const int other = Strings();
    return other != 0 ? other : Formats();
}
