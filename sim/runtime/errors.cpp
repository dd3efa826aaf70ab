#include <cstdarg>
#include <cstdio>

#include "state.h"

namespace sim {
namespace {

struct Recent {
    std::string text;
    std::string returned;  // stays valid until the next call
    aclError last = ACL_SUCCESS;
};

Recent &ThisThread() {
    // Leaked: torch_npu asks for messages while threads end.
    static thread_local auto *recent = new Recent;
    return *recent;
}

}  // namespace

aclError Fail(aclError code, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    ThisThread().text = text;
    ThisThread().last = code;
    return code;
}

aclError Refuse(const char *function) {
    return Fail(ACL_ERROR_API_NOT_SUPPORT, "%s is not simulated", function);
}

}  // namespace sim

extern "C" {

const char *aclGetRecentErrMsg() {
    sim::Recent &recent = sim::ThisThread();
    recent.returned = recent.text;
    recent.text.clear();
    return recent.returned.c_str();
}

aclError aclrtGetLastError(aclrtLastErrLevel) {
    const aclError last = sim::ThisThread().last;
    sim::ThisThread().last = ACL_SUCCESS;
    return last;
}

aclError aclrtPeekAtLastError(aclrtLastErrLevel) { return sim::ThisThread().last; }

void aclAppLog(aclLogLevel, const char *, const char *, uint32_t, const char *, ...) {}
}
